//! Any sequence of arrivals, consumption, grants and ends, on channels that share one budget.

use proptest::prelude::*;

use super::*;

/// Shares are in 256ths of what is possible at that moment.
#[derive(Debug, Clone)]
enum Step {
    Admit,
    Receive { channel: usize, share: u8 },
    Consume { channel: usize, share: u8 },
    Grant { channel: usize },
    Wait { micros: u32 },
    End { channel: usize },
    Release { channel: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    let channel = 0_usize..8;
    prop_oneof![
        1 => Just(Step::Admit),
        8 => (channel.clone(), any::<u8>()).prop_map(|(channel, share)| Step::Receive { channel, share }),
        8 => (channel.clone(), any::<u8>()).prop_map(|(channel, share)| Step::Consume { channel, share }),
        8 => channel.clone().prop_map(|channel| Step::Grant { channel }),
        4 => (0_u32..200_000).prop_map(|micros| Step::Wait { micros }),
        1 => channel.clone().prop_map(|channel| Step::End { channel }),
        1 => channel.prop_map(|channel| Step::Release { channel }),
    ]
}

/// A window, and what an honest peer may know of it.
struct Peer {
    window: RecvWindow,
    credit: u64,
    /// The largest W so far: grants were made under it.
    widest: u64,
    ended: bool,
}

struct Model {
    config: Config,
    budget: Budget,
    peers: Vec<Peer>,
    now: Timestamp,
}

fn part(share: u8, whole: u64) -> usize {
    usize::try_from((whole * (u64::from(share) + 1)).div_ceil(256)).expect("windows fit into memory")
}

impl Model {
    fn new(config: Config) -> Self {
        let mut model = Self { budget: Budget::new(&config), config, peers: Vec::new(), now: Timestamp::ZERO };
        model.admit();
        model
    }

    fn admit(&mut self) {
        let window = RecvWindow::new(&self.config, &mut self.budget, FRAME);
        let first = u64::from(window.window());
        self.peers.push(Peer { window, credit: first, widest: first, ended: false });
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Admit => self.admit(),
            Step::Wait { micros } => self.now += Duration::from_micros(micros.into()),
            Step::Receive { channel, .. }
            | Step::Consume { channel, .. }
            | Step::Grant { channel }
            | Step::End { channel }
            | Step::Release { channel } => {
                if !self.peers.is_empty() {
                    let index = channel % self.peers.len();
                    self.apply_to(index, step);
                }
            }
        }
    }

    fn apply_to(&mut self, index: usize, step: &Step) {
        let Self { budget, peers, now, .. } = self;
        let peer = &mut peers[index];
        match *step {
            Step::Receive { share, .. } if peer.credit > 0 && !peer.ended => {
                let len = part(share, peer.credit);
                peer.credit -= len as u64;
                assert_eq!(peer.window.receive(*now, len, true, budget), Ok(0));
            }
            Step::Consume { share, .. } if peer.window.backlog() > 0 => {
                peer.window.consume(part(share, peer.window.backlog()), budget);
            }
            Step::Grant { .. } if peer.window.due().is_some() => {
                let adjusts = peer.window.grant(*now, budget).adjusts();
                peer.credit += adjusts.map(u64::from).sum::<u64>();
            }
            Step::End { .. } => {
                peer.ended = true;
                peer.window.end(budget);
            }
            Step::Release { .. } => {
                self.peers.swap_remove(index).window.release(budget);
                return;
            }
            _ => {}
        }
        peer.widest = peer.widest.max(peer.window.window().into());
    }

    fn check(&self) {
        let floor = u64::from(self.config.min_window);
        let promised: u64 = self.peers.iter().map(|peer| peer.window.promised().max(floor)).sum();
        assert_eq!(self.budget.promised(), promised, "the budget knows what it promised");
        assert!(promised <= self.config.budget + floor * self.peers.len() as u64, "{promised} promised");
        for peer in &self.peers {
            peer.check();
        }
    }
}

impl Peer {
    fn check(&self) {
        let window = &self.window;
        assert!(window.consumed <= window.received && window.received <= window.granted);
        assert!(window.granted - window.consumed <= self.widest, "{window:?}");
        assert_eq!(window.credit(), self.credit, "both sides count alike");
        assert!(window.window() >= window.base && u64::from(window.window()) <= 1 << 30);
        if self.ended {
            assert_eq!((window.due(), window.promised()), (None, window.backlog()));
        } else if self.credit == 0 && window.backlog() == 0 {
            assert_eq!(window.due(), Some(Urgency::Must), "the peer would wait for ever: {window:?}");
        }
    }
}

fn any_config() -> impl Strategy<Value = Config> {
    let policy = prop_oneof![3 => Just(CreditPolicy::Batched), 1 => Just(CreditPolicy::PerMessage)];
    (0_u32..24, 1_u32..=64, 1_u32..=8, policy).prop_map(|(budget, min, base, credit)| Config {
        budget: 1 << budget,
        min_window: min * KIB,
        base_window: min * base * KIB,
        credit,
        ..Config::default()
    })
}

proptest! {
    #[test]
    fn promises_stay_within_the_bound_and_no_peer_waits_for_ever(
        config in any_config(),
        steps in proptest::collection::vec(any_step(), 1..400),
    ) {
        let mut model = Model::new(config);
        model.check();
        for step in &steps {
            model.apply(step);
            model.check();
        }
    }

    #[test]
    fn bulk_costs_at_most_four_adjusts_per_window(piece in 1_usize..70_000, lag in 0_usize..4) {
        let mut it = Fixture::new(256 * KIB);
        let mut grants = 0_u64;
        let mut behind = std::collections::VecDeque::new();
        while it.window.received < 64 << 20 {
            let len = piece.min(usize::try_from(it.window.credit()).expect("a window"));
            it.receive(millis(0), u32::try_from(len).expect("a piece"));
            behind.push_back(len);
            while behind.len() > lag || (it.window.credit() == 0 && !behind.is_empty()) {
                let len = behind.pop_front().unwrap_or(0);
                it.consume(u32::try_from(len).expect("a piece"));
            }
            if it.window.due().is_some() {
                grants += 1;
                prop_assert!(it.grant(millis(0)) > 0);
            }
        }
        // 64 MiB in quarters of the first window, had it not grown.
        prop_assert!(grants <= (64 << 20) / (64 * 1024), "{} adjusts", grants);
    }
}
