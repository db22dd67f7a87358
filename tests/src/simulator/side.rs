//! One side: a session, its driver as the real one works, and the applications on top.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use muxgate_core::codec::{Batch, Decoder};
use muxgate_core::frame::ChannelId;
use muxgate_core::session::{Event, Session};
use muxgate_core::{Config, Destination, Timestamp};

use super::application::{Application, Surroundings};
use super::ledger::Ledger;
use super::link::Link;
use super::plan::{Answer, ChannelPlan, Write};
use super::random::Random;

/// As in the real driver.
const READ_BUDGET: usize = 256 * 1024;
const MIN_BATCH: usize = 64 * 1024;
const MAX_BATCH: usize = 256 * 1024;

/// Whose turn it is on a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// Reads from the one link and writes to the other.
    Driver,
    /// Fetches and answers opens.
    Acceptor,
    /// The application at this end of a channel.
    Application(usize),
}

/// Something that happens later whether or not anything else does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alarm {
    Open(usize),
    GiveUp(usize),
    Answer(usize),
    Run(usize),
}

/// A side at work.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) session: Session,
    pub(super) ledger: Ledger,
    decoder: Decoder,
    batch: Batch,
    batch_limit: usize,
    /// The batch, as the link takes it.
    outgoing: Bytes,
    /// Decodes what we send, for the ledger.
    mirror: Decoder,
    /// The link was full.
    pub(super) blocked: bool,
    /// By channel of the simulation.
    pub(super) applications: BTreeMap<usize, Application>,
    /// The channel of the simulation, by our number.
    channels: BTreeMap<ChannelId, usize>,
    /// Fetched and not answered.
    requests: BTreeMap<usize, ChannelId>,
    pub(super) woken: VecDeque<Task>,
    pub(super) alarms: Vec<(Timestamp, Alarm)>,
}

