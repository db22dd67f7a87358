//! Which destinations a gateway opens. Everything that no rule allows is denied.
//!
//! - Deny rules win over allow rules.
//! - A name must be allowed as a name before it is looked up: clients cannot make the gateway ask DNS for names that
//!   it would not open. Then every address it resolves to is judged again, and only a judged address is dialled.
//! - An address in a special range ([`special`]) needs an allow rule that names it: the address itself or a
//!   network that lies inside that range (or is all of it). `*`, `0.0.0.0/0` and rules for names do not open it.
//!   So `--allow db.internal` is not enough where `db.internal` is `10.0.0.5`: that takes `--allow 10.0.0.5` (or
//!   `--allow 10.0.0.0/8`) as well, and a name that is made to point at another private address opens nothing.
//! - An IPv6 address that stands for an IPv4 address (mapped, NAT64, 6to4, Teredo) is judged as both.

pub mod rule;
pub mod special;
pub mod target;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use rule::Rule;
use special::{SpecialRange, embedded_ipv4, special_range};

/// The rules of a gateway.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

/// Why a destination is not opened. Displays with the next step for the operator; not meant for the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// No allow rule covers it.
    NoRule,
    /// This deny rule covers it.
    Rule(String),
    /// The address is in a special range, and no allow rule names it.
    Special {
        /// The address that was judged (of an IPv6 address perhaps the IPv4 address inside), and the port.
        address: SocketAddr,
        /// What the range is.
        what: &'static str,
    },
}

impl Policy {
    /// A policy of these rules; their order does not matter.
    #[must_use]
    pub fn new(allow: Vec<Rule>, deny: Vec<Rule>) -> Self {
        Self { allow, deny }
    }

    /// Whether a name may be looked up. Its addresses must pass [`Policy::check_resolved`] in addition.
    pub fn check_name(&self, name: &str, port: u16) -> Result<(), Denial> {
        let covers = |rule: &&Rule| rule.matches_name(name, port);
        if let Some(rule) = self.deny.iter().find(covers) {
            return Err(Denial::Rule(rule.to_string()));
        }
        self.allow.iter().any(|rule| covers(&rule)).then_some(()).ok_or(Denial::NoRule)
    }

    /// Whether an address that a client named itself may be dialled.
    pub fn check_address(&self, target: SocketAddr) -> Result<(), Denial> {
        self.check_resolved(target)?;
        let allowed = self.allow.iter().any(|rule| rule.matches_address(target.ip(), target.port()));
        allowed.then_some(()).ok_or(Denial::NoRule)
    }

    /// Whether an address may be dialled for a name that passed [`Policy::check_name`].
    pub fn check_resolved(&self, target: SocketAddr) -> Result<(), Denial> {
        let faces = [Some(target.ip()), embedded_ipv4(target.ip()).map(IpAddr::V4)];
        faces.into_iter().flatten().try_for_each(|ip| self.check_face(SocketAddr::new(ip, target.port())))
    }

    fn check_face(&self, address: SocketAddr) -> Result<(), Denial> {
        let (ip, port) = (address.ip(), address.port());
        if let Some(rule) = self.deny.iter().find(|rule| rule.matches_address(ip, port)) {
            return Err(Denial::Rule(rule.to_string()));
        }
        match special_range(ip) {
            Some(range) if !self.names(range, ip, port) => Err(Denial::Special { address, what: range.what }),
            _ => Ok(()),
        }
    }

