//! Compares multiplexers as libraries: throughput, processor time, allocations and calls per megabyte, and round trips.
//!
//! `cargo run --release` prints markdown tables: medians of interleaved rounds. Arguments choose libraries and tables.

mod count;
mod http2;
mod library;
mod muxgate;
mod run;
mod yamux;

use std::env::args;
use std::io::{ErrorKind, Result};

use run::{Load, Sample};

#[global_allocator]
static ALLOCATOR: count::Allocator = count::Allocator;

const ROUNDS: usize = 5;
const BYTES: usize = 256 << 20;
const TRIPS: usize = 300;

type Run = fn(Load) -> Result<Sample>;

/// A library, and the three ways to run it.
struct Candidate {
    name: &'static str,
    loopback: Run,
    memory: Run,
    round_trips: Run,
}

macro_rules! candidate {
    ($name:literal, $library:ty) => {
        Candidate {
            name: $name,
            loopback: run::over_loopback::<$library>,
            memory: run::in_memory::<$library>,
            round_trips: |load| run::round_trips::<$library>(load, TRIPS),
        }
    };
}

const CANDIDATES: &[Candidate] = &[
    candidate!("muxgate-core", muxgate::Muxgate),
    candidate!("yamux", yamux::Yamux),
    candidate!("tokio-yamux", yamux::TokioYamux),
    candidate!("h2", http2::Http2),
];

fn main() -> Result<()> {
    let chosen: Vec<String> = args().skip(1).collect();
    let is_wanted = |name: &str, all: &[&str]| {
        let mut named = chosen.iter().filter(|name| all.contains(&name.as_str())).peekable();
        named.peek().is_none() || named.any(|chosen| chosen == name)
    };
    let names: Vec<_> = CANDIDATES.iter().map(|candidate| candidate.name).collect();
    let candidates: Vec<_> = CANDIDATES.iter().filter(|candidate| is_wanted(candidate.name, &names)).collect();
    let tables = ["loopback", "memory", "round-trips"];

    if is_wanted("loopback", &tables) {
        bulk_table("over loopback", &candidates, |it| it.loopback)?;
    }
    if is_wanted("memory", &tables) {
        bulk_table("in memory, one thread", &candidates, |it| it.memory)?;
    }
    if is_wanted("round-trips", &tables) {
        round_trip_table(&candidates)?;
    }
    Ok(())
}

fn bulk_table(connection: &str, candidates: &[&Candidate], run: fn(&Candidate) -> Run) -> Result<()> {
    println!("| {connection}: streams | writes | library | Gbit/s | CPU s/GB | allocations/MB | reads and writes/MB |");
    println!("|---|---|---|---:|---:|---:|---:|");
    for streams in [1, 10, 100] {
        for write in [4 * 1024, 64 * 1024] {
            let load = Load { streams, write, bytes: BYTES };
            for (name, samples) in interleaved(candidates, load, run)? {
                bulk_row(load, name, &samples);
            }
        }
    }
    println!();
    Ok(())
}

fn round_trip_table(candidates: &[&Candidate]) -> Result<()> {
    println!("| beside bulk streams | library | round trip of one byte, µs |");
    println!("|---|---|---:|");
    for streams in [0, 1, 10, 100] {
        let bytes = if streams == 0 { 0 } else { BYTES / 8 };
        let load = Load { streams, write: 64 * 1024, bytes };
        for (name, samples) in interleaved(candidates, load, |it| it.round_trips)? {
            let trip = median(&samples, |sample| sample.round_trip.as_secs_f64() * 1e6);
            println!("| {streams} | {name} | {trip:.0} |");
        }
    }
    Ok(())
}

/// All candidates in turn, round after round: the speed of a machine changes from minute to minute. Runs that got stuck are
/// left out.
fn interleaved(
    candidates: &[&Candidate],
    load: Load,
    run: fn(&Candidate) -> Run,
) -> Result<Vec<(&'static str, Vec<Sample>)>> {
    let mut all: Vec<_> = candidates.iter().map(|candidate| (candidate.name, Vec::new())).collect();
    for _ in 0..ROUNDS {
        for (candidate, (_, samples)) in candidates.iter().zip(&mut all) {
            match run(candidate)(load) {
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    eprintln!("{} is stuck: {load:?}", candidate.name);
                }
                result => samples.push(result?),
            }
        }
    }
    Ok(all)
}

fn bulk_row(load: Load, name: &str, samples: &[Sample]) {
    println!(
        "| {} | {} KiB | {name} | {:.1} | {:.2} | {:.1} | {:.1} |",
        load.streams,
        load.write / 1024,
        median(samples, |sample| sample.gbit_per_second),
        median(samples, |sample| sample.cpu_per_gigabyte),
        median(samples, |sample| sample.allocations_per_megabyte),
        median(samples, |sample| sample.calls_per_megabyte),
    );
}

fn median(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
