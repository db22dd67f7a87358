//! The HTTP side of a WebSocket listener: one request, which becomes a session or gets a reason why not, or a file of the
//! page.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
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
use tokio::time::timeout;

use super::admission::{Admission, Admitted, PATH, Rejection};
use super::credentials::JMUX;
use super::page::{self, Page};

/// Longest request head, in bytes: a token of 8 KiB fits with room to spare.
const MAX_HEAD: usize = 16 * 1024;
/// Most header fields in a request; browsers send about 20.
const MAX_HEADERS: usize = 100;
/// Time for the request. Slower than this is no client.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Time for the answer if it is a file of the page, of which the largest has 100 kB: enough for a poor line.
const PAGE_LIMIT: Duration = Duration::from_secs(60);

/// What a listener leads to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entrance<'a> {
    /// Who may start a session.
    pub(super) admission: &'a Admission,
    /// What people get to see.
    pub(super) page: Option<&'a Page>,
    /// Whether the listener has TLS.
    pub(super) tls: bool,
}

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

/// Answers the one request of a connection. `None`: it did not become a session, and the answer is sent.
///
/// Fails if the request or the answer takes too long. Dropping it drops the connection.
pub(super) async fn upgrade<IO>(io: IO, entrance: Entrance<'_>) -> io::Result<Option<Upgraded<IO>>>
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let permit = Cell::new(None);
    let sends_page = Cell::new(false);
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let page = entrance.page.filter(|_| request.uri().path() != PATH);
        sends_page.set(page.is_some());
        let answer = match page {
            Some(page) => entrance.show(page, &request),
            None => entrance.admission.admit(&request, entrance.tls).map_or_else(refuse, |admitted| {
                let response = switch_protocols(&admitted);
                permit.set(Some(admitted.permit));
                response
            }),
        };
        ready(Ok::<_, Infallible>(answer))
    });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(io), service);
    let mut connection = pin!(connection.without_shutdown());
    let parts = match timeout(REQUEST_LIMIT, &mut connection).await {
        Err(_) if sends_page.get() => timeout(PAGE_LIMIT, connection).await?,
        served => served?,
    };
    let parts = parts.map_err(io::Error::other)?;
    let mut io = parts.io.into_inner();
    match permit.take() {
        Some(permit) => Ok(Some(Upgraded { io, leftover: parts.read_buf, permit })),
        None => io.shutdown().await.map(|()| None),
    }
}

impl Entrance<'_> {
    fn show<B>(self, page: &Page, request: &Request<B>) -> Response<Full<Bytes>> {
        if self.admission.origins.knows_host(request.headers()) { page.answer(request) } else { page::misdirected() }
    }
}

fn switch_protocols(admitted: &Admitted) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
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

fn refuse(rejection: Rejection) -> Response<Full<Bytes>> {
    tracing::info!("request refused: {rejection}");
    let mut response = Response::new(Full::from(format!("{rejection}\n")));
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
    use crate::serve::origin::Origins;
    use crate::serve::page::tests::page;

    const UPGRADE_HEAD: &str = "GET /jet/jmux HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    fn admission() -> Admission {
        Admission { token: None, origins: Origins::default(), sessions: Arc::new(Semaphore::new(1)) }
    }

    /// Sends `request` and returns what came back, and what became of the connection.
    async fn exchange(request: &[u8]) -> (String, Option<Upgraded<DuplexStream>>) {
        exchange_at(Entrance { admission: &admission(), page: None, tls: false }, request).await
    }

    async fn exchange_at(entrance: Entrance<'_>, request: &[u8]) -> (String, Option<Upgraded<DuplexStream>>) {
        let (mut near, far) = duplex(256 * 1024);
        let client = async {
            near.write_all(request).await.unwrap();
            let mut answer = Vec::new();
            let end = b"\r\n\r\n";
            while !answer.ends_with(end) && near.read_buf(&mut answer).await.unwrap() > 0 {}
            String::from_utf8(answer).unwrap()
        };
        let (answer, upgraded) = tokio::join!(client, upgrade(far, entrance));
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

    #[tokio::test]
    async fn with_a_page_every_other_path_is_its() {
        let listen = ["ws://127.0.0.1:7171".parse().unwrap()];
        let admission = Admission { origins: Origins::with_own(Vec::new(), &listen), ..admission() };
        let page = page();
        let entrance = Entrance { admission: &admission, page: Some(&page), tls: false };
        let status = async |request: String| {
            let (answer, upgraded) = exchange_at(entrance, request.as_bytes()).await;
            (answer[9..12].to_owned(), answer.contains("doctype"), upgraded.is_some())
        };
        let get = |path: &str, host: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(status(get("/", "127.0.0.1:7171")).await, ("200".to_owned(), true, false));
        assert_eq!(status(get("/", "evil.example:7171")).await, ("421".to_owned(), false, false));
        assert_eq!(status(get("/none", "127.0.0.1:7171")).await, ("404".to_owned(), false, false));
        assert_eq!(status(get(PATH, "127.0.0.1:7171")).await, ("426".to_owned(), false, false));
        let upgrade =
            |host: &str| UPGRADE_HEAD.replacen("Host: a", &format!("Host: {host}\r\nOrigin: http://{host}"), 1);
        assert_eq!(status(upgrade("127.0.0.1:7171")).await, ("101".to_owned(), false, true));
        assert_eq!(status(upgrade("evil.example:7171")).await, ("403".to_owned(), false, false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_the_page_is_cut_later() {
        let admission = Admission { origins: Origins::with_own(Vec::new(), &[]), ..admission() };
        let page = page();
        let entrance = Entrance { admission: &admission, page: Some(&page), tls: false };
        let (mut near, far) = duplex(64);
        near.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        let began = tokio::time::Instant::now();
        let error = upgrade(far, entrance).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed()), (io::ErrorKind::TimedOut, REQUEST_LIMIT + PAGE_LIMIT));
    }
}
