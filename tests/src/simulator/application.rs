//! One end of a channel: an application that follows its plan and checks every byte.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use muxgate_core::frame::ChannelId;
use muxgate_core::session::{Readiness, Session};
use muxgate_core::{OpenError, Timestamp};

use super::content::{content, is_content};
use super::ledger::Ledger;
use super::plan::{End, EndPlan, Read, Write};
use super::random::Random;

/// How far the opening of an end has come.
#[derive(Debug)]
pub enum Opening {
    /// Our OPEN is not answered.
    Waiting,
    /// Bytes may flow.
    Open,
    /// It failed.
    Failed(OpenError),
    /// The opener gave up.
    Cancelled,
}

/// How a direction stands, for its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It goes on.
    Open,
    /// It came to its end in good order.
    Ended,
    /// The peer closed the channel without having ended its direction.
    CutOff,
    /// The peer reads no more.
    Stopped,
    /// We ended it before its end.
    Abandoned,
}

/// An end of a channel at work.
#[derive(Debug)]
pub struct Application {
    plan: EndPlan,
    pub(super) number: ChannelId,
    /// Which content it writes, and which it must find.
    writes: u64,
    reads: u64,
    /// How far the opening has come.
    pub opening: Opening,
    /// The receiving direction.
    pub reader: Direction,
    /// The sending direction.
    pub writer: Direction,
    /// Bytes read so far.
    pub read: u64,
    /// Bytes written so far.
    pub written: u64,
    /// When its end of the channel was open.
    pub opened_at: Timestamp,
    /// When each of the first few reads was made, and how far it came.
    pub reads_at: Vec<(Timestamp, u64)>,
    /// Fetched and not consumed.
    pieces: VecDeque<Bytes>,
    next_read: Timestamp,
    next_write: Timestamp,
    holds_reader: bool,
    holds_writer: bool,
}

/// Reads whose time is kept.
const READS_KEPT: usize = 10_000;

/// What an application may touch while it runs.
pub(super) struct Surroundings<'a> {
    pub(super) now: Timestamp,
    pub(super) session: &'a mut Session,
    pub(super) ledger: &'a mut Ledger,
    pub(super) random: &'a mut Random,
}

impl Application {
    /// `stream` is the channel's own number in the simulation; the two directions have contents of their own.
    pub(super) fn new(
        plan: EndPlan,
        number: ChannelId,
        stream: u64,
        opens: bool,
        echoed: bool,
        now: Timestamp,
    ) -> Self {
        let writes = 2 * stream + u64::from(!opens);
        Self {
            writes,
            reads: if echoed { writes } else { 2 * stream + u64::from(opens) },
            plan,
            number,
            opening: if opens { Opening::Waiting } else { Opening::Open },
            reader: Direction::Open,
            writer: Direction::Open,
            read: 0,
            written: 0,
            opened_at: now,
            reads_at: Vec::new(),
            pieces: VecDeque::new(),
            next_read: now,
            next_write: now,
            holds_reader: true,
            holds_writer: true,
        }
    }

