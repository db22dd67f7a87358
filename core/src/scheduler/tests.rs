//! Fair shares, a bounded express lane, and nothing to be gained by tricks.

use proptest::prelude::*;

use super::*;

const FRAME: usize = 65_528;

/// Serves `turns` frames and returns how many bytes each channel sent. `frame` says how long the next frame of a
/// channel is.
fn serve<const N: usize>(scheduler: &mut Scheduler, turns: usize, mut frame: impl FnMut(u32) -> usize) -> [usize; N] {
    let mut sent = [0; N];
    for _ in 0..turns {
        let id = scheduler.next().expect("somebody is active");
        let len = frame(id);
        scheduler.charge(id, len);
        sent[id as usize] += len;
    }
    sent
}

fn spread(sent: &[usize]) -> usize {
    sent.iter().max().unwrap_or(&0) - sent.iter().min().unwrap_or(&0)
}

/// What a channel may send per round.
const TURN: usize = 2 * FRAME;

/// Most that two channels which always have something to send differ by: a quantum and a frame each.
const FAIR: usize = 2 * (TURN + FRAME);

#[test]
fn nobody_is_served_when_nobody_is_active() {
    let mut scheduler = Scheduler::default();
    assert_eq!(scheduler.next(), None);
    scheduler.activate(3);
    scheduler.activate(3);
    assert_eq!(scheduler.next(), Some(3));
    scheduler.deactivate(3);
    assert_eq!(scheduler.next(), None);
    scheduler.deactivate(99);
    assert_eq!(scheduler.next(), None, "a channel that never was is not active");
}

#[test]
fn a_turn_lasts_until_the_quantum_is_used_up() {
    let mut scheduler = Scheduler::default();
    scheduler.activate(0);
    scheduler.activate(1);
    let order: Vec<_> = (0..8)
        .map(|_| {
            let id = scheduler.next().expect("both are active");
            scheduler.charge(id, TURN / 2);
            id
        })
        .collect();
    assert_eq!(order, [0, 0, 1, 1, 0, 0, 1, 1]);
}

/// swift-nio-http2 559, quinn 949.
#[test]
fn thirty_two_bulk_channels_get_equal_shares() {
    let mut scheduler = Scheduler::default();
    (0..32).for_each(|id| scheduler.activate(id));
    let sent: [usize; 32] = serve(&mut scheduler, 32 * 100, |_| FRAME);
    assert!(spread(&sent) <= FAIR, "{sent:?}");
    assert!(sent.iter().all(|bytes| *bytes > 0));
}

/// A peer that takes only small messages costs others nothing, and loses nothing.
#[test]
fn small_frames_get_as_many_bytes_as_large_ones() {
    let mut scheduler = Scheduler::default();
    (0..2).for_each(|id| scheduler.activate(id));
    let sent: [usize; 2] = serve(&mut scheduler, 20_000, |id| if id == 0 { 4096 } else { FRAME });
    assert!(spread(&sent) <= FAIR, "{sent:?}");
}

#[test]
fn a_channel_that_becomes_active_goes_first() {
    let mut scheduler = Scheduler::default();
    (0..10).for_each(|id| scheduler.activate(id));
    let _: [usize; 10] = serve(&mut scheduler, 25, |_| FRAME);
    scheduler.activate(10);
    assert_eq!(scheduler.next(), Some(10));
}

#[test]
fn the_express_lane_is_left_after_one_quantum() {
    let mut scheduler = Scheduler::default();
    scheduler.activate(0);
    let _: [usize; 1] = serve(&mut scheduler, 5, |_| FRAME);
    scheduler.activate(1);
    let mut express = 0;
    while scheduler.next() == Some(1) {
        scheduler.charge(1, 4096);
        express += 4096;
    }
    assert!((TURN..TURN + 4096).contains(&express), "{express}");
    assert_eq!(scheduler.next(), Some(0));
}

/// Falling silent and waking up again between any two frames must not pay.
#[test]
fn pausing_gains_nothing() {
    let mut scheduler = Scheduler::default();
    (0..5).for_each(|id| scheduler.activate(id));
    let mut sent = [0; 5];
    for _ in 0..10_000 {
        let id = scheduler.next().expect("all are active");
        scheduler.charge(id, 16 * 1024);
        sent[id as usize] += 16 * 1024;
        scheduler.deactivate(0);
        scheduler.activate(0);
    }
    assert!(sent[0] <= sent[1..].iter().min().unwrap_or(&0) + FAIR, "{sent:?}");
}

/// ocaml-h2 162: an old channel is not punished for the bytes that it sent long ago.
#[test]
fn what_was_sent_long_ago_is_forgotten() {
    let mut scheduler = Scheduler::default();
    scheduler.activate(0);
    let _: [usize; 1] = serve(&mut scheduler, 10_000, |_| FRAME);
    (1..4).for_each(|id| scheduler.activate(id));
    let sent: [usize; 4] = serve(&mut scheduler, 400, |_| FRAME);
    assert!(spread(&sent) <= FAIR, "{sent:?}");
}

#[derive(Debug, Clone)]
enum Step {
    Activate(u32),
    Deactivate(u32),
    /// A frame of this length.
    Serve(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0_u32..6).prop_map(Step::Activate),
        1 => (0_u32..6).prop_map(Step::Deactivate),
        4 => (8_usize..=FRAME).prop_map(Step::Serve),
    ]
}

proptest! {
    #[test]
    fn shares_are_equal_whatever_the_frames(lens in proptest::collection::vec(8_usize..=FRAME, 50..500)) {
        let mut scheduler = Scheduler::default();
        (0..7).for_each(|id| scheduler.activate(id));
        let mut lens = lens.iter().copied().cycle();
        let sent: [usize; 7] = serve(&mut scheduler, 2000, |_| lens.next().unwrap_or(FRAME));
        prop_assert!(spread(&sent) <= FAIR, "{:?}", sent);
    }

    /// Two channels that are always active, 6 and 7, get the same among any company; and none of that company gets more
    /// than they.
    #[test]
    fn the_steady_are_not_robbed_by_the_unsteady(steps in proptest::collection::vec(any_step(), 1..1500)) {
        let mut scheduler = Scheduler::default();
        scheduler.activate(6);
        scheduler.activate(7);
        let mut active = [false, false, false, false, false, false, true, true];
        let mut sent = [0; 8];
        for step in steps {
            match step {
                Step::Activate(id) => {
                    scheduler.activate(id);
                    active[id as usize] = true;
                }
                Step::Deactivate(id) => {
                    scheduler.deactivate(id);
                    active[id as usize] = false;
                }
                Step::Serve(len) => {
                    let id = scheduler.next().expect("two are always active");
                    prop_assert!(active[id as usize], "only the active are served");
                    scheduler.charge(id, len);
                    sent[id as usize] += len;
                }
            }
            prop_assert!(spread(&sent[6..]) <= FAIR, "{:?}", sent);
            prop_assert!(sent[..6].iter().all(|bytes| *bytes <= sent[6] + FAIR), "{:?}", sent);
        }
    }
}
