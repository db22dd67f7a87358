//! What must be reached.

use super::figures::{Cell, Results};
use super::ways::{BARE, BATCHED, DIRECT, PAGE, RELAYS, SSH, TCP, WEBSOCKET, Way};

/// A bound of one figure.
pub(super) struct Target {
    pub(super) name: &'static str,
    scenario: &'static str,
    cell: Cell,
    bound: Bound,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    /// Measured, wanted, and the verdict.
    pub(super) fn judge(&self, results: &Results) -> [String; 3] {
        let wanted = match self.bound {
            Bound::AtLeast(bound) => format!("at least {bound}"),
            Bound::AtMost(bound) => format!("at most {bound}"),
        };
        let Some(value) = results.median(self.cell) else { return ["-".to_owned(), wanted, "MISSED".to_owned()] };
        let reached = match self.bound {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        };
        // As many digits as it takes to tell it from the bound.
        let decimals = if value >= 100.0 { 0 } else { 4 };
        [format!("{value:.decimals$}"), wanted, if reached { "ok" } else { "MISSED" }.to_owned()]
    }
}

const fn of(way: &'static Way, load: &'static str, figure: &'static str) -> Cell {
    Cell { load, way: way.name, figure, relative_to: None }
}

const fn ratio(way: &'static Way, load: &'static str, figure: &'static str, to: &'static Way) -> Cell {
    Cell { relative_to: Some(to.name), ..of(way, load, figure) }
}

/// The targets of a scenario.
pub(super) fn of_scenario(name: &str) -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().filter(move |target| target.scenario == name)
}

const TARGETS: &[Target] = &[
    Target {
        name: "one bulk connection, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "1", "gbit_per_s", &RELAYS),
        bound: Bound::AtLeast(0.9),
    },
    Target {
        name: "two, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "2", "gbit_per_s", &RELAYS),
        bound: Bound::AtLeast(0.9),
    },
    Target {
        name: "ten, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "10", "gbit_per_s", &RELAYS),
        bound: Bound::AtLeast(0.9),
    },
    Target {
        name: "one: processor time, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "1", "cpu_s_per_gb", &RELAYS),
        bound: Bound::AtMost(1.2),
    },
    Target {
        name: "two: processor time, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "2", "cpu_s_per_gb", &RELAYS),
        bound: Bound::AtMost(1.2),
    },
    Target {
        name: "ten: processor time, of two minimal relays",
        scenario: "relays",
        cell: ratio(&TCP, "10", "cpu_s_per_gb", &RELAYS),
        bound: Bound::AtMost(1.2),
    },
    Target {
        name: "one over WebSocket, of that over TCP",
        scenario: "relays",
        cell: ratio(&WEBSOCKET, "1", "gbit_per_s", &TCP),
        bound: Bound::AtLeast(0.8),
    },
    Target {
        name: "ten over WebSocket, of that over TCP",
        scenario: "relays",
        cell: ratio(&WEBSOCKET, "10", "gbit_per_s", &TCP),
        bound: Bound::AtLeast(0.8),
    },
    Target {
        name: "one, of ssh -L",
        scenario: "relays",
        cell: ratio(&TCP, "1", "gbit_per_s", &SSH),
        bound: Bound::AtLeast(1.3),
    },
    Target {
        name: "two, of ssh -L",
        scenario: "relays",
        cell: ratio(&TCP, "2", "gbit_per_s", &SSH),
        bound: Bound::AtLeast(1.3),
    },
    Target {
        name: "ten, of ssh -L",
        scenario: "relays",
        cell: ratio(&TCP, "10", "gbit_per_s", &SSH),
        bound: Bound::AtLeast(1.3),
    },
    Target {
        name: "ten bulk connections: Jain's index",
        scenario: "relays",
        cell: of(&TCP, "10", "jain"),
        bound: Bound::AtLeast(0.999),
    },
    Target {
        name: "idle round trip (median), times the direct one",
        scenario: "latency",
        cell: ratio(&TCP, "idle", "p50_us", &DIRECT),
        bound: Bound::AtMost(3.0),
    },
    Target {
        name: "round trip beside one bulk transfer (median), microseconds",
        scenario: "latency",
        cell: of(&TCP, "beside 1", "p50_us"),
        bound: Bound::AtMost(1000.0),
    },
    Target {
        name: "round trip beside ten bulk transfers (median), microseconds",
        scenario: "latency",
        cell: of(&TCP, "beside 10", "p50_us"),
        bound: Bound::AtMost(1000.0),
    },
    Target {
        name: "the same, 99th percentile",
        scenario: "latency",
        cell: of(&TCP, "beside 10", "p99_us"),
        bound: Bound::AtMost(5000.0),
    },
    Target {
        name: "opens per second, one after another",
        scenario: "opens",
        cell: of(&TCP, "opens", "per_s"),
        bound: Bound::AtLeast(2000.0),
    },
    Target {
        name: "throughput beside a destination that never reads, of that without",
        scenario: "isolation",
        cell: of(&TCP, "stall", "ratio"),
        bound: Bound::AtLeast(0.95),
    },
    Target {
        name: "connections that their destination reset and that the client saw reset, of all",
        scenario: "isolation",
        cell: of(&TCP, "resets", "passed_on"),
        bound: Bound::AtLeast(1.0),
    },
    Target {
        name: "10,000 idle channels: MiB of the larger process",
        scenario: "idle",
        cell: of(&TCP, "idle", "mib"),
        bound: Bound::AtMost(64.0),
    },
    Target {
        name: "WindowAdjust messages per 10^9 bytes of one transfer",
        scenario: "credit",
        cell: of(&BATCHED, "1", "adjusts_per_gb"),
        bound: Bound::AtMost(5000.0),
    },
    Target {
        name: "download in a page, of a bare WebSocket",
        scenario: "browser",
        cell: ratio(&PAGE, "down", "gbit_per_s", &BARE),
        bound: Bound::AtLeast(0.7),
    },
    Target {
        name: "upload in a page, of a bare WebSocket",
        scenario: "browser",
        cell: ratio(&PAGE, "up", "gbit_per_s", &BARE),
        bound: Bound::AtLeast(0.7),
    },
    Target {
        name: "idle round trip in a page (median), milliseconds",
        scenario: "browser",
        cell: of(&PAGE, "idle", "p50_ms"),
        bound: Bound::AtMost(2.0),
    },
    Target {
        name: "round trip beside a download (median), milliseconds",
        scenario: "browser",
        cell: of(&PAGE, "beside", "p50_ms"),
        bound: Bound::AtMost(10.0),
    },
    Target {
        name: "memory behind a slow reader: page, MiB",
        scenario: "browser",
        cell: of(&PAGE, "memory", "mib"),
        bound: Bound::AtMost(32.0),
    },
    Target {
        name: "memory behind a slow reader: gateway, MiB",
        scenario: "browser",
        cell: of(&PAGE, "memory", "gateway_mib"),
        bound: Bound::AtMost(32.0),
    },
];
