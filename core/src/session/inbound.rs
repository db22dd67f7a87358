//! What each message of the peer does.

use bytes::Bytes;
use tracing::{debug, debug_span, trace};

use super::{Control, Event, Session};
use crate::channel::{Channel, Facts, Phase};
use crate::destination::Destination;
use crate::error::{ConnectionError, OpenError};
use crate::frame::{ChannelId, Frame, ReasonCode};
use crate::queue::COPY_BELOW;
use crate::transport::Timestamp;

/// Received pieces are slices of large read buffers, and keep them alive. Once a session holds so much that was not
/// read, they are copied instead: then memory is what was received and no more.
const SHARED_UNREAD: u64 = 2 * 1024 * 1024;

/// What a channel costs that had to be ended for overrunning its credit, in glitches.
const OVERRUN_COST: u32 = 100;

/// Bytes beyond the credit that cost as much as one glitch: what is forgiven is memory that no budget bounds.
const OVERRUN_PER_GLITCH: u64 = 4096;

/// Longest description of a failure that is kept, in bytes.
const MAX_DESCRIPTION: usize = 1024;

impl Session {
    /// Takes in one message. An error ends the session; the caller passes it to [`end`](Self::end).
    pub fn handle_frame(&mut self, now: Timestamp, frame: Frame) -> Result<(), ConnectionError> {
        trace!(parent: &self.span, ?frame, "received");
        self.stats.frames_received += u64::from(!matches!(frame, Frame::Data { rest: 1.., .. }));
        match frame {
            Frame::Open { sender, window, max_packet, destination } => {
                self.on_open(now, sender, window, max_packet, &destination)
            }
            Frame::OpenSuccess { recipient, sender, window, max_packet } => {
                self.on_success(now, recipient, sender, window, max_packet)
            }
            Frame::OpenFailure { recipient, reason, description } => {
                self.on_failure(now, recipient, reason, &description)
            }
            Frame::WindowAdjust { recipient, credit } => self.on_adjust(now, recipient, credit),
            Frame::Data { recipient, payload, rest } => self.on_data(now, recipient, payload, rest == 0),
            Frame::Eof { recipient } => self.on_eof(now, recipient),
            Frame::Close { recipient } => self.on_close(now, recipient),
        }
    }

    fn on_open(
        &mut self,
        now: Timestamp,
        remote: ChannelId,
        window: u32,
        max_packet: u16,
        destination: &[u8],
    ) -> Result<(), ConnectionError> {
        if self.by_remote.contains_key(&remote) {
            return Err(ConnectionError::Protocol("a channel number was opened twice"));
        }
        if self.refusals >= self.config.max_replies {
            return Err(ConnectionError::Protocol("answers are provoked and not read"));
        }
        let refusal = match Destination::from_wire(destination) {
            _ if !self.accepts => (ReasonCode::NotAllowed, "this side accepts no channels".to_owned()),
            Err(error) => (ReasonCode::AddressTypeNotSupported, error.to_string()),
            Ok(_) if self.closing => (ReasonCode::GeneralFailure, "the session is being ended".to_owned()),
            Ok(destination) => match self.request(remote, window, max_packet, destination) {
                Ok(()) => return Ok(()),
                Err(why) => (ReasonCode::GeneralFailure, why.to_owned()),
            },
        };
        self.queue_refusal(remote, refusal.0, Bytes::from(refusal.1));
        // A client that meets a limit now and then is harmless, one that goes on for ever is not.
        self.glitch(now, 1, "a refused open")
    }

