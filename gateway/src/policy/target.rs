//! Destinations in one spelling, so that the policy judges exactly what will be dialled.
//!
//! `0x7f.1`, `2130706433` and `0177.0.0.1` are all `127.0.0.1`; `LOCALHOST.` is `localhost`. A host whose last
//! label is a number is an IPv4 address or an error, never a name: no resolver gets to read it in its own way.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Longest host name that DNS can carry, in bytes.
const MAX_NAME: usize = 253;
/// Longest label of a host name, in bytes.
const MAX_LABEL: usize = 63;

/// A destination in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The host.
    pub host: Host,
    /// The TCP port, never zero.
    pub port: u16,
}

/// A host in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// A name: lower case, without a trailing dot, not readable as an address.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// Why a host or port is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Empty, too long, or with characters that no host name has.
    #[error("not a host name: letters, digits, '-', '_' and '.' (international names in their xn-- form)")]
    Name,
    /// Looks like an IP address but is none.
    #[error("looks like an IP address but is none")]
    Address,
    /// An IPv6 address with a zone, which means something on one machine only.
    #[error("an IPv6 zone has no meaning here: leave out what follows the '%'")]
    Zone,
    /// Port zero.
    #[error("the port must be from 1 to 65535")]
    Port,
}

impl Target {
    /// Normalises a destination as a peer spelled it.
    pub fn new(host: &str, port: u16) -> Result<Self, TargetError> {
        if port == 0 {
            return Err(TargetError::Port);
        }
        Ok(Self { host: host.parse()?, port })
    }
}

impl std::str::FromStr for Host {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if bare.is_some() || text.contains(':') {
            return parse_ipv6(bare.unwrap_or(text)).map(|ip| Self::Address(ip.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if ends_in_number(name) {
            return parse_ipv4(name).map(|ip| Self::Address(ip.into())).ok_or(TargetError::Address);
        }
        if !is_name(name) {
            return Err(TargetError::Name);
        }
        Ok(Self::Name(name.to_ascii_lowercase()))
    }
}

fn parse_ipv6(text: &str) -> Result<Ipv6Addr, TargetError> {
    if text.contains('%') {
        return Err(TargetError::Zone);
    }
    text.parse().map_err(|_| TargetError::Address)
}

fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

/// Whether `label` may stand between two dots of a host name.
pub(crate) fn is_label(label: &str) -> bool {
    (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// The rule of the URL standard: such a host is an IPv4 address or an error.
fn ends_in_number(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let decimal = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    decimal || hex_digits(last).is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn hex_digits(part: &str) -> Option<&str> {
    part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"))
}

/// IPv4 as `inet_aton` reads it: one to four parts, each decimal, octal (`0..`) or hexadecimal (`0x..`), the last
/// one filling all bytes that are left.
fn parse_ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').map(parse_part).collect::<Option<_>>()?;
    let (&last, leading) = parts.split_last()?;
    if leading.len() > 3 {
        return None;
    }
    let mut address: u32 = 0;
    for (&part, shift) in leading.iter().zip([24, 16, 8]) {
        address |= u32::from(u8::try_from(part).ok()?) << shift;
    }
    let room = u32::MAX.checked_shr(8 * u32::try_from(leading.len()).ok()?)?;
    (last <= room).then(|| Ipv4Addr::from_bits(address | last))
}

fn parse_part(part: &str) -> Option<u32> {
    let (digits, radix) = match (hex_digits(part), part.strip_prefix('0')) {
        (Some(digits), _) => (digits, 16),
        (None, Some(digits)) if !digits.is_empty() => (digits, 8),
        _ => (part, 10),
    };
    // `from_str_radix` would take a sign.
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, radix).ok())?
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(ip)) => ip.fmt(f),
            Self::Address(IpAddr::V6(ip)) => write!(f, "[{ip}]"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> String {
        text.parse::<Host>().map_or_else(|error| format!("{error:?}"), |host| host.to_string())
    }

    #[test]
    fn every_spelling_of_an_ipv4_address_is_that_address() {
        let spellings = [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "0177.0.0.1",
            "017700000001",
            "0x7f.0.0x0.01",
            "127.0.0.1.",
            "00000177.0.0.1",
        ];
        for text in spellings {
            assert_eq!(host(text), "127.0.0.1", "{text}");
        }
        assert_eq!(host("0"), "0.0.0.0");
        assert_eq!(host("1.2.3"), "1.2.0.3");
        assert_eq!(host("1.65535"), "1.0.255.255");
        assert_eq!(host("4294967295"), "255.255.255.255");
    }

    #[test]
    fn what_ends_in_a_number_is_an_address_or_an_error() {
        for text in [
            "256.0.0.1",
            "1.2.3.256",
            "1.2.3.4.5",
            "4294967296",
            "08",
            "0x",
            "1..2",
            ".1",
            "a.1",
            "a.0xff",
            "1.16777216",
        ] {
            assert_eq!(host(text), "Address", "{text}");
        }
    }

    #[test]
    fn names_are_lower_case_without_a_trailing_dot() {
        assert_eq!(host("LOCALHOST."), "localhost");
        assert_eq!(host("Db-1.Internal"), "db-1.internal");
        assert_eq!(host("_srv.example.COM"), "_srv.example.com");
        assert_eq!(host("1.example"), "1.example");
        assert_eq!(host("a.0xzz"), "a.0xzz");
    }

    #[test]
    fn what_no_name_holds_is_refused() {
        let long_label = format!("{}.example", "a".repeat(64));
        let long_name = "a.".repeat(127) + "aa";
        let refused = [
            "",
            ".",
            "..",
            "a..b",
            "a b",
            "user@host",
            "a\0",
            "a\x1b[2J",
            "ⓛocalhost",
            "a/b",
            "a%41",
            "*",
            &long_label,
            &long_name,
        ];
        for text in refused {
            assert_eq!(host(text), "Name", "{text}");
        }
    }

    #[test]
    fn ipv6_with_or_without_brackets() {
        assert_eq!(host("::1"), "[::1]");
        assert_eq!(host("[2001:DB8::0:1]"), "[2001:db8::1]");
        assert_eq!(host("::ffff:127.0.0.1"), "[::ffff:127.0.0.1]");
        assert_eq!(host("fe80::1%eth0"), "Zone");
        assert_eq!(host("[fe80::1%25eth0]"), "Zone");
        for text in ["[]", "[::1", "::1]", "1:2", "[127.0.0.1]", "[localhost]", ":::"] {
            assert_eq!(host(text), "Address", "{text}");
        }
    }

    #[test]
    fn the_port_is_never_zero() {
        assert_eq!(Target::new("a", 0), Err(TargetError::Port));
        assert_eq!(Target::new("A.", 1).map(|t| t.to_string()), Ok("a:1".to_owned()));
        assert_eq!(Target::new("::1", 80).map(|t| t.to_string()), Ok("[::1]:80".to_owned()));
    }
}
