//! Compares WebSocket libraries at moving binary messages over loopback TCP.
//!
//! `cargo run --release` prints a markdown table: medians of interleaved rounds. Arguments choose libraries.

mod libraries;

use std::io::Result;
use std::thread;
use std::time::Instant;

use cpu_time::ThreadTime;
use libraries::{Load, Sink, Source};
use tokio::net::{TcpListener, TcpStream};

const ROUNDS: usize = 9;
const BYTES_PER_RUN: usize = 1 << 30;

/// What one run took.
#[derive(Clone, Copy)]
struct Sample {
    gbit_per_second: f64,
    send_cpu: f64,
    receive_cpu: f64,
}

/// Runs the two sides on a thread each, as a gateway and its peer would.
fn run<S, R>(load: Load, send: S, receive: R) -> Result<Sample>
where
    S: AsyncFnOnce(TcpStream, Load, &Source) -> Result<()> + Send + 'static,
    R: AsyncFnOnce(TcpStream, Load, &mut Sink) -> Result<()>,
{
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let sender = thread::spawn(move || {
        runtime()?.block_on(async {
            let io = TcpStream::connect(address).await?;
            io.set_nodelay(true)?;
            let cpu = ThreadTime::now();
            send(io, load, &Source::new()).await?;
            Ok::<_, std::io::Error>(cpu.elapsed().as_secs_f64())
        })
    });
    let (seconds, receive_cpu) = runtime()?.block_on(async {
        listener.set_nonblocking(true)?;
        let (io, _) = TcpListener::from_std(listener)?.accept().await?;
        let (start, cpu) = (Instant::now(), ThreadTime::now());
        let mut sink = Sink::default();
        receive(io, load, &mut sink).await?;
        assert_eq!(sink.total, load.message * load.count, "all bytes arrive");
        Ok::<_, std::io::Error>((start.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64()))
    })?;
    let send_cpu = sender.join().expect("the sender does not panic")?;
    let gigabytes = (load.message * load.count) as f64 / 1e9;
    Ok(Sample {
        gbit_per_second: gigabytes * 8.0 / seconds,
        send_cpu: send_cpu / gigabytes,
        receive_cpu: receive_cpu / gigabytes,
    })
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn median(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

type Candidate = (&'static str, fn(Load) -> Result<Sample>);

const CANDIDATES: &[Candidate] = &[
    ("tokio-websockets", |load| run(load, libraries::tokio_websockets::send, libraries::tokio_websockets::receive)),
    ("fastwebsockets", |load| run(load, libraries::fastwebsockets::send, libraries::fastwebsockets::receive)),
    ("tokio-tungstenite", |load| run(load, libraries::tungstenite::send, libraries::tungstenite::receive)),
    ("muxgate", |load| run(load, libraries::muxgate::send, libraries::muxgate::receive)),
];

fn main() -> Result<()> {
    println!("| direction | message | library | Gbit/s | CPU s/GB sending | CPU s/GB receiving | CPU s/GB |");
    println!("|---|---|---|---|---|---|---|");
    for from_client in [true, false] {
        for message in [16 * 1024, 64 * 1024] {
            let load = Load { message, count: BYTES_PER_RUN / message, from_client };
            compare(load)?;
        }
    }
    Ok(())
}

fn compare(load: Load) -> Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let candidates: Vec<&Candidate> =
        CANDIDATES.iter().filter(|(name, _)| chosen.is_empty() || chosen.iter().any(|c| c == name)).collect();
    let mut samples = vec![Vec::new(); candidates.len()];
    for _ in 0..ROUNDS {
        for ((_, candidate), samples) in candidates.iter().zip(&mut samples) {
            samples.push(candidate(load)?);
        }
    }
    let direction = if load.from_client { "client to server (masked)" } else { "server to client" };
    for ((name, _), samples) in candidates.iter().zip(&samples) {
        println!(
            "| {direction} | {} KiB | {name} | {:.1} | {:.3} | {:.3} | {:.3} |",
            load.message / 1024,
            median(samples, |s| s.gbit_per_second),
            median(samples, |s| s.send_cpu),
            median(samples, |s| s.receive_cpu),
            median(samples, |s| s.send_cpu + s.receive_cpu),
        );
    }
    Ok(())
}
