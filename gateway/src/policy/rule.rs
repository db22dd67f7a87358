//! One `--allow` or `--deny`: which hosts, which ports.
//!
//! | written | matches |
//! |---|---|
//! | `*`, `*:443`, `*:8000-8999` | any name and any address that is in no special range |
//! | `db.internal:5432` | that name |
//! | `*.internal`, `db-*.internal` | names, label by label: `*` stands for (part of) exactly one label |
//! | `192.0.2.7:22`, `[2001:db8::7]:22` | that address |
//! | `10.0.0.0/8`, `10.0.0.0/8:443`, `[fd00::/8]:443` | addresses of that network |
//! | `2001:db8::7`, `fd00::/8` | without a port, IPv6 needs no brackets |
//!
//! Without a port a rule covers all ports.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use ipnet::IpNet;

use super::target::{Host, TargetError, is_label};

/// A parsed rule. Displays as it was written.
#[derive(Debug, Clone)]
pub struct Rule {
    hosts: Hosts,
    ports: RangeInclusive<u16>,
    text: String,
}

#[derive(Debug, Clone)]
enum Hosts {
    Any,
    Names(NamePattern),
    Net(IpNet),
}

/// Why a rule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No host before the port.
    #[error("needs a host: for any host write *, for a port of any host *:443")]
    NoHost,
    /// Not a port or a range of ports.
    #[error("'{0}' is not a port (1 to 65535) or a range such as 8000-8999")]
    Port(String),
    /// Not a network.
    #[error("'{0}' is not a network such as 10.0.0.0/8 or fd00::/8")]
    Net(String),
    /// Host bits set: likely a mistake about how much the rule covers.
    #[error("'{0}' has bits set behind the prefix: write {1}")]
    HostBits(IpNet, IpNet),
    /// A pattern that can match nothing, or looks like a pattern for addresses.
    #[error("'{0}' is not a name pattern such as *.internal; addresses are matched by networks such as 10.0.0.0/8")]
    Pattern(String),
    /// Neither a name nor an address.
    #[error("'{0}': {1}")]
    Host(String, TargetError),
}

impl Rule {
    /// Whether the rule speaks about this name.
    #[must_use]
    pub fn matches_name(&self, name: &str, port: u16) -> bool {
        self.ports.contains(&port)
            && match &self.hosts {
                Hosts::Any => true,
                Hosts::Names(pattern) => pattern.matches(name),
                Hosts::Net(_) => false,
            }
    }

    /// Whether the rule speaks about this address, be it by `*`.
    #[must_use]
    pub fn matches_address(&self, address: IpAddr, port: u16) -> bool {
        matches!(self.hosts, Hosts::Any) && self.ports.contains(&port) || self.net_of(address, port).is_some()
    }

    /// The network by which the rule names this address, if it does.
    #[must_use]
    pub fn net_of(&self, address: IpAddr, port: u16) -> Option<&IpNet> {
        match &self.hosts {
            Hosts::Net(net) if net.contains(&address) && self.ports.contains(&port) => Some(net),
            _ => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (host, ports) = split_ports(text);
        let ports = ports.map_or(Ok(1..=u16::MAX), parse_ports)?;
        Ok(Self { hosts: parse_hosts(&host)?, ports, text: text.to_owned() })
    }
}

/// Takes `HOST[:PORTS]` apart; the brackets of an IPv6 host are gone from the first part.
fn split_ports(text: &str) -> (String, Option<&str>) {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((host, rest)) = bracketed {
        let (prefix, ports) = rest.split_once(':').map_or((rest, None), |(prefix, ports)| (prefix, Some(ports)));
        return (format!("{host}{prefix}"), ports);
    }
    match text.split_once(':') {
        Some((host, ports)) if !ports.contains(':') => (host.to_owned(), Some(ports)),
        _ => (text.to_owned(), None),
    }
}

fn parse_ports(text: &str) -> Result<RangeInclusive<u16>, RuleError> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let port = |digits: &str| digits.parse::<u16>().ok().filter(|&port| port != 0);
    match (port(low), port(high)) {
        (Some(low), Some(high)) if low <= high => Ok(low..=high),
        _ => Err(RuleError::Port(text.to_owned())),
    }
}

fn parse_hosts(text: &str) -> Result<Hosts, RuleError> {
    if text.is_empty() || text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(RuleError::NoHost);
    }
    if text == "*" {
        return Ok(Hosts::Any);
    }
    if text.contains('/') {
        return parse_net(text).map(Hosts::Net);
    }
    if text.contains('*') {
        return text.parse().map(Hosts::Names);
    }
    match text.parse::<Host>() {
        Ok(Host::Name(name)) => name.parse().map(Hosts::Names),
        Ok(Host::Address(address)) => Ok(Hosts::Net(address.into())),
        Err(error) => Err(RuleError::Host(text.to_owned(), error)),
    }
}

fn parse_net(text: &str) -> Result<IpNet, RuleError> {
    let net: IpNet = text.parse().map_err(|_| RuleError::Net(text.to_owned()))?;
    if net.trunc() == net { Ok(net) } else { Err(RuleError::HostBits(net, net.trunc())) }
}

/// Labels, each a literal or with one `*`.
#[derive(Debug, Clone)]
struct NamePattern(Vec<LabelPattern>);

#[derive(Debug, Clone)]
enum LabelPattern {
    Literal(String),
    Star { prefix: String, suffix: String },
}