    /// Whether an allow rule was written for this address of a special range.
    fn names(&self, range: &SpecialRange, address: IpAddr, port: u16) -> bool {
        self.allow.iter().filter_map(|rule| rule.net_of(address, port)).any(|net| range.net.contains(net))
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRule => f.write_str("no --allow covers it"),
            Self::Rule(rule) => write!(f, "denied by --deny {rule}"),
            Self::Special { address, what } => {
                write!(
                    f,
                    "{} is a special address ({what}): it needs an --allow that names it, such as --allow {address}",
                    address.ip()
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests parse constants")]
    use super::*;

    fn policy(allow: &[&str], deny: &[&str]) -> Policy {
        let rules = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        Policy::new(rules(allow), rules(deny))
    }

    fn address(allow: &[&str], deny: &[&str], target: &str) -> Result<(), Denial> {
        policy(allow, deny).check_address(target.parse().unwrap())
    }

    fn is_special(result: &Result<(), Denial>) -> bool {
        matches!(result, Err(Denial::Special { .. }))
    }

    #[test]
    fn denied_by_default() {
        assert_eq!(Policy::default().check_name("example.com", 443), Err(Denial::NoRule));
        assert_eq!(address(&[], &[], "1.1.1.1:443"), Err(Denial::NoRule));
        assert_eq!(address(&["1.1.1.1:80"], &[], "1.1.1.1:443"), Err(Denial::NoRule));
    }

    #[test]
    fn deny_wins_over_allow() {
        let policy = policy(&["*"], &["*.bad.example", "192.88.0.0/16:25", "*:23"]);
        assert_eq!(policy.check_name("good.example", 443), Ok(()));
        assert_eq!(policy.check_name("a.bad.example", 443), Err(Denial::Rule("*.bad.example".into())));
        assert_eq!(policy.check_name("good.example", 23), Err(Denial::Rule("*:23".into())));
        let target = "192.88.1.1:25".parse().unwrap();
        assert_eq!(policy.check_address(target), Err(Denial::Rule("192.88.0.0/16:25".into())));
        assert_eq!(policy.check_resolved(target), Err(Denial::Rule("192.88.0.0/16:25".into())));
        assert_eq!(policy.check_resolved("192.88.1.1:26".parse().unwrap()), Ok(()));
    }

    #[test]
    fn a_star_opens_no_special_range() {
        let special = [
            "127.0.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.1.1",
            "169.254.169.254",
            "168.63.129.16",
            "224.0.0.1",
            "255.255.255.255",
            "[::]",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:1.1.1.1]",
            "[64:ff9b::101:101]",
            "[2002:101:101::1]",
            "[2001::1]",
            "[fe80::1]",
            "[fd00::1]",
            "[ff02::1]",
        ];
        for host in special {
            let target = format!("{host}:80");
            assert!(is_special(&address(&["*", "0.0.0.0/0", "::/0", "*:80"], &[], &target)), "{host}");
        }
        assert_eq!(address(&["*"], &[], "1.1.1.1:80"), Ok(()));
        assert_eq!(address(&["0.0.0.0/0"], &[], "1.1.1.1:80"), Ok(()));
    }

    #[test]
    fn a_rule_inside_the_range_opens_it() {
        for rule in ["127.0.0.1", "127.0.0.1:80", "127.0.0.0/8", "127.0.0.0/24:80"] {
            assert_eq!(address(&[rule], &[], "127.0.0.1:80"), Ok(()), "{rule}");
        }
        assert!(is_special(&address(&["126.0.0.0/7"], &[], "127.0.0.1:80")), "wider than the range");
        assert!(is_special(&address(&["127.0.0.1:81", "*"], &[], "127.0.0.1:80")), "another port");
        assert_eq!(address(&["127.0.0.0/8"], &["127.0.0.1"], "127.0.0.1:80"), Err(Denial::Rule("127.0.0.1".into())));
    }

    #[test]
    fn metadata_is_a_range_of_its_own() {
        assert!(is_special(&address(&["169.254.0.0/16"], &[], "169.254.169.254:80")));
        assert_eq!(address(&["169.254.169.254"], &[], "169.254.169.254:80"), Ok(()));
        assert!(is_special(&address(&["100.64.0.0/10"], &[], "100.100.100.200:80")));
    }

    #[test]
    fn an_ipv4_address_in_disguise_is_judged_as_both() {
        assert!(is_special(&address(&["127.0.0.1"], &[], "[::ffff:127.0.0.1]:80")));
        assert!(is_special(&address(&["64:ff9b::/96"], &[], "[64:ff9b::a00:1]:80")), "private inside NAT64");
        assert_eq!(address(&["64:ff9b::/96", "10.0.0.0/8"], &[], "[64:ff9b::a00:1]:80"), Ok(()));
        assert_eq!(address(&["64:ff9b::/96"], &[], "[64:ff9b::101:101]:80"), Ok(()));
        assert_eq!(
            address(&["64:ff9b::/96"], &["1.1.1.1"], "[64:ff9b::101:101]:80"),
            Err(Denial::Rule("1.1.1.1".into()))
        );
    }

    #[test]
    fn a_name_rule_opens_no_special_address() {
        let private = "10.0.0.5:5432".parse().unwrap();
        let by_name = policy(&["db.internal:5432"], &[]);
        assert_eq!(by_name.check_name("db.internal", 5432), Ok(()));
        assert!(is_special(&by_name.check_resolved(private)));
        assert_eq!(by_name.check_resolved("1.1.1.1:5432".parse().unwrap()), Ok(()));
        assert_eq!(policy(&["db.internal:5432", "10.0.0.0/8"], &[]).check_resolved(private), Ok(()));
    }

    #[test]
    fn an_address_rule_allows_no_lookup() {
        assert_eq!(policy(&["127.0.0.1"], &[]).check_name("localhost", 80), Err(Denial::NoRule));
    }

    #[test]
    fn a_denial_tells_the_operator_what_to_write() {
        let denial = address(&["*"], &[], "10.0.0.1:80").unwrap_err().to_string();
        assert!(denial.contains("private") && denial.contains("--allow 10.0.0.1"), "{denial}");
    }
}
