//! What `cargo bench -p muxgate-core` says about single frames: `core/benches`.

use anyhow::Result;

use super::Args;
use super::figures::{Figures, Results};
use super::scenarios::{Scenario, Work, column};
use super::ways::{Programs, Way};
use crate::process::{cargo, run_with};
use crate::progress::Progress;

/// Frames for which the benches print their numbers.
const FRAMES: f64 = 1000.0;

/// What all figures belong to.
const LOAD: &str = "frames";

pub(super) const MICRO: Scenario = Scenario {
    name: "micro",
    title: "Single frames",
    about: "`cargo bench -p muxgate-core`: nanoseconds and allocations for each frame, in one thread of one process. To decode and \
            to encode one; DATA is encoded from what a channel was given to what a transport is given. A turn is one message of \
            4 KiB on each of 1 to 1,000 channels of one session, from the writers through both drivers and a transport in memory \
            to the readers, credit included; that transport copies what it carries.",
    work: Work::By(measure),
    ways: &[
        &Way::row("decode OPEN"),
        &Way::row("decode WindowAdjust"),
        &Way::row("decode DATA, 4 KiB"),
        &Way::row("decode DATA, 64 KiB"),
        &Way::row("encode OPEN"),
        &Way::row("encode WindowAdjust"),
        &Way::row("encode DATA, 4 KiB"),
        &Way::row("encode DATA, 64 KiB"),
        &Way::row("turn of 1 channel"),
        &Way::row("turn of 10 channels"),
        &Way::row("turn of 100 channels"),
        &Way::row("turn of 1,000 channels"),
    ],
    columns: &[column("ns", LOAD, "ns", 1), column("allocations", LOAD, "allocations", 2)],
};

fn measure(_: &Programs, args: &Args, progress: &Progress) -> Result<Results> {
    let mut results = Results::default();
    let seconds = args.seconds.to_string();
    for _ in 0..args.rounds {
        let mut bench = cargo(["bench", "--package", "muxgate-core", "--", "--output-format", "bencher"]);
        run_with(bench.args(["--measurement-time", &seconds, "--warm-up-time", "1"]), |line| {
            progress.news(line);
            if let Some((name, figure, value)) = figure(line) {
                results.add(LOAD, name, Figures::from([(figure.to_owned(), value)]));
            }
        })?;
    }
    Ok(results)
}

/// Name, figure and value for each frame, if the line has them.
fn figure(line: &str) -> Option<(&str, &'static str, f64)> {
    let (name, said) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (what, value) = said.split_once(':')?;
    let value: f64 = value.split_whitespace().next()?.replace(',', "").parse().ok()?;
    match what {
        "bench" => Some((name, "ns", value / FRAMES)),
        "allocations" => Some((name, "allocations", value / FRAMES)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_are_those_of_one_frame() {
        let time = "test turn of 1,000 channels ... bench:     542,307 ns/iter (+/- 8,264)";
        assert_eq!(figure(time), Some(("turn of 1,000 channels", "ns", 542.307)));
        let allocations = "test encode OPEN ... allocations: 1866";
        assert_eq!(figure(allocations), Some(("encode OPEN", "allocations", 1.866)));
        assert_eq!(figure("test result: ok. 1 passed; 0 failed"), None);
    }
}
