//! A process of the bench, which does not outlive it.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{output, program, shown};

/// For a process to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// Nothing tells when somebody begins to listen.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A running process. Dropping it kills it.
pub(super) struct Running {
    name: String,
    child: Child,
    /// Once the process is ready; disconnected when it no longer says anything.
    news: Receiver<()>,
    said: Option<JoinHandle<Vec<String>>>,
}

impl Running {
    /// Starts `command` and returns once it says `ready` on standard error.
    pub(super) fn start(command: &mut Command, ready: &'static str) -> Result<Self> {
        let running = Self::spawn(command, ready)?;
        match running.news.recv_timeout(PATIENCE) {
            Ok(()) => Ok(running),
            Err(RecvTimeoutError::Timeout) => bail!("`{}` is not ready in time", running.name),
            Err(RecvTimeoutError::Disconnected) => running.ended(),
        }
    }

    /// Starts `command` and returns once somebody listens on `address`.
    pub(super) fn listening(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let running = Self::spawn(command, "")?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            // Trying to listen would show it too, and could take the port from the process.
            if TcpStream::connect(address).is_ok() {
                return Ok(running);
            }
            if running.news.recv_timeout(LOOK_AGAIN) == Err(RecvTimeoutError::Disconnected) {
                return running.ended();
            }
        }
        bail!("`{}` does not listen on {address}", running.name)
    }

    fn spawn(command: &mut Command, ready: &'static str) -> Result<Self> {
        let name = shown(command);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start `{name}`"))?;
        let stderr = child.stderr.take().context("standard error is a pipe")?;
        let (tell, news) = sync_channel(1);
        let said = thread::spawn(move || {
            let mut said = Vec::new();
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if line.contains(ready) {
                    // Full or gone: nobody waits any more.
                    let _ = tell.try_send(());
                }
                said.push(line);
            }
            said
        });
        Ok(Self { name, child, news, said: Some(said) })
    }

    fn ended(self) -> Result<Self> {
        let name = self.name.clone();
        bail!("`{name}` ended: {}", self.said().join("\n"))
    }

    /// The process's number.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to end, waits until it has and returns what it said.
    pub(super) fn end(self) -> Result<Vec<String>> {
        output(program("kill").args(["-TERM", &self.pid().to_string()]))?;
        loop {
            match self.news.recv_timeout(PATIENCE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => bail!("`{}` does not end", self.name),
                Err(RecvTimeoutError::Disconnected) => return Ok(self.said()),
            }
        }
    }

    fn said(mut self) -> Vec<String> {
        self.said.take().and_then(|said| said.join().ok()).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
