//! `cargo xtask bench`: what forwarding costs, beside other ways to do it, in the same run.
//!
//! A scenario is a list of loads and a list of ways from a port here to a destination. In each round every load goes
//! through every way, one right after the other, each time through processes that were just started. What varies from
//! minute to minute then varies for all, and ratios are taken within a round before the median is taken of them. A page has
//! no ports, so what the npm package does is measured by JavaScript: see `browser`. What a single frame takes is measured inside one
//! process: see `micro`.

mod browser;
mod figures;
mod load;
mod machine;
mod micro;
mod places;
mod plots;
mod report;
mod running;
mod scale;
mod scenarios;
mod ssh;
mod statistics;
mod targets;
mod ways;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;

use crate::process::{built, cargo, run as run_quietly};
use crate::progress::Progress;
use figures::Results;
use load::Load;
use scenarios::{SCENARIOS, Scenario, Work};
use ways::{Programs, Way};

/// Options of `cargo xtask bench`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to measure; everything, if nothing is named
    #[arg(value_parser = PossibleValuesParser::new(SCENARIOS.iter().map(|scenario| scenario.name)))]
    scenarios: Vec<String>,
    /// Repetitions, of which the medians are taken
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Length of one measurement
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Also measure a command that forwards a port, for example "mine=tool {listen} {destination}" (repeats)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = Way::other)]
    also: Vec<&'static Way>,
    /// Write the tables to BENCHMARKS.md as well, with pictures
    #[arg(long)]
    write: bool,
}

/// Measures, prints and perhaps writes the chosen scenarios, one after the other.
pub(crate) fn run(args: &Args) -> Result<()> {
    let programs = build()?;
    println!("\n{}", machine::describe(args)?);
    let all = args.scenarios.is_empty();
    for scenario in SCENARIOS.iter().filter(|scenario| all || args.scenarios.iter().any(|name| name == scenario.name)) {
        let ways = scenario.ways_and(&args.also);
        let results = measure(scenario, &ways, &programs, args)?;
        let report = report::of(scenario, &ways, &results);
        println!("\n{report}");
        if args.write {
            let picture = plots::write(scenario, &ways, &results)?;
            report::write(scenario.name, &format!("{report}{picture}\n{}\n", machine::describe(args)?))?;
        }
    }
    Ok(())
}

fn build() -> Result<Programs> {
    let progress = Progress::start("build");
    run_quietly(&mut cargo(["build", "--release", "--bin", "muxgate", "--bin", "muxgate-bench"]), &progress)?;
    progress.finish("ok", "the gateway and the bench's programs, optimised");
    Programs::new(&built("release")?)
}

fn measure(scenario: &Scenario, ways: &[&Way], programs: &Programs, args: &Args) -> Result<Results> {
    let progress = Progress::start(scenario.name);
    let ways: Vec<_> = ways.iter().copied().filter(|way| way.missing().is_none()).collect();
    let results = match scenario.work {
        _ if ways.is_empty() => Results::default(),
        Work::Loads(loads) => through(&ways, loads, programs, args, &progress)?,
        Work::By(measure) => measure(programs, args, &progress)?,
    };
    progress.finish("ok", &format!("{} rounds of {} s", args.rounds, args.seconds));
    Ok(results)
}

/// Each load through each way, in every round.
fn through(
    ways: &[&Way],
    loads: &[(&str, Load)],
    programs: &Programs,
    args: &Args,
    progress: &Progress,
) -> Result<Results> {
    let mut results = Results::default();
    for round in 1..=args.rounds {
        for (name, load) in loads {
            for way in ways {
                let what = format!("{}: {name}", way.name);
                progress.news(&format!("round {round} of {}: {what}", args.rounds));
                let figures = load.through(way, programs, args.seconds).context(what)?;
                results.add(name, way.name, figures);
            }
        }
    }
    Ok(results)
}