    /// Hands an open of the peer to the application, or says why not.
    fn request(
        &mut self,
        remote: ChannelId,
        window: u32,
        max_packet: u16,
        destination: Destination,
    ) -> Result<(), &'static str> {
        if self.unanswered >= self.config.backlog {
            return Err("too many opens at a time");
        }
        let span = debug_span!(parent: &self.span, "channel", %destination);
        let id = self.insert(Phase::Requested, span).ok_or("too many channels are open")?;
        let ours = self.max_packet();
        if self.channel(id).connect(remote, window, max_packet, ours).is_err() {
            self.channel(id).remote = None;
            self.remove(id);
            return Err("the maximum packet size leaves no room for data");
        }
        self.by_remote.insert(remote, id);
        self.unanswered += 1;
        self.requests.push_back((id, destination));
        self.events.push_back(Event::Requested);
        Ok(())
    }

    fn on_success(
        &mut self,
        now: Timestamp,
        id: ChannelId,
        remote: ChannelId,
        window: u32,
        max_packet: u16,
    ) -> Result<(), ConnectionError> {
        let ours = self.max_packet();
        let Some(channel) = self.awaiting_answer(id) else {
            if !self.by_remote.contains_key(&remote) {
                self.control.push_back(Control::Close { remote });
                self.has_work = true;
            }
            return self.glitch(now, 1, "an answer to no open");
        };
        let abandoned = matches!(channel.phase, Phase::Abandoned);
        let usable = channel.connect(remote, window, max_packet, ours).is_ok();
        channel.phase = Phase::Open;
        debug!(parent: &channel.span, window, max_packet, "opened");
        if self.by_remote.insert(remote, id).is_some() {
            return Err(ConnectionError::Protocol("a channel number was opened twice"));
        }
        self.stats.channels_opened += 1;
        if abandoned {
            self.reset(id);
        } else if !usable {
            return self.fail(now, id, 1, "the maximum packet size leaves no room for data");
        }
        self.answered(id);
        Ok(())
    }

    fn on_failure(
        &mut self,
        now: Timestamp,
        id: ChannelId,
        reason: ReasonCode,
        description: &[u8],
    ) -> Result<(), ConnectionError> {
        let Some(channel) = self.awaiting_answer(id) else {
            return self.glitch(now, 1, "an answer to no open");
        };
        let text = description.strip_suffix(b"\0").unwrap_or(description);
        let description = String::from_utf8_lossy(&text[..text.len().min(MAX_DESCRIPTION)]).into_owned();
        debug!(parent: &channel.span, %reason, description, "refused by the peer");
        channel.phase = Phase::Refused(OpenError::Refused { reason, description });
        self.stats.opens_failed += 1;
        self.answered(id);
        Ok(())
    }

    fn on_adjust(&mut self, now: Timestamp, id: ChannelId, credit: u32) -> Result<(), ConnectionError> {
        self.stats.adjusts_received += 1;
        let Some(channel) = self.established(id) else {
            return self.glitch(now, 1, "an adjust for no channel");
        };
        if channel.facts.is_stopped() {
            return Ok(());
        }
        channel.stats.adjusts_received += 1;
        if channel.send.add(credit).is_err() {
            return self.fail(now, id, 1, "the peer granted more than a window holds");
        }
        self.touch(id);
        if credit == 0 { self.glitch(now, 1, "an adjust of nothing") } else { Ok(()) }
    }

    fn on_data(
        &mut self,
        now: Timestamp,
        id: ChannelId,
        payload: Bytes,
        ends_message: bool,
    ) -> Result<(), ConnectionError> {
        self.stats.bytes_received += payload.len() as u64;
        let share = payload.len() >= COPY_BELOW && self.stats.unread <= SHARED_UNREAD;
        let Some(channel) = self.channels.get_mut(id.0 as usize).and_then(Option::as_mut).filter(|it| it.is_open())
        else {
            return self.glitch(now, 1, "data for no channel");
        };
        if channel.facts.any(Facts::RESET.or(Facts::CLOSE_SENT).or(Facts::CLOSE_RECEIVED)) {
            // It was on its way when we closed.
            return Ok(());
        }
        if channel.facts.has(Facts::EOF_RECEIVED) {
            return self.fail(now, id, 1, "data after the end");
        }
        let Ok(overrun) = channel.recv.receive(now, payload.len(), ends_message, &mut self.budget) else {
            return self.fail(now, id, OVERRUN_COST, "more data than was granted");
        };
        channel.stats.bytes_received += payload.len() as u64;
        let empty = payload.is_empty();
        if channel.facts.has(Facts::READER_GONE) {
            channel.recv.consume(payload.len(), &mut self.budget);
        } else {
            self.stats.unread += payload.len() as u64;
            if share {
                channel.incoming.push(payload);
            } else {
                channel.incoming.push_copy(&payload);
            }
            if !empty {
                self.wake_reader(id);
            }
        }
        self.touch(id);
        if overrun == 0 && !empty {
            return Ok(());
        }
        let cost = 1 + overrun / OVERRUN_PER_GLITCH;
        self.glitch(now, u32::try_from(cost).unwrap_or(u32::MAX), "data beyond the credit, or none")
    }

    fn on_eof(&mut self, now: Timestamp, id: ChannelId) -> Result<(), ConnectionError> {
        let Some(channel) = self.established(id) else {
            return self.glitch(now, 1, "an end of no channel");
        };
        if channel.facts.is_ended() {
            return self.glitch(now, 1, "a second end");
        }
        channel.facts = channel.facts.or(Facts::EOF_RECEIVED);
        self.promise_no_more(id);
        self.wake_reader(id);
        self.touch(id);
        Ok(())
    }

    fn on_close(&mut self, now: Timestamp, id: ChannelId) -> Result<(), ConnectionError> {
        let Some(channel) = self.established(id) else {
            return self.glitch(now, 1, "a close of no channel");
        };
        if channel.facts.has(Facts::CLOSE_RECEIVED) {
            return self.glitch(now, 1, "a second close");
        }
        // A deployed peer that finishes second closes instead of ending its direction: then nothing is missing.
        let orderly = Facts::EOF_RECEIVED.or(Facts::EOF_SENT).or(Facts::CLOSE_SENT).or(Facts::RESET);
        channel.cut_off = !channel.facts.any(orderly);
        channel.facts = channel.facts.or(Facts::CLOSE_RECEIVED);
        channel.outgoing.clear();
        self.promise_no_more(id);
        self.wake_all(id);
        self.touch(id);
        Ok(())
    }

    /// Ends a channel over a rule that the peer broke. The session lives on, as far as its patience goes.
    fn fail(&mut self, now: Timestamp, id: ChannelId, cost: u32, rule: &'static str) -> Result<(), ConnectionError> {
        let channel = self.channel(id);
        debug!(parent: &channel.span, rule, "the peer broke the protocol");
        channel.fault.get_or_insert(rule);
        self.reset(id);
        self.glitch(now, cost, rule)
    }

    /// Counts something that a sound peer does not do and that does no harm.
    fn glitch(&mut self, now: Timestamp, cost: u32, what: &'static str) -> Result<(), ConnectionError> {
        trace!(parent: &self.span, what, "glitch");
        self.stats.glitches += 1;
        if self.glitches.take(now, cost) {
            return Ok(());
        }
        Err(ConnectionError::Protocol("too many harmless faults"))
    }

    /// The channel, if an OPEN of ours waits for its answer.
    fn awaiting_answer(&mut self, id: ChannelId) -> Option<&mut Channel> {
        let channel = self.channels.get_mut(id.0 as usize)?.as_mut()?;
        channel.awaits_answer().then_some(channel)
    }

    /// The channel, if it is open.
    fn established(&mut self, id: ChannelId) -> Option<&mut Channel> {
        let channel = self.channels.get_mut(id.0 as usize)?.as_mut()?;
        channel.is_open().then_some(channel)
    }
}
