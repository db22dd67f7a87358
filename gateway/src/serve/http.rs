//! The HTTP side of a WebSocket listener: one request, which becomes a session or gets a reason why not.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::ready;
use std::io;

use bytes::Bytes;
use hyper::header::{
    ALLOW, CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE, WWW_AUTHENTICATE,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::OwnedSemaphorePermit;

use super::admission::{Admission, Admitted, Rejection};
use super::credentials::JMUX;

/// Longest request head, in bytes: a token of 8 KiB fits with room to spare.
const MAX_HEAD: usize = 16 * 1024;
/// Most header fields in a request; browsers send about 20.
const MAX_HEADERS: usize = 100;

/// What becomes of an accepted request.
#[derive(Debug)]
pub(super) struct Upgraded<IO> {
    /// The connection, now a WebSocket.
    pub(super) io: IO,
    /// What the client sent behind its request already.
    pub(super) leftover: Bytes,
    /// Held as long as the session lives.
    pub(super) permit: OwnedSemaphorePermit,
}

/// Answers the one request of a connection. `None`: it was refused, and the answer sent.
///
/// Has no time limit of its own. Dropping it drops the connection.
pub(super) async fn upgrade<IO>(io: IO, admission: &Admission) -> io::Result<Option<Upgraded<IO>>>
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let permit = Cell::new(None);
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let answer = admission.admit(&request).map(|admitted| {
            let response = switch_protocols(&admitted);
            permit.set(Some(admitted.permit));
            response
        });
        ready(Ok::<_, Infallible>(answer.unwrap_or_else(|rejection| {
            tracing::info!("request refused: {rejection}");
            refuse(rejection)
        })))
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(io), service);
    let parts = connection.without_shutdown().await.map_err(io::Error::other)?;
    let mut io = parts.io.into_inner();
    match permit.take() {
        Some(permit) => Ok(Some(Upgraded { io, leftover: parts.read_buf, permit })),
        None => io.shutdown().await.map(|()| None),
    }
}

fn switch_protocols(admitted: &Admitted) -> Response<String> {
    let mut response = Response::new(String::new());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, admitted.accept.clone());
    if admitted.subprotocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(JMUX));
    }
    response
}

fn refuse(rejection: Rejection) -> Response<String> {
    let mut response = Response::new(format!("{rejection}\n"));
    *response.status_mut() = status(rejection);
    let headers = response.headers_mut();
    let mut add = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
    match rejection {
        Rejection::Method => {
            add(ALLOW, "GET");
        }
        Rejection::NoUpgrade => {
            add(UPGRADE, "websocket");
            add(CONNECTION, "upgrade");
            add(SEC_WEBSOCKET_VERSION, "13");
        }
        Rejection::NoToken => {
            add(WWW_AUTHENTICATE, "Bearer realm=\"muxgate\"");
        }
        Rejection::WrongToken => {
            add(WWW_AUTHENTICATE, "Bearer realm=\"muxgate\", error=\"invalid_token\"");
        }
        _ => {}
    }
    response
}

fn status(rejection: Rejection) -> StatusCode {
    match rejection {
        Rejection::NotFound => StatusCode::NOT_FOUND,
        Rejection::Method => StatusCode::METHOD_NOT_ALLOWED,
        Rejection::NoUpgrade => StatusCode::UPGRADE_REQUIRED,
        Rejection::Body | Rejection::Key | Rejection::TokenEncoding | Rejection::Conflict => StatusCode::BAD_REQUEST,
        Rejection::Origin => StatusCode::FORBIDDEN,
        Rejection::NoToken | Rejection::WrongToken => StatusCode::UNAUTHORIZED,
        Rejection::Full => StatusCode::SERVICE_UNAVAILABLE,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, DuplexStream, duplex};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::serve::admission::PATH;

    const UPGRADE_HEAD: &str = "GET /jet/jmux HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    fn admission() -> Admission {
        Admission { token: None, origins: Vec::new(), sessions: Arc::new(Semaphore::new(1)) }
    }

    /// Sends `request` and returns what came back, and what became of the connection.
    async fn exchange(request: &[u8]) -> (String, Option<Upgraded<DuplexStream>>) {
        let (mut near, far) = duplex(256 * 1024);
        let client = async {
            near.write_all(request).await.unwrap();
            let mut answer = Vec::new();
            let end = b"\r\n\r\n";
            while !answer.ends_with(end) && near.read_buf(&mut answer).await.unwrap() > 0 {}
            String::from_utf8(answer).unwrap()
        };
        let admission = admission();
        let (answer, upgraded) = tokio::join!(client, upgrade(far, &admission));
        (answer, upgraded.unwrap_or_default())
    }

    #[tokio::test]
    async fn an_upgrade_hands_over_what_came_behind_it() {
        let request = format!("{UPGRADE_HEAD}behind");
        let (answer, upgraded) = exchange(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        assert!(answer.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), "{answer}");
        assert_eq!(upgraded.unwrap().leftover, "behind");
    }

    #[tokio::test]
    async fn the_subprotocol_is_answered_and_no_token_with_it() {
        let answer = async |offers: &str| {
            let request = UPGRADE_HEAD.replacen("\r\n\r\n", &format!("\r\n{offers}\r\n"), 1);
            let (answer, upgraded) = exchange(request.as_bytes()).await;
            assert!(upgraded.is_some(), "{answer}");
            answer
        };
        let both = answer("Sec-WebSocket-Protocol: x, muxgate.token.YQ, muxgate.jmux\r\n").await;
        assert!(both.contains("sec-websocket-protocol: muxgate.jmux\r\n") && !both.contains("token"), "{both}");
        for offers in ["", "Sec-WebSocket-Protocol: x, muxgate.token.YQ\r\n"] {
            let answer = answer(offers).await;
            assert!(!answer.contains("protocol: "), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_refusal_says_why_and_closes() {
        let (answer, upgraded) = exchange(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 404 ") && answer.contains("connection: close"), "{answer}");
        assert!(upgraded.is_none());
        let (answer, _) = exchange(format!("POST {PATH} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 405 ") && answer.contains("allow: GET"), "{answer}");
        let (answer, _) = exchange(format!("GET {PATH} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 426 ") && answer.contains("upgrade: websocket"), "{answer}");
    }

    #[tokio::test]
    async fn oversized_heads_are_refused() {
        let long = format!("GET {PATH} HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(20 * 1024));
        let many = format!("GET {PATH} HTTP/1.1\r\n{}\r\n", "X: x\r\n".repeat(200));
        for request in [long, many] {
            let (answer, upgraded) = exchange(request.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
            assert!(upgraded.is_none());
        }
    }
}
