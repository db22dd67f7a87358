//! What is measured, through which ways, and which figures the tables show.

use anyhow::Result;

use super::figures::Results;
use super::load::Load;
use super::ways::{
    BARE, BATCHED, BATCHED_SMALL, DIRECT, PAGE, PER_MESSAGE, PER_MESSAGE_SMALL, Programs, RELAYS, SOCAT, SSH, TCP, TLS,
    WEBSOCKET, Way,
};
use super::{Args, browser, micro, scale};
use crate::progress::Progress;

/// One table.
pub(super) struct Scenario {
    /// On the command line.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What a reader needs to know to read the table.
    pub(super) about: &'static str,
    pub(super) work: Work,
    /// The rows.
    pub(super) ways: &'static [&'static Way],
    pub(super) columns: &'static [Column],
}

impl Scenario {
    /// The rows, with those that the user adds where ports are forwarded.
    pub(super) fn ways_and(&self, also: &[&'static Way]) -> Vec<&'static Way> {
        let also = if matches!(self.work, Work::Loads(_)) { also } else { &[] };
        [self.ways, also].concat()
    }
}

/// What is done to get the figures.
pub(super) enum Work {
    /// Each of these through every way.
    Loads(&'static [(&'static str, Load)]),
    /// What a module of its own does.
    By(fn(&Programs, &Args, &Progress) -> Result<Results>),
}

/// One figure of one load, for all ways.
pub(super) struct Column {
    pub(super) head: &'static str,
    pub(super) load: &'static str,
    pub(super) figure: &'static str,
    pub(super) relative_to: Option<&'static Way>,
    pub(super) decimals: usize,
}

pub(super) const fn column(head: &'static str, load: &'static str, figure: &'static str, decimals: usize) -> Column {
    Column { head, load, figure, relative_to: None, decimals }
}

const fn ratio(head: &'static str, load: &'static str, figure: &'static str, to: &'static Way) -> Column {
    Column { head, load, figure, relative_to: Some(to), decimals: 2 }
}

/// In the order of the report.
pub(super) const SCENARIOS: &[Scenario] =
    &[BULK, LATENCY, OPENS, ISOLATION, IDLE, CREDIT, BROWSER, micro::MICRO, scale::SCALE];

const BULK: Scenario = Scenario {
    name: "relays",
    title: "Bulk data",
    about: "Received at the destination, for 1, 2, 10 and 100 connections. \"of relays\" is the part of what a chain of two minimal \
            tokio relays (`copy_bidirectional`, 256 KiB buffers) moves in the same round; such a chain multiplexes nothing. \
            Processor time and memory are those of the forwarding processes: seconds per 10^9 bytes of all of them, and \
            the peak of the largest.",
    work: Work::Loads(&[
        ("1", Load::Bulk { connections: 1 }),
        ("2", Load::Bulk { connections: 2 }),
        ("10", Load::Bulk { connections: 10 }),
        ("100", Load::Bulk { connections: 100 }),
    ]),
    ways: &[&DIRECT, &RELAYS, &TCP, &WEBSOCKET, &TLS, &SSH, &SOCAT],
    columns: &[
        column("1: Gbit/s", "1", "gbit_per_s", 2),
        ratio("of relays", "1", "gbit_per_s", &RELAYS),
        column("2: Gbit/s", "2", "gbit_per_s", 2),
        ratio("of relays", "2", "gbit_per_s", &RELAYS),
        column("10: Gbit/s", "10", "gbit_per_s", 2),
        ratio("of relays", "10", "gbit_per_s", &RELAYS),
        column("100: Gbit/s", "100", "gbit_per_s", 2),
        ratio("of relays", "100", "gbit_per_s", &RELAYS),
        column("10: Jain", "10", "jain", 4),
        column("100: Jain", "100", "jain", 4),
        column("1: CPU s/GB", "1", "cpu_s_per_gb", 2),
        column("2: CPU s/GB", "2", "cpu_s_per_gb", 2),
        column("10: CPU s/GB", "10", "cpu_s_per_gb", 2),
        column("10: peak MiB", "10", "peak_mib", 1),
    ],
};

const LATENCY: Scenario = Scenario {
    name: "latency",
    title: "Round trips",
    about: "One byte to an echo and back, in microseconds: on an idle forwarder, and beside 1 and 10 bulk transfers through it.",
    work: Work::Loads(&[
        ("idle", Load::RoundTrips { bulk: 0 }),
        ("beside 1", Load::RoundTrips { bulk: 1 }),
        ("beside 10", Load::RoundTrips { bulk: 10 }),
    ]),
    ways: &[&DIRECT, &RELAYS, &TCP, &WEBSOCKET, &SSH, &SOCAT],
    columns: &[
        column("idle: p50", "idle", "p50_us", 0),
        ratio("of direct", "idle", "p50_us", &DIRECT),
        column("p99", "idle", "p99_us", 0),
        column("beside 1: p50", "beside 1", "p50_us", 0),
        column("p99", "beside 1", "p99_us", 0),
        column("beside 10: p50", "beside 10", "p50_us", 0),
        column("p99", "beside 10", "p99_us", 0),
    ],
};

