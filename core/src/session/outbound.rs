//! What goes to the peer, and in which order.

use bytes::Bytes;
use tracing::trace;

use super::{Control, Event, Session};
use crate::channel::{Channel, Facts, Outgoing, Phase};
use crate::codec::Batch;
use crate::flow::Urgency;
use crate::frame::{ChannelId, Frame};
use crate::transport::Timestamp;

impl Session {
    /// Appends frames to the batch until it holds `limit` bytes or nothing is left; says whether anything came.
    ///
    /// The order is: adjusts that are urgent, opens and answers, channels in turn, and in the room that is left
    /// the adjusts that are not urgent. An empty batch means that the session is at rest as far as sending goes. If
    /// `idle` says that nothing arrives either, those adjusts go out alone.
    pub fn poll_transmit(&mut self, now: Timestamp, idle: bool, limit: usize, batch: &mut Batch) -> bool {
        let before = batch.len();
        if self.ended.is_none() {
            self.transmit_urgent(now, limit, batch);
            self.transmit_control(now, limit, batch);
            self.transmit_channels(limit, batch);
            if idle || batch.len() > before {
                self.transmit_lazy(now, limit, batch);
            }
        }
        batch.len() > before
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    pub fn next_deadline(&mut self) -> Option<Timestamp> {
        while let Some(&(deadline, id)) = self.deadlines.front() {
            let waits = self.peek(id).is_some_and(|it| is_due_at(it, deadline));
            if waits {
                return Some(deadline);
            }
            self.deadlines.pop_front();
        }
        None
    }

    /// Gives up the opens that were not answered in time.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        while let Some(deadline) = self.next_deadline().filter(|deadline| *deadline <= now) {
            let Some((_, id)) = self.deadlines.pop_front() else { return };
            let channel = self.channel(id);
            debug_assert!(is_due_at(channel, deadline));
            if matches!(channel.phase, Phase::Abandoned) {
                self.retire(id);
                continue;
            }
            channel.phase = Phase::TimedOut;
            self.stats.opens_failed += 1;
            self.answered(id);
        }
    }

    fn transmit_urgent(&mut self, now: Timestamp, limit: usize, batch: &mut Batch) {
        while batch.len() < limit {
            let Some(id) = self.urgent.pop_front() else { return };
            let Some(channel) = self.channels[id.0 as usize].as_mut() else { continue };
            if !std::mem::take(&mut channel.listed_urgent) {
                continue;
            }
            match channel.adjust_due() {
                Some(urgency @ (Urgency::Urgent | Urgency::Must)) => self.transmit_adjust(now, id, urgency, batch),
                _ => self.touch(id),
            }
        }
    }

    fn transmit_lazy(&mut self, now: Timestamp, limit: usize, batch: &mut Batch) {
        while batch.len() < limit {
            let Some(id) = self.lazy.pop_front() else { return };
            let Some(channel) = self.channels[id.0 as usize].as_mut() else { continue };
            if std::mem::take(&mut channel.listed_lazy) && channel.adjust_due().is_some() {
                self.transmit_adjust(now, id, Urgency::Lazy, batch);
            }
        }
    }

    fn transmit_adjust(&mut self, now: Timestamp, id: ChannelId, urgency: Urgency, batch: &mut Batch) {
        let Some(channel) = self.channels[id.0 as usize].as_mut() else { return };
        let Some(recipient) = channel.remote else { return };
        let mut messages = 0;
        for credit in channel.recv.grant(now, &mut self.budget).adjusts() {
            batch.push(&Frame::WindowAdjust { recipient, credit });
            messages += 1;
        }
        channel.stats.adjusts_sent.count(urgency, messages);
        self.stats.adjusts_sent.count(urgency, messages);
        self.stats.frames_sent += messages;
        trace!(parent: &channel.span, ?urgency, messages, "granted");
    }

    fn transmit_control(&mut self, now: Timestamp, limit: usize, batch: &mut Batch) {
        while batch.len() < limit {
            let Some(control) = self.control.pop_front() else { return };
            let frame = match control {
                Control::Open { id, destination } => {
                    let destination = Bytes::from(destination.to_string());
                    match self.announce_open(now, id, destination) {
                        Some(frame) => frame,
                        None => continue,
                    }
                }
                Control::Accept { id } => match self.announce_accept(id) {
                    Some(frame) => frame,
                    None => continue,
                },
                Control::Refuse { remote, reason, description } => {
                    self.refusals -= 1;
                    Frame::OpenFailure { recipient: remote, reason, description }
                }
                Control::Close { remote } => Frame::Close { recipient: remote },
            };
            batch.push(&frame);
            self.stats.frames_sent += 1;
        }
    }

    /// The OPEN, unless the opener has given up meanwhile: then the peer never hears of the channel.
    fn announce_open(&mut self, now: Timestamp, id: ChannelId, destination: Bytes) -> Option<Frame> {
        let deadline = now + self.config.open_timeout;
        let max_packet = self.max_packet();
        let channel = self.channels[id.0 as usize].as_mut()?;
        if !matches!(channel.phase, Phase::Opening) {
            self.remove(id);
            return None;
        }
        channel.answer_due = Some(deadline);
        let window = channel.recv.window();
        self.deadlines.push_back((deadline, id));
        Some(Frame::Open { sender: id, window, max_packet, destination })
    }

    fn announce_accept(&mut self, id: ChannelId) -> Option<Frame> {
        let max_packet = self.max_packet();
        let channel = self.channels[id.0 as usize].as_ref()?;
        Some(Frame::OpenSuccess { recipient: channel.remote?, sender: id, window: channel.recv.window(), max_packet })
    }

    fn transmit_channels(&mut self, limit: usize, batch: &mut Batch) {
        // The answer to an open comes before the channel's data.
        while batch.len() < limit && self.control.is_empty() {
            let Some(number) = self.scheduler.next() else { return };
            let before = batch.len();
            self.transmit_channel(ChannelId(number), batch);
            self.scheduler.charge(number, batch.len() - before);
        }
    }

    /// One message of the channel whose turn it is.
    fn transmit_channel(&mut self, id: ChannelId, batch: &mut Batch) {
        let limit = self.config.send_buffer.max(1);
        let Some(channel) = self.channels[id.0 as usize].as_mut() else { return self.scheduler.deactivate(id.0) };
        let (Some(outgoing), Some(recipient)) = (channel.next_outgoing(), channel.remote) else {
            return self.scheduler.deactivate(id.0);
        };
        self.stats.frames_sent += 1;
        match outgoing {
            Outgoing::Data(len) => {
                push_data(channel, recipient, len, batch);
                self.stats.bytes_sent += len as u64;
                if channel.writer_waits && channel.outgoing.len() <= limit / 2 {
                    channel.writer_waits = false;
                    self.events.push_back(Event::Writable(id));
                }
            }
            Outgoing::Eof => {
                batch.push(&Frame::Eof { recipient });
                channel.facts = channel.facts.or(Facts::EOF_SENT);
            }
            Outgoing::Close => {
                batch.push(&Frame::Close { recipient });
                channel.facts = channel.facts.or(Facts::CLOSE_SENT);
            }
        }
        self.touch(id);
    }
}

fn push_data(channel: &mut Channel, recipient: ChannelId, len: usize, batch: &mut Batch) {
    batch.push_data_header(recipient, len);
    let mut missing = len;
    while let Some(piece) = channel.outgoing.pop(missing) {
        missing -= piece.len();
        batch.push_payload(piece);
        if missing == 0 {
            break;
        }
    }
    debug_assert_eq!(missing, 0, "the queue holds what it says");
    channel.send.spend(len);
    channel.stats.bytes_sent += len as u64;
}

fn is_due_at(channel: &Channel, deadline: Timestamp) -> bool {
    channel.answer_due == Some(deadline) && matches!(channel.phase, Phase::Opening | Phase::Abandoned)
}
