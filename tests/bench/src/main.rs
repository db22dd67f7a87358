//! `muxgate-bench`: what `cargo xtask bench` starts, and what can be started by hand. Loads print one figure a line.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use muxgate_bench::background::runtime;
use muxgate_bench::destination::{Destination, listen};
use muxgate_bench::each::each;
use muxgate_bench::load::{Bulk, IdleChannels, Resets, Route, Stalled, opens, round_trips};
use muxgate_bench::process::{Processes, raise_descriptor_limit};
use muxgate_bench::relay::relay;
use muxgate_bench::statistics::{Percentiles, float};
use tokio::time::sleep;

/// For memory allocators to come to rest.
const SETTLE: Duration = Duration::from_secs(1);

/// Loads for forwarders, destinations, and a relay to compare with.
#[derive(Debug, Parser)]
#[command(disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Forward connections and nothing else
    Relay {
        listen: SocketAddr,
        destination: SocketAddr,
        /// Bytes of the buffer for each direction of a connection
        #[arg(long, default_value_t = 256 * 1024)]
        buffer: usize,
    },
    /// Run a command for each connection, which is its standard input and output
    Each {
        listen: SocketAddr,
        program: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Answer connections
    Destination { kind: Destination, listen: SocketAddr },
    /// Measure bulk transfers from here through a forwarder to here
    Bulk {
        #[command(flatten)]
        route: RouteArgs,
        #[arg(long, default_value_t = 1)]
        connections: usize,
        #[command(flatten)]
        measured: Measured,
    },
    /// Measure connections to an echo that all send a little and wait for it to come back, again and again
    Exchange {
        /// Where the forwarder to the echo listens
        #[arg(long)]
        echo: SocketAddr,
        #[arg(long, default_value_t = 1)]
        connections: usize,
        #[command(flatten)]
        measured: Measured,
    },
    /// Measure round trips of one byte to an echo
    RoundTrips {
        /// Where the forwarder to the echo listens
        #[arg(long)]
        echo: SocketAddr,
        #[command(flatten)]
        route: RouteArgs,
        /// Bulk transfers beside it
        #[arg(long, default_value_t = 0)]
        bulk: usize,
        #[command(flatten)]
        measured: Measured,
    },
    /// Count short connections to an echo, one after another
    Opens {
        /// Where the forwarder to the echo listens
        #[arg(long)]
        echo: SocketAddr,
        #[command(flatten)]
        measured: Measured,
    },
    /// Measure one bulk transfer, alone and beside a connection whose destination does not read
    Stall {
        /// Where the forwarder to the destination that does not read listens
        #[arg(long)]
        noread: SocketAddr,
        #[command(flatten)]
        route: RouteArgs,
        #[command(flatten)]
        measured: Measured,
    },
    /// Measure round trips to an echo beside connections, one after another, that their destination resets
    Resets {
        /// Where the forwarder to the echo listens
        #[arg(long)]
        echo: SocketAddr,
        /// Where the forwarder to the destination that resets listens
        #[arg(long)]
        reset: SocketAddr,
        #[command(flatten)]
        measured: Measured,
    },
    /// Measure the memory of idle connections to an echo, and round trips beside them
    Idle {
        /// Where the forwarder to the echo listens
        #[arg(long)]
        echo: SocketAddr,
        #[arg(long, default_value_t = 10_000)]
        channels: usize,
        #[command(flatten)]
        measured: Measured,
    },
}

#[derive(Debug, Clone, Copy, Args)]
struct RouteArgs {
    /// Where the forwarder listens for bulk data
    #[arg(long)]
    through: SocketAddr,
    /// Where it sends bulk data to
    #[arg(long)]
    at: SocketAddr,
}

impl From<RouteArgs> for Route {
    fn from(args: RouteArgs) -> Self {
        Self { through: args.through, at: args.at }
    }
}

#[derive(Debug, Args)]
struct Measured {
    /// How long to measure
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// A forwarding process (repeats)
    #[arg(long = "pid")]
    pids: Vec<u32>,
}

impl Measured {
    fn length(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    fn processes(&self) -> Processes {
        Processes::new(self.pids.clone())
    }
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    match raise_descriptor_limit().and_then(|()| runtime()).map(|runtime| runtime.block_on(run(command))) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => eprintln!("{error:#}"),
        Err(error) => eprintln!("{error}"),
    }
    ExitCode::FAILURE
}

async fn run(command: Command) -> Result<()> {
    match command {
        Command::Relay { listen: address, destination, buffer } => {
            let listener = listen(address).await?;
            announce(address);
            Err(relay(listener, destination, buffer).await.into())
        }
        Command::Each { listen: address, program, args } => {
            let listener = listen(address).await?;
            announce(address);
            Err(each(listener, program, args).await.into())
        }
        Command::Destination { kind, listen: address } => {
            let listener = listen(address).await?;
            announce(address);
            Err(kind.serve(listener).await.into())
        }
        Command::Bulk { route, connections, measured } => {
            time_transfers(Bulk::start(route.into(), connections).await?, &measured).await
        }
        Command::Exchange { echo, connections, measured } => {
            time_transfers(Bulk::exchange(echo, connections).await?, &measured).await
        }
        Command::RoundTrips { echo, route, bulk, measured } => {
            time_round_trips(echo, route.into(), bulk, &measured).await
        }
        Command::Opens { echo, measured } => count_opens(echo, &measured).await,
        Command::Stall { noread, route, measured } => stall(noread, route.into(), &measured).await,
        Command::Resets { echo, reset, measured } => resets(echo, reset, &measured).await,
        Command::Idle { echo, channels, measured } => idle(echo, channels, &measured).await,
    }
}

