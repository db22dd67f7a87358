//! Addresses on loopback.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

/// Ports below those that the system gives to outgoing connections, of which a bench makes many.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// A free address on loopback, another one each time.
pub(super) fn free() -> Result<SocketAddr> {
    static NEXT: AtomicU16 = AtomicU16::new(PORTS.start);
    for _ in PORTS {
        let port = NEXT.fetch_add(1, Ordering::Relaxed);
        if port >= PORTS.end {
            NEXT.store(PORTS.start, Ordering::Relaxed);
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
    bail!("no port is free on loopback between {} and {}", PORTS.start, PORTS.end)
}

/// A connection that enters a forwarder and leaves it.
#[derive(Clone, Copy)]
pub(super) struct Forward {
    /// Where the forwarder listens.
    pub(super) entrance: SocketAddr,
    /// Where the forwarder connects to.
    pub(super) destination: SocketAddr,
}

impl Forward {
    fn new() -> Result<Self> {
        Ok(Self { entrance: free()?, destination: free()? })
    }
}

/// What a forwarder is to forward. The names are those of the destinations.
#[derive(Clone, Copy)]
pub(super) struct Forwards {
    /// Counts what arrives; belongs to the load.
    pub(super) bulk: Forward,
    /// Returns what it receives.
    pub(super) echo: Forward,
    /// Never reads.
    pub(super) noread: Forward,
    /// Resets each connection.
    pub(super) reset: Forward,
}

impl Forwards {
    /// New addresses.
    pub(super) fn new() -> Result<Self> {
        Ok(Self { bulk: Forward::new()?, echo: Forward::new()?, noread: Forward::new()?, reset: Forward::new()? })
    }

    /// Without a forwarder.
    pub(super) fn direct(self) -> Self {
        let direct = |Forward { destination, .. }| Forward { entrance: destination, destination };
        let Self { bulk, echo, noread, reset } = self;
        Self { bulk: direct(bulk), echo: direct(echo), noread: direct(noread), reset: direct(reset) }
    }

    /// All of them.
    pub(super) fn all(&self) -> [Forward; 4] {
        [self.bulk, self.echo, self.noread, self.reset]
    }
}
