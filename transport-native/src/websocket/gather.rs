//! Slices for vectored writes.

use std::io::IoSlice;

/// More slices are not worth their set-up; core passes about 64.
const MAX_SLICES: usize = 80;

/// The slices of one write. What does not fit is left out, and so is all that follows it.
pub(super) struct SliceList<'a> {
    slices: [IoSlice<'a>; MAX_SLICES],
    len: usize,
}

impl<'a> SliceList<'a> {
    pub(super) fn new(first: &'a [u8]) -> Self {
        let mut list = Self { slices: [IoSlice::new(&[]); MAX_SLICES], len: 0 };
        list.push(first);
        list
    }

    pub(super) fn push(&mut self, slice: &'a [u8]) {
        if let Some(slot) = self.slices.get_mut(self.len)
            && !slice.is_empty()
        {
            *slot = IoSlice::new(slice);
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[IoSlice<'a>] {
        &self.slices[..self.len]
    }
}

/// A place in a sequence of slices.
pub(super) struct Payload<'a> {
    bufs: &'a [IoSlice<'a>],
    offset: usize,
}

impl<'a> Payload<'a> {
    pub(super) fn new(bufs: &'a [IoSlice<'a>]) -> Self {
        Self { bufs, offset: 0 }
    }

    /// Visits the next `n` bytes, or what there is.
    pub(super) fn take(&mut self, mut n: usize, mut visit: impl FnMut(&'a [u8])) {
        while let [buf, rest @ ..] = self.bufs
            && n > 0
        {
            let rest_of_buf = &buf[self.offset..];
            let part = &rest_of_buf[..n.min(rest_of_buf.len())];
            visit(part);
            n -= part.len();
            self.offset += part.len();
            if self.offset == buf.len() {
                (self.bufs, self.offset) = (rest, 0);
            }
        }
    }
}
