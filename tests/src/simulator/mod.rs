//! Two sessions on a path with virtual time: the same seed gives the same run, down to the last byte.
//!
//! Each side has a driver that works as the real one does, and an application at its end of each channel. Whoever was woken
//! may run next; nobody runs who was not woken, so that a lost wakeup shows. After every step the promises of both sides are
//! checked against the messages that they sent, and whenever the path is empty, that no reader waits for bytes that the other
//! side wants to send.

mod application;
mod content;
mod ledger;
mod link;
mod plan;
mod random;
mod side;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use muxgate_core::session::Session;
use muxgate_core::{ChannelStats, Config, SessionStats, Timestamp};

pub use application::{Application, Direction, Opening};
pub use link::LinkPlan;
pub use plan::{Answer, ChannelPlan, End, EndPlan, Read, Write};
pub use random::Random;

use link::Link;
use side::{Alarm, Side, Task};

/// More than any sound run needs between two moments.
const STEPS_PER_MOMENT: usize = 1_000_000;

/// What a run is made of.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Decides the order of what happens at the same time, and where pieces are cut.
    pub seed: u64,
    /// The configuration of each side.
    pub configs: [Config; 2],
    /// The path from side 0 to side 1, and back.
    pub links: [LinkPlan; 2],
}

impl Setup {
    /// Both sides alike, and both directions of the path.
    #[must_use]
    pub fn symmetric(config: &Config, link: &LinkPlan) -> Self {
        Self { seed: 0, configs: [config.clone(), config.clone()], links: [link.clone(), link.clone()] }
    }
}

/// A run.
#[derive(Debug)]
pub struct Simulation {
    now: Timestamp,
    random: Random,
    sides: [Side; 2],
    links: [Link; 2],
    plans: Vec<ChannelPlan>,
    /// Answers that take longer find nobody.
    open_timeout: Duration,
    /// By time, then by side.
    alarms: BinaryHeap<Reverse<(Timestamp, usize, Alarm)>>,
}

