//! Which requests may become sessions.

use std::sync::Arc;

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Method, Request, Version};
use muxgate_transport_native::websocket::accept_key;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::credentials;
use super::origin::Origins;
use crate::token::Token;

/// Where sessions are served; deployed clients ask for this path.
pub use muxgate_transport_native::DEFAULT_PATH as PATH;

/// Who may start a session.
#[derive(Debug)]
pub struct Admission {
    /// The token to present; none lets everybody in.
    pub token: Option<Token>,
    /// The web origins whose pages may connect. Programs send no `Origin`.
    pub origins: Origins,
    /// One permit for each session.
    pub sessions: Arc<Semaphore>,
}

/// A request that may become a session.
#[derive(Debug)]
pub struct Admitted {
    /// The answer to `Sec-WebSocket-Key`.
    pub accept: HeaderValue,
    /// Whether the answer names our subprotocol.
    pub subprotocol: bool,
    /// Held as long as the session lives.
    pub permit: OwnedSemaphorePermit,
}

impl Admission {
    /// Judges a request that came in through a listener with or without TLS. Order: is it ours, is it well made, may it.
    pub fn admit<B>(&self, request: &Request<B>, tls: bool) -> Result<Admitted, Rejection> {
        if request.uri().path() != PATH {
            return Err(Rejection::NotFound);
        }
        if request.method() != Method::GET {
            return Err(Rejection::Method);
        }
        let accept = check_upgrade(request)?;
        if !self.origins.admit(request.headers(), tls) {
            return Err(Rejection::Origin);
        }
        self.check_token(request)?;
        let permit = self.sessions.clone().try_acquire_owned().map_err(|_| Rejection::Full)?;
        Ok(Admitted { accept, subprotocol: credentials::offers_jmux(request.headers()), permit })
    }

    fn check_token<B>(&self, request: &Request<B>) -> Result<(), Rejection> {
        let Some(token) = &self.token else { return Ok(()) };
        let presented = credentials::presented(request)?;
        match presented.as_slice() {
            [] => Err(Rejection::NoToken),
            [first, rest @ ..] if rest.iter().any(|other| other != first) => Err(Rejection::Conflict),
            [first, ..] => token.matches(first).then_some(()).ok_or(Rejection::WrongToken),
        }
    }
}

/// The server's part of the handshake (RFC 6455, section 4.2.1).
fn check_upgrade<B>(request: &Request<B>) -> Result<HeaderValue, Rejection> {
    let headers = request.headers();
    let upgrades = request.version() == Version::HTTP_11
        && has_token(headers, &CONNECTION, "upgrade")
        && has_token(headers, &UPGRADE, "websocket")
        && headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    if !upgrades {
        return Err(Rejection::NoUpgrade);
    }
    // Bytes of a body would be taken for WebSocket frames.
    let empty = headers.get(CONTENT_LENGTH).is_none_or(|length| length == "0");
    if !empty || headers.contains_key(TRANSFER_ENCODING) {
        return Err(Rejection::Body);
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).filter(|key| is_nonce(key));
    HeaderValue::try_from(accept_key(key.ok_or(Rejection::Key)?)).map_err(|_| Rejection::Key)
}

/// Whether `key` is 16 bytes in base64.
fn is_nonce(key: &[u8]) -> bool {
    let digits = key.strip_suffix(b"==").unwrap_or_default();
    digits.len() == 22 && digits.iter().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(b))
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}

