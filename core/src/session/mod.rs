//! The multiplexer as a machine without I/O and without a clock.
//!
//! Frames go in ([`Session::handle_frame`]), a batch of frames comes out ([`Session::poll_transmit`]), and events
//! tell whoever waited that it is worth trying again ([`Session::poll_event`]). [`Connection`](crate::Connection)
//! drives it over a transport; the simulator and the fuzzer drive it without one.
//!
//! After every change to a channel, `touch` derives what follows from it: whether the channel stands in line to send,
//! whether an adjust is due, whether its number is free. So nothing can be forgotten, and nothing is queued twice.

mod inbound;
mod outbound;

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use tracing::{Span, debug};

use crate::allowance::Allowance;
use crate::channel::{Channel, Facts, Phase};
use crate::config::Config;
use crate::destination::Destination;
use crate::error::{ConnectionError, OpenError, ReadError, WriteError};
use crate::flow::{Budget, RecvWindow, Urgency};
use crate::frame::{ChannelId, DATA_HEADER_LEN, ReasonCode};
use crate::scheduler::Scheduler;
use crate::stats::{ChannelStats, SessionStats};
use crate::transport::Timestamp;

/// Numbers that are free are used again in the order in which they became free, and not before so many are: a late message
/// of a peer that is less careful does not meet a new channel.
const FREE_NUMBERS_KEPT: usize = 64;

/// Something that an application may be waiting for. Sent once for each wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The open was answered, or failed: see [`Session::opening`].
    Answered(ChannelId),
    /// There is something to read, the end included.
    Readable(ChannelId),
    /// There is room to write, or writing became impossible.
    Writable(ChannelId),
    /// Nothing written on the channel can reach the peer any more. Sent once, whether anybody waits or not.
    Stopped(ChannelId),
    /// The peer asks for a channel: see [`Session::next_request`].
    Requested,
    /// The session ended; nothing else will happen.
    Ended,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Bytes were handed out.
    Data,
    /// Nothing yet; [`Event::Readable`] follows.
    Blocked,
    /// The end of the stream.
    Eof,
}

/// A message that is no data and does not belong to a channel's own sequence.
#[derive(Debug)]
enum Control {
    Open {
        id: ChannelId,
        destination: Destination,
    },
    Accept {
        id: ChannelId,
    },
    Refuse {
        remote: ChannelId,
        reason: ReasonCode,
        description: Bytes,
    },
    /// Answers a success that comes so late that its channel is forgotten.
    Close {
        remote: ChannelId,
    },
}

/// One side of a session. See the [module](self).
#[derive(Debug)]
pub struct Session {
    config: Config,
    /// Whether the application takes channels that the peer opens.
    accepts: bool,
    /// By number.
    channels: Vec<Option<Box<Channel>>>,
    /// Numbers that were used before, oldest first.
    free: VecDeque<u32>,
    /// Channels by the peer's number.
    by_remote: HashMap<ChannelId, ChannelId>,
    scheduler: Scheduler,
    budget: Budget,
    control: VecDeque<Control>,
    /// [`Control::Refuse`] in `control`.
    refusals: usize,
    /// Channels to which an adjust is due, by urgency.
    urgent: VecDeque<ChannelId>,
    lazy: VecDeque<ChannelId>,
    /// Opens of the peer that the application has not fetched.
    requests: VecDeque<(ChannelId, Destination)>,
    /// Opens of the peer that are not answered, fetched or not.
    unanswered: usize,
    events: VecDeque<Event>,
    /// When opens of ours run out of time, in order.
    deadlines: VecDeque<(Timestamp, ChannelId)>,
    /// There may be something to transmit that the driver does not know of.
    has_work: bool,
    /// No new channels.
    closing: bool,
    ended: Option<ConnectionError>,
    glitches: Allowance,
    stats: SessionStats,
    span: Span,
}