impl Simulation {
    /// A run at its beginning.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let [first, second] = setup.configs;
        Self {
            now: Timestamp::ZERO,
            random: Random::new(setup.seed),
            sides: [Side::new(&first), Side::new(&second)],
            links: setup.links.map(Link::new),
            plans: Vec::new(),
            open_timeout: first.open_timeout.min(second.open_timeout),
            alarms: BinaryHeap::new(),
        }
    }

    /// Adds a channel and returns its number in this simulation.
    pub fn add(&mut self, plan: ChannelPlan) -> usize {
        let channel = self.plans.len();
        self.alarms.push(Reverse((plan.opens_at.max(self.now), plan.opener, Alarm::Open(channel))));
        self.plans.push(plan);
        channel
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The opener's end of a channel (0) or the other one (1), once it exists.
    ///
    /// # Panics
    ///
    /// If it does not.
    #[must_use]
    pub fn end(&self, channel: usize, end: usize) -> &Application {
        self.find(channel, end).expect("the channel is open")
    }

    /// What core knows of an end.
    #[must_use]
    pub fn channel_stats(&self, channel: usize, end: usize) -> ChannelStats {
        self.session(self.side_of(channel, end)).channel_stats(self.end(channel, end).number)
    }

    /// What core knows of a side.
    #[must_use]
    pub fn stats(&self, side: usize) -> SessionStats {
        self.session(side).stats()
    }

    /// The most that a side has promised at a time, in bytes.
    #[must_use]
    pub fn peak_promise(&self, side: usize) -> u64 {
        self.sides[side].ledger.peak
    }

    /// Runs until nothing will ever happen again.
    pub fn run_to_rest(&mut self) {
        self.run_until(Timestamp::MAX);
    }

    /// Runs until this moment is over, or nothing will ever happen again.
    pub fn run_until(&mut self, end: Timestamp) {
        loop {
            let mut steps = 0;
            while self.step() {
                self.check_promises();
                steps += 1;
                assert!(steps < STEPS_PER_MOMENT, "somebody is woken again and again while time stands still");
            }
            self.check_liveness();
            let next = self.next_moment();
            match next {
                Some(next) if next <= end => self.proceed(next),
                _ => break,
            }
        }
        if end < Timestamp::MAX {
            self.now = self.now.max(end);
        }
    }

    /// Asserts that all channels came to the end that their plans lead to, and that nothing is left of them.
    pub fn check_outcome(&self) {
        let late = self.plans.iter().any(|plan| plan.answers_after >= self.open_timeout);
        let mut for_ever = false;
        for channel in 0..self.plans.len() {
            for_ever |= self.check_channel(channel);
        }
        for side in 0..2 {
            let stats = self.stats(side);
            assert!(for_ever || (stats.channels, stats.promised, stats.unread) == (0, 0, 0), "left over: {stats:?}");
            assert!(late || stats.glitches == 0, "both sides are sound: {stats:?}");
        }
    }

    /// One of those who were woken runs; false if nobody was.
    fn step(&mut self) -> bool {
        let woken = [self.sides[0].woken.len(), self.sides[1].woken.len()];
        if woken[0] + woken[1] == 0 {
            return false;
        }
        let lot = self.random.index(woken[0] + woken[1]);
        let (index, lot) = if lot < woken[0] { (0, lot) } else { (1, lot - woken[0]) };
        let Self { now, random, sides, links, plans, .. } = self;
        let side = &mut sides[index];
        match side.woken.swap_remove_back(lot).expect("drawn among them") {
            Task::Driver => {
                let [there, back] = links;
                let (inbound, outbound) = if index == 0 { (back, there) } else { (there, back) };
                side.drive(*now, inbound, outbound, random);
            }
            Task::Acceptor => side.fetch(*now, plans),
            Task::Application(channel) => side.run(*now, channel, random),
        }
        self.set_alarms();
        true
    }

    fn set_alarms(&mut self) {
        for (index, side) in self.sides.iter_mut().enumerate() {
            self.alarms.extend(side.alarms.drain(..).map(|(at, alarm)| Reverse((at, index, alarm))));
        }
    }

    /// When something happens next although nobody is awake.
    fn next_moment(&mut self) -> Option<Timestamp> {
        let alarm = self.alarms.peek().map(|Reverse((at, ..))| *at);
        let arrivals = self.links.iter().map(Link::arrival);
        let mut next = arrivals.flatten().chain(alarm).min();
        for (side, link) in self.sides.iter_mut().zip(&self.links) {
            let room = if side.blocked { link.room_at() } else { None };
            next = [next, room, side.session.next_deadline()].into_iter().flatten().min();
        }
        next
    }

    /// Time goes on, and wakes whom it concerns.
    fn proceed(&mut self, to: Timestamp) {
        self.now = self.now.max(to);
        for index in 0..2 {
            let arrived = self.links[1 - index].arrival().is_some_and(|at| at <= self.now);
            let room = self.sides[index].blocked && self.links[index].room_at().is_some_and(|at| at <= self.now);
            let side = &mut self.sides[index];
            if arrived || room || side.session.next_deadline().is_some_and(|at| at <= self.now) {
                side.wake(Task::Driver);
            }
        }
        while let Some(Reverse((at, index, alarm))) = self.alarms.pop() {
            if at > self.now {
                self.alarms.push(Reverse((at, index, alarm)));
                break;
            }
            self.ring(index, alarm);
        }
        self.set_alarms();
    }

    fn ring(&mut self, index: usize, alarm: Alarm) {
        let Self { now, random, sides, plans, .. } = self;
        let side = &mut sides[index];
        match alarm {
            Alarm::Open(channel) => side.open(*now, channel, &plans[channel]),
            Alarm::GiveUp(channel) => side.give_up(*now, channel, random),
            Alarm::Answer(channel) => side.answer(*now, channel, &plans[channel]),
            Alarm::Run(channel) => side.wake(Task::Application(channel)),
        }
    }

    fn check_promises(&self) {
        self.sides.iter().for_each(|side| side.ledger.check(&side.session));
    }

    /// While nobody is awake and the path is empty, nobody may wait for bytes that the other side wants to send.
    fn check_liveness(&self) {
        if self.links.iter().any(|link| link.arrival().is_some()) {
            return;
        }
        for (index, side) in self.sides.iter().enumerate() {
            let other = &self.sides[1 - index];
            for (channel, reader) in side.applications.iter().filter(|(_, end)| end.wants_bytes()) {
                let starving = side.session.channel_stats(reader.number).unread == 0;
                let held = other.number(*channel).map_or(0, |number| other.session.channel_stats(number).unsent);
                assert!(
                    !starving || held == 0,
                    "channel {channel}: {held} bytes wait for credit, and nobody grants it"
                );
            }
        }
    }

    /// Says whether the channel has an end that never ends.
    fn check_channel(&self, channel: usize) -> bool {
        let ends = [self.find(channel, 0), self.find(channel, 1)];
        let for_ever = ends.iter().flatten().any(|end| end.stalls_for_ever());
        for end in ends.into_iter().flatten() {
            assert!(for_ever || end.is_done(), "channel {channel}: an application waits for ever: {end:?}");
        }
        if let [Some(opener), Some(acceptor)] = ends
            && matches!(opener.opening, Opening::Open)
            && !for_ever
        {
            check_direction(opener, acceptor);
            check_direction(acceptor, opener);
        }
        for_ever
    }

    fn find(&self, channel: usize, end: usize) -> Option<&Application> {
        self.sides[self.side_of(channel, end)].applications.get(&channel)
    }

    fn side_of(&self, channel: usize, end: usize) -> usize {
        self.plans[channel].opener ^ end
    }

    fn session(&self, side: usize) -> &Session {
        &self.sides[side].session
    }
}

/// Everything arrived, unless one of the two broke it off.
fn check_direction(writer: &Application, reader: &Application) {
    assert!(reader.read <= writer.written);
    let echo_is_pointless = reader.planned().is_none() && writer.drops();
    if writer.resets() || reader.resets() || reader.drops() || echo_is_pointless {
        return;
    }
    assert_eq!(reader.read, writer.written, "bytes are missing: {writer:?} {reader:?}");
    assert_eq!(reader.reader, Direction::Ended, "{reader:?}");
    if let Some(planned) = writer.planned() {
        assert_eq!(writer.written, planned, "{writer:?}");
    }
}

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one has everything.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "shares of a test are far below 2^52")]
pub fn fairness(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|share| *share as f64).sum();
    let squares: f64 = shares.iter().map(|share| (*share as f64).powi(2)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// A gigabit per second, in bits per second.
pub const GIGABIT: u64 = 1_000_000_000;

/// A tenth of a millisecond: two machines in one room.
pub const ROOM: Duration = Duration::from_micros(100);
