//! `cargo xtask demo`: real traffic through the gateway that this tree builds.

mod destination;
mod process;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::process::{built, cargo, program, run as run_quietly};
use crate::progress::Progress;
use process::Process;

/// How often Ctrl-C and the end of a process are noticed.
const WATCH: Duration = Duration::from_millis(200);

/// Builds, starts, measures one transfer and waits for Ctrl-C.
pub(crate) fn run() -> Result<()> {
    let stop = stop_on_signal()?;
    let progress = Progress::start("build");
    run_quietly(&mut cargo(["build", "--release", "--bin", "muxgate"]), &progress)?;
    progress.finish("ok", "the gateway, optimised");

    let destination = destination::start()?;
    let gateway = format!("tcp://{}", free(7172)?);
    let entrance = free(5000)?;
    let muxgate = built("release")?.join("muxgate").display().to_string();
    let (allowed, forward) = (destination.to_string(), format!("{entrance}={destination}"));
    let mut processes = [
        Process::start(program(&muxgate).args(["serve", "--listen", &gateway, "--allow", &allowed]))?,
        Process::start(program(&muxgate).args(["forward", &forward, "--via", &gateway]))?,
    ];

    let direct = destination::download(destination).context("the demo's own HTTP server failed")?;
    let tunnelled = destination::download(entrance).context("the transfer through the gateway failed")?;
    println!("\none transfer: {tunnelled:.1} Gbit/s through the gateway, {direct:.1} Gbit/s without it");
    println!("\ntry it: curl http://{entrance}/");
    println!("        curl -o /dev/null http://{entrance}{}", destination::FILE);
    println!("\nCtrl-C ends the demo.");
    loop {
        thread::sleep(WATCH);
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        processes.iter_mut().try_for_each(Process::check)?;
    }
}

/// Becomes true on Ctrl-C, on a request to terminate, and when the terminal goes away.
fn stop_on_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))?;
    Ok(stop)
}

/// The preferred port on loopback, or another one if it is taken.
fn free(preferred: u16) -> Result<SocketAddr> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bind(preferred).or_else(|_| bind(0)).context("no port is free on loopback")?;
    Ok(listener.local_addr()?)
}