impl Session {
    /// A session at its beginning. `accepts` says whether the application answers opens of the peer; otherwise they
    /// are refused.
    #[must_use]
    pub fn new(config: Config, accepts: bool, span: Span) -> Self {
        let budget = Budget::new(&config);
        let glitches = Allowance::new(config.glitch_burst, config.glitch_rate);
        Self {
            config,
            accepts,
            channels: Vec::new(),
            free: VecDeque::new(),
            by_remote: HashMap::new(),
            scheduler: Scheduler::default(),
            budget,
            control: VecDeque::new(),
            refusals: 0,
            urgent: VecDeque::new(),
            lazy: VecDeque::new(),
            requests: VecDeque::new(),
            unanswered: 0,
            events: VecDeque::new(),
            deadlines: VecDeque::new(),
            has_work: false,
            closing: false,
            ended: None,
            glitches,
            stats: SessionStats::default(),
            span,
        }
    }

    // ---- opening -------------------------------------------------------------------------------------------------

    /// Asks the peer for a channel. [`Event::Answered`] follows; the answer is in [`opening`](Self::opening).
    pub fn open(&mut self, destination: Destination) -> Result<ChannelId, OpenError> {
        self.check_live()?;
        if self.closing {
            return Err(ConnectionError::Closed.into());
        }
        let span = tracing::debug_span!(parent: &self.span, "channel", %destination);
        let id = self.insert(Phase::Opening, span).ok_or(OpenError::TooManyChannels)?;
        self.control.push_back(Control::Open { id, destination });
        self.has_work = true;
        Ok(id)
    }

    /// How the open of this channel went; `None` while it is not decided.
    pub fn opening(&mut self, id: ChannelId) -> Option<Result<(), OpenError>> {
        let ended = self.ended.clone();
        let channel = self.channel(id);
        match &channel.phase {
            Phase::Open => Some(Ok(())),
            Phase::Refused(error) => Some(Err(error.clone())),
            Phase::TimedOut => Some(Err(OpenError::TimedOut)),
            _ if ended.is_some() => ended.map(|error| Err(error.into())),
            _ => {
                channel.reader_waits = true;
                None
            }
        }
    }

    /// The opener gives up. Must be called instead of the handles' release if [`opening`](Self::opening) has not said
    /// `Ok`; what the peer answers later is dealt with.
    pub fn abandon(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        match channel.phase {
            Phase::Opening => channel.phase = Phase::Abandoned,
            Phase::TimedOut => return self.retire(id),
            _ => {}
        }
        self.release_writer(id);
        if self.peek(id).is_some() {
            self.release_reader(id);
        }
    }

    /// The next channel that the peer asks for. It must be answered by [`accept`](Self::accept) or
    /// [`refuse`](Self::refuse).
    pub fn next_request(&mut self) -> Option<(ChannelId, Destination)> {
        self.requests.pop_front()
    }

    /// Tells the peer that its channel is connected.
    pub fn accept(&mut self, id: ChannelId) -> Result<(), ConnectionError> {
        self.check_live()?;
        self.unanswered -= 1;
        self.stats.channels_opened += 1;
        let channel = self.channel(id);
        channel.phase = Phase::Open;
        debug!(parent: &channel.span, "accepted");
        self.control.push_back(Control::Accept { id });
        self.has_work = true;
        Ok(())
    }

    /// Tells the peer that its channel could not be connected. `description` is for people, at most a few kilobytes.
    pub fn refuse(&mut self, id: ChannelId, reason: ReasonCode, description: &str) {
        self.unanswered -= 1;
        let channel = self.channel(id);
        debug!(parent: &channel.span, %reason, description, "refused");
        let remote = channel.remote;
        self.remove(id);
        if let Some(remote) = remote {
            self.queue_refusal(remote, reason, Bytes::copy_from_slice(description.as_bytes()));
        }
    }

    // ---- reading -------------------------------------------------------------------------------------------------

