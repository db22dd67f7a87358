//! How a command ends: the exit codes that scripts rely on, and the reason in words.

use std::fmt;
use std::io;
use std::process::ExitCode;

use muxgate_core::ConnectionError;

use crate::escape::Printable;

/// Printed by `muxgate --help`; the numbers are those of [`Code`].
pub const CODES_HELP: &str = "\
Exit codes:
  0  success, or ended by SIGINT or SIGTERM
  1  failure while running
  2  wrong usage: the command line, a token file, a certificate
  3  cannot listen on an address
  4  the gateway cannot be reached, or the session to it was lost
  5  the gateway did not accept the token, or demands one
  6  the destination was refused, or the gateway could not reach it";

/// The kinds of failure, by who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Something failed while running.
    Runtime = 1,
    /// The command line, or a file that it names, is wrong.
    Usage = 2,
    /// A listener could not be opened.
    Listen = 3,
    /// The gateway cannot be reached, or the session was lost.
    Gateway = 4,
    /// The gateway refused the token or its absence.
    Unauthorised = 5,
    /// The gateway answered that the destination is refused or unreachable.
    Refused = 6,
}

/// Why a command ends without success.
#[derive(Debug)]
pub struct Failure {
    /// What the process exits with.
    pub code: Code,
    message: String,
}

impl Failure {
    /// A failure whose message tells the user what happened and, where there is one, the next step.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What the user did wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// What the system did not let us do.
    #[must_use]
    pub fn runtime(what: &str, error: &io::Error) -> Self {
        Self::new(Code::Runtime, format!("{what}: {error}"))
    }

    /// The end of a session that was still needed.
    #[must_use]
    pub fn lost(error: &ConnectionError) -> Self {
        let reason = error.to_string();
        Self::new(Code::Gateway, format!("the session with the gateway is lost: {}", Printable(&reason)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_code() {
        let codes = [Code::Runtime, Code::Usage, Code::Listen, Code::Gateway, Code::Unauthorised, Code::Refused];
        for code in codes {
            let line = format!("\n  {}  ", code as u8);
            assert!(CODES_HELP.contains(&line), "{code:?} is not documented");
        }
    }
}
