//! A command for each connection, as inetd starts it: with it, what knows standard input and output forwards a port.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

/// Runs `program` with `args` for each connection of `listener`, which is its standard input and output, until accepting
/// fails.
pub async fn each(listener: TcpListener, program: String, args: Vec<String>) -> io::Error {
    loop {
        match listener.accept().await {
            // How a command ends is seen by the load at its connection's other end.
            Ok((stream, _)) => drop(tokio::spawn(run(stream, program.clone(), args.clone()))),
            Err(error) => return error,
        }
    }
}

async fn run(stream: TcpStream, program: String, args: Vec<String>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let input = stream.into_std()?;
    // Commands expect to wait where they read.
    input.set_nonblocking(false)?;
    let output = input.try_clone()?;
    let mut command = Command::new(program);
    let mut child = command.args(args).stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output)).spawn()?;
    // It holds copies of ours, without which the connection would never end.
    drop(command);
    child.wait().await?;
    Ok(())
}
