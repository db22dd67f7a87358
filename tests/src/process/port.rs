//! Ports for programs that cannot be told to take any free one.

use std::net::SocketAddr;

use tokio::net::TcpSocket;

/// A loopback port that the kernel gives to nobody else, as long as this value lives.
///
/// Nobody listens there, so connections are refused; but a program that sets `SO_REUSEADDR`, as servers do, can listen.
#[derive(Debug)]
pub struct ReservedPort(TcpSocket);

impl ReservedPort {
    /// Reserves a port.
    #[must_use]
    pub fn new() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("a new socket takes options");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("there is a free port");
        Self(socket)
    }

    /// The address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("the socket is bound")
    }
}

impl Default for ReservedPort {
    fn default() -> Self {
        Self::new()
    }
}
