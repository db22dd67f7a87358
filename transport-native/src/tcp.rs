//! TCP sockets, set up for a multiplexed session.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

use crate::stream::StreamTransport;

/// JMUX directly on TCP.
pub type TcpTransport = StreamTransport<TcpStream>;

/// Unsent bytes that the kernel may hold. Whatever it holds is ahead of the next keystroke, so as little as keeps
/// the line busy: what a writer is woken for must bridge the time until it writes again.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NOT_SENT_LIMIT: u32 = 128 * 1024;

/// A silent peer is asked for a sign of life after this time; shorter than what most NAT tables allow.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
#[cfg(not(target_os = "openbsd"))]
const KEEPALIVE_TRIES: u32 = 4;

/// Sets a session's socket up: no delay of small writes, little unsent data in the kernel, keepalive.
///
/// A dead peer is noticed after two minutes.
pub fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_INTERVAL);
    #[cfg(not(target_os = "openbsd"))]
    let keepalive = keepalive.with_retries(KEEPALIVE_TRIES);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_notsent_lowat(NOT_SENT_LIMIT)?;
    Ok(())
}
