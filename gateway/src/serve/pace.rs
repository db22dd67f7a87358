//! How fast a session may open channels.
//!
//! Opens that come faster wait in core's backlog. What that does not hold is refused, and who goes on nevertheless loses
//! the session (see `backlog` and `glitch_burst` of [`muxgate_core::Config`]).

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Opens per second: twice what the fastest client reaches on two cores. Each one costs a lookup and a connection.
const RATE: f64 = 5_000.0;
/// Opens at once, after a second without any: so many channels fill a session.
const BURST: f64 = 10_000.0;

/// The opens that a session has left.
#[derive(Debug)]
pub(super) struct Pace {
    left: f64,
    since: Instant,
}

impl Pace {
    /// All of them.
    pub(super) fn new() -> Self {
        Self { left: BURST, since: Instant::now() }
    }

    /// Waits until one may be taken. Cancel safe.
    pub(super) async fn due(&self) {
        let missing = 1.0 - self.left(Instant::now());
        if missing > 0.0 {
            sleep(Duration::from_secs_f64(missing / RATE)).await;
        }
    }

    /// Counts one.
    pub(super) fn take(&mut self) {
        let now = Instant::now();
        self.left = self.left(now) - 1.0;
        self.since = now;
    }

    fn left(&self, now: Instant) -> f64 {
        BURST.min(self.left + RATE * now.duration_since(self.since).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes opens as fast as they are due, for a second, and counts them.
    async fn of_one_second(pace: &mut Pace) -> f64 {
        let (end, mut count) = (Instant::now() + Duration::from_secs(1), 0.0);
        loop {
            pace.due().await;
            if Instant::now() >= end {
                return count;
            }
            pace.take();
            count += 1.0;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_goes_through_at_once_and_the_rest_at_the_rate() {
        let mut pace = Pace::new();
        let first = of_one_second(&mut pace).await;
        assert!((first - BURST - RATE).abs() < RATE / 10.0, "{first}");
        let second = of_one_second(&mut pace).await;
        assert!((second - RATE).abs() < RATE / 10.0, "{second}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_opens_now_and_then_never_waits() {
        let mut pace = Pace::new();
        let began = Instant::now();
        for _ in 0..100_000 {
            tokio::time::advance(Duration::from_millis(1)).await;
            pace.due().await;
            pace.take();
        }
        assert_eq!(began.elapsed(), Duration::from_secs(100));
    }
}
