//! Requests that ask for a session.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, Request, Uri, Version, header};
use muxgate::serve::admission::{Admission, Rejection};
use muxgate::serve::origin::{Origin, Origins};
use muxgate::token::Token;
use tokio::sync::Semaphore;

/// The first line is a target, the others are headers; a complete upgrade if they change nothing.
///
/// No request passes two different tokens, none with a token passes without one being presented, and none of a page passes
/// whose origin is not listed, or could be that of somebody else's name for this machine (DNS rebinding).
pub(crate) fn run(input: &[u8]) {
    let Some(request) = request(input) else { return };
    let open = admit(&request, None, &[]);
    let tokens = ["s3cret", "other"].map(|token| admit(&request, Some(token), &[]));
    assert!(tokens.iter().filter(|result| result.is_ok()).count() <= 1, "two tokens at once");
    assert!(open.is_ok() || tokens.iter().all(Result::is_err), "a token opens nothing that is closed without");
    if open.is_ok() {
        assert_eq!((request.method(), request.uri().path()), (&Method::GET, "/jet/jmux"));
        assert!(!request.headers().contains_key(header::ORIGIN), "no origin is listed");
        assert!(request.headers().contains_key(header::SEC_WEBSOCKET_KEY));
    }
    let own = Origins::with_own(Vec::new(), &["ws://gateway.example:7171".parse().expect("a URL")]);
    if judge(&request, None, own).is_ok() {
        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        assert!(origins.all(|origin| origin.to_str().is_ok_and(is_of_nobody_else)), "{request:?}");
    }
    let listed = admit(&request, None, &["https://app.example"]);
    if listed.is_ok() && open.is_err() {
        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        assert!(origins.all(|origin| origin == "https://app.example"));
    }
}

fn admit(request: &Request<()>, token: Option<&str>, origins: &[&str]) -> Result<(), Rejection> {
    let origins = origins.iter().map(|origin| origin.parse::<Origin>().expect("an origin"));
    judge(request, token, Origins::listed(origins.collect()))
}

fn judge(request: &Request<()>, token: Option<&str>, origins: Origins) -> Result<(), Rejection> {
    let admission = Admission {
        token: token.map(|token| Token::new(token).expect("a token")),
        origins,
        sessions: Arc::new(Semaphore::new(1)),
    };
    admission.admit(request, false).map(drop)
}

/// Whether the host of the origin is an address, `localhost`, or the name that the operator wrote down.
fn is_of_nobody_else(origin: &str) -> bool {
    let Some(host) = origin.strip_prefix("http://") else { return false };
    let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = port.map_or(host, |(name, _)| name);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    ["localhost", "gateway.example"].contains(&name) || bare.parse::<IpAddr>().is_ok()
}

fn request(input: &[u8]) -> Option<Request<()>> {
    let mut lines = input.split(|byte| *byte == b'\n');
    let mut request = Request::new(());
    *request.uri_mut() = Uri::try_from(lines.next().unwrap_or_default()).ok()?;
    *request.version_mut() = Version::HTTP_11;
    let good: [(_, &[u8]); 4] = [
        (header::CONNECTION, b"Upgrade"),
        (header::UPGRADE, b"websocket"),
        (header::SEC_WEBSOCKET_VERSION, b"13"),
        (header::SEC_WEBSOCKET_KEY, b"dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    for (name, value) in good {
        request.headers_mut().insert(name, HeaderValue::from_bytes(value).ok()?);
    }
    for line in lines {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..at]).ok()?;
        let value = HeaderValue::from_bytes(line[at + 1..].trim_ascii()).ok()?;
        // Those of the upgrade are replaced, and may come twice behind that; others are added.
        if matches!(name.as_str(), "connection" | "upgrade") {
            request.headers_mut().remove(&name);
        }
        request.headers_mut().append(name, value);
    }
    Some(request)
}
