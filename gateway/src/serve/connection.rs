//! One accepted connection, from the handshake to the end of its session.

use std::io;
use std::net::TcpStream as StdTcpStream;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use muxgate_core::{ConnectionError, Incoming, Transport, server};
use muxgate_transport_native::websocket::KEEPALIVE;
use muxgate_transport_native::{StreamTransport, TokioClock, WebSocketTransport, tls, tune};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::timeout;
use tracing::Instrument;

use super::Gateway;
use super::handshakes::Handshake;
use super::http::{Entrance, upgrade};
use super::listen_url::ListenUrl;
use super::pace::Pace;
use crate::escape::Printable;
use crate::listen::Socket;
use crate::logging::session_ended;
use crate::relay::relay;
use crate::runtime;

/// Time for the TLS handshake. Slower than this is no client.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// How long destinations may take to read what was received for them before their session ended.
const LINGER_LIMIT: Duration = Duration::from_secs(30);

/// A connection on its way to a worker, not bound to any runtime.
#[derive(Debug)]
pub(super) struct Accepted {
    socket: StdSocket,
    layers: Layers,
    peer: String,
    handshake: Handshake,
}

/// What lies between a socket and a session.
#[derive(Debug, Clone, Copy)]
struct Layers {
    websocket: bool,
    tls: bool,
}

#[derive(Debug)]
enum StdSocket {
    Tcp(StdTcpStream),
    Unix(StdUnixStream),
}

impl Accepted {
    /// Takes a connection to `url` off the runtime that accepted it. `handshake` is held until the client is known.
    pub(super) fn new(socket: Socket, url: &ListenUrl, handshake: Handshake) -> io::Result<Self> {
        let (socket, peer) = match socket {
            Socket::Tcp(stream) => {
                let peer = stream.peer_addr()?.to_string();
                (StdSocket::Tcp(stream.into_std()?), peer)
            }
            Socket::Unix(stream) => (StdSocket::Unix(stream.into_std()?), "unix".to_owned()),
        };
        let layers = Layers { websocket: url.websocket, tls: url.tls };
        Ok(Self { socket, layers, peer, handshake })
    }
}

/// Serves a connection to its end.
pub(super) async fn serve_connection(accepted: Accepted, gateway: Arc<Gateway>) {
    let span = tracing::info_span!("client", peer = accepted.peer);
    let served = async {
        if let Err(error) = serve(accepted, &gateway).await {
            tracing::info!("no session: {}", Printable(&error.to_string()));
        }
    };
    served.instrument(span).await;
}

async fn serve(accepted: Accepted, gateway: &Arc<Gateway>) -> io::Result<()> {
    let Accepted { socket, layers, handshake, .. } = accepted;
    let stream = match socket {
        StdSocket::Unix(stream) => return start(UnixStream::from_std(stream)?, layers, handshake, gateway).await,
        StdSocket::Tcp(stream) => TcpStream::from_std(stream)?,
    };
    tune(&stream)?;
    match gateway.tls.as_ref().filter(|_| layers.tls) {
        None => start(stream, layers, handshake, gateway).await,
        Some(config) => {
            let stream = timeout(HANDSHAKE_LIMIT, tls::accept(stream, config.clone())).await??;
            start(stream, layers, handshake, gateway).await
        }
    }
}

async fn start<IO>(io: IO, layers: Layers, handshake: Handshake, gateway: &Arc<Gateway>) -> io::Result<()>
where
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
{
    if layers.websocket {
        let entrance = Entrance { admission: &gateway.admission, page: gateway.page.as_ref(), tls: layers.tls };
        let Some(upgraded) = upgrade(io, entrance).await? else { return Ok(()) };
        drop(handshake);
        let transport = WebSocketTransport::server(upgraded.io, upgraded.leftover).with_keepalive(KEEPALIVE);
        run(transport, gateway).await;
        drop(upgraded.permit);
    } else {
        let full = |_| io::Error::other("the gateway has its maximum of sessions (see --max-sessions)");
        let permit = gateway.admission.sessions.try_acquire().map_err(full)?;
        drop(handshake);
        run(StreamTransport::new(io), gateway).await;
        drop(permit);
    }
    Ok(())
}

