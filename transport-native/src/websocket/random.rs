//! Masks for the frames of a client.

use std::io;

use ring::rand::{SecureRandom, SystemRandom};

/// Bytes fetched at a time: a system call for every mask would cost as much as masking 4 KiB.
const STOCK: usize = 256;

/// Unpredictable masks (RFC 6455, section 5.3: from a strong source of entropy).
#[derive(Debug)]
pub(super) struct MaskSource {
    stock: [u8; STOCK],
    used: usize,
}

impl MaskSource {
    pub(super) fn new() -> Self {
        Self { stock: [0; STOCK], used: STOCK }
    }

    pub(super) fn next(&mut self) -> io::Result<[u8; 4]> {
        if self.used == STOCK {
            fill(&mut self.stock)?;
            self.used = 0;
        }
        let mask = std::array::from_fn(|index| self.stock[self.used + index]);
        self.used += 4;
        Ok(mask)
    }
}

/// Fills `bytes` from the system's random source.
pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    SystemRandom::new().fill(bytes).map_err(|_| io::Error::other("the system gives no random bytes"))
}
