//! What is promised and held, and that it comes back.

use std::time::Duration;

use muxgate_core::Config;
use muxgate_tests::simulator::{ChannelPlan, EndPlan, GIGABIT, LinkPlan, ROOM, Read, Setup, Simulation, Write};

const ENDLESS: u64 = 1 << 40;

/// A sender whose peer reads like this.
fn read_by(read: Read, len: u64) -> ChannelPlan {
    ChannelPlan::new(EndPlan::new(Write::bytes(len), Read::Prompt), EndPlan::new(Write::bytes(0), read))
}

fn simulation(config: &Config, delay: Duration) -> Simulation {
    Simulation::new(Setup::symmetric(config, &LinkPlan::new(GIGABIT, delay)))
}

/// Both wait for credit all the time; only for one of them a larger window would help.
#[test]
fn a_slow_reader_keeps_its_first_window_while_a_prompt_one_gets_more() {
    let config = Config::default();
    for delay in [ROOM, Duration::from_millis(20)] {
        let mut simulation = simulation(&config, delay);
        let slow = Read::Slow { bytes: 16 * 1024, every: Duration::from_millis(10) };
        let slow = simulation.add(read_by(slow, ENDLESS));
        let prompt = simulation.add(read_by(Read::Prompt, ENDLESS));
        for step in 1..=30 {
            simulation.run_until(Duration::from_millis(100) * step);
            let stats = simulation.channel_stats(slow, 1);
            assert!(stats.window <= config.base_window, "{delay:?}: {stats:?}");
            assert!(stats.unread <= config.base_window.into(), "{delay:?}: {stats:?}");
        }
        let stats = simulation.channel_stats(prompt, 1);
        assert!(stats.window >= 1 << 20, "{delay:?}: {stats:?}");
    }
}

#[test]
fn readers_that_stop_hold_no_more_than_a_window_each() {
    let config = Config { budget: 4 << 20, ..Config::default() };
    let mut simulation = simulation(&config, ROOM);
    for _ in 0..100 {
        simulation.add(read_by(Read::NEVER, ENDLESS));
    }
    simulation.run_until(Duration::from_secs(1));
    let stats = simulation.stats(1);
    assert!(stats.unread <= config.budget + 100 * u64::from(config.min_window), "{stats:?}");
    assert_eq!(stats.unread, simulation.peak_promise(1), "the peer uses what it is granted");
}

#[test]
fn two_thousand_channels_stay_within_the_bound_and_all_get_through() {
    let config = Config { budget: 8 << 20, ..Config::default() };
    let mut simulation = simulation(&config, Duration::from_millis(1));
    for channel in 0..2000 {
        let read = if channel % 3 == 0 {
            Read::Slow { bytes: 8 * 1024, every: Duration::from_millis(5) }
        } else {
            Read::Prompt
        };
        simulation.add(read_by(read, 60_000));
    }
    simulation.run_to_rest();
    simulation.check_outcome();
    let bound = config.budget + 2000 * u64::from(config.min_window);
    assert!(simulation.peak_promise(1) <= bound, "{}", simulation.peak_promise(1));
}

/// What a few large transfers took of the budget is there again for those who come later.
#[test]
fn the_budget_comes_back() {
    let config = Config::default();
    let mut simulation = simulation(&config, Duration::from_millis(20));
    for wave in 0..3 {
        for _ in 0..5 {
            let mut plan = read_by(Read::Prompt, 30_000_000);
            plan.opens_at = Duration::from_secs(3) * wave;
            simulation.add(plan);
        }
    }
    simulation.run_to_rest();
    simulation.check_outcome();
    // Three waves of 1.2 seconds each at least; a wave without windows to speak of would take ten times as long.
    assert!(simulation.now() <= Duration::from_secs(9), "{:?}", simulation.now());
}
