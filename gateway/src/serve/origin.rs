//! Web origins: whose pages may connect.
//!
//! Browsers send the `Origin` of the page with every WebSocket, and the `Host` that they were told to connect to. Those
//! whose pages may connect are listed by the operator. A gateway that serves a page itself also admits its own origin, the
//! one that is equal to the listener's scheme and the request's `Host`.
//!
//! That `Host` has to be one that nobody else can claim. Otherwise a foreign site could let its own name point to the
//! gateway's address (DNS rebinding): its page would then be of the gateway's "own" origin. So a host counts if it is an
//! address, because no name is looked up that could change, or `localhost`, which browsers do not look up, or a name that
//! the operator wrote into `--listen` or `--allow-origin`.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};

use super::listen_url::ListenUrl;
use crate::listen::Address;

/// A web origin, `scheme://host[:port]`, compared exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

/// Why a text is no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an origin is written as browsers send it, in lower case and without a path: https://app.example")]
pub struct OriginError;

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (scheme, host) = text.split_once("://").ok_or(OriginError)?;
        let is_lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._+:[]".contains(&b);
        let valid = !scheme.is_empty() && !host.is_empty() && scheme.bytes().chain(host.bytes()).all(is_lower);
        valid.then(|| Self(text.to_owned())).ok_or(OriginError)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Origin {
    fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }
}

/// The origins whose pages may connect.
#[derive(Debug, Default)]
pub struct Origins {
    listed: Vec<Origin>,
    /// Names of the gateway, if it serves a page of its own.
    own: Option<Vec<String>>,
}

impl Origins {
    /// Those that are listed.
    #[must_use]
    pub fn listed(listed: Vec<Origin>) -> Self {
        Self { listed, own: None }
    }

    /// Those that are listed, and the gateway's own at `urls`.
    #[must_use]
    pub fn with_own(listed: Vec<Origin>, urls: &[ListenUrl]) -> Self {
        let name = |url: &ListenUrl| match &url.address {
            Address::Tcp { host, .. } => Some(host.to_ascii_lowercase()),
            Address::Unix(_) => None,
        };
        Self { listed, own: Some(urls.iter().filter_map(name).collect()) }
    }

    /// Whether a request may start a session, as far as its `Origin` goes. Programs send none, and may. `tls` is about
    /// the listener.
    #[must_use]
    pub fn admit(&self, headers: &HeaderMap, tls: bool) -> bool {
        let scheme = if tls { "https" } else { "http" };
        let own = host(headers).filter(|host| self.is_own(host)).map(|host| format!("{scheme}://{host}"));
        let known = |value: &HeaderValue| {
            self.listed.iter().map(|origin| &origin.0).chain(&own).any(|origin| value == origin.as_str())
        };
        headers.get_all(ORIGIN).iter().all(known)
    }

    /// Whether a request was meant for this gateway: the one `Host` in it is one of ours.
    #[must_use]
    pub fn knows_host(&self, headers: &HeaderMap) -> bool {
        host(headers).is_some_and(|host| self.is_own(host))
    }

    fn is_own(&self, host: &str) -> bool {
        let Some(names) = &self.own else { return false };
        let Some(name) = without_port(host) else { return false };
        is_address(name)
            || name == "localhost"
            || names.iter().any(|own| own == name)
            || self.listed.iter().any(|origin| origin.host() == host)
    }
}

/// The `Host` of a request, if there is exactly one.
fn host(headers: &HeaderMap) -> Option<&str> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    hosts.next().is_none().then_some(host)
}

/// Strict: what is neither `name`, `name:port` nor the same with an IPv6 address in brackets is nothing.
fn without_port(host: &str) -> Option<&str> {
    match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => port.parse::<u16>().is_ok().then_some(name),
        _ => Some(host),
    }
}

