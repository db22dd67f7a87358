//! How much nonsense is forgiven.

use crate::transport::Timestamp;

/// A token bucket: `burst` at once, `rate` per second on top.
#[derive(Debug)]
pub(crate) struct Allowance {
    burst: f64,
    rate: f64,
    left: f64,
    updated: Timestamp,
}

impl Allowance {
    pub(crate) fn new(burst: u32, rate: u32) -> Self {
        Self { burst: burst.into(), rate: rate.into(), left: burst.into(), updated: Timestamp::ZERO }
    }

    /// Takes `cost`; false once the allowance is used up.
    pub(crate) fn take(&mut self, now: Timestamp, cost: u32) -> bool {
        let passed = now.saturating_sub(self.updated).as_secs_f64();
        self.updated = now;
        self.left = (self.left + passed * self.rate).min(self.burst) - f64::from(cost);
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn forgives_a_burst_and_a_rate() {
        let mut allowance = Allowance::new(3, 10);
        let mut at = |millis, cost| allowance.take(Duration::from_millis(millis), cost);
        assert!(at(0, 1) && at(0, 2));
        assert!(!at(0, 1));
        assert!(at(400, 3), "refilled up to the burst");
        assert!(!at(400, 1));
    }
}
