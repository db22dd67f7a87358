//! Equal shares, and channels that do not disturb each other.

use std::time::Duration;

use muxgate_core::Config;
use muxgate_tests::simulator::{
    ChannelPlan, EndPlan, GIGABIT, LinkPlan, ROOM, Read, Setup, Simulation, Write, fairness,
};

/// More than any of these runs moves.
const ENDLESS: u64 = 1 << 40;

/// Bytes that the other end of each channel has read.
fn received(simulation: &Simulation, channels: &[usize]) -> Vec<u64> {
    channels.iter().map(|channel| simulation.end(*channel, 1).read).collect()
}

/// The lowest index of fairness over any second from `from` to `to`, in steps of 100 ms.
fn worst_fairness(simulation: &mut Simulation, channels: &[usize], from: u32, to: u32) -> f64 {
    const STEP: Duration = Duration::from_millis(100);
    simulation.run_until(STEP * from);
    let mut samples = vec![received(simulation, channels)];
    let mut worst = 1.0_f64;
    for step in from + 1..=to {
        simulation.run_until(STEP * step);
        samples.push(received(simulation, channels));
        if let [.., second_ago, _, _, _, _, _, _, _, _, _, last] = &samples[..] {
            let shares: Vec<_> = last.iter().zip(second_ago).map(|(last, before)| last - before).collect();
            worst = worst.min(fairness(&shares));
        }
    }
    worst
}

#[test]
fn ten_equal_senders_get_equal_shares_of_any_second() {
    let link = LinkPlan::new(GIGABIT, ROOM);
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &link));
    let channels: Vec<_> = (0..10).map(|_| simulation.add(ChannelPlan::bulk(ENDLESS))).collect();
    // From the first 100 ms on: before that the channels open.
    let worst = worst_fairness(&mut simulation, &channels, 1, 20);
    assert!(worst >= 0.999, "Jain's index {worst}");
}

/// On a long path the windows decide, which grow one after the other; the shares are equal once they have.
#[test]
fn ten_equal_senders_get_equal_shares_of_a_long_path() {
    let link = LinkPlan::new(GIGABIT, Duration::from_millis(20));
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &link));
    let channels: Vec<_> = (0..10).map(|_| simulation.add(ChannelPlan::bulk(ENDLESS))).collect();
    let worst = worst_fairness(&mut simulation, &channels, 10, 30);
    assert!(worst >= 0.999, "Jain's index {worst}");
}

/// Five senders, and perhaps a sixth that nobody reads.
fn five_senders(stalled: bool) -> Vec<u64> {
    let link = LinkPlan::new(GIGABIT, ROOM);
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &link));
    if stalled {
        let writer = EndPlan::new(Write::bytes(ENDLESS), Read::Prompt);
        simulation.add(ChannelPlan::new(writer, EndPlan::new(Write::bytes(0), Read::NEVER)));
    }
    let channels: Vec<_> = (0..5).map(|_| simulation.add(ChannelPlan::bulk(ENDLESS))).collect();
    simulation.run_until(Duration::from_secs(2));
    received(&simulation, &channels)
}

#[test]
fn a_reader_that_stalls_changes_no_other_channels_throughput() {
    for (with, without) in five_senders(true).into_iter().zip(five_senders(false)) {
        let (less, more) = (with.min(without), with.max(without));
        assert!(less * 100 >= more * 99, "{with} bytes beside a stalled reader, {without} without");
    }
}

/// How long each of 50 keystrokes takes beyond the delay of the path, at most, beside `bulk` transfers.
fn worst_keystroke(bulk: usize, link: &LinkPlan) -> Duration {
    const EVERY: Duration = Duration::from_millis(20);
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), link));
    for _ in 0..bulk {
        simulation.add(ChannelPlan::bulk(ENDLESS));
    }
    let typed = EndPlan::new(Write::keystrokes(50, EVERY), Read::Prompt);
    let mut plan = ChannelPlan::new(typed, EndPlan::new(Write::bytes(0), Read::Prompt));
    plan.opens_at = Duration::from_millis(100);
    let channel = simulation.add(plan);
    simulation.run_until(Duration::from_secs(2));
    let arrivals = &simulation.end(channel, 1).reads_at;
    assert_eq!(arrivals.last().map(|(_, read)| *read), Some(50), "all have arrived");
    let opened = simulation.end(channel, 0).opened_at;
    let typed_at = |count: u64| opened + EVERY * u32::try_from(count - 1).expect("fifty");
    arrivals.iter().map(|(at, read)| at.saturating_sub(typed_at(*read) + link.delay)).max().unwrap_or_default()
}

#[test]
fn a_keystroke_waits_for_what_is_under_way_and_no_more() {
    const QUANTUM: u32 = 64 * 1024;
    let link = LinkPlan { pipe: 64 * 1024, piece: 1500, ..LinkPlan::new(GIGABIT / 10, ROOM) };
    let worst = worst_keystroke(10, &link);
    // The pipe, a batch of two quanta that waits for it, and the frame with which that batch went over its limit.
    let most = Duration::from_secs(1) * (4 * QUANTUM + 2000) / u32::try_from(link.rate).expect("a few megabytes");
    assert!(worst <= most, "{worst:?}, more than {most:?}");
}

#[test]
fn a_keystroke_on_an_idle_session_does_not_wait_at_all() {
    let worst = worst_keystroke(0, &LinkPlan::new(GIGABIT, ROOM));
    assert!(worst <= Duration::from_micros(1), "{worst:?}");
}