fn is_address(name: &str) -> bool {
    let in_brackets = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => name.parse::<Ipv4Addr>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use super::*;

    fn headers(pairs: &[(hyper::header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn with_own(listed: &[&str]) -> Origins {
        let listed = listed.iter().map(|origin| origin.parse().unwrap()).collect();
        Origins::with_own(listed, &["ws://127.0.0.1:7171".parse().unwrap(), "wss://Gate.example:443".parse().unwrap()])
    }

    fn admits(origins: &Origins, tls: bool, host: &str, origin: &str) -> bool {
        origins.admit(&headers(&[(HOST, host), (ORIGIN, origin)]), tls)
    }

    #[test]
    fn origins_on_the_command_line() {
        for good in ["https://app.example", "http://localhost:8080", "http://[::1]:3000", "chrome-extension://abcdef"] {
            assert_eq!(good.parse::<Origin>().map(|origin| origin.to_string()).as_deref(), Ok(good));
        }
        for bad in ["null", "*", "app.example", "https://", "https://App.example", "https://app.example/", "://a"] {
            assert_eq!(bad.parse::<Origin>(), Err(OriginError), "{bad}");
        }
    }

    #[test]
    fn the_own_page_may_connect() {
        let origins = with_own(&[]);
        for host in ["127.0.0.1:7171", "192.0.2.7", "[2001:db8::7]:7171", "[::1]", "localhost:7171", "localhost"] {
            assert!(admits(&origins, false, host, &format!("http://{host}")), "{host}");
        }
        assert!(admits(&origins, true, "gate.example", "https://gate.example"));
        assert!(origins.admit(&headers(&[(HOST, "127.0.0.1:7171")]), false), "a program");
    }

    #[test]
    fn another_page_may_not() {
        let origins = with_own(&[]);
        for (host, origin) in [
            ("127.0.0.1:7171", "http://127.0.0.1:7172"),
            ("127.0.0.1:7171", "http://localhost:7171"),
            ("127.0.0.1:7171", "https://127.0.0.1:7171"),
            ("127.0.0.1:7171", "http://127.0.0.1:7171/"),
            ("127.0.0.1:7171", "null"),
            ("127.0.0.1:7171", ""),
            ("localhost:7171", "http://evil.example"),
        ] {
            assert!(!admits(&origins, false, host, origin), "{host} {origin}");
        }
        assert!(!admits(&origins, true, "127.0.0.1", "http://127.0.0.1"), "a page without TLS, a listener with");
        assert!(!admits(&Origins::default(), false, "127.0.0.1:7171", "http://127.0.0.1:7171"), "no page is served");
        let two = headers(&[(HOST, "127.0.0.1:7171")]);
        let mut two_origins = two.clone();
        two_origins.append(ORIGIN, "http://127.0.0.1:7171".parse().unwrap());
        assert!(origins.admit(&two_origins, false));
        two_origins.append(ORIGIN, "http://evil.example".parse().unwrap());
        assert!(!origins.admit(&two_origins, false));
    }

    #[test]
    fn a_foreign_name_that_leads_here_is_not_ours() {
        let origins = with_own(&[]);
        for host in [
            "evil.example:7171",
            "127.0.0.1.evil.example:7171",
            "localhost.evil.example:7171",
            "x.localhost:7171",
            "0x7f000001:7171",
            "x@127.0.0.1:7171",
            "[::1].evil.example",
            "[::1].evil.example:7171",
            "[evil.example]",
            "127.0.0.1:7171:80",
            "::1",
            ":7171",
            "",
        ] {
            assert!(!admits(&origins, false, host, &format!("http://{host}")), "{host}");
            assert!(!origins.knows_host(&headers(&[(HOST, host)])), "{host}");
        }
        assert!(!origins.knows_host(&headers(&[])));
        let mut two = headers(&[(HOST, "localhost")]);
        two.append(HOST, "evil.example".parse().unwrap());
        assert!(!origins.knows_host(&two));
    }

    #[test]
    fn a_name_that_the_operator_lists_is() {
        let origins = with_own(&["https://gateway.example", "http://app.example:8080"]);
        assert!(origins.knows_host(&headers(&[(HOST, "gateway.example")])));
        assert!(origins.knows_host(&headers(&[(HOST, "app.example:8080")])));
        assert!(!origins.knows_host(&headers(&[(HOST, "app.example")])), "another port is another origin");
        assert!(admits(&origins, false, "gateway.example", "https://gateway.example"), "TLS ends in front of us");
    }
}
