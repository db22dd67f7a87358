//! A process that lives as long as the value that stands for it.

use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

/// Lines of standard error that a failed test shows.
const SHOWN: usize = 40;

/// A running program whose standard error is read line by line.
///
/// Dropping it kills it.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    said: watch::Receiver<Vec<String>>,
}

impl Program {
    /// Starts `command`. Standard input is empty, and standard output is dropped.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::null()).stdout(Stdio::null()))
    }

    /// Starts `command` with pipes for [`Self::stdin`] and [`Self::stdout`].
    #[must_use]
    pub fn start_piped(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
    }

    fn spawn(command: &mut Command) -> Self {
        let name = command.as_std().get_program().to_string_lossy().into_owned();
        let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().expect("the program should start");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        Self { name, child, said: read_lines(stderr) }
    }

    /// The process's number.
    #[must_use]
    pub fn pid(&self) -> Pid {
        let raw = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        raw.expect("the process should still run")
    }

    /// The writing end of standard input. Dropping it ends the input.
    pub fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("standard input is a pipe, and taken once")
    }

    /// The reading end of standard output.
    pub fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("standard output is a pipe, and taken once")
    }

    /// Waits until `count` lines of standard error contain `text`, and returns them.
    pub async fn lines(&self, text: &str, count: usize) -> Vec<String> {
        let mut said = self.said.clone();
        let (mut seen, mut found) = (0, Vec::new());
        loop {
            let lines = said.borrow_and_update();
            found.extend(lines[seen..].iter().filter(|line| line.contains(text)).cloned());
            seen = lines.len();
            drop(lines);
            if found.len() >= count {
                return found;
            }
            let missing = format!("{} ended without saying {text:?}", self.name);
            said.changed().await.expect(&missing);
        }
    }

    /// Waits for a line of standard error that contains `text`.
    pub async fn line(&self, text: &str) -> String {
        self.lines(text, 1).await.swap_remove(0)
    }

    /// Standard error so far.
    #[must_use]
    pub fn said(&self) -> String {
        self.said.borrow().join("\n")
    }

    /// Waits until the process ends by itself and returns its exit code. A signal that ended it gives `None`.
    pub async fn ended(&mut self) -> Option<i32> {
        let status = self.child.wait().await.expect("the process is ours to wait for");
        // What it said last counts: the pipe ends with it.
        while self.said.changed().await.is_ok() {}
        status.code()
    }

    /// Asks the process to end (SIGTERM).
    pub fn terminate(&self) {
        kill_process(self.pid(), Signal::TERM).expect("the process is ours");
    }

    /// Stops the process where it is (SIGSTOP), until [`Self::resume`].
    pub fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).expect("the process is ours");
    }

    /// Lets a stopped process go on (SIGCONT).
    pub fn resume(&self) {
        kill_process(self.pid(), Signal::CONT).expect("the process is ours");
    }

    /// Kills the process (SIGKILL), and returns when it is gone.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("the process is ours");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if thread::panicking() {
            let said = self.said.borrow();
            let last = said[said.len().saturating_sub(SHOWN)..].join("\n");
            eprintln!("--- {} said {} lines, at last:\n{last}\n---", self.name, said.len());
        }
    }
}

/// The lines so far. The channel ends with the stream.
fn read_lines(stream: impl AsyncRead + Unpin + Send + 'static) -> watch::Receiver<Vec<String>> {
    let (sender, said) = watch::channel(Vec::new());
    let mut lines = BufReader::new(stream).split(b'\n');
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_segment().await {
            sender.send_modify(|said| said.push(String::from_utf8_lossy(&line).into_owned()));
        }
    });
    said
}
