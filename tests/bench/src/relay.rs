//! The baseline: what a forwarder costs that does nothing but forward.

use std::io;
use std::net::SocketAddr;

use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpListener, TcpStream};

/// Connects each connection of `listener` to `destination`, with a buffer of `buffer` bytes for each direction, until
/// accepting fails.
pub async fn relay(listener: TcpListener, destination: SocketAddr, buffer: usize) -> io::Error {
    loop {
        match listener.accept().await {
            // As in any relay, the ends of a connection learn how it ended, nobody else does.
            Ok((local, _)) => drop(tokio::spawn(carry(local, destination, buffer))),
            Err(error) => return error,
        }
    }
}

async fn carry(mut local: TcpStream, destination: SocketAddr, buffer: usize) -> io::Result<()> {
    let mut remote = TcpStream::connect(destination).await?;
    local.set_nodelay(true)?;
    remote.set_nodelay(true)?;
    copy_bidirectional_with_sizes(&mut local, &mut remote, buffer, buffer).await?;
    Ok(())
}
