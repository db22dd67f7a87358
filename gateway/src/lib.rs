//! The gateway and the clients of Muxgate: what the binary `muxgate` is made of.

#![forbid(unsafe_code)]

pub mod cli;
pub mod client;
pub mod demo;
pub mod dial;
pub mod escape;
pub mod exit;
pub mod listen;
pub mod logging;
pub mod policy;
pub mod relay;
pub mod runtime;
pub mod serve;
pub mod token;

use cli::Command;
use exit::Failure;

/// Runs a command to its end.
pub fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Serve(args) => serve::serve(args),
        Command::Forward(args) => client::forward::forward(args),
        Command::Pipe(args) => client::pipe::pipe(args),
        Command::Demo(args) => demo::demo(args),
    }
}
