//! Where a channel leads: `tcp://host:port`.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// Longest name that DNS knows, with the dot at its end.
const MAX_HOST_LEN: usize = 254;

/// A destination that every peer understands.
///
/// Deployed peers drop the whole session over a destination that they cannot parse, so one is checked when it is
/// made. IPv6 addresses are accepted with brackets and without, and written without, as those peers expect.
///
/// ```
/// use muxgate_core::Destination;
///
/// let destination: Destination = "tcp://[::1]:5432".parse()?;
/// assert_eq!((destination.host(), destination.port()), ("::1", 5432));
/// assert_eq!(destination.to_string(), "tcp://::1:5432");
/// # Ok::<(), muxgate_core::DestinationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    host: String,
    port: u16,
}

/// Why a text is no destination.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// The text does not begin with `tcp://`.
    #[error("the scheme is not tcp")]
    Scheme,
    /// The text does not end with a port between 1 and 65535.
    #[error("the port is missing or not between 1 and 65535")]
    Port,
    /// There is no host, or it is too long, or it has a character that no host name or address has.
    #[error("the host is not a name or an IP address in ASCII")]
    Host,
    /// The bytes are not UTF-8.
    #[error("the text is not UTF-8")]
    Encoding,
}

impl Destination {
    /// A TCP destination; `host` is a name, an IPv4 address or an IPv6 address with or without brackets.
    pub fn tcp(host: &str, port: u16) -> Result<Self, DestinationError> {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let valid = match bare {
            Some(address) => is_ipv6(address),
            None => is_name(host) || is_ipv6(host),
        };
        if !valid {
            return Err(DestinationError::Host);
        }
        if port == 0 {
            return Err(DestinationError::Port);
        }
        Ok(Self { host: bare.unwrap_or(host).to_owned(), port })
    }

    /// What travels in an OPEN; a NUL at its end is tolerated.
    pub(crate) fn from_wire(bytes: &[u8]) -> Result<Self, DestinationError> {
        let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
        std::str::from_utf8(text).map_err(|_| DestinationError::Encoding)?.parse()
    }

    /// A name or an IP address, without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Never zero.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Destination {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Self, DestinationError> {
        let rest = text.strip_prefix("tcp://").ok_or(DestinationError::Scheme)?;
        let (host, port) = rest.rsplit_once(':').ok_or(DestinationError::Port)?;
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DestinationError::Port);
        }
        Self::tcp(host, port.parse().map_err(|_| DestinationError::Port)?)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp://{}:{}", self.host, self.port)
    }
}

fn is_ipv6(host: &str) -> bool {
    host.parse::<Ipv6Addr>().is_ok()
}

fn is_name(host: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !host.is_empty() && host.len() <= MAX_HOST_LEN && host.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_names_and_addresses() {
        for (text, host, port) in [
            ("tcp://db.internal:5432", "db.internal", 5432),
            ("tcp://127.0.0.1:1", "127.0.0.1", 1),
            ("tcp://::1:80", "::1", 80),
            ("tcp://[2001:db8::1]:443", "2001:db8::1", 443),
            ("tcp://under_score.example.:65535", "under_score.example.", 65535),
        ] {
            let destination = Destination::from_wire(text.as_bytes()).expect(text);
            assert_eq!((destination.host(), destination.port()), (host, port));
            assert_eq!(Destination::from_wire(format!("{destination}\0").as_bytes()), Ok(destination));
        }
    }

    #[test]
    fn rejects_what_ends_a_deployed_peers_session() {
        use DestinationError::{Encoding, Host, Port, Scheme};
        for (text, error) in [
            (&b"udp://a:1"[..], Scheme),
            (b"TCP://a:1", Scheme),
            (b"a:1", Scheme),
            (b"tcp://a", Port),
            (b"tcp://a:", Port),
            (b"tcp://a:0", Port),
            (b"tcp://a:65536", Port),
            (b"tcp://a:+1", Port),
            (b"tcp://a:80/", Port),
            (b"tcp://:80", Host),
            (b"tcp://user@a:80", Host),
            (b"tcp://a\x1b[31m:80", Host),
            (b"tcp://[a]:80", Host),
            (b"tcp://fe80::1%eth0:80", Host),
            ("tcp://m\u{fc}nchen.example:80".as_bytes(), Host),
            (b"tcp://\xff:80", Encoding),
        ] {
            assert_eq!(Destination::from_wire(text), Err(error), "{}", String::from_utf8_lossy(text));
        }
        let long = format!("tcp://{}:80", "a".repeat(65_000));
        assert_eq!(long.parse::<Destination>(), Err(Host));
    }
}
