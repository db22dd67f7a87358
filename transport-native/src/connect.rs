//! TCP connections to a host with several addresses ("Happy Eyeballs", RFC 8305).

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// An address gets this long before the next one is tried beside it (RFC 8305, section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Connects to the first of `addrs` that answers, within `limit` altogether.
///
/// The families take turns, IPv6 first; an address that fails makes the next one start at once. If all fail, the error
/// is that of the address that came closest: one that refused says more than one without a route. Dropping the
/// future gives all attempts up.
pub async fn connect(addrs: &[SocketAddr], limit: Duration) -> io::Result<TcpStream> {
    timeout(limit, race(alternate(addrs))).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} seconds", limit.as_secs_f32());
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    })
}

async fn race(mut waiting: VecDeque<SocketAddr>) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let mut attempts = FuturesUnordered::new();
    loop {
        if let Some(addr) = waiting.pop_front() {
            attempts.push(TcpStream::connect(addr));
        } else if attempts.is_empty() {
            return Err(failure);
        }
        tokio::select! {
            Some(result) = attempts.next() => match result {
                Ok(stream) => return Ok(stream),
                Err(error) => failure = clearer(failure, error),
            },
            () = sleep(STAGGER), if !waiting.is_empty() => {}
        }
    }
}

/// Puts the families in turns, IPv6 first, and keeps the order within each.
fn alternate(addrs: &[SocketAddr]) -> VecDeque<SocketAddr> {
    let mut v6 = addrs.iter().filter(|addr| addr.is_ipv6()).fuse();
    let mut v4 = addrs.iter().filter(|addr| addr.is_ipv4()).fuse();
    let mut order = VecDeque::with_capacity(addrs.len());
    while order.len() < addrs.len() {
        order.extend(v6.next());
        order.extend(v4.next());
    }
    order
}

/// The error that tells more about the host.
fn clearer(old: io::Error, new: io::Error) -> io::Error {
    use io::ErrorKind::{AddrNotAvailable, HostUnreachable, NetworkUnreachable, NotFound};
    match old.kind() {
        NotFound | AddrNotAvailable | HostUnreachable | NetworkUnreachable => new,
        _ => old,
    }
}