const OPENS: Scenario = Scenario {
    name: "opens",
    title: "Short connections",
    about: "Connect to an echo, one byte there and back, close; one after another. Times in microseconds.",
    work: Work::Loads(&[("opens", Load::Opens)]),
    ways: &[&DIRECT, &RELAYS, &TCP, &WEBSOCKET, &SSH, &SOCAT],
    columns: &[
        column("per second", "opens", "per_s", 0),
        column("p50", "opens", "p50_us", 0),
        column("p99", "opens", "p99_us", 0),
    ],
};

const ISOLATION: Scenario = Scenario {
    name: "isolation",
    title: "Connections that go wrong",
    about: "Left: one bulk transfer, alone and then beside a connection whose destination accepts and never reads; \"taken\" is \
            what was accepted for it before it stood still, socket buffers on the way included. Right: destinations that reset \
            every connection at once, one after another; how many of them the client saw as a reset, and round trips \
            (microseconds) on another connection meanwhile.",
    work: Work::Loads(&[("stall", Load::Stall), ("resets", Load::Resets)]),
    ways: &[&DIRECT, &RELAYS, &TCP, &WEBSOCKET, &SSH],
    columns: &[
        column("alone: Gbit/s", "stall", "alone_gbit_per_s", 2),
        column("beside a stuck one", "stall", "beside_gbit_per_s", 2),
        column("ratio", "stall", "ratio", 3),
        column("taken MiB", "stall", "taken_mib", 1),
        column("resets per second", "resets", "per_s", 0),
        column("seen as resets", "resets", "passed_on", 2),
        column("beside: p50", "resets", "p50_us", 0),
        column("p99", "resets", "p99_us", 0),
    ],
};

const IDLE: Scenario = Scenario {
    name: "idle",
    title: "Idle connections",
    about: "10,000 connections that were used once: memory of the larger process, and processor time of all in parts of one core.",
    work: Work::Loads(&[("idle", Load::Idle { channels: 10_000 })]),
    ways: &[&TCP, &WEBSOCKET],
    columns: &[
        column("MiB", "idle", "mib", 1),
        column("KiB each", "idle", "kib_per_channel", 2),
        column("CPU %", "idle", "cpu_percent", 1),
    ],
};

const CREDIT: Scenario = Scenario {
    name: "credit",
    title: "Granting credit",
    about: "WindowAdjust messages per 10^9 bytes of bulk data over TCP, by class (see ARCHITECTURE.md), and what they cost: credit \
            in batches, and the same code made to grant credit for each message; with the messages that our ends \
            use among themselves (up to 64 KiB), and with small ones.",
    work: Work::Loads(&[("1", Load::Bulk { connections: 1 }), ("10", Load::Bulk { connections: 10 })]),
    ways: &[&BATCHED, &PER_MESSAGE, &BATCHED_SMALL, &PER_MESSAGE_SMALL],
    columns: &[
        column("1: adjusts", "1", "adjusts_per_gb", 0),
        column("lazy", "1", "lazy_per_gb", 0),
        column("urgent", "1", "urgent_per_gb", 0),
        column("must", "1", "must_per_gb", 0),
        column("Gbit/s", "1", "gbit_per_s", 2),
        column("CPU s/GB", "1", "cpu_s_per_gb", 2),
        column("10: adjusts", "10", "adjusts_per_gb", 0),
        column("Gbit/s", "10", "gbit_per_s", 2),
        column("CPU s/GB", "10", "cpu_s_per_gb", 2),
        column("Jain", "10", "jain", 4),
    ],
};

const BROWSER: Scenario = Scenario {
    name: "browser",
    title: "In a browser",
    about: "The npm package in a page of Chromium, beside a bare WebSocket of the same browser to the same gateway process, which \
            leads to the same destinations and looks at nothing that it receives. Down and up: one transfer at full speed. \
            Round trips (milliseconds): one byte to an echo and back, on an idle tunnel and beside a download; that of the \
            package goes through the same WebSocket as the download, that of the bare one has its own. Memory: what the \
            page's process and a gateway take more while a reader takes 10 KB/s from a source of 10^9 bytes.",
    work: Work::By(browser::measure),
    ways: &[&BARE, &PAGE],
    columns: &[
        column("down: Gbit/s", "down", "gbit_per_s", 2),
        ratio("of bare", "down", "gbit_per_s", &BARE),
        column("up: Gbit/s", "up", "gbit_per_s", 2),
        ratio("of bare", "up", "gbit_per_s", &BARE),
        column("idle: p50", "idle", "p50_ms", 1),
        column("p99", "idle", "p99_ms", 1),
        column("beside: p50", "beside", "p50_ms", 1),
        column("p99", "beside", "p99_ms", 1),
        column("page MiB", "memory", "mib", 1),
        column("gateway MiB", "memory", "gateway_mib", 1),
    ],
};
