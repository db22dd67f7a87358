//! The HTTP upgrade, as the client sees it (RFC 6455, section 4.1).

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use http::header::{self, HeaderMap, HeaderName};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::random;

/// What the key is hashed with (RFC 6455, section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// An answer longer than this is none of a gateway.
const MAX_RESPONSE: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// Why a server did not become the other end of a WebSocket. Inside an `io::Error`; `get_ref` and `downcast_ref` find it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpgradeError {
    /// It answered with another HTTP status than 101.
    #[error("{}", explain(*.status))]
    Refused {
        /// The status of the answer.
        status: u16,
    },
    /// Its answer breaks the rules of the upgrade.
    #[error("the server does not speak WebSocket here: {0}")]
    Invalid(&'static str),
}

impl From<UpgradeError> for io::Error {
    fn from(error: UpgradeError) -> Self {
        let kind = match error {
            UpgradeError::Refused { status: 401 | 403 } => io::ErrorKind::PermissionDenied,
            UpgradeError::Refused { status: 404 } => io::ErrorKind::NotFound,
            UpgradeError::Refused { .. } => io::ErrorKind::ConnectionRefused,
            UpgradeError::Invalid(_) => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

fn explain(status: u16) -> String {
    let text = match status {
        300..=399 => "the server redirects; use the address of the gateway itself",
        400 => "the server finds the request invalid; is there a proxy that does not pass WebSockets on?",
        401 => "the gateway wants a valid token; is it missing, expired, or used before?",
        403 => "the gateway does not allow this client to connect; ask who runs it",
        404 => "nothing is at this path; gateways listen at /jet/jmux",
        426 => "the gateway did not see the upgrade; is there a proxy that does not pass WebSockets on?",
        429 => "too many connections from here; try again later",
        502..=504 => "the gateway takes no connections at the moment; try again later",
        _ => "the server refuses to upgrade to WebSocket",
    };
    format!("{text} (HTTP {status})")
}

/// The `Sec-WebSocket-Accept` value that answers a client's `Sec-WebSocket-Key`.
#[must_use]
pub fn accept_key(key: &[u8]) -> String {
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key, GUID].concat()))
}

/// Asks for the upgrade and checks the answer. Returns what was read behind it.
pub(super) async fn upgrade<S>(io: &mut S, host: &str, path: &str, headers: &HeaderMap) -> io::Result<BytesMut>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut nonce = [0; 16];
    random::fill(&mut nonce)?;
    let key = STANDARD.encode(nonce);
    io.write_all(&request(host, path, &key, headers)).await?;
    io.flush().await?;
    let mut input = BytesMut::new();
    loop {
        if io.read_buf(&mut input).await? == 0 {
            return Err(UpgradeError::Invalid("it closed the connection without an answer").into());
        }
        if let Some(end) = check_response(&input, &accept_key(key.as_bytes()))? {
            return Ok(input.split_off(end));
        }
        if input.len() > MAX_RESPONSE {
            return Err(UpgradeError::Invalid("its answer is too long").into());
        }
    }
}

fn request(host: &str, path: &str, key: &str, headers: &HeaderMap) -> Vec<u8> {
    let mut request = format!(
        "GET {path} HTTP/1.1\r\nhost: {host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n"
    )
    .into_bytes();
    for (name, value) in headers {
        request.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    request.extend_from_slice(b"\r\n");
    request
}

/// Where the response ends, or `None` if more of it is needed.
fn check_response(input: &[u8], accept: &str) -> Result<Option<usize>, UpgradeError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let end = match response.parse(input) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(UpgradeError::Invalid("its answer is not HTTP")),
    };
    match response.code {
        Some(101) => check_upgrade(response.headers, accept).map(|()| Some(end)),
        status => Err(UpgradeError::Refused { status: status.unwrap_or_default() }),
    }
}

/// The four rules that a client checks.
fn check_upgrade(headers: &[httparse::Header<'_>], accept: &str) -> Result<(), UpgradeError> {
    let values = |name: HeaderName| {
        let named = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name.as_str()));
        named.flat_map(|header| header.value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii)
    };
    let has = |name, expected: &str| values(name).any(|value| value.eq_ignore_ascii_case(expected.as_bytes()));
    if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
        return Err(UpgradeError::Invalid("it did not upgrade the connection"));
    }
    if !values(header::SEC_WEBSOCKET_ACCEPT).any(|value| value == accept.as_bytes()) {
        return Err(UpgradeError::Invalid("its answer is to another request"));
    }
    if values(header::SEC_WEBSOCKET_EXTENSIONS).next().is_some() {
        return Err(UpgradeError::Invalid("it uses an extension that was not offered"));
    }
    Ok(())
}
