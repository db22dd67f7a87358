//! Bytes whose place in a stream shows.

use std::sync::LazyLock;

/// Bytes before the content repeats: prime, and larger than any window here.
const PERIOD: usize = 65_537;

/// How far the contents of two streams are apart.
const APART: u64 = 997;

static PERIODIC: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mixed = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0];
    (0..).take(PERIOD).map(mixed).collect()
});

/// The pieces of `len` bytes from `offset` on of the stream `key`.
fn pieces(key: u64, offset: u64, len: usize) -> impl Iterator<Item = &'static [u8]> {
    let mut at = usize::try_from((key * APART + offset) % PERIOD as u64).expect("it is below the period");
    let mut left = len;
    std::iter::from_fn(move || {
        let end = PERIOD.min(at + left);
        let piece = &PERIODIC[at..end];
        left -= piece.len();
        at = end % PERIOD;
        (!piece.is_empty()).then_some(piece)
    })
}

/// `len` bytes from `offset` on of the stream `key`.
pub(crate) fn bytes(key: u64, offset: u64, len: usize) -> Vec<u8> {
    pieces(key, offset, len).collect::<Vec<_>>().concat()
}

/// Asserts that `received` is what stands at `offset` of the stream `key`.
pub(crate) fn check(key: u64, offset: u64, received: &[u8]) {
    let mut rest = received;
    for piece in pieces(key, offset, received.len()) {
        let (first, behind) = rest.split_at(piece.len());
        assert!(first == piece, "other bytes than those at {offset} of stream {key}");
        rest = behind;
    }
}
