//! Random numbers that are the same for the same seed, everywhere.

use std::ops::RangeInclusive;

/// `SplitMix64` (Steele, Lea, Flood 2014): one addition and a few shifts, and good enough for choices.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Numbers that follow from the seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number of the range.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (first, last) = range.into_inner();
        first + self.any() % (last - first + 1)
    }

    /// An index below `len`, which is not zero.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.any() % len as u64).expect("below a usize")
    }

    /// True in so many of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.any() % 100 < percent
    }

    /// One of the values.
    pub fn pick<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.index(values.len())].clone()
    }
}
