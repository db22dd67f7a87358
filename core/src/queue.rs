//! Bytes that wait, in the pieces in which they came.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Pieces below this size are copied together: a piece of its own costs about a hundred bytes, and a slice of a
/// read buffer keeps the whole buffer alive.
pub(crate) const COPY_BELOW: usize = 4096;

/// Small pieces are collected up to this size.
const TAIL_LEN: usize = 16 * 1024;

/// A queue of bytes whose memory is close to the number of bytes in it, whatever the pieces.
#[derive(Debug, Default)]
pub(crate) struct ByteQueue {
    pieces: VecDeque<Bytes>,
    /// Collects small pieces behind the last of `pieces`.
    tail: BytesMut,
    len: usize,
}

impl ByteQueue {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a piece, without copying unless it is small.
    pub(crate) fn push(&mut self, piece: Bytes) {
        if piece.len() < COPY_BELOW {
            return self.push_copy(&piece);
        }
        self.seal();
        self.len += piece.len();
        self.pieces.push_back(piece);
    }

    /// Appends a copy, so that the buffer behind `bytes` is not kept alive.
    pub(crate) fn push_copy(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        self.tail.extend_from_slice(bytes);
        if self.tail.len() >= TAIL_LEN {
            self.seal();
        }
    }

    /// Takes the first piece, cut to `max` bytes.
    pub(crate) fn pop(&mut self, max: usize) -> Option<Bytes> {
        if self.pieces.is_empty() {
            self.seal();
        }
        let first = self.pieces.front_mut()?;
        let piece = if first.len() > max { first.split_to(max) } else { self.pieces.pop_front()? };
        self.len -= piece.len();
        Some(piece)
    }

    /// Moves all pieces behind those in `out`.
    pub(crate) fn drain_into(&mut self, out: &mut VecDeque<Bytes>) {
        self.seal();
        self.len = 0;
        if out.is_empty() {
            std::mem::swap(&mut self.pieces, out);
        } else {
            out.append(&mut self.pieces);
        }
    }

    /// Drops everything and says how much it was.
    pub(crate) fn clear(&mut self) -> usize {
        std::mem::take(self).len
    }

    /// The tail's memory goes with its bytes: an empty queue holds none.
    fn seal(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(std::mem::take(&mut self.tail).freeze());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_across_copied_and_shared_pieces() {
        let mut queue = ByteQueue::default();
        let large = Bytes::from(vec![b'L'; COPY_BELOW]);
        queue.push(Bytes::from_static(b"ab"));
        queue.push_copy(b"c");
        queue.push(large.clone());
        queue.push(Bytes::from_static(b"d"));
        assert_eq!(queue.len(), COPY_BELOW + 4);
        assert_eq!(queue.pop(2).as_deref(), Some(&b"ab"[..]));
        assert_eq!(queue.pop(9).as_deref(), Some(&b"c"[..]));
        assert_eq!(queue.pop(usize::MAX).map(|piece| piece.as_ptr()), Some(large.as_ptr()));
        assert_eq!(queue.pop(9).as_deref(), Some(&b"d"[..]));
        assert_eq!(queue.pop(9), None);
        assert!(queue.is_empty());
    }

    #[test]
    fn single_bytes_are_collected() {
        let mut queue = ByteQueue::default();
        for _ in 0..100_000 {
            queue.push(Bytes::from_static(b"x"));
        }
        assert!(queue.pieces.len() <= 100_000 / TAIL_LEN);
        assert_eq!(queue.clear(), 100_000);
        assert_eq!(queue.tail.capacity(), 0);
    }

    #[test]
    fn drains_behind_what_is_there() {
        let mut queue = ByteQueue::default();
        let mut out = VecDeque::from([Bytes::from_static(b"1")]);
        queue.push_copy(b"2");
        queue.drain_into(&mut out);
        queue.push_copy(b"3");
        queue.drain_into(&mut out);
        assert_eq!(out.iter().map(|piece| piece[0]).collect::<Vec<_>>(), b"123");
        assert!(queue.is_empty());
    }
}
