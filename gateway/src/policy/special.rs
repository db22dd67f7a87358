//! Address ranges that lead somewhere else than the internet.
//!
//! A gateway stands in a network that its clients do not: loopback, private networks and the metadata service of a
//! cloud are reachable from it. A rule such as `*` must not open them by accident (see [`Policy`](super::Policy)).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A range that only a rule written for it opens.
#[derive(Debug)]
pub struct SpecialRange {
    /// The addresses.
    pub net: IpNet,
    /// What they are, for messages.
    pub what: &'static str,
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8, what: &'static str) -> SpecialRange {
    SpecialRange { net: IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)), what }
}

const fn v6(address: u128, prefix: u8, what: &'static str) -> SpecialRange {
    SpecialRange { net: IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::from_bits(address), prefix)), what }
}

const METADATA: &str = "cloud metadata";

/// Narrow ranges stand before the wide ones that hold them. From the IANA special-purpose registries, and the
/// metadata addresses of the large clouds.
static RANGES: [SpecialRange; 41] = [
    v4(169, 254, 169, 254, 32, METADATA),
    v4(169, 254, 170, 2, 32, METADATA),
    v4(169, 254, 170, 23, 32, METADATA),
    v4(100, 100, 100, 200, 32, METADATA),
    v4(168, 63, 129, 16, 32, METADATA),
    v4(192, 0, 0, 192, 32, METADATA),
    v4(0, 0, 0, 0, 8, "unspecified"),
    v4(10, 0, 0, 0, 8, "private"),
    v4(100, 64, 0, 0, 10, "shared (carrier NAT)"),
    v4(127, 0, 0, 0, 8, "loopback"),
    v4(169, 254, 0, 0, 16, "link-local"),
    v4(172, 16, 0, 0, 12, "private"),
    v4(192, 0, 0, 0, 24, "protocol assignments"),
    v4(192, 0, 2, 0, 24, "documentation"),
    v4(192, 88, 99, 0, 24, "6to4 relay"),
    v4(192, 168, 0, 0, 16, "private"),
    v4(198, 18, 0, 0, 15, "benchmarking"),
    v4(198, 51, 100, 0, 24, "documentation"),
    v4(203, 0, 113, 0, 24, "documentation"),
    v4(224, 0, 0, 0, 4, "multicast"),
    v4(240, 0, 0, 0, 4, "reserved"),
    v6(0xfd00_0ec2_0000_0000_0000_0000_0000_0254, 128, METADATA),
    v6(0xfd00_0ec2_0000_0000_0000_0000_0000_0023, 128, METADATA),
    v6(0xfd20_00ce_0000_0000_0000_0000_0000_0254, 128, METADATA),
    v6(0, 128, "unspecified"),
    v6(1, 128, "loopback"),
    v6(0, 96, "IPv4-compatible"),
    v6(0xffff << 32, 96, "IPv4-mapped"),
    v6(0xffff << 48, 96, "IPv4-translated"),
    v6(0x0064_ff9b << 96, 96, "NAT64"),
    v6(0x0064_ff9b_0001 << 80, 48, "local NAT64"),
    v6(0x0100_0000 << 96, 64, "discard"),
    v6(0x2001_0000 << 96, 23, "protocol assignments"),
    v6(0x2001_0db8 << 96, 32, "documentation"),
    v6(0x2002_0000 << 96, 16, "6to4"),
    v6(0x3fff_0000 << 96, 20, "documentation"),
    v6(0x5f00_0000 << 96, 16, "segment routing"),
    v6(0xfc00_0000 << 96, 7, "private"),
    v6(0xfe80_0000 << 96, 10, "link-local"),
    v6(0xfec0_0000 << 96, 10, "site-local"),
    v6(0xff00_0000 << 96, 8, "multicast"),
];

/// The narrowest special range that holds `address`.
#[must_use]
pub fn special_range(address: IpAddr) -> Option<&'static SpecialRange> {
    RANGES.iter().find(|range| range.net.contains(&address))
}

/// The IPv4 address that an IPv6 address stands for, where a translator or tunnel would take it out.
#[must_use]
pub fn embedded_ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(ip) = address else { return None };
    let (high, low) = match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, _] => return None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => (high, low),
        // Teredo hides the client's address by inverting it.
        [0x2001, 0, .., high, low] => (!high, !low),
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests parse constants")]
    use super::*;

    fn what(address: &str) -> Option<&'static str> {
        special_range(address.parse().unwrap()).map(|range| range.what)
    }

    fn embedded(address: &str) -> Option<String> {
        embedded_ipv4(address.parse().unwrap()).map(|ip| ip.to_string())
    }

    #[test]
    fn edges_of_the_ranges() {
        assert_eq!(what("9.255.255.255"), None);
        assert_eq!(what("10.0.0.0"), Some("private"));
        assert_eq!(what("172.31.255.255"), Some("private"));
        assert_eq!(what("172.32.0.0"), None);
        assert_eq!(what("100.127.255.255"), Some("shared (carrier NAT)"));
        assert_eq!(what("0.1.2.3"), Some("unspecified"));
        assert_eq!(what("255.255.255.255"), Some("reserved"));
        assert_eq!(what("1.1.1.1"), None);
        assert_eq!(what("2606:4700::1111"), None);
        assert_eq!(what("::"), Some("unspecified"));
        assert_eq!(what("::1"), Some("loopback"));
        assert_eq!(what("fdff::1"), Some("private"));
        assert_eq!(what("febf::1"), Some("link-local"));
    }

    #[test]
    fn a_narrow_range_wins_over_the_one_around_it() {
        for range in &RANGES {
            assert!(range.net.trunc() == range.net, "{}: host bits set", range.net);
            let found = special_range(range.net.addr()).unwrap();
            assert!(range.net.contains(&found.net), "{} is hidden by {}", range.net, found.net);
        }
        assert_eq!(what("169.254.169.254"), Some(METADATA));
        assert_eq!(what("169.254.169.253"), Some("link-local"));
        assert_eq!(what("fd00:ec2::254"), Some(METADATA));
    }

    #[test]
    fn ipv4_inside_ipv6_is_found() {
        assert_eq!(embedded("::ffff:10.1.2.3").as_deref(), Some("10.1.2.3"));
        assert_eq!(embedded("::10.1.2.3").as_deref(), Some("10.1.2.3"));
        assert_eq!(embedded("64:ff9b::7f00:1").as_deref(), Some("127.0.0.1"));
        assert_eq!(embedded("2002:a9fe:a9fe::1").as_deref(), Some("169.254.169.254"));
        assert_eq!(embedded("2001::ffff:ffff:80ff:fffe").as_deref(), Some("127.0.0.1"));
        for plain in ["::", "::1", "2001:db8::1", "2606:4700::1111", "127.0.0.1"] {
            assert_eq!(embedded(plain), None, "{plain}");
        }
    }
}
