//! Where a gateway is.

use std::fmt;
use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;

/// The path at which gateways accept JMUX over WebSocket.
pub const DEFAULT_PATH: &str = "/jet/jmux";

/// A host and a port. IPv6 addresses are kept without brackets and shown with them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// A name or an address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// A way to reach a gateway, or for a gateway to be reached: `tcp://host:port`, `tls://host:port`,
/// `ws://host[:port][/path]`, `wss://host[:port][/path]`, `unix:/path`.
///
/// `Debug` and `Display` leave a query out: it may hold a token.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// JMUX directly on TCP.
    Tcp(HostPort),
    /// JMUX on TLS.
    Tls(HostPort),
    /// JMUX over WebSocket.
    WebSocket {
        /// On TLS (`wss`).
        secure: bool,
        /// Where the server is; the port is 80 or 443 if the URL has none.
        server: HostPort,
        /// Path and query; `/jet/jmux` if the URL has none.
        path: String,
    },
    /// JMUX on a Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(server) => write!(f, "tcp://{server}"),
            Self::Tls(server) => write!(f, "tls://{server}"),
            Self::WebSocket { secure, server, path } => {
                let scheme = if *secure { "wss" } else { "ws" };
                let path = path.split('?').next().unwrap_or_default();
                write!(f, "{scheme}://{server}{path}")
            }
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Why a text is not an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// None of the known schemes in front.
    #[error("unknown scheme: write tcp://, tls://, ws://, wss:// or unix:/path")]
    Scheme,
    /// What follows the scheme cannot be read.
    #[error("not a host and port: write for example {0}")]
    Server(&'static str),
    /// The scheme has no usual port.
    #[error("the port is missing: write for example {0}")]
    Port(&'static str),
    /// `unix:` without a path.
    #[error("the path of the Unix socket is missing: write for example unix:/run/muxgate.sock")]
    Path,
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let (scheme, rest) = text.split_once(':').ok_or(EndpointError::Scheme)?;
        match scheme {
            "tcp" => Ok(Self::Tcp(server_only(text, "tcp://gateway.example:7172")?)),
            "tls" => Ok(Self::Tls(server_only(text, "tls://gateway.example:7173")?)),
            "ws" => websocket(text, false),
            "wss" => websocket(text, true),
            "unix" if rest.is_empty() || rest == "//" => Err(EndpointError::Path),
            // `unix:///path` is the same with an empty host.
            "unix" => Ok(Self::Unix(unix_path(rest.strip_prefix("//").unwrap_or(rest)))),
            _ => Err(EndpointError::Scheme),
        }
    }
}

/// Slashes at the beginning count once: shown behind `unix:`, two of them would be read as an empty host.
fn unix_path(path: &str) -> PathBuf {
    let bare = path.trim_start_matches('/');
    if bare.len() < path.len() { format!("/{bare}").into() } else { path.into() }
}

fn websocket(text: &str, secure: bool) -> Result<Endpoint, EndpointError> {
    let (example, port) = if secure { ("wss://gateway.example", 443) } else { ("ws://gateway.example:7171", 80) };
    let uri = parse(text, example)?;
    let server = server(&uri, Some(port), example)?;
    let path = match (uri.path(), uri.query()) {
        ("/" | "", None) => DEFAULT_PATH.to_owned(),
        ("/" | "", Some(query)) => format!("{DEFAULT_PATH}?{query}"),
        (path, None) => path.to_owned(),
        (path, Some(query)) => format!("{path}?{query}"),
    };
    Ok(Endpoint::WebSocket { secure, server, path })
}

fn server_only(text: &str, example: &'static str) -> Result<HostPort, EndpointError> {
    let uri = parse(text, example)?;
    if uri.path_and_query().is_some_and(|path| path != "/") {
        return Err(EndpointError::Server(example));
    }
    server(&uri, None, example)
}

fn parse(text: &str, example: &'static str) -> Result<Uri, EndpointError> {
    text.parse().map_err(|_| EndpointError::Server(example))
}

fn server(uri: &Uri, default: Option<u16>, example: &'static str) -> Result<HostPort, EndpointError> {
    let invalid = EndpointError::Server(example);
    let authority = uri.authority().ok_or(invalid.clone())?;
    // A user name is refused rather than ignored: whoever writes one expects it to be used.
    let port = authority.as_str().strip_prefix(authority.host()).ok_or(invalid.clone())?;
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().map_err(|_| invalid.clone())?,
        None => default.ok_or(EndpointError::Port(example))?,
    };
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let valid = match address {
        Some(address) => is_ipv6(address),
        None => !host.is_empty() && !host.contains(['[', ']']),
    };
    valid.then(|| HostPort { host: address.unwrap_or(host).to_owned(), port }).ok_or(invalid)
}

/// Whether this is an IPv6 address, with or without a zone.
fn is_ipv6(text: &str) -> bool {
    let (address, zone) = text.split_once('%').unwrap_or((text, "any"));
    address.parse::<Ipv6Addr>().is_ok() && !zone.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, EndpointError> {
        text.parse().map(|endpoint: Endpoint| endpoint.to_string())
    }

    #[test]
    fn every_scheme_is_read() {
        for (text, meaning) in [
            ("tcp://gateway.example:7172", "tcp://gateway.example:7172"),
            ("tcp://[::1]:7172/", "tcp://[::1]:7172"),
            ("tls://127.0.0.1:7173", "tls://127.0.0.1:7173"),
            ("ws://127.0.0.1:7171", "ws://127.0.0.1:7171/jet/jmux"),
            ("ws://gateway.example", "ws://gateway.example:80/jet/jmux"),
            ("wss://gateway.example/", "wss://gateway.example:443/jet/jmux"),
            ("wss://gateway.example/other", "wss://gateway.example:443/other"),
            ("unix:/run/muxgate.sock", "unix:/run/muxgate.sock"),
            ("unix:///run/muxgate.sock", "unix:/run/muxgate.sock"),
            ("unix://///run/muxgate.sock", "unix:/run/muxgate.sock"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(meaning));
        }
    }

    #[test]
    fn a_query_is_kept_but_not_shown() {
        let Ok(endpoint) = "ws://gateway.example?token=s3cret".parse() else {
            unreachable!("it is a valid endpoint");
        };
        let Endpoint::WebSocket { path, .. } = &endpoint else { unreachable!("it is a WebSocket") };
        assert_eq!(path, "/jet/jmux?token=s3cret");
        assert_eq!(format!("{endpoint} {endpoint:?}").matches("s3cret").count(), 0);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let server = |text| matches!(shown(text), Err(EndpointError::Server(_)));
        assert_eq!(shown("gateway.example"), Err(EndpointError::Scheme));
        assert_eq!(shown("http://gateway.example"), Err(EndpointError::Scheme));
        assert!(matches!(shown("tcp://gateway.example"), Err(EndpointError::Port(_))));
        assert_eq!(shown("unix:"), Err(EndpointError::Path));
        assert!(server("tcp://"));
        assert!(server("tcp://gateway.example:99999"));
        assert!(server("tcp://gateway.example:1/path"));
        assert!(server("ws://gateway.example:99999"));
        assert!(server("ws://gateway.example:"));
        assert!(server("tcp://127.1[]:1"));
        assert!(server("wss://[%0.1]:80"));
        assert!(server("wss://[gateway.example]"));
        assert!(server("ws://user@gateway.example"));
    }
}
