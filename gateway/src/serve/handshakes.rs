//! Connections that have not shown who they are: so many altogether, and fewer of each address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// At a time. More wait in the queue of the kernel.
pub(super) const MAX_HANDSHAKES: usize = 1024;
/// Of one address. More are closed at once: waiting, they would keep others out. A quarter, because everybody behind a
/// proxy has the proxy's address.
const MAX_OF_ADDRESS: usize = MAX_HANDSHAKES / 4;

/// Counts them.
#[derive(Debug, Clone)]
pub(super) struct Handshakes {
    all: Arc<Semaphore>,
    of_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One connection that has not shown who it is. Dropped when it has, or has gone.
#[derive(Debug)]
pub(super) struct Handshake {
    _permit: OwnedSemaphorePermit,
    address: Option<IpAddr>,
    of_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Handshakes {
    pub(super) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_HANDSHAKES)), of_address: Arc::default() }
    }

    /// Waits for room for one more. `None` never comes: the semaphore is not closed.
    pub(super) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        self.all.clone().acquire_owned().await.ok()
    }

    /// Begins one in the room that there is, unless its address has enough of them. A Unix socket has no address.
    pub(super) fn begin(&self, room: OwnedSemaphorePermit, address: Option<IpAddr>) -> Option<Handshake> {
        let address = address.map(network);
        if let Some(address) = address {
            let mut counts = self.of_address.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(address).or_default();
            if *count >= MAX_OF_ADDRESS {
                return None;
            }
            *count += 1;
        }
        Some(Handshake { _permit: room, address, of_address: self.of_address.clone() })
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut counts = self.of_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&address);
            }
        }
    }
}

/// What one customer of a provider has: an IPv4 address, or 64 bits of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() & !u128::from(u64::MAX)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use super::*;

    async fn begin(handshakes: &Handshakes, address: &str) -> Option<Handshake> {
        handshakes.begin(handshakes.room().await.unwrap(), Some(address.parse().unwrap()))
    }

    #[tokio::test]
    async fn one_address_has_its_share_and_no_more() {
        let handshakes = Handshakes::new();
        let mut held = Vec::new();
        while let Some(handshake) = begin(&handshakes, "192.0.2.1").await {
            held.push(handshake);
        }
        assert_eq!(held.len(), MAX_OF_ADDRESS);
        assert!(begin(&handshakes, "::ffff:192.0.2.1").await.is_none(), "another spelling");
        assert!(begin(&handshakes, "192.0.2.2").await.is_some(), "another address");
        held.pop();
        assert!(begin(&handshakes, "192.0.2.1").await.is_some(), "one has gone");
        drop(held);
        assert!(handshakes.of_address.lock().unwrap().is_empty(), "nothing is kept of those that have gone");
        assert_eq!(handshakes.all.available_permits(), MAX_HANDSHAKES);
    }

    #[test]
    fn the_last_half_of_an_ipv6_address_is_free_to_choose() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
    }
}