/// Runs a session until it has ended and its relays have delivered what they had.
async fn run<T: Transport + Unpin + 'static>(transport: T, gateway: &Arc<Gateway>) {
    let (mut acceptor, connection) = server(transport, TokioClock::new(), gateway.config.clone());
    tracing::info!("session started");
    let connection = spawn_local(connection);
    let mut relays = JoinSet::new();
    let mut stop = gateway.stop.subscribe();
    let mut pace = Pace::new();
    let why = loop {
        tokio::select! {
            incoming = async { pace.due().await; acceptor.accept().await } => {
                let Some(incoming) = incoming else { break acceptor.closed().await };
                pace.take();
                relays.spawn_local(answer(incoming, gateway.clone()).in_current_span());
            }
            Some(_) = relays.join_next() => {}
            _ = stop.wait_for(|&stop| stop) => {
                relays.abort_all();
                break ConnectionError::Closed;
            }
        }
    };
    session_ended(&acceptor.stats(), &why);
    // From here on opens are refused, and the session ends with its last channel.
    drop(acceptor);
    if !runtime::drain(&mut relays, LINGER_LIMIT).await {
        tracing::info!("destinations that do not read are cut");
    }
    // It may still have to say goodbye, within a time limit of its own.
    let _ = connection.await;
}

/// Answers one OPEN, and carries the channel if it was opened.
async fn answer(incoming: Incoming, gateway: Arc<Gateway>) {
    let destination = incoming.destination().clone();
    match gateway.dialer.dial(&destination).await {
        Ok(socket) => {
            tracing::info!("{destination}: opened");
            let Ok(channel) = incoming.accept() else { return };
            relay(socket, channel, &destination).await;
        }
        Err(refusal) => {
            tracing::info!("{destination}: {}: {}", refusal.reason, refusal.detail);
            incoming.reject(refusal.reason, refusal.description);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use std::io::ErrorKind;

    use clap::Parser;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::task::LocalSet;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::serve::handshakes::Handshakes;
    use crate::serve::http::REQUEST_LIMIT;

    const WEBSOCKET: Layers = Layers { websocket: true, tls: false };
    const PLAIN: Layers = Layers { websocket: false, tls: false };

    fn gateway(more: &[&str]) -> Arc<Gateway> {
        let command = ["muxgate", "serve", "--listen", "ws://127.0.0.1:0"].iter().chain(more);
        let Command::Serve(args) = Cli::try_parse_from(command).unwrap().command else { unreachable!() };
        Arc::new(Gateway::new(&args, None).unwrap())
    }

    async fn handshake() -> Handshake {
        let handshakes = Handshakes::new();
        handshakes.begin(handshakes.room().await.unwrap(), None).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_says_nothing_is_cut() {
        let (_client, io) = duplex(1024);
        let began = Instant::now();
        let error = start(io, WEBSOCKET, handshake().await, &gateway(&[])).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (ErrorKind::TimedOut, REQUEST_LIMIT));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_dribbles_is_cut_as_early() {
        let (mut client, io) = duplex(1024);
        let dribble = async {
            for byte in b"GET /jet/jmux HTTP/1.1\r\nHost: a\r\n".iter().cycle() {
                client.write_all(&[*byte]).await.unwrap();
                sleep(Duration::from_secs(1)).await;
            }
        };
        let began = Instant::now();
        let gateway = gateway(&[]);
        let error = tokio::select! {
            result = start(io, WEBSOCKET, handshake().await, &gateway) => result.unwrap_err(),
            () = dribble => unreachable!(),
        };
        assert_eq!((error.kind(), began.elapsed()), (ErrorKind::TimedOut, REQUEST_LIMIT));
    }

    /// pomerium 1740. A page cannot ping, so the gateway must.
    #[tokio::test(start_paused = true)]
    async fn a_silent_session_is_pinged_before_a_proxy_drops_it() {
        let (mut client, io) = duplex(1024);
        let request = "GET /jet/jmux HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        let client = async {
            client.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"\r\n\r\n") {
                client.read_buf(&mut answer).await.unwrap();
            }
            let upgraded = Instant::now();
            let mut ping = [0; 2];
            client.read_exact(&mut ping).await.unwrap();
            (ping, upgraded.elapsed())
        };
        let gateway = gateway(&[]);
        let (ping, silence) = LocalSet::new()
            .run_until(async {
                tokio::select! {
                    ended = start(io, WEBSOCKET, handshake().await, &gateway) => unreachable!("{ended:?}"),
                    ping = client => ping,
                }
            })
            .await;
        assert_eq!(ping, [0x89, 0], "an empty ping");
        assert!(silence < Duration::from_secs(60), "{silence:?}");
    }

    #[tokio::test]
    async fn sessions_without_websocket_count_too() {
        let gateway = gateway(&["--max-sessions", "1"]);
        let held = gateway.admission.sessions.try_acquire().unwrap();
        let (mut client, io) = duplex(1024);
        start(io, PLAIN, handshake().await, &gateway).await.unwrap_err();
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "it was closed");
        drop(held);
    }
}
