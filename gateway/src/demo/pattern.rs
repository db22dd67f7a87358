//! What the demo's destinations send: a megabyte that does not repeat inside, over and over.

use std::sync::LazyLock;

use bytes::{BufMut, Bytes, BytesMut};

/// Bytes of the pattern.
pub(super) const LEN: usize = 1024 * 1024;

/// The pattern: words of 32 bits, little end first, of the linear congruential generator `x = 1664525 x + 1013904223`,
/// from 1. Bytes that are lost, doubled or swapped show.
pub(super) static PATTERN: LazyLock<Bytes> = LazyLock::new(|| {
    let mut bytes = BytesMut::with_capacity(LEN);
    let mut word = 1_u32;
    while bytes.len() < LEN {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.put_u32_le(word);
    }
    bytes.freeze()
});

/// The first `len` bytes of the pattern without end, in pieces.
pub(super) fn pieces(len: u64) -> impl Iterator<Item = Bytes> {
    const PIECE: u64 = 64 * 1024;
    // A piece divides the pattern, so none runs over its end.
    (0..len.div_ceil(PIECE)).map(move |index| {
        let start = index * PIECE;
        let (from, size) = (start % LEN as u64, PIECE.min(len - start));
        #[expect(clippy::cast_possible_truncation, reason = "both are at most the length of the pattern")]
        let range = from as usize..(from + size) as usize;
        PATTERN.slice(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up() {
        for len in [0, 1, 65_536, 65_537, LEN as u64, LEN as u64 + 3] {
            let all: Vec<u8> = pieces(len).flatten().collect();
            assert_eq!(all.len() as u64, len);
            assert!(all.iter().zip(PATTERN.iter().cycle()).all(|(a, b)| a == b), "{len}");
        }
    }
}
