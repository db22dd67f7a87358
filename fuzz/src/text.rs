//! What people and peers write: destinations, rules, addresses, URLs.

use std::fmt::{Debug, Display};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use muxgate::client::forward::Forward;
use muxgate::listen::Address;
use muxgate::policy::Policy;
use muxgate::policy::rule::Rule;
use muxgate::policy::special::{embedded_ipv4, special_range};
use muxgate::policy::target::{Host, Target};
use muxgate::serve::listen_url::ListenUrl;
use muxgate::serve::origin::Origin;
use muxgate_core::Destination;
use muxgate_transport_native::Endpoint;

/// Whatever parses is shown in a form that parses to the same; and the policy keeps its promises for it.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for line in text.lines() {
        let _ = line.parse::<Forward>();
        // Without a query, which may hold a token, and rules as they were written: the text is all there is to compare.
        shown_again::<Endpoint>(line);
        shown_again::<Rule>(line);
        round_trip::<ListenUrl>(line);
        round_trip::<Origin>(line);
        round_trip::<Host>(line);
        round_trip::<Address>(line);
        if let Some(destination) = round_trip::<Destination>(line) {
            check_destination(&destination);
        }
    }
    check_policy(text);
}

fn round_trip<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = text.parse().ok()?;
    let shown = value.to_string();
    let again: T = shown.parse().expect("what is shown can be read");
    assert_eq!(again, value, "{shown:?}");
    Some(value)
}

fn shown_again<T: FromStr<Err: Debug> + Display>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let shown = value.to_string();
    let again: T = shown.parse().expect("what is shown can be read");
    assert_eq!(again.to_string(), shown);
}

/// A gateway to the whole world opens no special address, however it is spelt.
fn check_destination(destination: &Destination) {
    assert!(!destination.host().is_empty() && destination.port() > 0);
    let Ok(target) = Target::new(destination.host(), destination.port()) else { return };
    let world = Policy::new(vec!["*".parse().expect("a rule")], Vec::new());
    match target.host {
        Host::Name(name) => assert!(name.parse::<IpAddr>().is_err(), "{name} is an address"),
        Host::Address(ip) => {
            let embedded = embedded_ipv4(ip).map(IpAddr::V4);
            if [Some(ip), embedded].into_iter().flatten().any(|ip| special_range(ip).is_some()) {
                let address = SocketAddr::new(ip, target.port);
                assert!(world.check_address(address).is_err() && world.check_resolved(address).is_err(), "{ip}");
            }
        }
    }
}

/// The first line is a rule, the others are asked for. What a rule denies nothing allows.
fn check_policy(text: &str) {
    let mut lines = text.lines();
    let Some(rule) = lines.next().and_then(|line| line.parse::<Rule>().ok()) else { return };
    let everything = ["*", "0.0.0.0/0", "[::]/0"].map(|rule| rule.parse().expect("a rule"));
    let denying = Policy::new(everything.into(), vec![rule.clone()]);
    let allowing = Policy::new(vec![rule.clone()], Vec::new());
    for line in lines {
        let Some((host, port)) = line.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) else {
            continue;
        };
        let Ok(target) = Target::new(host, port) else { continue };
        let (denied, allowed, matches) = match &target.host {
            Host::Name(name) => (
                denying.check_name(name, port).is_err(),
                allowing.check_name(name, port).is_ok(),
                rule.matches_name(name, port),
            ),
            Host::Address(ip) => {
                let address = SocketAddr::new(*ip, port);
                let allowed = allowing.check_address(address).is_ok();
                (denying.check_address(address).is_err(), allowed, rule.matches_address(*ip, port))
            }
        };
        assert!(!matches || denied, "{rule} does not deny {target}");
        assert!(!allowed || matches, "{rule} allows {target}");
    }
}
