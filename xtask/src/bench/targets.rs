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

const fn at_least(scenario: &'static str, name: &'static str, cell: Cell, bound: f64) -> Target {
    Target { name, scenario, cell, bound: Bound::AtLeast(bound) }
}

const fn at_most(scenario: &'static str, name: &'static str, cell: Cell, bound: f64) -> Target {
    Target { name, scenario, cell, bound: Bound::AtMost(bound) }
}

/// The targets of a scenario.
pub(super) fn of_scenario(name: &str) -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().filter(move |target| target.scenario == name)
}

const TARGETS: &[Target] = &[
    at_least("relays", "one bulk connection, of two minimal relays", ratio(&TCP, "1", "gbit_per_s", &RELAYS), 0.9),
    at_least("relays", "two, of two minimal relays", ratio(&TCP, "2", "gbit_per_s", &RELAYS), 0.9),
    at_least("relays", "ten, of two minimal relays", ratio(&TCP, "10", "gbit_per_s", &RELAYS), 0.9),
    at_most("relays", "one: processor time, of two minimal relays", ratio(&TCP, "1", "cpu_s_per_gb", &RELAYS), 1.2),
    at_most("relays", "two: processor time, of two minimal relays", ratio(&TCP, "2", "cpu_s_per_gb", &RELAYS), 1.2),
    at_most("relays", "ten: processor time, of two minimal relays", ratio(&TCP, "10", "cpu_s_per_gb", &RELAYS), 1.2),
    at_least("relays", "one over WebSocket, of that over TCP", ratio(&WEBSOCKET, "1", "gbit_per_s", &TCP), 0.8),
    at_least("relays", "ten over WebSocket, of that over TCP", ratio(&WEBSOCKET, "10", "gbit_per_s", &TCP), 0.8),
    at_least("relays", "one, of ssh -L", ratio(&TCP, "1", "gbit_per_s", &SSH), 1.3),
    at_least("relays", "two, of ssh -L", ratio(&TCP, "2", "gbit_per_s", &SSH), 1.3),
    at_least("relays", "ten, of ssh -L", ratio(&TCP, "10", "gbit_per_s", &SSH), 1.3),
    at_least("relays", "ten bulk connections: Jain's index", of(&TCP, "10", "jain"), 0.999),
    at_most("latency", "idle round trip (median), times the direct one", ratio(&TCP, "idle", "p50_us", &DIRECT), 3.0),
    at_most(
        "latency",
        "round trip beside one bulk transfer (median), microseconds",
        of(&TCP, "beside 1", "p50_us"),
        1000.0,
    ),
    at_most(
        "latency",
        "round trip beside ten bulk transfers (median), microseconds",
        of(&TCP, "beside 10", "p50_us"),
        1000.0,
    ),
    at_most("latency", "the same, 99th percentile", of(&TCP, "beside 10", "p99_us"), 5000.0),
    at_least("opens", "opens per second, one after another", of(&TCP, "opens", "per_s"), 2000.0),
    at_least(
        "isolation",
        "throughput beside a destination that never reads, of that without",
        of(&TCP, "stall", "ratio"),
        0.95,
    ),
    at_least(
        "isolation",
        "connections that their destination reset and that the client saw reset, of all",
        of(&TCP, "resets", "passed_on"),
        1.0,
    ),
    at_most("idle", "10,000 idle channels: MiB of the larger process", of(&TCP, "idle", "mib"), 64.0),
    at_most(
        "credit",
        "WindowAdjust messages per 10^9 bytes of one transfer",
        of(&BATCHED, "1", "adjusts_per_gb"),
        5000.0,
    ),
    at_least("browser", "download in a page, of a bare WebSocket", ratio(&PAGE, "down", "gbit_per_s", &BARE), 0.7),
    at_least("browser", "upload in a page, of a bare WebSocket", ratio(&PAGE, "up", "gbit_per_s", &BARE), 0.7),
    at_most("browser", "idle round trip in a page (median), milliseconds", of(&PAGE, "idle", "p50_ms"), 2.0),
    at_most("browser", "round trip beside a download (median), milliseconds", of(&PAGE, "beside", "p50_ms"), 10.0),
    at_most("browser", "memory behind a slow reader: page, MiB", of(&PAGE, "memory", "mib"), 32.0),
    at_most("browser", "memory behind a slow reader: gateway, MiB", of(&PAGE, "memory", "gateway_mib"), 32.0),
];