    /// Moves what has arrived behind the pieces in `out`. It counts as the application's only when it is
    /// [consumed](Self::consume).
    pub fn read(&mut self, id: ChannelId, out: &mut VecDeque<Bytes>) -> Result<Readiness, ReadError> {
        let ended = self.ended.clone();
        let channel = self.channel(id);
        if !channel.incoming.is_empty() {
            channel.incoming.drain_into(out);
            return Ok(Readiness::Data);
        }
        if let Some(fault) = channel.fault {
            return Err(ReadError::Protocol(fault));
        }
        if channel.facts.is_ended() {
            return Ok(Readiness::Eof);
        }
        if let Some(error) = ended {
            return Err(error.into());
        }
        channel.reader_waits = true;
        Ok(Readiness::Blocked)
    }

    /// The application took `len` bytes of what it had read. Only this grants new credit.
    pub fn consume(&mut self, id: ChannelId, len: usize) {
        let Some(channel) = self.channels[id.0 as usize].as_mut() else { return };
        channel.recv.consume(len, &mut self.budget);
        self.stats.unread -= len as u64;
        self.touch(id);
    }

    /// Whether the peer closed the channel without having ended its direction, while ours was not ended either: then
    /// something may be missing. Deployed peers close so when a connection fails.
    #[must_use]
    pub fn was_cut_off(&self, id: ChannelId) -> bool {
        self.peek(id).is_some_and(|channel| channel.cut_off)
    }

    /// The reading handle is gone: what arrived and was not consumed is dropped, and so is what will arrive.
    pub fn release_reader(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        channel.facts = channel.facts.or(Facts::READER_GONE);
        self.discard_incoming(id);
        self.touch(id);
    }

    // ---- writing -------------------------------------------------------------------------------------------------

    /// How many bytes [`write`](Self::write) takes now. Zero: none, [`Event::Writable`] follows.
    ///
    /// To spare the transport many small messages, room is reported once half of the buffer is free.
    pub fn room(&mut self, id: ChannelId) -> Result<usize, WriteError> {
        self.check_live()?;
        let limit = self.config.send_buffer.max(1);
        let channel = self.channel(id);
        if channel.facts.is_stopped() {
            return Err(WriteError::Stopped);
        }
        if channel.facts.has(Facts::FINISHED) {
            return Err(WriteError::Finished);
        }
        if channel.outgoing.len() > limit / 2 {
            channel.writer_waits = true;
            return Ok(0);
        }
        Ok(limit - channel.outgoing.len())
    }

    /// Queues bytes for the peer: at most as many as [`room`](Self::room) has just said.
    pub fn write(&mut self, id: ChannelId, bytes: Bytes) -> Result<(), WriteError> {
        let room = self.room(id)?;
        debug_assert!(bytes.len() <= room, "{} bytes written where there is room for {room}", bytes.len());
        self.channel(id).outgoing.push(bytes);
        self.touch(id);
        Ok(())
    }

    /// Like [`write`](Self::write), with a copy of the bytes.
    pub fn write_copy(&mut self, id: ChannelId, bytes: &[u8]) -> Result<(), WriteError> {
        let room = self.room(id)?;
        debug_assert!(bytes.len() <= room, "{} bytes written where there is room for {room}", bytes.len());
        self.channel(id).outgoing.push_copy(bytes);
        self.touch(id);
        Ok(())
    }

    /// Whether nothing that is written from now on can reach the peer.
    #[must_use]
    pub fn is_stopped(&self, id: ChannelId) -> bool {
        self.ended.is_some() || self.peek(id).is_none_or(|channel| channel.facts.is_stopped())
    }

    /// The application writes no more: EOF follows what is queued.
    pub fn finish(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        channel.facts = channel.facts.or(Facts::FINISHED);
        self.touch(id);
    }

