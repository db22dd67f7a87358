//! Results as pictures: the same figures as in the tables, or those for which the tables have no room.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::figures::{Cell, Results};
use super::scenarios::Scenario;
use super::ways::{CHANNELS, SESSIONS, Way};
use crate::process::{cargo, root, run};
use crate::progress::Progress;

/// For pictures, and for the figures that they are drawn from.
const FOLDER: &str = "docs/bench";

/// A picture.
struct Plot {
    scenario: &'static str,
    /// For those who do not see it.
    alt: &'static str,
    /// What has a line; the rows of the table, if nothing is named.
    lines: &'static [&'static Way],
    panels: &'static [Panel],
}

/// One figure of several loads.
struct Panel {
    title: &'static str,
    x: &'static str,
    y: &'static str,
    scale: &'static str,
    figure: &'static str,
    /// On the horizontal axis, with the loads that they stand for.
    ticks: &'static [(&'static str, &'static str)],
}

const LINEAR: &str = "linear";
const LOGARITHMIC: &str = "logarithmic";

const CONNECTIONS: &[(&str, &str)] = &[("1", "1"), ("2", "2"), ("10", "10"), ("100", "100")];
const TRANSFERS: &[(&str, &str)] = &[("0", "idle"), ("1", "beside 1"), ("10", "beside 10")];
const MANY_IDLE: &[(&str, &str)] =
    &[("1", "idle 1"), ("100", "idle 100"), ("1,000", "idle 1000"), ("10,000", "idle 10000")];
const MANY_ACTIVE: &[(&str, &str)] =
    &[("1", "active 1"), ("100", "active 100"), ("1,000", "active 1000"), ("10,000", "active 10000")];

const PLOTS: &[Plot] = &[
    Plot {
        scenario: "relays",
        alt: "Throughput and processor time by the number of connections",
        lines: &[],
        panels: &[
            panel("Throughput", "connections", "Gbit/s", LINEAR, "gbit_per_s", CONNECTIONS),
            panel("Processor time", "connections", "CPU seconds per GB", LINEAR, "cpu_s_per_gb", CONNECTIONS),
        ],
    },
    Plot {
        scenario: "latency",
        alt: "Round trips by the number of bulk transfers beside them",
        lines: &[],
        panels: &[
            panel("Round trip: median", "bulk transfers beside it", "microseconds", LOGARITHMIC, "p50_us", TRANSFERS),
            panel("99th percentile", "bulk transfers beside it", "microseconds", LOGARITHMIC, "p99_us", TRANSFERS),
        ],
    },
    Plot {
        scenario: "scale",
        alt: "Memory and processor time by the number of channels and of sessions",
        lines: &[&CHANNELS, &SESSIONS],
        panels: &[
            panel("Memory for each", "idle channels or sessions", "KiB", LOGARITHMIC, "kib_per_channel", MANY_IDLE),
            panel(
                "Round trip beside them",
                "idle channels or sessions",
                "CPU microseconds",
                LINEAR,
                "cpu_us_per_trip",
                MANY_IDLE,
            ),
            panel("Data", "active channels or sessions", "CPU seconds per GB", LINEAR, "cpu_s_per_gb", MANY_ACTIVE),
        ],
    },
];

const fn panel(
    title: &'static str,
    x: &'static str,
    y: &'static str,
    scale: &'static str,
    figure: &'static str,
    ticks: &'static [(&'static str, &'static str)],
) -> Panel {
    Panel { title, x, y, scale, figure, ticks }
}

/// Draws the scenario, if it has a picture, and returns what shows it in BENCHMARKS.md.
pub(super) fn write(scenario: &Scenario, ways: &[&Way], results: &Results) -> Result<String> {
    let Some(plot) = PLOTS.iter().find(|plot| plot.scenario == scenario.name) else { return Ok(String::new()) };
    let progress = Progress::start("plot");
    let folder = root().join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {FOLDER}"))?;
    let figures = folder.join(format!("{}.tsv", plot.scenario));
    let lines = if plot.lines.is_empty() { ways } else { plot.lines };
    fs::write(&figures, plot.figures(lines, results)).with_context(|| format!("cannot write to {FOLDER}"))?;
    draw(&figures, &folder.join(plot.scenario), &progress)?;
    progress.finish("ok", &format!("{FOLDER}/{}-light.svg and -dark.svg", plot.scenario));
    Ok(plot.markdown())
}

fn draw(figures: &Path, picture: &Path, progress: &Progress) -> Result<()> {
    run(cargo(["run", "--package", "muxgate-plot", "--"]).args([figures, picture]), progress)
}

impl Plot {
    /// As `muxgate-plot` reads them.
    fn figures(&self, lines: &[&Way], results: &Results) -> String {
        let mut text = Vec::new();
        for Panel { title, x, y, scale, figure, ticks } in self.panels {
            text.push(["panel", title, x, y, scale].join("\t"));
            text.push(
                std::iter::once("ticks").chain(ticks.iter().map(|(name, _)| *name)).collect::<Vec<_>>().join("\t"),
            );
            for way in lines.iter().filter(|way| way.missing().is_none()) {
                let value = |&(_, load): &(&str, &'static str)| {
                    let value = results.median(Cell { load, way: way.name, figure, relative_to: None });
                    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
                };
                let values: Vec<_> = ticks.iter().map(value).collect();
                text.push(format!("series\t{}\t{}", way.name, values.join("\t")));
            }
        }
        text.join("\n") + "\n"
    }

    /// The picture that fits the page: light or dark.
    fn markdown(&self) -> String {
        let Self { scenario, alt, .. } = self;
        format!(
            "\n<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"{FOLDER}/{scenario}-dark.svg\">\n\
             <img alt=\"{alt}\" src=\"{FOLDER}/{scenario}-light.svg\">\n</picture>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{LINEAR, PLOTS, Panel, Plot, panel};
    use crate::bench::figures::{Figures, Results};
    use crate::bench::scenarios::SCENARIOS;
    use crate::bench::ways::{CHANNELS, SESSIONS};

    #[test]
    fn each_plot_belongs_to_a_scenario() {
        assert!(PLOTS.iter().all(|plot| SCENARIOS.iter().any(|scenario| scenario.name == plot.scenario)));
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        const PANELS: &[Panel] = &[panel("A", "x", "y", LINEAR, "rate", &[("one", "1"), ("two", "2")])];
        let plot = Plot { scenario: "a", alt: "", lines: &[], panels: PANELS };
        let mut results = Results::default();
        results.add("1", CHANNELS.name, Figures::from([("rate".to_owned(), 0.5)]));
        let text = plot.figures(&[&CHANNELS, &SESSIONS], &results);
        assert_eq!(text, "panel\tA\tx\ty\tlinear\nticks\tone\ttwo\nseries\tchannels\t0.5\t-\nseries\tsessions\t-\t-\n");
    }
}
