//! Standard input and output, for running behind `ssh` or another program that carries the bytes.

use tokio::io::{Join, Stdin, Stdout};

use crate::stream::StreamTransport;

/// JMUX on standard input and output.
pub type StdioTransport = StreamTransport<Join<Stdin, Stdout>>;

/// The transport of this process; there should be one.
///
/// Tokio reads standard input on a thread of its own, and a read that is under way cannot be given up: a process
/// that wants to end before its input does calls `std::process::exit`.
#[must_use]
pub fn stdio() -> StdioTransport {
    StreamTransport::new(tokio::io::join(tokio::io::stdin(), tokio::io::stdout()))
}
