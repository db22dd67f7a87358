//! Deadlines.

use std::future::poll_fn;
use std::time::Duration;

use muxgate_core::Clock;
use muxgate_transport_native::TokioClock;

#[tokio::test(start_paused = true)]
async fn a_deadline_may_move_both_ways() {
    const SECOND: Duration = Duration::from_secs(1);
    let mut clock = TokioClock::new();
    assert!(!passed(&mut clock, 60 * SECOND).await);
    poll_fn(|cx| clock.poll_deadline(cx, SECOND)).await;
    assert_eq!(clock.now().as_secs(), 1);
    assert!(!passed(&mut clock, Duration::MAX).await, "a deadline beyond all time is none");
    poll_fn(|cx| clock.poll_deadline(cx, 3 * SECOND)).await;
    assert_eq!(clock.now().as_secs(), 3);
}

/// Asks once, without waiting.
async fn passed(clock: &mut TokioClock, deadline: Duration) -> bool {
    poll_fn(|cx| std::task::Poll::Ready(clock.poll_deadline(cx, deadline).is_ready())).await
}
