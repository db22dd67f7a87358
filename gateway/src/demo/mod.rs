//! `muxgate demo`: a gateway on this machine, a page to play with, and destinations for it, in one process.

mod destinations;
mod http;
mod pattern;

use std::slice;

use crate::cli::{DEFAULT_SESSIONS, DemoArgs, ServeArgs};
use crate::exit::Failure;
use crate::listen::{Address, Listener};
use crate::logging::announce;
use crate::policy::rule::Rule;
use crate::runtime;
use crate::serve::listen_url::ListenUrl;
use crate::serve::page::Page;
use crate::serve::{Gateway, bind_all};
use destinations::Destinations;

/// Runs the demo until a signal ends it.
pub fn demo(args: &DemoArgs) -> Result<(), Failure> {
    runtime::raise_descriptor_limit();
    runtime::block_on(async {
        let terminated = runtime::terminated()?;
        check(&args.listen).await?;
        let started = Destinations::start().await;
        let destinations = started.map_err(|error| Failure::runtime("cannot start the destinations", &error))?;
        let page = Page::embedded(destinations.to_json())?;
        let gateway = Gateway::new(&serve_args(args, &destinations)?, Some(page))?;
        let listeners = listen(&args.listen).await?;
        announce(format_args!("destinations: {destinations}"));
        announce(format_args!("open the page in a browser; Ctrl-C ends the demo"));
        gateway.run(&listeners, terminated).await
    })
}

/// The demo has no token, so it is for this machine.
async fn check(url: &ListenUrl) -> Result<(), Failure> {
    let local = url.address.is_local().await.unwrap_or(false);
    if !url.websocket || url.tls || !local {
        return Err(Failure::usage(format!(
            "--listen {url}: the demo is for this machine, at ws://127.0.0.1:PORT. To let others in, use muxgate serve \
             --page with TLS and a token"
        )));
    }
    Ok(())
}

/// A gateway to these destinations and no others.
fn serve_args(args: &DemoArgs, destinations: &Destinations) -> Result<ServeArgs, Failure> {
    let own = destinations.addresses().into_iter().map(|address| address.to_string().parse::<Rule>());
    let own = own.collect::<Result<Vec<_>, _>>().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(ServeArgs {
        listen: vec![args.listen.clone()],
        allow: [own, args.allow.clone()].concat(),
        deny: Vec::new(),
        token_file: None,
        insecure_no_auth: false,
        cert: None,
        key: None,
        allow_origin: Vec::new(),
        page: true,
        max_sessions: DEFAULT_SESSIONS,
        session: args.session.clone(),
    })
}

/// Listens at `url`, or at another port if that one cannot be had: somebody else's demo may be running.
async fn listen(url: &ListenUrl) -> Result<Vec<(Listener, ListenUrl)>, Failure> {
    match (bind_all(slice::from_ref(url)).await, &url.address) {
        (Err(failure), Address::Tcp { host, .. }) => {
            announce(format_args!("{failure}; taking another port"));
            let address = Address::Tcp { host: host.clone(), port: 0 };
            bind_all(&[ListenUrl { address, ..url.clone() }]).await
        }
        (bound, _) => bound,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(more: &[&str]) -> DemoArgs {
        let command = ["muxgate", "demo"].iter().chain(more);
        let Command::Demo(args) = Cli::try_parse_from(command).unwrap().command else { unreachable!() };
        args
    }

    #[tokio::test]
    async fn it_is_for_this_machine() {
        assert!(check(&args(&[]).listen).await.is_ok());
        for url in ["ws://0.0.0.0:0", "wss://127.0.0.1:0", "tcp://127.0.0.1:0", "unix:/tmp/s"] {
            let failure = check(&args(&["--listen", url]).listen).await.unwrap_err();
            assert!(failure.to_string().contains("serve --page"), "{failure}");
        }
    }

    #[tokio::test]
    async fn a_taken_port_is_replaced_by_a_free_one() {
        let first = listen(&"ws://127.0.0.1:0".parse().unwrap()).await.unwrap();
        let taken = &first[0].1;
        let second = listen(taken).await.unwrap();
        assert_ne!(&second[0].1, taken);
        assert_ne!(second[0].1.to_string(), "ws://127.0.0.1:0");
    }
}
