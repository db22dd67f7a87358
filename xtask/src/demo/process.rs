//! A process of the demo, which does not outlive it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};

/// A running `muxgate`. Dropping it ends it.
pub(super) struct Process(Child);

impl Process {
    /// Starts `command`, shows it, and returns once it says that it listens.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        println!("  $ {}", crate::process::shown(command));
        let child = command.stderr(Stdio::piped()).spawn().context("cannot start the gateway")?;
        let mut process = Self(child);
        let said = process.0.stderr.take().context("standard error is a pipe")?;
        let mut lines = BufReader::new(said).lines();
        loop {
            let Some(line) = lines.next() else { bail!("it ended before it was ready") };
            let line = line?;
            eprintln!("    {line}");
            if line.contains("listening on ") {
                break;
            }
        }
        // A full pipe would stop the process.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("    {line}")));
        Ok(process)
    }

    /// Fails if the process ended by itself.
    pub(super) fn check(&mut self) -> Result<()> {
        match self.0.try_wait()? {
            Some(status) => bail!("a process of the demo ended, {status}"),
            None => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already: Ctrl-C reaches it too.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
