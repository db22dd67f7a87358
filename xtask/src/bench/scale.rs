//! What one of many costs: channels of one session, and sessions of one channel.

use anyhow::{Context, Result};

use super::Args;
use super::figures::Results;
use super::load::Load;
use super::scenarios::{Scenario, Work, column};
use super::ways::{CHANNELS, Programs, SESSIONS, Way};
use crate::progress::Progress;

/// Some number of channels or sessions.
pub(super) struct Row {
    /// What the table calls it.
    pub(super) way: Way,
    /// How connections become what is counted.
    through: &'static Way,
    count: u32,
}

const fn row(name: &'static str, through: &'static Way, count: u32) -> Row {
    Row { way: Way::row(name), through, count }
}

const ROWS: &[Row] = &[
    row("1 channel", &CHANNELS, 1),
    row("100 channels", &CHANNELS, 100),
    row("1,000 channels", &CHANNELS, 1000),
    row("10,000 channels", &CHANNELS, 10_000),
    row("1 session", &SESSIONS, 1),
    row("100 sessions", &SESSIONS, 100),
    row("1,000 sessions", &SESSIONS, 1000),
];

pub(super) const SCALE: Scenario = Scenario {
    name: "scale",
    title: "One of many",
    about: "Channels of one session, and sessions of one channel each (a process `muxgate pipe` for each of them), over TCP. All \
            figures but times are those of the gateway's process alone. Idle: its memory, and what it grew by for each (the first one takes what all have in common); then one \
            byte to an echo and back beside them, in microseconds: how long it takes, and the gateway's processor time for it. \
            Active: all of them send 16 KiB to an echo and wait for them to come back, again and again; both directions count.",
    work: Work::By(measure),
    ways: &[&ROWS[0].way, &ROWS[1].way, &ROWS[2].way, &ROWS[3].way, &ROWS[4].way, &ROWS[5].way, &ROWS[6].way],
    columns: &[
        column("idle: MiB", IDLE, "mib", 1),
        column("KiB each", IDLE, "kib_per_channel", 2),
        column("CPU %", IDLE, "cpu_percent", 1),
        column("beside: p50", IDLE, "p50_us", 0),
        column("p99", IDLE, "p99_us", 0),
        column("CPU us", IDLE, "cpu_us_per_trip", 1),
        column("active: Gbit/s", ACTIVE, "gbit_per_s", 2),
        column("CPU s/GB", ACTIVE, "cpu_s_per_gb", 2),
        column("Jain", ACTIVE, "jain", 4),
        column("peak MiB", ACTIVE, "peak_mib", 1),
    ],
};

const IDLE: &str = "idle";
const ACTIVE: &str = "active";

fn measure(programs: &Programs, args: &Args, progress: &Progress) -> Result<Results> {
    let mut results = Results::default();
    for round in 1..=args.rounds {
        for Row { way, through, count } in ROWS {
            let loads = [(IDLE, Load::Idle { channels: *count }), (ACTIVE, Load::Exchange { connections: *count })];
            for (name, load) in loads {
                let what = format!("{}: {name}", way.name);
                progress.news(&format!("round {round} of {}: {what}", args.rounds));
                let figures = load.through(through, programs, args.seconds).context(what)?;
                // For the picture, whose lines are what is counted.
                results.add(&format!("{name} {count}"), through.name, figures.clone());
                results.add(name, way.name, figures);
            }
        }
    }
    Ok(results)
}
