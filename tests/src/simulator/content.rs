//! What is written to a channel: bytes that follow from the channel and the offset, so that a reader can tell any loss,
//! repetition, exchange or reordering.

use std::sync::LazyLock;

use bytes::Bytes;

use super::random::Random;

/// After so many bytes the content repeats: a prime, so that no block size is a multiple of it.
const PERIOD: usize = 131_071;

/// Two periods, so that a piece of up to one period begins anywhere and is one slice.
static TABLE: LazyLock<Bytes> = LazyLock::new(|| {
    let mut random = Random::new(0);
    let period: Vec<u8> = (0..PERIOD).map(|_| random.any().to_le_bytes()[0]).collect();
    Bytes::from(period.repeat(2))
});

/// The bytes of a stream from an offset on: `len` of them or as many as one piece holds.
#[must_use]
pub(super) fn content(stream: u64, offset: u64, len: usize) -> Bytes {
    let start = start(stream, offset);
    TABLE.slice(start..start + len.min(PERIOD))
}

/// Whether these are the bytes of a stream from an offset on.
#[must_use]
pub(super) fn is_content(stream: u64, offset: u64, bytes: &[u8]) -> bool {
    let start = start(stream, offset);
    let (first, rest) = bytes.split_at(bytes.len().min(PERIOD));
    TABLE[start..start + first.len()] == *first
        && (rest.is_empty() || is_content(stream, offset + first.len() as u64, rest))
}

fn start(stream: u64, offset: u64) -> usize {
    // Streams begin far from each other.
    usize::try_from((offset + stream * 7919) % PERIOD as u64).expect("below the period")
}