/// Why a request does not become a session. The words go to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Another path.
    #[error("sessions are served at /jet/jmux")]
    NotFound,
    /// Another method.
    #[error("a session begins with GET")]
    Method,
    /// No upgrade to a WebSocket that we speak.
    #[error("a session begins with an upgrade to WebSocket (version 13)")]
    NoUpgrade,
    /// A body.
    #[error("an upgrade has no body")]
    Body,
    /// A broken handshake key.
    #[error("Sec-WebSocket-Key is missing or not 16 bytes in base64")]
    Key,
    /// A page that is not listed.
    #[error("pages of this origin may not connect (see --allow-origin)")]
    Origin,
    /// No credentials.
    #[error("a bearer token is needed")]
    NoToken,
    /// Wrong credentials.
    #[error("the token is not valid")]
    WrongToken,
    /// A token in a subprotocol that cannot be read.
    #[error("a token in Sec-WebSocket-Protocol is written in base64url without padding")]
    TokenEncoding,
    /// Contradicting credentials.
    #[error("the request carries different tokens")]
    Conflict,
    /// No room.
    #[error("the gateway has its maximum of sessions (see --max-sessions)")]
    Full,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use super::*;

    fn admission(token: Option<&str>, origins: &[&str]) -> Admission {
        Admission {
            token: token.map(|token| Token::new(token).unwrap()),
            origins: Origins::listed(origins.iter().map(|origin| origin.parse().unwrap()).collect()),
            sessions: Arc::new(Semaphore::new(1)),
        }
    }

    /// A good request, changed by `(name, value)` pairs: an empty value removes the header.
    fn request(uri: &str, changes: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::get(uri).body(()).unwrap();
        let good = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in good.iter().chain(changes) {
            let name: HeaderName = name.parse().unwrap();
            match (*value, changes.iter().filter(|(changed, _)| name == *changed).count()) {
                ("", _) => drop(request.headers_mut().remove(&name)),
                (value, 2..) => drop(request.headers_mut().append(name, value.parse().unwrap())),
                (value, _) => drop(request.headers_mut().insert(name, value.parse().unwrap())),
            }
        }
        request
    }

    fn judge(admission: &Admission, uri: &str, changes: &[(&str, &str)]) -> Result<(), Rejection> {
        admission.admit(&request(uri, changes), false).map(drop)
    }

    #[test]
    fn a_good_request_is_admitted() {
        let admitted = admission(None, &[]).admit(&request(PATH, &[]), false).unwrap();
        assert_eq!(admitted.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn what_is_no_upgrade_at_our_path_is_refused() {
        let open = admission(None, &[]);
        for uri in ["/", "/jet", "/jet/jmux/", "/JET/jmux", "/jet/jmux/x", "//jet/jmux"] {
            assert_eq!(judge(&open, uri, &[]), Err(Rejection::NotFound), "{uri}");
        }
        for (name, value) in [
            ("connection", "keep-alive"),
            ("connection", ""),
            ("upgrade", "h2c"),
            ("upgrade", ""),
            ("sec-websocket-version", "8"),
            ("sec-websocket-version", ""),
        ] {
            assert_eq!(judge(&open, PATH, &[(name, value)]), Err(Rejection::NoUpgrade), "{name}: {value}");
        }
        for key in ["", "short", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSE=", "!!!!!!!!!!!!!!!!!!!!!!=="] {
            assert_eq!(judge(&open, PATH, &[("sec-websocket-key", key)]), Err(Rejection::Key), "{key}");
        }
        assert_eq!(judge(&open, PATH, &[("content-length", "5")]), Err(Rejection::Body));
        assert_eq!(judge(&open, PATH, &[("transfer-encoding", "chunked")]), Err(Rejection::Body));
        let mut post = request(PATH, &[]);
        *post.method_mut() = Method::POST;
        assert_eq!(open.admit(&post, false).map(drop), Err(Rejection::Method));
        let mut old = request(PATH, &[]);
        *old.version_mut() = Version::HTTP_10;
        assert_eq!(open.admit(&old, false).map(drop), Err(Rejection::NoUpgrade));
    }

    #[test]
    fn a_page_must_be_listed() {
        let listed = admission(None, &["https://app.example", "http://localhost:8080"]);
        let origin = |origin| judge(&listed, PATH, &[("origin", origin)]);
        assert_eq!(origin("https://app.example"), Ok(()));
        assert_eq!(origin("http://localhost:8080"), Ok(()));
        let foreign = [
            "null",
            "https://evil.example",
            "https://app.example.evil.example",
            "http://app.example",
            "https://app.example:444",
            "https://APP.example",
            "https://xapp.example",
            "https://app.example/",
        ];
        for foreign in foreign {
            assert_eq!(origin(foreign), Err(Rejection::Origin), "{foreign}");
        }
        let two = [("origin", "https://app.example"), ("origin", "https://evil.example")];
        assert_eq!(judge(&listed, PATH, &two), Err(Rejection::Origin));
        assert_eq!(judge(&admission(None, &[]), PATH, &[("origin", "https://app.example")]), Err(Rejection::Origin));
    }

    #[test]
    fn a_token_is_taken_from_header_query_or_subprotocol() {
        let guarded = admission(Some("s3cret+/="), &[]);
        let bearer = |value| judge(&guarded, PATH, &[("authorization", value)]);
        assert_eq!(bearer("Bearer s3cret+/="), Ok(()));
        assert_eq!(bearer("bearer  s3cret+/="), Ok(()));
        assert_eq!(judge(&guarded, "/jet/jmux?a=b&token=s3cret%2B%2F%3D", &[]), Ok(()));
        assert_eq!(judge(&guarded, PATH, &[]), Err(Rejection::NoToken));
        assert_eq!(judge(&guarded, "/jet/jmux?tokens=s3cret", &[]), Err(Rejection::NoToken));
        for wrong in ["Bearer s3cret", "Bearer s3cret+/==", "Bearer", "Bearer ", "Basic s3cret+/=", "s3cret+/="] {
            assert_eq!(bearer(wrong), Err(Rejection::WrongToken), "{wrong}");
        }
        assert_eq!(judge(&guarded, "/jet/jmux?token=", &[]), Err(Rejection::WrongToken));
        let offer = |offer| judge(&guarded, PATH, &[("sec-websocket-protocol", offer)]);
        assert_eq!(offer("muxgate.jmux, muxgate.token.czNjcmV0Ky89"), Ok(()));
        assert_eq!(offer("muxgate.jmux, muxgate.token.czNjcmV0"), Err(Rejection::WrongToken));
        assert_eq!(offer("muxgate.jmux, muxgate.token."), Err(Rejection::WrongToken));
        assert_eq!(offer("muxgate.jmux, muxgate.token.?"), Err(Rejection::TokenEncoding));
        assert_eq!(offer("muxgate.jmux"), Err(Rejection::NoToken));
    }

    #[test]
    fn different_tokens_in_one_request_are_refused() {
        let guarded = admission(Some("a"), &[]);
        let bearer = ("authorization", "Bearer a");
        assert_eq!(judge(&guarded, "/jet/jmux?token=a", &[bearer]), Ok(()));
        assert_eq!(judge(&guarded, "/jet/jmux?token=b", &[bearer]), Err(Rejection::Conflict));
        assert_eq!(judge(&guarded, "/jet/jmux?token=a&token=b", &[]), Err(Rejection::Conflict));
        assert_eq!(judge(&guarded, PATH, &[bearer, ("authorization", "Bearer b")]), Err(Rejection::Conflict));
        let offer = |offer| judge(&guarded, PATH, &[bearer, ("sec-websocket-protocol", offer)]);
        assert_eq!(offer("muxgate.token.YQ"), Ok(()));
        assert_eq!(offer("muxgate.token.Yg"), Err(Rejection::Conflict));
        assert_eq!(offer("muxgate.token.YQ, muxgate.token.Yg"), Err(Rejection::Conflict));
    }

    #[test]
    fn sessions_are_counted() {
        let one = admission(None, &[]);
        let held = one.admit(&request(PATH, &[]), false).unwrap();
        assert_eq!(judge(&one, PATH, &[]), Err(Rejection::Full));
        drop(held);
        assert_eq!(judge(&one, PATH, &[]), Ok(()));
    }
}
