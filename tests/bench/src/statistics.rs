//! Figures out of samples.

use std::time::Duration;

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one of n has everything.
#[must_use]
pub fn jain(shares: &[u64]) -> f64 {
    let shares: Vec<f64> = shares.iter().map(|&share| float(share)).collect();
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    let count = float(shares.len() as u64);
    if squares > 0.0 { sum * sum / (count * squares) } else { 0.0 }
}

/// A count as a number to calculate with.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "nothing that is counted here reaches 2^53")]
pub fn float(count: u64) -> f64 {
    count as f64
}

/// Samples in order of size.
#[derive(Debug, Clone)]
pub struct Percentiles(Vec<Duration>);

impl Percentiles {
    /// Sorts `samples`.
    #[must_use]
    pub fn new(mut samples: Vec<Duration>) -> Self {
        samples.sort_unstable();
        Self(samples)
    }

    /// The smallest sample that is not smaller than `percent` of 100 parts of all; zero if there are none.
    #[must_use]
    pub fn at(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0.get(rank - 1).copied().unwrap_or_default()
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Percentiles, jain};

    #[test]
    fn jain_tells_equal_from_unequal() {
        let near = |index: f64, expected: f64| (index - expected).abs() < 1e-9;
        assert!(near(jain(&[7, 7, 7]), 1.0));
        assert!(near(jain(&[9, 0, 0]), 1.0 / 3.0));
        assert!(near(jain(&[0, 0]), 0.0));
    }

    #[test]
    fn percentiles_are_samples() {
        let percentiles = Percentiles::new((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!(percentiles.at(50), Duration::from_millis(100));
        assert_eq!(percentiles.at(99), Duration::from_millis(198));
        assert_eq!(percentiles.at(100), Duration::from_millis(200));
        assert_eq!(Percentiles::new(Vec::new()).at(50), Duration::ZERO);
    }
}
