//! Endpoints dialled end to end.

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use bytes::Bytes;
use muxgate_core::Dial;
use muxgate_transport_native::tls::{self, ClientTls};
use muxgate_transport_native::websocket::UpgradeError;
use muxgate_transport_native::{Dialer, Endpoint, StreamTransport, Token, WebSocketTransport};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{close, echo, exchange, read_exact};
use crate::tls::Certificates;

const TOTAL: usize = 300_000;

fn endpoint(text: &str) -> Result<Endpoint> {
    text.parse().map_err(Error::other)
}

/// Dials, sends something there and back, and ends.
async fn use_once(dialer: &Dialer) -> Result<()> {
    let mut transport = dialer.dial().await?;
    exchange(&mut transport, TOTAL).await?;
    close(&mut transport).await
}

#[tokio::test]
async fn tcp() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let dialer = Dialer::new(endpoint(&format!("tcp://{}", listener.local_addr()?))?, &ClientTls::default())?;
    let server = async { echo(StreamTransport::new(listener.accept().await?.0)).await };
    tokio::try_join!(use_once(&dialer), server)?;
    Ok(())
}

#[tokio::test]
async fn tls() -> Result<()> {
    let certificates = Certificates::new()?;
    let config = tls::server_config(&certificates.issue("localhost")?, None)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("tls://localhost:{}", listener.local_addr()?.port());
    let dialer = Dialer::new(endpoint(&url)?, &certificates.client())?;
    let server = async { echo(StreamTransport::new(tls::accept(listener.accept().await?.0, config).await?)).await };
    tokio::try_join!(use_once(&dialer), server)?;
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn unix_socket() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("gateway.sock");
    let listener = tokio::net::UnixListener::bind(&path)?;
    let dialer = Dialer::new(endpoint(&format!("unix:{}", path.display()))?, &ClientTls::default())?;
    let server = async { echo(StreamTransport::new(listener.accept().await?.0)).await };
    tokio::try_join!(use_once(&dialer), server)?;
    Ok(())
}

/// Takes a request to its blank line and sends `answer`.
async fn answer(listener: &TcpListener, answer: impl AsyncFnOnce(&str) -> String) -> Result<(String, TcpStream)> {
    let (mut stream, _) = listener.accept().await?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8(request).map_err(Error::other)?;
    stream.write_all(answer(&request).await.as_bytes()).await?;
    Ok((request, stream))
}

/// The answer of a server that upgrades.
async fn upgrade(request: &str) -> String {
    let key = request.lines().find_map(|line| line.strip_prefix("sec-websocket-key: ")).unwrap_or_default();
    let accept = muxgate_transport_native::websocket::accept_key(key.as_bytes());
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// pomerium 1740: a proxy drops what is silent for a minute.
#[tokio::test]
async fn a_silent_gateway_is_pinged() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let dialer = Dialer::new(endpoint(&format!("ws://{}", listener.local_addr()?))?, &ClientTls::default())?;
    let (mut transport, (_, mut server)) = tokio::try_join!(dialer.dial(), answer(&listener, upgrade))?;
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let mut ping = [0; 2];
    tokio::select! {
        read = read_exact(&mut transport, 1) => unreachable!("nothing comes: {read:?}"),
        result = server.read_exact(&mut ping) => result.map(drop)?,
    }
    assert_eq!(ping, [0x89, 0x80], "an empty ping, masked");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    Ok(())
}

#[tokio::test]
async fn websocket_with_a_token() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}", listener.local_addr()?);
    let dialer = Dialer::new(endpoint(&url)?, &ClientTls::default())?.with_token(&Token::new("s3cret\n"))?;
    assert!(!format!("{dialer:?}").contains("s3cret"), "a token is not shown");
    let server = async {
        let (request, stream) = answer(&listener, upgrade).await?;
        echo(WebSocketTransport::server(stream, Bytes::new())).await?;
        Ok(request)
    };
    let ((), request) = tokio::try_join!(use_once(&dialer), server)?;
    assert!(request.starts_with("GET /jet/jmux HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nauthorization: Bearer s3cret\r\n"), "{request}");
    Ok(())
}

/// Dials a server that gives `response`, and returns the error.
async fn refusal(response: &str) -> Result<Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}/jet/jmux?token=s3cret", listener.local_addr()?);
    let dialer = Dialer::new(endpoint(&url)?, &ClientTls::default())?;
    let server = async { answer(&listener, async |_: &str| response.to_owned()).await.map(drop) };
    let (dialled, server) = tokio::join!(dialer.dial(), server);
    server?;
    let error = dialled.err().ok_or(Error::other("it should not connect"))?;
    assert!(!error.to_string().contains("s3cret"), "a token is not shown: {error}");
    Ok(error)
}

#[tokio::test]
async fn a_refusal_is_understandable() -> Result<()> {
    for (status, kind, word) in [
        (401, ErrorKind::PermissionDenied, "token"),
        (403, ErrorKind::PermissionDenied, "allow"),
        (404, ErrorKind::NotFound, "/jet/jmux"),
        (503, ErrorKind::ConnectionRefused, "later"),
        (200, ErrorKind::ConnectionRefused, "upgrade"),
    ] {
        let error = refusal(&format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n")).await?;
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(word) && error.to_string().contains(&status.to_string()), "{error}");
        let inner = error.get_ref().and_then(|error| error.downcast_ref());
        assert_eq!(inner, Some(&UpgradeError::Refused { status }));
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_no_upgrade_is_refused() -> Result<()> {
    let wrong_key = upgrade("").await;
    for response in ["SSH-2.0-OpenSSH_9.9\r\n", "", "HTTP/1.1 101 Yes\r\n\r\n", wrong_key.as_str()] {
        let error = refusal(response).await?;
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn bytes_behind_the_upgrade_are_not_lost() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}", listener.local_addr()?);
    let dialer = Dialer::new(endpoint(&url)?, &ClientTls::default())?;
    // A binary frame that is not the last of its message, and so has no byte above 0x7F.
    let early = async |request: &str| upgrade(request).await + "\u{2}\u{5}early";
    let (transport, server) = tokio::join!(dialer.dial(), answer(&listener, early));
    let _stream = server?.1;
    assert_eq!(read_exact(&mut transport?, 5).await?, b"early");
    Ok(())
}

#[tokio::test]
async fn a_server_that_says_nothing_ends_with_the_limit() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("ws://{}", listener.local_addr()?);
    let dialer = Dialer::new(endpoint(&url)?, &ClientTls::default())?.with_timeout(Duration::from_millis(100));
    let error = dialer.dial().await.expect_err("the upgrade is not answered");
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    Ok(())
}

#[test]
fn a_token_needs_a_websocket() -> Result<()> {
    let dialer = Dialer::new(endpoint("tcp://127.0.0.1:1")?, &ClientTls::default())?;
    assert!(dialer.with_token(&Token::new("token")).is_err());
    Ok(())
}
