//! `muxgate forward`: local listeners whose connections go through a gateway.

use std::pin::{Pin, pin};
use std::str::FromStr;

use muxgate_core::{Destination, DestinationError, Opener};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_local};

use super::{Session, SessionSource, parse_destination};
use crate::cli::ForwardArgs;
use crate::escape::Printable;
use crate::exit::{Code, Failure};
use crate::listen::{Address, AddressError, Listener, Socket};
use crate::logging::announce;
use crate::relay::{Local, relay};
use crate::runtime;

/// One `LISTEN=DEST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Where connections come from.
    pub listen: Address,
    /// Where they are to go.
    pub destination: Destination,
}

/// Why a text is no forward.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForwardError {
    /// No equals sign.
    #[error("a forward is LISTEN=DEST, such as 5000=db.internal:5432")]
    Form,
    /// The left side.
    #[error(transparent)]
    Listen(#[from] AddressError),
    /// The right side.
    #[error("the destination is HOST:PORT: {0}")]
    Destination(#[from] DestinationError),
}

impl FromStr for Forward {
    type Err = ForwardError;

    fn from_str(text: &str) -> Result<Self, ForwardError> {
        // A path may hold an equals sign, a destination cannot.
        let (listen, destination) = text.rsplit_once('=').ok_or(ForwardError::Form)?;
        let is_port = !listen.is_empty() && listen.bytes().all(|b| b.is_ascii_digit());
        let listen = if is_port { format!("127.0.0.1:{listen}").parse()? } else { listen.parse()? };
        Ok(Self { listen, destination: parse_destination(destination)? })
    }
}

/// Runs until a signal ends it, or the session is lost.
pub fn forward(args: &ForwardArgs) -> Result<(), Failure> {
    let source = SessionSource::new(&args.via)?;
    runtime::raise_descriptor_limit();
    runtime::block_on(async {
        let mut terminated = pin!(runtime::terminated()?);
        let listeners = bind_all(&args.forwards).await?;
        tokio::select! {
            session = source.connect() => serve(listeners, session?, terminated).await,
            () = &mut terminated => Ok(()),
        }
    })
}

async fn bind_all(forwards: &[Forward]) -> Result<Vec<(Listener, Forward)>, Failure> {
    let mut listeners = Vec::new();
    for Forward { listen, destination } in forwards {
        let failure = |error| Failure::new(Code::Listen, format!("cannot listen on {listen}: {error}"));
        for listener in listen.bind().await.map_err(failure)? {
            let listen = listener.local_address().map_err(failure)?;
            if !listen.is_local().await.map_err(failure)? {
                tracing::warn!("other machines can reach {listen}, and through it {destination}");
            }
            listeners.push((listener, Forward { listen, destination: destination.clone() }));
        }
    }
    Ok(listeners)
}

type Arrival = (Socket, Destination);

/// Accepts on all listeners, and says so.
fn accept_all(listeners: Vec<(Listener, Forward)>) -> mpsc::Receiver<Arrival> {
    let (sender, arrivals) = mpsc::channel(1);
    for (listener, Forward { listen, destination }) in listeners {
        announce(format_args!("listening on {listen} for {destination}"));
        let sender = sender.clone();
        spawn_local(async move { while sender.send((listener.accept().await, destination.clone())).await.is_ok() {} });
    }
    arrivals
}

/// Carries what arrives, until the session ends or the process is told to.
async fn serve(
    listeners: Vec<(Listener, Forward)>,
    session: Session,
    mut terminated: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), Failure> {
    let mut arrivals = accept_all(listeners);
    let mut relays = JoinSet::new();
    loop {
        tokio::select! {
            Some((socket, destination)) = arrivals.recv() => {
                let opener = session.opener.clone();
                match socket {
                    Socket::Tcp(stream) => relays.spawn_local(carry(stream, destination, opener)),
                    Socket::Unix(stream) => relays.spawn_local(carry(stream, destination, opener)),
                };
            }
            Some(_) = relays.join_next() => {}
            error = session.opener.closed() => {
                // What arrived before the end is still delivered to programs that read it.
                runtime::drain(&mut relays, runtime::CLOSE_LIMIT).await;
                return Err(Failure::lost(&error));
            }
            () = &mut terminated => {
                relays.shutdown().await;
                session.close().await;
                return Ok(());
            }
        }
    }
}

/// Carries one local connection from the open to the end. What the program sends meanwhile waits in its socket.
async fn carry<S: Local>(local: S, destination: Destination, opener: Opener) {
    let channel = tokio::select! {
        result = opener.open(&destination) => result,
        () = local.gone() => return tracing::debug!("{destination}: the local program gave up before it was opened"),
    };
    match channel {
        Ok(channel) => {
            tracing::info!("{destination}: opened");
            relay(local, channel, &destination).await;
        }
        Err(error) => {
            tracing::warn!("{destination}: {}", Printable(&error.to_string()));
            local.abort();
        }
    }
}
