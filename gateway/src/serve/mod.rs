//! `muxgate serve`: the gateway.

pub mod admission;
mod connection;
mod credentials;
mod handshakes;
mod http;
pub mod listen_url;
pub mod origin;
mod pace;
pub(crate) mod page;
mod worker;

use std::sync::Arc;

use futures::future::join_all;
use muxgate_core::Config;
use muxgate_transport_native::tls::{self, Identity};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::rustls::ServerConfig;

use crate::cli::ServeArgs;
use crate::dial::{Dialer, SystemResolver};
use crate::exit::{Code, Failure};
use crate::listen::Listener;
use crate::logging::announce;
use crate::policy::Policy;
use crate::runtime;
use crate::token::Token;
use admission::Admission;
use connection::Accepted;
use handshakes::Handshakes;
use listen_url::ListenUrl;
use origin::Origins;
use page::Page;
use worker::Workers;

/// What all workers share.
pub(crate) struct Gateway {
    admission: Admission,
    /// Shown by the WebSocket listeners.
    page: Option<Page>,
    dialer: Dialer,
    config: Config,
    tls: Option<Arc<ServerConfig>>,
    /// Turns true when sessions are to end.
    stop: watch::Sender<bool>,
}

/// Serves until a signal ends it.
pub fn serve(args: &ServeArgs) -> Result<(), Failure> {
    if args.page && !args.listen.iter().any(|url| url.websocket) {
        return Err(Failure::usage(
            "--page is shown by ws:// and wss:// listeners, and there is none: add --listen ws://...",
        ));
    }
    // No destinations to offer: the page says what to enter.
    let page = args.page.then(|| Page::embedded("{}".to_owned())).transpose()?;
    let gateway = Gateway::new(args, page)?;
    runtime::raise_descriptor_limit();
    runtime::block_on(async {
        let terminated = runtime::terminated()?;
        check_exposure(args).await?;
        let listeners = bind_all(&args.listen).await?;
        gateway.run(&listeners, terminated).await
    })
}

impl Gateway {
    /// A gateway that shows `page`, if there is one.
    pub(crate) fn new(args: &ServeArgs, page: Option<Page>) -> Result<Self, Failure> {
        let token = args.token_file.as_ref().map(|path| {
            Token::from_file(path).map_err(|error| Failure::usage(format!("--token-file {}: {error}", path.display())))
        });
        let listed = args.allow_origin.clone();
        Ok(Self {
            admission: Admission {
                token: token.transpose()?,
                origins: if page.is_some() { Origins::with_own(listed, &args.listen) } else { Origins::listed(listed) },
                sessions: Arc::new(Semaphore::new(args.max_sessions as usize)),
            },
            page,
            dialer: Dialer::new(Policy::new(args.allow.clone(), args.deny.clone()), SystemResolver),
            config: args.session.config(),
            tls: tls_config(args)?,
            stop: watch::Sender::new(false),
        })
    }

    /// Serves what comes in through `listeners` until `terminated` completes.
    pub(crate) async fn run(
        self,
        listeners: &[(Listener, ListenUrl)],
        terminated: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let gateway = Arc::new(self);
        let workers = Workers::start(&gateway).map_err(|error| Failure::runtime("cannot start the workers", &error))?;
        let handshakes = Handshakes::new();
        for (_, url) in listeners {
            announce(format_args!("listening on {url}"));
        }
        for page in listeners.iter().filter(|_| gateway.page.is_some()).filter_map(|(_, url)| url.page()) {
            announce(format_args!("the page is at {page}"));
        }
        let accepting = listeners.iter().map(|(listener, url)| accept_all(listener, url, &handshakes, &workers));
        tokio::select! {
            _ = join_all(accepting) => {}
            () = terminated => {}
        }
        gateway.stop.send_replace(true);
        workers.join();
        Ok(())
    }
}

fn tls_config(args: &ServeArgs) -> Result<Option<Arc<ServerConfig>>, Failure> {
    let Some(first) = args.listen.iter().find(|url| url.tls) else { return Ok(None) };
    let (Some(cert_file), Some(key_file)) = (args.cert.clone(), args.key.clone()) else {
        return Err(Failure::usage(format!("--listen {first} needs a certificate: --cert FILE --key FILE")));
    };
    let config = tls::server_config(&Identity { cert_file, key_file }, None);
    config.map(Some).map_err(|error| Failure::usage(format!("certificate and key: {error}")))
}

/// A listener must be protected by the token, or be reachable from this machine alone while no token is asked for
/// anywhere: a second door without a lock would make the lock of the first worthless.
async fn check_exposure(args: &ServeArgs) -> Result<(), Failure> {
    if args.insecure_no_auth {
        return Ok(());
    }
    for url in &args.listen {
        if args.token_file.is_some() && !url.websocket {
            return Err(Failure::usage(format!(
                "--listen {url} would let clients in without the token: JMUX over TCP or a Unix socket has no place for \
                 one. Listen on ws:// or wss:// only, or accept that with --insecure-no-auth"
            )));
        }
        let local = url.address.is_local().await.map_err(|error| cannot_listen(url, &error))?;
        if args.token_file.is_none() && !local {
            return Err(Failure::usage(format!(
                "--listen {url} would let everybody in who can reach it: demand a token with --token-file, listen on \
                 127.0.0.1, or accept that with --insecure-no-auth"
            )));
        }
    }
    Ok(())
}

/// Opens the listeners; the URLs have the ports that the system chose.
pub(crate) async fn bind_all(urls: &[ListenUrl]) -> Result<Vec<(Listener, ListenUrl)>, Failure> {
    let mut listeners = Vec::new();
    for url in urls {
        let bound = url.address.bind().await.map_err(|error| cannot_listen(url, &error))?;
        for listener in bound {
            let address = listener.local_address().map_err(|error| cannot_listen(url, &error))?;
            listeners.push((listener, ListenUrl { address, ..url.clone() }));
        }
    }
    Ok(listeners)
}

fn cannot_listen(url: &ListenUrl, error: &std::io::Error) -> Failure {
    Failure::new(Code::Listen, format!("cannot listen on {url}: {error}"))
}

async fn accept_all(listener: &Listener, url: &ListenUrl, handshakes: &Handshakes, workers: &Workers) {
    while let Some(room) = handshakes.room().await {
        let socket = listener.accept().await;
        let Some(handshake) = handshakes.begin(room, socket.peer_ip()) else {
            tracing::debug!("too many connections of one address that have not shown who they are");
            continue;
        };
        match Accepted::new(socket, url, handshake) {
            Ok(accepted) => workers.dispatch(accepted),
            Err(error) => tracing::debug!("a client left at once: {error}"),
        }
    }
}