impl NamePattern {
    fn matches(&self, name: &str) -> bool {
        let mut labels = name.split('.');
        self.0.iter().all(|pattern| labels.next().is_some_and(|label| pattern.matches(label)))
            && labels.next().is_none()
    }
}

impl LabelPattern {
    fn matches(&self, label: &str) -> bool {
        match self {
            Self::Literal(literal) => label == literal,
            Self::Star { prefix, suffix } => {
                label.len() >= prefix.len() + suffix.len() && label.starts_with(prefix) && label.ends_with(suffix)
            }
        }
    }
}

impl FromStr for NamePattern {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let invalid = || RuleError::Pattern(text.to_owned());
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        // `10.*` would look as if it covered addresses.
        if name.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'*')
            && name.bytes().any(|b| b.is_ascii_digit())
        {
            return Err(invalid());
        }
        name.split('.').map(parse_label).collect::<Option<_>>().map(Self).ok_or_else(invalid)
    }
}

fn parse_label(label: &str) -> Option<LabelPattern> {
    let Some((prefix, suffix)) = label.split_once('*') else {
        return is_label(label).then(|| LabelPattern::Literal(label.to_owned()));
    };
    let valid = |part: &str| part.is_empty() || is_label(part);
    (valid(prefix) && valid(suffix))
        .then(|| LabelPattern::Star { prefix: prefix.to_owned(), suffix: suffix.to_owned() })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests parse constants")]
    use super::*;

    fn rule(text: &str) -> Rule {
        text.parse().unwrap()
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn names_match_label_by_label() {
        let matches = |pattern: &str, name: &str| rule(pattern).matches_name(name, 443);
        assert!(matches("*.internal:443", "db.internal"));
        assert!(!matches("*.internal:443", "internal"));
        assert!(!matches("*.internal:443", "a.db.internal"));
        assert!(!matches("*.internal:443", "db.internal.evil.example"));
        assert!(!matches("*.internal:443", "dbinternal"));
        assert!(matches("*.*.internal", "a.db.internal"));
        assert!(matches("DB.Internal.", "db.internal"));
        assert!(matches("db-*.internal", "db-7.internal"));
        assert!(matches("db-*.internal", "db-.internal"));
        assert!(!matches("db-*.internal", "web-7.internal"));
        assert!(!matches("aba*aba.x", "aba.x"));
        assert!(matches("*", "anything.at.all"));
        assert!(!matches("10.0.0.0/8", "db.internal"));
    }

    #[test]
    fn ports_and_ranges() {
        assert!(rule("a:443").matches_name("a", 443));
        assert!(!rule("a:443").matches_name("a", 444));
        let range = rule("*:8000-8999");
        assert!(range.matches_name("a", 8000) && range.matches_name("a", 8999));
        assert!(!range.matches_name("a", 7999) && !range.matches_name("a", 9000));
        assert!(rule("a").matches_name("a", 1) && rule("a").matches_name("a", 65535));
    }

    #[test]
    fn addresses_and_networks() {
        let matches = |pattern: &str, ip: &str, port| rule(pattern).matches_address(address(ip), port);
        assert!(matches("127.0.0.1:5001", "127.0.0.1", 5001));
        assert!(!matches("127.0.0.1:5001", "127.0.0.1", 5002));
        assert!(matches("0x7f.1:5001", "127.0.0.1", 5001));
        assert!(matches("10.0.0.0/8:443", "10.255.0.1", 443));
        assert!(!matches("10.0.0.0/8", "11.0.0.1", 443));
        assert!(matches("[::1]:80", "::1", 80) && !matches("[::1]:80", "::1", 81));
        assert!(matches("::1", "::1", 80) && matches("[::1]", "::1", 80));
        assert!(matches("[fd00::/8]:443", "fdff::1", 443) && matches("[fd00::]/8:443", "fdff::1", 443));
        assert!(matches("fd00::/8", "fdff::1", 443));
        assert!(matches("*:443", "192.0.2.1", 443) && !matches("*:443", "192.0.2.1", 80));
        assert!(!matches("*.internal", "192.0.2.1", 443));
        assert!(!matches("0.0.0.0/0", "::ffff:1.2.3.4", 443));
    }

    #[test]
    fn mistakes_are_explained() {
        let error = |text: &str| text.parse::<Rule>().unwrap_err();
        for text in ["", ":443", "443", "[]:80"] {
            assert_eq!(error(text), RuleError::NoHost, "{text}");
        }
        for text in ["a:0", "a:65536", "a:http", "a:2-1", "a:", "*:1-", "[::1]:x"] {
            assert!(matches!(error(text), RuleError::Port(_)), "{text}");
        }
        for text in ["10.0.0.0/33", "example.com/8", "10.0/8", "::/129"] {
            assert!(matches!(error(text), RuleError::Net(_)), "{text}");
        }
        assert_eq!(error("10.1.2.3/8").to_string(), "'10.1.2.3/8' has bits set behind the prefix: write 10.0.0.0/8");
        for text in ["10.*", "*.0.0.1", "**.a", "a..*", "*.a b"] {
            assert!(matches!(error(text), RuleError::Pattern(_)), "{text}");
        }
        for text in ["a b", "1.2.3.4.5", "fe80::1%eth0", "tcp://a:1"] {
            assert!(matches!(error(text), RuleError::Host(..) | RuleError::Port(_) | RuleError::Net(_)), "{text}");
        }
    }

    #[test]
    fn displays_as_written() {
        assert_eq!(rule("*.Internal:443").to_string(), "*.Internal:443");
    }
}