    /// Ends the channel at once: CLOSE without EOF, and what is queued is dropped. Says that something failed.
    pub fn reset(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        channel.facts = channel.facts.or(Facts::RESET);
        channel.outgoing.clear();
        self.promise_no_more(id);
        self.wake_all(id);
        self.touch(id);
    }

    /// The writing handle is gone: EOF follows what is queued.
    pub fn release_writer(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        channel.facts = channel.facts.or(Facts::FINISHED).or(Facts::WRITER_GONE);
        self.touch(id);
    }

    // ---- the session as a whole ----------------------------------------------------------------------------------

    /// No new channels from here on; those that exist go on.
    pub fn close(&mut self) {
        self.closing = true;
        self.has_work = true;
    }

    /// Opens of the peer are refused from here on, those that wait included.
    pub fn stop_accepting(&mut self) {
        self.accepts = false;
        while let Some((id, _)) = self.requests.pop_front() {
            self.refuse(id, ReasonCode::GeneralFailure, "this side accepts no more channels");
        }
    }

    /// Whether the session was [closed](Self::close), all handles of channels are gone, and what they left behind is in a
    /// batch: nothing of value is lost if the transport ends after it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.closing && self.control.is_empty() && self.channels.iter().flatten().all(|it| it.is_drained())
    }

    /// Ends the session for the given reason. What arrived stays readable. Only the first reason counts.
    pub fn end(&mut self, reason: ConnectionError) {
        if self.ended.is_none() {
            debug!(parent: &self.span, %reason, "session over");
            self.ended = Some(reason);
            self.events.push_back(Event::Ended);
        }
    }

    /// Why the session ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<&ConnectionError> {
        self.ended.as_ref()
    }

    /// The next event, in the order in which they happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether there may be something to transmit since the last time this was asked.
    pub fn take_work(&mut self) -> bool {
        std::mem::take(&mut self.has_work)
    }

    /// The session's numbers.
    #[must_use]
    pub fn stats(&self) -> SessionStats {
        SessionStats { promised: self.budget.promised(), ..self.stats }
    }

    /// A channel's numbers.
    #[must_use]
    pub fn channel_stats(&self, id: ChannelId) -> ChannelStats {
        let Some(channel) = self.peek(id) else { return ChannelStats::default() };
        ChannelStats {
            window: channel.recv.window(),
            receive_credit: channel.recv.credit(),
            send_credit: channel.send.credit(),
            unread: channel.recv.backlog(),
            unsent: channel.outgoing.len(),
            ..channel.stats
        }
    }

    /// The span that all events of the session belong to.
    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }

    // ---- inside --------------------------------------------------------------------------------------------------

    fn check_live(&self) -> Result<(), ConnectionError> {
        self.ended.clone().map_or(Ok(()), Err)
    }

    fn peek(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(id.0 as usize)?.as_deref()
    }

    /// A channel that a handle refers to.
    ///
    /// # Panics
    ///
    /// If there is none: a number is free only after its handles were released.
    fn channel(&mut self, id: ChannelId) -> &mut Channel {
        self.channels[id.0 as usize].as_mut().expect("a channel lives as long as its handles")
    }

    fn max_payload(&self) -> u32 {
        u32::from(self.max_packet()) - u32::try_from(DATA_HEADER_LEN).unwrap_or(0)
    }

    /// The largest DATA message that we announce.
    fn max_packet(&self) -> u16 {
        self.config.max_frame.max(9)
    }

    fn insert(&mut self, phase: Phase, span: Span) -> Option<ChannelId> {
        if self.stats.channels >= self.config.max_channels {
            return None;
        }
        let recycled = if self.free.len() > FREE_NUMBERS_KEPT { self.free.pop_front() } else { None };
        let number = match recycled {
            Some(number) => number,
            None => u32::try_from(self.channels.len()).ok()?,
        };
        let max_payload = self.max_payload();
        let recv = RecvWindow::new(&self.config, &mut self.budget, max_payload);
        let channel = Some(Box::new(Channel::new(phase, recv, span)));
        match self.channels.get_mut(number as usize) {
            Some(slot) => *slot = channel,
            None => self.channels.push(channel),
        }
        self.stats.channels += 1;
        Some(ChannelId(number))
    }

    /// Forgets the channel; its number is free.
    fn remove(&mut self, id: ChannelId) {
        self.retire(id);
        self.free.push_back(id.0);
    }

    /// Forgets the channel, but never uses its number again: the peer may yet answer an open of that number.
    fn retire(&mut self, id: ChannelId) {
        self.discard_incoming(id);
        let Some(mut channel) = self.channels[id.0 as usize].take() else { return };
        channel.recv.release(&mut self.budget);
        if let Some(remote) = channel.remote {
            self.by_remote.remove(&remote);
        }
        self.scheduler.deactivate(id.0);
        self.stats.channels -= 1;
        // A session that is closing may have waited for this one.
        self.has_work |= self.closing;
        debug!(parent: &channel.span, sent = channel.stats.bytes_sent, received = channel.stats.bytes_received, "gone");
    }

    /// Nothing more will be received on this channel: what was promised is free, up to what is not yet consumed.
    fn promise_no_more(&mut self, id: ChannelId) {
        if let Some(channel) = self.channels[id.0 as usize].as_mut() {
            channel.recv.end(&mut self.budget);
        }
    }

    /// Tells the opener that its open is decided.
    fn answered(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        if std::mem::take(&mut channel.reader_waits) {
            self.events.push_back(Event::Answered(id));
        }
        self.touch(id);
    }

    /// Drops what was received and not consumed, and promises nothing more.
    fn discard_incoming(&mut self, id: ChannelId) {
        let Some(channel) = self.channels[id.0 as usize].as_mut() else { return };
        channel.incoming.clear();
        self.stats.unread -= channel.recv.backlog();
        channel.recv.discard(&mut self.budget);
    }

    /// Derives what follows from a change to a channel. See the module.
    fn touch(&mut self, id: ChannelId) {
        let Some(channel) = self.channels[id.0 as usize].as_mut() else { return };
        if channel.is_closed()
            && let Some(remote) = channel.remote.take()
        {
            self.by_remote.remove(&remote);
        }
        if channel.is_over() {
            return self.remove(id);
        }
        if channel.next_outgoing().is_some() {
            channel.stalled = false;
            self.scheduler.activate(id.0);
            self.has_work = true;
        } else {
            self.scheduler.deactivate(id.0);
            if channel.is_out_of_credit() && !channel.stalled {
                channel.stalled = true;
                channel.stats.stalls += 1;
                self.stats.stalls += 1;
            }
        }
        match channel.adjust_due() {
            Some(Urgency::Lazy) if !channel.listed_lazy => {
                channel.listed_lazy = true;
                self.lazy.push_back(id);
                self.has_work = true;
            }
            Some(Urgency::Urgent | Urgency::Must) if !channel.listed_urgent => {
                channel.listed_urgent = true;
                self.urgent.push_back(id);
                self.has_work = true;
            }
            _ => {}
        }
    }

    fn wake_reader(&mut self, id: ChannelId) {
        let channel = self.channel(id);
        if std::mem::take(&mut channel.reader_waits) {
            self.events.push_back(Event::Readable(id));
        }
    }

    fn wake_all(&mut self, id: ChannelId) {
        self.wake_reader(id);
        let channel = self.channel(id);
        if std::mem::take(&mut channel.writer_waits) {
            self.events.push_back(Event::Writable(id));
        }
        self.events.push_back(Event::Stopped(id));
    }

    fn queue_refusal(&mut self, remote: ChannelId, reason: ReasonCode, description: Bytes) {
        self.stats.opens_failed += 1;
        self.refusals += 1;
        self.control.push_back(Control::Refuse { remote, reason, description });
        self.has_work = true;
    }
}