/// The line that scripts wait for.
fn announce(address: SocketAddr) {
    eprintln!("listening on {address}");
}

fn print(figure: &str, value: f64) {
    println!("{figure} {value}");
}

fn print_memory(figure: &str, kibibytes: &[u64]) {
    print(figure, float(kibibytes.iter().copied().max().unwrap_or_default()) / 1024.0);
}

fn print_times(samples: Vec<Duration>) {
    let percentiles = Percentiles::new(samples);
    for (figure, percent) in [("p50_us", 50), ("p90_us", 90), ("p99_us", 99), ("max_us", 100)] {
        print(figure, percentiles.at(percent).as_secs_f64() * 1e6);
    }
    print("count", float(percentiles.count() as u64));
}

async fn time_transfers(mut transfers: Bulk, measured: &Measured) -> Result<()> {
    let processes = measured.processes();
    let window = transfers.measure(measured.length(), &processes).await?;
    print("gbit_per_s", window.gigabits_per_second());
    print("jain", window.jain());
    print("cpu_s_per_gb", window.cpu_seconds_per_gigabyte());
    print_memory("peak_mib", &processes.peak()?);
    Ok(())
}

async fn time_round_trips(echo: SocketAddr, route: Route, bulk: usize, measured: &Measured) -> Result<()> {
    let trips = round_trips(echo, measured.length());
    let samples = match bulk {
        0 => trips.await?,
        connections => Bulk::start(route, connections).await?.during(trips).await??,
    };
    print_times(samples);
    Ok(())
}

async fn count_opens(echo: SocketAddr, measured: &Measured) -> Result<()> {
    let samples = opens(echo, measured.length()).await?;
    let elapsed: Duration = samples.iter().sum();
    print("per_s", float(samples.len() as u64) / elapsed.as_secs_f64());
    print_times(samples);
    Ok(())
}

async fn stall(noread: SocketAddr, route: Route, measured: &Measured) -> Result<()> {
    let processes = measured.processes();
    let mut bulk = Bulk::start(route, 1).await?;
    let before = bulk.measure(measured.length(), &processes).await?.gigabits_per_second();
    let stalled = bulk.during(Stalled::start(noread)).await??;
    let beside = bulk.measure(measured.length(), &processes).await?.gigabits_per_second();
    print("taken_mib", float(stalled.taken) / 1024.0 / 1024.0);
    drop(stalled);
    let after = bulk.measure(measured.length(), &processes).await?.gigabits_per_second();
    // From both sides: a machine that becomes slower or faster meanwhile is not to be mistaken for an effect.
    let alone = before.midpoint(after);
    print("alone_gbit_per_s", alone);
    print("beside_gbit_per_s", beside);
    print("ratio", beside / alone);
    print_memory("peak_mib", &processes.peak()?);
    Ok(())
}

async fn resets(echo: SocketAddr, reset: SocketAddr, measured: &Measured) -> Result<()> {
    let mut resets = Resets::default();
    let reset_for_ever = async {
        loop {
            if let Err(error) = resets.add(reset).await {
                return error;
            }
        }
    };
    let samples = tokio::select! {
        samples = round_trips(echo, measured.length()) => samples?,
        error = reset_for_ever => return Err(error),
    };
    let all = float(resets.passed_on + resets.disguised);
    print("per_s", all / measured.length().as_secs_f64());
    print("passed_on", float(resets.passed_on) / all);
    print_times(samples);
    Ok(())
}

async fn idle(echo: SocketAddr, channels: usize, measured: &Measured) -> Result<()> {
    let processes = measured.processes();
    let before = processes.resident()?;
    let mut open = IdleChannels::open(echo, channels).await?;
    sleep(SETTLE).await;
    let (after, cpu) = (processes.resident()?, processes.cpu()?);
    sleep(measured.length()).await;
    let cpu = processes.cpu()?.saturating_sub(cpu);
    open.still_work().await?;
    let busy = processes.cpu()?;
    let trips = round_trips(echo, measured.length()).await?;
    let busy = processes.cpu()?.saturating_sub(busy);

    let grown: Vec<u64> = after.iter().zip(before).map(|(after, before)| after.saturating_sub(before)).collect();
    print_memory("mib", &after);
    print("kib_per_channel", float(grown.into_iter().max().unwrap_or_default()) / float(channels as u64));
    print("cpu_percent", cpu.as_secs_f64() / measured.length().as_secs_f64() * 100.0);
    print("cpu_us_per_trip", busy.as_secs_f64() * 1e6 / float(trips.len() as u64));
    print_times(trips);
    Ok(())
}
