//! Loads: what `muxgate-bench` is told to do, and the figures that it prints.

use std::net::SocketAddr;

use anyhow::{Context, Result};

use super::figures::Figures;
use super::places::Forwards;
use super::running::Running;
use super::ways::{Programs, Way};
use crate::process::output;

/// What goes through a forwarder.
#[derive(Clone, Copy)]
pub(super) enum Load {
    /// Transfers at full speed.
    Bulk { connections: u32 },
    /// As much as an echo returns, on all connections at once.
    Exchange { connections: u32 },
    /// One byte there and back, beside transfers.
    RoundTrips { bulk: u32 },
    /// Connections for one byte, one after another.
    Opens,
    /// A transfer beside one that is stuck.
    Stall,
    /// Round trips beside connections that are reset.
    Resets,
    /// Connections that do nothing, and then round trips beside them.
    Idle { channels: u32 },
}

impl Load {
    /// Starts `way` and the destinations, measures for `seconds` and ends everything.
    pub(super) fn through(self, way: &Way, programs: &Programs, seconds: u32) -> Result<Figures> {
        let forwards = Forwards::new()?;
        let _destinations = [
            destination("echo", forwards.echo.destination, programs)?,
            destination("noread", forwards.noread.destination, programs)?,
            destination("reset", forwards.reset.destination, programs)?,
        ];
        let tunnel = way.start(programs, &forwards)?;
        let mut load = programs.bench();
        load.args(self.words(&tunnel.forwards)).args(["--seconds", &seconds.to_string()]);
        for pid in tunnel.pids() {
            load.args(["--pid", &pid.to_string()]);
        }
        let mut figures = parse(&output(&mut load)?)?;
        figures.extend(tunnel.end()?);
        Ok(figures)
    }

    fn words(self, forwards: &Forwards) -> Vec<String> {
        let echo = ["--echo".to_owned(), forwards.echo.entrance.to_string()];
        let bulk = &forwards.bulk;
        let route =
            ["--through".to_owned(), bulk.entrance.to_string(), "--at".to_owned(), bulk.destination.to_string()];
        let with = |name: &str, words: &[&[String]]| [&[name.to_owned()], &words.concat()[..]].concat();
        let option = |name: &str, value: String| [format!("--{name}"), value];
        match self {
            Self::Bulk { connections } => with("bulk", &[&route, &option("connections", connections.to_string())]),
            Self::Exchange { connections } => {
                with("exchange", &[&echo, &option("connections", connections.to_string())])
            }
            Self::RoundTrips { bulk } => with("round-trips", &[&echo, &route, &option("bulk", bulk.to_string())]),
            Self::Opens => with("opens", &[&echo]),
            Self::Stall => with("stall", &[&route, &option("noread", forwards.noread.entrance.to_string())]),
            Self::Resets => with("resets", &[&echo, &option("reset", forwards.reset.entrance.to_string())]),
            Self::Idle { channels } => with("idle", &[&echo, &option("channels", channels.to_string())]),
        }
    }
}

fn destination(kind: &str, at: SocketAddr, programs: &Programs) -> Result<Running> {
    Running::start(programs.bench().args(["destination", kind, &at.to_string()]), "listening on ")
}

/// Lines of a name and a number.
fn parse(printed: &str) -> Result<Figures> {
    let figure = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    printed.lines().map(|line| figure(line).with_context(|| format!("`{line}` is no figure"))).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn figures_are_names_and_numbers() {
        let figures = parse("jain 0.5\ncount 12\n").expect("these are figures");
        assert_eq!(figures.into_iter().collect::<Vec<_>>(), [("count".to_owned(), 12.0), ("jain".to_owned(), 0.5)]);
        assert!(parse("jain\n").is_err());
    }
}
