//! Bytes whose place in a stream shows.

/// Bytes before the content repeats: prime, and larger than any window here.
const PERIOD: u64 = 65_537;

/// The byte at `offset` of the stream `key`.
pub(crate) fn byte(key: u64, offset: u64) -> u8 {
    let mixed = (key * 31 + offset % PERIOD).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.to_be_bytes()[0]
}

/// `len` bytes from `offset` on.
pub(crate) fn bytes(key: u64, offset: u64, len: usize) -> Vec<u8> {
    (offset..).take(len).map(|offset| byte(key, offset)).collect()
}
