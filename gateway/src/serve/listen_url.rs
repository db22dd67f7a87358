//! The URLs that `muxgate serve` listens on.

use std::fmt;
use std::str::FromStr;

use muxgate_transport_native::{DEFAULT_PATH, Endpoint, EndpointError, HostPort};

use crate::listen::Address;

/// Where a gateway listens, and what is spoken there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenUrl {
    /// Where.
    pub address: Address,
    /// Sessions come in WebSockets, so there is a request that can carry a token.
    pub websocket: bool,
    /// TLS around it.
    pub tls: bool,
}

/// Why a text is no URL to listen on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenUrlError {
    /// No URL of a gateway at all.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A path that is not served.
    #[error("sessions are served at /jet/jmux: leave the path out")]
    Path,
}

impl FromStr for ListenUrl {
    type Err = ListenUrlError;

    fn from_str(text: &str) -> Result<Self, ListenUrlError> {
        let tcp = |HostPort { host, port }| Address::Tcp { host, port };
        let (address, websocket, tls) = match text.parse()? {
            Endpoint::Tcp(server) => (tcp(server), false, false),
            Endpoint::Tls(server) => (tcp(server), false, true),
            Endpoint::WebSocket { secure, server, path } if path == DEFAULT_PATH => (tcp(server), true, secure),
            Endpoint::WebSocket { .. } => return Err(ListenUrlError::Path),
            Endpoint::Unix(path) => (Address::Unix(path), false, false),
        };
        Ok(Self { address, websocket, tls })
    }
}

impl ListenUrl {
    /// Where people see the page, if browsers can reach this listener.
    pub(crate) fn page(&self) -> Option<String> {
        let scheme = if self.tls { "https" } else { "http" };
        self.websocket.then(|| format!("{scheme}://{}/", self.address))
    }
}

impl fmt::Display for ListenUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (&self.address, self.websocket, self.tls) {
            (Address::Unix(_), ..) => "",
            (_, true, true) => "wss://",
            (_, true, false) => "ws://",
            (_, false, true) => "tls://",
            (_, false, false) => "tcp://",
        };
        write!(f, "{scheme}{}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_where_websockets_are() {
        let page = |text: &str| text.parse::<ListenUrl>().ok().and_then(|url| url.page());
        assert_eq!(page("ws://127.0.0.1:7171").as_deref(), Some("http://127.0.0.1:7171/"));
        assert_eq!(page("wss://[::1]:443").as_deref(), Some("https://[::1]:443/"));
        assert_eq!(page("tcp://127.0.0.1:7172"), None);
    }

    #[test]
    fn urls() {
        for text in
            ["ws://127.0.0.1:7171", "wss://[::1]:443", "tcp://localhost:0", "tls://0.0.0.0:1", "unix:/run/m.sock"]
        {
            assert_eq!(text.parse::<ListenUrl>().map(|url| url.to_string()).as_deref(), Ok(text));
        }
        let path = "ws://127.0.0.1:7171/jet/jmux".parse::<ListenUrl>().map(|url| url.to_string());
        assert_eq!(path.as_deref(), Ok("ws://127.0.0.1:7171"));
        assert_eq!("ws://127.0.0.1:7171/other".parse::<ListenUrl>(), Err(ListenUrlError::Path));
        for text in
            ["127.0.0.1:7171", "http://127.0.0.1:80", "tcp://127.0.0.1", "unix:", "tcp://127.0.0.1:1/x", "ws://"]
        {
            assert!(matches!(text.parse::<ListenUrl>(), Err(ListenUrlError::Endpoint(_))), "{text}");
        }
    }
}