impl Side {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            session: Session::new(config.clone(), true, tracing::Span::none()),
            ledger: Ledger::new(config),
            decoder: Decoder::default(),
            batch: Batch::default(),
            batch_limit: MIN_BATCH,
            outgoing: Bytes::new(),
            mirror: Decoder::default(),
            blocked: false,
            applications: BTreeMap::new(),
            channels: BTreeMap::new(),
            requests: BTreeMap::new(),
            woken: VecDeque::new(),
            alarms: Vec::new(),
        }
    }

    pub(super) fn wake(&mut self, task: Task) {
        if !self.woken.contains(&task) {
            self.woken.push_back(task);
        }
    }

    /// Our number of a channel, unless another channel has it meanwhile.
    pub(super) fn number(&self, channel: usize) -> Option<ChannelId> {
        let number = self.applications.get(&channel)?.number;
        (self.channels.get(&number) == Some(&channel)).then_some(number)
    }

    /// One turn of the driver.
    pub(super) fn drive(&mut self, now: Timestamp, inbound: &mut Link, outbound: &mut Link, random: &mut Random) {
        let all_read = self.receive(now, inbound, random);
        let all_sent = self.send(now, all_read, outbound);
        while self.session.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.session.handle_timeout(now);
            self.collect_events();
        }
        if !all_read || !all_sent {
            self.wake(Task::Driver);
        }
    }

    /// Says whether everything that had arrived was read.
    fn receive(&mut self, now: Timestamp, inbound: &mut Link, random: &mut Random) -> bool {
        let mut budget = READ_BUDGET;
        while budget > 0 {
            let Some(mut piece) = inbound.read(now, random) else { return true };
            budget = budget.saturating_sub(piece.len());
            while let Some(frame) = self.decoder.decode(&mut piece).expect("both sides speak JMUX") {
                self.session.handle_frame(now, frame.clone()).expect("both sides are sound");
                self.ledger.received(&frame, &self.session);
            }
            self.collect_events();
        }
        false
    }

    /// Says whether everything that can be sent now is sent, or waits for the link.
    fn send(&mut self, now: Timestamp, idle: bool, outbound: &mut Link) -> bool {
        let mut budget = 1024 * 1024_usize;
        loop {
            if self.outgoing.is_empty() && !self.fill(now, idle) {
                self.blocked = false;
                return true;
            }
            if budget == 0 {
                return false;
            }
            let written = outbound.write(now, &mut self.outgoing);
            self.blocked = written == 0;
            if self.blocked {
                self.batch_limit = (self.batch_limit / 2).max(MIN_BATCH);
                return true;
            }
            if self.outgoing.is_empty() {
                self.batch_limit = (self.batch_limit * 2).min(MAX_BATCH);
            }
            budget = budget.saturating_sub(written);
        }
    }

    fn fill(&mut self, now: Timestamp, idle: bool) -> bool {
        self.session.take_work();
        let filled = self.session.poll_transmit(now, idle, self.batch_limit, &mut self.batch);
        self.collect_events();
        let mut bytes = BytesMut::with_capacity(self.batch.len());
        while !self.batch.is_empty() {
            let mut slices = [IoSlice::new(&[]); 64];
            let count = self.batch.slices(&mut slices);
            let before = bytes.len();
            slices[..count].iter().for_each(|slice| bytes.extend_from_slice(slice));
            let taken = bytes.len() - before;
            self.batch.advance(taken);
        }
        self.outgoing = bytes.freeze();
        let mut copy = self.outgoing.clone();
        while let Some(frame) = self.mirror.decode(&mut copy).expect("core speaks JMUX") {
            self.ledger.sent(&frame, &self.session);
        }
        filled
    }

    /// Wakes those whom the session's events concern.
    fn collect_events(&mut self) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Event::Answered(id) | Event::Readable(id) | Event::Writable(id) | Event::Stopped(id) => {
                    if let Some(&channel) = self.channels.get(&id) {
                        self.wake(Task::Application(channel));
                    }
                }
                Event::Requested => self.wake(Task::Acceptor),
                Event::Ended => unreachable!("{:?}", self.session.ended()),
            }
        }
    }

    /// After a handle changed the session.
    fn settle(&mut self) {
        self.collect_events();
        if self.session.take_work() {
            self.wake(Task::Driver);
        }
    }

    pub(super) fn open(&mut self, now: Timestamp, channel: usize, plan: &ChannelPlan) {
        let destination = Destination::tcp(&format!("channel-{channel}"), 1).expect("valid");
        let number = self.session.open(destination).expect("there are numbers left");
        self.begin(now, channel, number, plan, true);
        if let Some(patience) = plan.patience {
            self.alarms.push((now + patience, Alarm::GiveUp(channel)));
        }
    }

    /// Fetches opens, and answers those that are to be answered at once.
    pub(super) fn fetch(&mut self, now: Timestamp, plans: &[ChannelPlan]) {
        while let Some((number, destination)) = self.session.next_request() {
            let name = destination.host().strip_prefix("channel-").and_then(|channel| channel.parse().ok());
            let channel: usize = name.expect("the name that the other side gave it");
            self.requests.insert(channel, number);
            let plan = &plans[channel];
            if plan.answers_after == Duration::ZERO {
                self.answer(now, channel, plan);
            } else {
                self.alarms.push((now + plan.answers_after, Alarm::Answer(channel)));
            }
        }
        self.settle();
    }

    pub(super) fn answer(&mut self, now: Timestamp, channel: usize, plan: &ChannelPlan) {
        let number = self.requests.remove(&channel).expect("it was fetched");
        match plan.answer {
            Answer::Accept => {
                self.session.accept(number).expect("the session lives");
                self.begin(now, channel, number, plan, false);
            }
            Answer::Refuse(reason) => {
                self.session.refuse(number, reason, "as planned");
                self.settle();
            }
        }
    }

    fn begin(&mut self, now: Timestamp, channel: usize, number: ChannelId, plan: &ChannelPlan, opens: bool) {
        let (own, other) = if opens { (0, 1) } else { (1, 0) };
        let echoed = matches!(plan.ends[other].write, Write::Echo);
        // An echo writes what it reads: both directions have the content of the other end.
        let application = Application::new(plan.ends[own].clone(), number, channel as u64, opens, echoed, now);
        self.ledger.open(number);
        self.channels.insert(number, channel);
        self.applications.insert(channel, application);
        self.wake(Task::Application(channel));
        self.settle();
    }

    pub(super) fn run(&mut self, now: Timestamp, channel: usize, random: &mut Random) {
        let Self { session, ledger, applications, .. } = self;
        let Some(application) = applications.get_mut(&channel) else { return };
        if let Some(later) = application.run(&mut Surroundings { now, session, ledger, random }) {
            self.alarms.push((later, Alarm::Run(channel)));
        }
        self.settle();
    }

    pub(super) fn give_up(&mut self, now: Timestamp, channel: usize, random: &mut Random) {
        let Self { session, ledger, applications, .. } = self;
        let Some(application) = applications.get_mut(&channel) else { return };
        application.give_up(&mut Surroundings { now, session, ledger, random });
        self.settle();
    }
}