    /// Whether it has nothing left to do.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.holds_reader && !self.holds_writer
    }

    /// Whether its plan never comes to an end.
    pub(super) fn stalls_for_ever(&self) -> bool {
        self.plan.read == Read::NEVER
    }

    /// Whether a reader waits for bytes at this moment.
    pub(super) fn wants_bytes(&self) -> bool {
        matches!(self.opening, Opening::Open) && self.holds_reader && self.reader == Direction::Open
    }

    /// Does what can be done now, and says when there is more to do even if nothing happens.
    pub(super) fn run(&mut self, it: &mut Surroundings<'_>) -> Option<Timestamp> {
        if matches!(self.opening, Opening::Waiting) && !self.poll_opening(it) {
            return None;
        }
        if self.is_done() {
            return None;
        }
        let read_again = self.poll_read(it);
        let write_again = self.poll_write(it);
        self.release_what_ended(it);
        [read_again, write_again].into_iter().flatten().min()
    }

    /// The opener's patience is over.
    pub(super) fn give_up(&mut self, it: &mut Surroundings<'_>) {
        if matches!(self.opening, Opening::Waiting) {
            self.opening = Opening::Cancelled;
            self.abandon(it);
        }
    }

    fn poll_opening(&mut self, it: &mut Surroundings<'_>) -> bool {
        match it.session.opening(self.number) {
            None => false,
            Some(Ok(())) => {
                self.opening = Opening::Open;
                self.opened_at = it.now;
                (self.next_read, self.next_write) = (it.now, it.now);
                true
            }
            Some(Err(error)) => {
                self.opening = Opening::Failed(error);
                self.abandon(it);
                false
            }
        }
    }

    fn abandon(&mut self, it: &mut Surroundings<'_>) {
        it.session.abandon(self.number);
        it.ledger.drop_reader(self.number);
        (self.holds_reader, self.holds_writer) = (false, false);
    }

    fn poll_read(&mut self, it: &mut Surroundings<'_>) -> Option<Timestamp> {
        while self.holds_reader && self.reader == Direction::Open {
            let most = match self.plan.read {
                Read::Stalled { until } if it.now < until => return (until < Timestamp::MAX).then_some(until),
                Read::Slow { .. } if it.now < self.next_read => return Some(self.next_read),
                Read::Slow { bytes, .. } => bytes,
                Read::Dropped { after } if self.read >= after => {
                    self.drop_reader(it);
                    return None;
                }
                Read::Dropped { after } => usize::try_from(after - self.read).expect("small"),
                Read::Prompt | Read::Stalled { .. } => usize::MAX,
            };
            if !self.poll_fill(it) || !self.take(most, it) {
                return None;
            }
            if let Read::Slow { every, .. } = self.plan.read {
                self.next_read = it.now + every;
            }
        }
        None
    }

    fn poll_fill(&mut self, it: &mut Surroundings<'_>) -> bool {
        if !self.pieces.is_empty() {
            return true;
        }
        match it.session.read(self.number, &mut self.pieces).expect("both sides are sound") {
            Readiness::Data => true,
            Readiness::Blocked => false,
            Readiness::Eof => {
                let cut_off = it.session.was_cut_off(self.number);
                self.reader = if cut_off { Direction::CutOff } else { Direction::Ended };
                false
            }
        }
    }

    /// Consumes up to `most` bytes; false if the echo of them has to wait.
    fn take(&mut self, most: usize, it: &mut Surroundings<'_>) -> bool {
        let front = self.pieces.front_mut().expect("something is there");
        let mut len = front.len().min(most);
        if matches!(self.plan.write, Write::Echo) {
            match it.session.room(self.number) {
                Ok(0) => return false,
                Ok(room) => len = len.min(room),
                Err(_) => {
                    self.writer = Direction::Stopped;
                    self.drop_reader(it);
                    return false;
                }
            }
        }
        let bytes = front.split_to(len);
        if front.is_empty() {
            self.pieces.pop_front();
        }
        assert!(is_content(self.reads, self.read, &bytes), "other bytes than were written, from {} on", self.read);
        if matches!(self.plan.write, Write::Echo) {
            it.session.write(self.number, bytes).expect("there is room");
            self.written += len as u64;
        }
        it.session.consume(self.number, len);
        it.ledger.consumed(self.number, len);
        self.read += len as u64;
        if self.reads_at.len() < READS_KEPT {
            self.reads_at.push((it.now, self.read));
        }
        true
    }

    fn poll_write(&mut self, it: &mut Surroundings<'_>) -> Option<Timestamp> {
        let Write::Content { len, chunk, every, after_peer, end } = self.plan.write else {
            if self.reader != Direction::Open && self.holds_writer && self.writer == Direction::Open {
                self.finish(End::Finish, it);
            }
            return None;
        };
        if after_peer && self.reader == Direction::Open {
            return None;
        }
        while self.holds_writer && self.writer == Direction::Open {
            if self.written == len {
                self.finish(end, it);
                return None;
            }
            if it.now < self.next_write {
                return Some(self.next_write);
            }
            let room = match it.session.room(self.number) {
                Ok(0) => return None,
                Ok(room) => room,
                Err(_) => {
                    self.writer = Direction::Stopped;
                    return None;
                }
            };
            let left = usize::try_from(len - self.written).unwrap_or(usize::MAX);
            self.write(room.min(chunk).min(left), it);
            if every > Duration::ZERO {
                self.next_write += every;
            }
        }
        None
    }

    fn write(&mut self, len: usize, it: &mut Surroundings<'_>) {
        let bytes = content(self.writes, self.written, len);
        self.written += bytes.len() as u64;
        let written = if it.random.chance(50) {
            it.session.write(self.number, bytes)
        } else {
            it.session.write_copy(self.number, &bytes)
        };
        written.expect("there is room");
    }

    fn finish(&mut self, end: End, it: &mut Surroundings<'_>) {
        match end {
            End::Finish => it.session.finish(self.number),
            End::Drop => self.drop_writer(it),
            End::Reset => {
                it.session.reset(self.number);
                it.ledger.end(self.number);
                self.writer = Direction::Abandoned;
                return;
            }
        }
        self.writer = Direction::Ended;
    }

    fn release_what_ended(&mut self, it: &mut Surroundings<'_>) {
        if self.reader != Direction::Open && self.writer != Direction::Open {
            if self.holds_writer && it.random.chance(50) {
                self.drop_writer(it);
            }
            if self.holds_reader {
                self.release_reader(it);
            }
            if self.holds_writer {
                self.drop_writer(it);
            }
        }
    }

    fn drop_reader(&mut self, it: &mut Surroundings<'_>) {
        self.reader = Direction::Abandoned;
        self.release_reader(it);
    }

    fn release_reader(&mut self, it: &mut Surroundings<'_>) {
        it.session.release_reader(self.number);
        it.ledger.drop_reader(self.number);
        self.pieces.clear();
        self.holds_reader = false;
    }

    fn drop_writer(&mut self, it: &mut Surroundings<'_>) {
        it.session.release_writer(self.number);
        self.holds_writer = false;
    }

    /// How many bytes its plan says it writes; nothing for an echo.
    pub(super) fn planned(&self) -> Option<u64> {
        match self.plan.write {
            Write::Content { len, .. } => Some(len),
            Write::Echo => None,
        }
    }

    /// Whether its plan resets the channel.
    pub(super) fn resets(&self) -> bool {
        matches!(self.plan.write, Write::Content { end: End::Reset, .. })
    }

    /// Whether its plan drops the reader.
    pub(super) fn drops(&self) -> bool {
        matches!(self.plan.read, Read::Dropped { .. })
    }
}
