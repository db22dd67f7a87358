//! Any configuration, path and applications: nothing is lost, promises are kept, and everything comes to its end.
//!
//! A seed that failed can be run alone:
//!
//! ```console
//! $ MUXGATE_SEED=17 cargo test -p muxgate-tests --test simulator seeds
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use muxgate_core::{Config, CreditPolicy, ReasonCode};
use muxgate_tests::simulator::{Answer, ChannelPlan, End, EndPlan, LinkPlan, Random, Read, Setup, Simulation, Write};

/// A few thousand in a few seconds.
const SEEDS: u64 = 3000;

/// Later than [`Config::open_timeout`].
const TOO_LATE: Duration = Duration::from_secs(40);

#[test]
fn seeds_keep_to_the_rules() {
    if let Ok(seed) = std::env::var("MUXGATE_SEED") {
        return run(seed.parse().expect("MUXGATE_SEED is a number"));
    }
    for seed in 0..SEEDS {
        if let Err(failure) = catch_unwind(AssertUnwindSafe(|| run(seed))) {
            eprintln!("again: MUXGATE_SEED={seed} cargo test -p muxgate-tests --test simulator seeds");
            resume_unwind(failure);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..20 {
        let trace = || {
            let (setup, plans) = any_run(seed);
            let mut simulation = Simulation::new(setup);
            for plan in plans {
                simulation.add(plan);
            }
            simulation.run_to_rest();
            (simulation.now(), simulation.stats(0), simulation.stats(1))
        };
        assert_eq!(trace(), trace());
    }
}

fn run(seed: u64) {
    let (setup, plans) = any_run(seed);
    let mut simulation = Simulation::new(setup);
    for plan in plans {
        simulation.add(plan);
    }
    simulation.run_to_rest();
    simulation.check_outcome();
}

fn any_run(seed: u64) -> (Setup, Vec<ChannelPlan>) {
    let mut random = Random::new(seed);
    let setup = Setup {
        seed,
        configs: [any_config(&mut random), any_config(&mut random)],
        links: [any_link(&mut random), any_link(&mut random)],
    };
    let count = random.pick(&[1, 1, 2, 3, 5, 20]);
    let scale = scale(&setup) / count;
    let plans = (0..count).map(|_| any_channel(&mut random, scale)).collect();
    (setup, plans)
}

/// So many bytes make a run of a few thousand steps.
fn scale(setup: &Setup) -> u64 {
    let by_config = |config: &Config| {
        let frame = 300 * u64::from(config.max_frame - 8);
        frame.min(300 * u64::from(config.min_window)).min(300 * config.send_buffer as u64)
    };
    let by_link = |link: &LinkPlan| 1000 * link.piece.min(link.pipe) as u64;
    let limits = setup.configs.iter().map(by_config).chain(setup.links.iter().map(by_link));
    limits.chain([300_000]).min().unwrap_or(1)
}

fn any_config(random: &mut Random) -> Config {
    let min_window = random.pick(&[1, 1000, 4096, 16 * 1024, 16 * 1024]);
    let base_window = min_window * random.pick(&[1, 4, 16]);
    Config {
        budget: random.pick(&[0, 64 * 1024, 512 * 1024, 4 << 20, 64 << 20]),
        min_window,
        base_window,
        max_window: base_window.max(random.pick(&[1, 1 << 20, 16 << 20])),
        send_buffer: random.pick(&[1, 1000, 16 * 1024, 256 * 1024]),
        max_frame: random.pick(&[9, 100, 4096, 65_528, 65_528]),
        credit: if random.chance(10) { CreditPolicy::PerMessage } else { CreditPolicy::Batched },
        ..Config::default()
    }
}

fn any_link(random: &mut Random) -> LinkPlan {
    LinkPlan {
        delay: Duration::from_micros(random.pick(&[0, 50, 1000, 30_000])),
        rate: random.pick(&[100_000, 1_000_000, 100_000_000, 1_250_000_000]),
        pipe: random.pick(&[1, 64, 1024, 64 * 1024, 1 << 20]),
        piece: random.pick(&[1, 7, 1000, 16 * 1024, 64 * 1024]),
        cut: random.chance(50),
    }
}

fn any_channel(random: &mut Random, scale: u64) -> ChannelPlan {
    let echo = random.chance(20);
    let waits = random.index(4);
    let ends = [any_end(random, scale, waits == 0 && !echo), any_end(random, scale, waits == 1)];
    let [opener, mut acceptor] = ends;
    if echo {
        acceptor = EndPlan::new(Write::Echo, random.pick(&[Read::Prompt, slow(1000)]));
    }
    ChannelPlan {
        opener: random.index(2),
        opens_at: millis(random, 50),
        patience: random.chance(15).then(|| millis(random, 100)),
        answer: if random.chance(10) { Answer::Refuse(ReasonCode::ConnectionRefused) } else { Answer::Accept },
        answers_after: match random.index(20) {
            0 => TOO_LATE,
            1..5 => millis(random, 50),
            _ => Duration::ZERO,
        },
        ends: [opener, acceptor],
    }
}

fn any_end(random: &mut Random, scale: u64, after_peer: bool) -> EndPlan {
    let len = random.pick(&[0, 1, scale / 10, scale]);
    let keystrokes = random.chance(20);
    let write = Write::Content {
        len: if keystrokes { len.min(50) } else { len },
        chunk: if keystrokes { 1 } else { random.pick(&[1000, 64 * 1024]) },
        every: if keystrokes { millis(random, 10) } else { Duration::ZERO },
        after_peer,
        end: random.pick(&[End::Finish, End::Finish, End::Finish, End::Drop, End::Reset]),
    };
    let read = match random.index(20) {
        0 => Read::NEVER,
        1 => Read::Stalled { until: millis(random, 500) },
        2 => Read::Dropped { after: random.within(0..=len) },
        3..7 => slow(scale / 50 + 1),
        _ => Read::Prompt,
    };
    EndPlan::new(write, read)
}

fn slow(bytes: u64) -> Read {
    Read::Slow { bytes: usize::try_from(bytes).unwrap_or(usize::MAX), every: Duration::from_millis(3) }
}

fn millis(random: &mut Random, most: u64) -> Duration {
    Duration::from_millis(random.within(0..=most))
}
