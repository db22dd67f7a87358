//! Rates that are reached, and what they cost in adjusts.

use std::time::Duration;

use muxgate_core::{Config, CreditPolicy, SessionStats};
use muxgate_tests::simulator::{ChannelPlan, EndPlan, GIGABIT, LinkPlan, ROOM, Read, Setup, Simulation, Write};

const ENDLESS: u64 = 1 << 40;
const SECOND: Duration = Duration::from_secs(1);

/// The share of the line that arrives as payload in the third second.
fn share_in_the_third_second(link: &LinkPlan, channels: usize) -> f64 {
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), link));
    for _ in 0..channels {
        simulation.add(ChannelPlan::bulk(ENDLESS));
    }
    simulation.run_until(2 * SECOND);
    let before = simulation.stats(1).bytes_received;
    simulation.run_until(3 * SECOND);
    let received = u32::try_from(simulation.stats(1).bytes_received - before).expect("below 4 GB");
    f64::from(received) / f64::from(u32::try_from(link.rate).expect("below 4 GB"))
}

#[test]
fn a_gigabit_over_100_milliseconds_is_used_within_two_seconds() {
    let link = LinkPlan::new(GIGABIT, Duration::from_millis(50));
    let share = share_in_the_third_second(&link, 1);
    assert!(share >= 0.95, "{share}");
}

#[test]
fn ten_channels_use_it_as_well() {
    let link = LinkPlan::new(GIGABIT, Duration::from_millis(50));
    let share = share_in_the_third_second(&link, 10);
    assert!(share >= 0.95, "{share}");
}

/// A busy receiver is no reason to wait: data goes both ways, and the sessions are never idle.
#[test]
fn both_directions_are_used_at_the_same_time() {
    let link = LinkPlan::new(GIGABIT, Duration::from_millis(5));
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &link));
    let both = || EndPlan::new(Write::bytes(ENDLESS), Read::Prompt);
    simulation.add(ChannelPlan::new(both(), both()));
    simulation.run_until(SECOND);
    let before = [simulation.stats(0).bytes_received, simulation.stats(1).bytes_received];
    simulation.run_until(2 * SECOND);
    for (side, before) in before.into_iter().enumerate() {
        let received = simulation.stats(side).bytes_received - before;
        assert!(received * 100 >= link.rate * 95, "{received} bytes");
    }
}

/// Moves so many bytes over a fast link and returns what the receiver counted.
fn bulk(len: u64, credit: CreditPolicy) -> (SessionStats, SessionStats) {
    let config = Config { credit, ..Config::default() };
    let mut simulation = Simulation::new(Setup::symmetric(&config, &LinkPlan::new(10 * GIGABIT, ROOM)));
    simulation.add(ChannelPlan::bulk(len));
    simulation.run_to_rest();
    simulation.check_outcome();
    (simulation.stats(0), simulation.stats(1))
}

#[test]
fn a_gigabyte_costs_at_most_5000_adjusts() {
    let (_, receiver) = bulk(1_000_000_000, CreditPolicy::Batched);
    assert!(receiver.adjusts_sent.total() <= 5000, "{:?}", receiver.adjusts_sent);
}

#[test]
fn the_naive_policy_costs_one_adjust_per_message() {
    let (sender, receiver) = bulk(20_000_000, CreditPolicy::PerMessage);
    // All of the sender's messages but OPEN, EOF and CLOSE are data. After EOF nothing is granted.
    let messages = sender.frames_sent - 3;
    let adjusts = receiver.adjusts_sent.total();
    assert!(adjusts <= messages && adjusts + 10 >= messages, "{adjusts} adjusts for {messages} messages");
}

#[test]
fn a_few_bytes_cost_no_adjust() {
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &LinkPlan::new(GIGABIT, ROOM)));
    let typed = EndPlan::new(Write::keystrokes(1000, Duration::from_millis(5)), Read::Prompt);
    simulation.add(ChannelPlan::new(typed, EndPlan::new(Write::Echo, Read::Prompt)));
    simulation.run_to_rest();
    simulation.check_outcome();
    for side in 0..2 {
        assert_eq!(simulation.stats(side).adjusts_sent.total(), 0);
    }
}

#[test]
fn a_sender_on_a_short_path_stalls_only_until_its_window_has_grown() {
    let mut simulation = Simulation::new(Setup::symmetric(&Config::default(), &LinkPlan::new(10 * GIGABIT, ROOM)));
    simulation.add(ChannelPlan::bulk(ENDLESS));
    simulation.run_until(SECOND / 100);
    let before = simulation.stats(0).stalls;
    simulation.run_until(SECOND / 10);
    assert_eq!(simulation.stats(0).stalls, before);
}
