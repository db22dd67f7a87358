//! One channel: how it opens, what is known of its end, and the bytes on their way.
//!
//! A channel that is open ends piece by piece and in any order: each side ends its direction (EOF), each side
//! closes (CLOSE), the application lets go of its handles. There is no list of states for the product of all
//! that. Instead a channel collects [`Facts`], which only ever become true, and everything else is a question
//! about them:
//!
//! | question | answer |
//! |---|---|
//! | send EOF? | the writer finished, its bytes are sent, and no CLOSE has passed in either direction |
//! | send CLOSE? | once: as an answer to the peer's, after a reset, or when our EOF is sent and either the peer's has come or nobody reads |
//! | may the peer still send? | until its EOF or CLOSE has come |
//! | is the number free? | CLOSE was sent and received, and the handles are gone |

use crate::error::OpenError;
use crate::flow::{RecvWindow, SendWindow, Urgency};
use crate::frame::{ChannelId, DATA_HEADER_LEN};
use crate::queue::ByteQueue;
use crate::stats::ChannelStats;
use crate::transport::Timestamp;

/// How far a channel has come in opening.
#[derive(Debug)]
pub(crate) enum Phase {
    /// Our OPEN is queued, or sent and not answered.
    Opening,
    /// The peer did not answer in time; the opener has still to learn it.
    TimedOut,
    /// The opener gave up; the peer has still to answer.
    Abandoned,
    /// The open failed; the opener has still to learn why.
    Refused(OpenError),
    /// The peer's OPEN is not answered yet.
    Requested,
    /// Data flows.
    Open,
}

/// What is known of the end of a channel. A set of bits that only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts(u8);

impl Facts {
    pub(crate) const NONE: Self = Self(0);
    /// The application writes no more.
    pub(crate) const FINISHED: Self = Self(1);
    /// The channel ends at once, on our side: queued bytes are dropped.
    pub(crate) const RESET: Self = Self(1 << 1);
    pub(crate) const EOF_SENT: Self = Self(1 << 2);
    pub(crate) const EOF_RECEIVED: Self = Self(1 << 3);
    pub(crate) const CLOSE_SENT: Self = Self(1 << 4);
    pub(crate) const CLOSE_RECEIVED: Self = Self(1 << 5);
    /// The reading handle is gone.
    pub(crate) const READER_GONE: Self = Self(1 << 6);
    /// The writing handle is gone.
    pub(crate) const WRITER_GONE: Self = Self(1 << 7);

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `wanted` are known.
    pub(crate) const fn has(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Whether at least one of `wanted` is known.
    pub(crate) const fn any(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }

    fn wants_close(self) -> bool {
        let over = self.any(Self::CLOSE_RECEIVED.or(Self::RESET));
        let both_ended = self.has(Self::EOF_SENT) && self.any(Self::EOF_RECEIVED.or(Self::READER_GONE));
        !self.has(Self::CLOSE_SENT) && (over || both_ended)
    }

    fn wants_eof(self) -> bool {
        const PASSED: Facts = Facts::EOF_SENT.or(Facts::RESET).or(Facts::CLOSE_SENT).or(Facts::CLOSE_RECEIVED);
        self.has(Self::FINISHED) && !self.any(PASSED)
    }

    /// Nothing written from now on reaches the peer.
    pub(crate) fn is_stopped(self) -> bool {
        self.any(Self::CLOSE_RECEIVED.or(Self::CLOSE_SENT).or(Self::RESET))
    }

    /// Nothing more arrives.
    pub(crate) fn is_ended(self) -> bool {
        self.any(Self::EOF_RECEIVED.or(Self::CLOSE_RECEIVED))
    }
}

/// What a channel has to send when its turn comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// A DATA message with this many bytes.
    Data(usize),
    Eof,
    Close,
}

/// Everything about one channel, on our side.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "notes for different readers; none of them implies another")]
pub(crate) struct Channel {
    pub(crate) phase: Phase,
    pub(crate) facts: Facts,
    /// When the wait for the peer's answer ends; set when our OPEN is sent.
    pub(crate) answer_due: Option<Timestamp>,
    /// The peer's number, while it is known and taken.
    pub(crate) remote: Option<ChannelId>,
    pub(crate) send: SendWindow,
    pub(crate) recv: RecvWindow,
    /// Written by the application, not yet in a frame.
    pub(crate) outgoing: ByteQueue,
    /// Received, not yet fetched by the reader.
    pub(crate) incoming: ByteQueue,
    /// Most payload that one message to the peer may carry.
    pub(crate) max_payload: usize,
    /// The reader, the writer or the opener found nothing to do and wants an event.
    pub(crate) reader_waits: bool,
    pub(crate) writer_waits: bool,
    /// Stands in the session's list of adjusts of this urgency.
    pub(crate) listed_urgent: bool,
    pub(crate) listed_lazy: bool,
    /// The writer has bytes and no credit, as far as `stats.stalls` counted.
    pub(crate) stalled: bool,
    /// The rule that the peer broke.
    pub(crate) fault: Option<&'static str>,
    /// The peer closed without having ended its direction, while ours was not ended either.
    pub(crate) cut_off: bool,
    pub(crate) stats: ChannelStats,
    pub(crate) span: tracing::Span,
}

impl Channel {
    pub(crate) fn new(phase: Phase, recv: RecvWindow, span: tracing::Span) -> Self {
        Self {
            phase,
            facts: Facts::NONE,
            answer_due: None,
            remote: None,
            send: SendWindow::new(0),
            recv,
            outgoing: ByteQueue::default(),
            incoming: ByteQueue::default(),
            max_payload: 0,
            reader_waits: false,
            writer_waits: false,
            listed_urgent: false,
            listed_lazy: false,
            stalled: false,
            fault: None,
            cut_off: false,
            stats: ChannelStats::default(),
            span,
        }
    }

    /// Notes what the peer announced. `Err` if it takes no payload at all.
    ///
    /// Deployed peers count the header in the maximum, and apply to what they receive the maximum that *we*
    /// announced: the smaller of the two holds for everybody.
    pub(crate) fn connect(&mut self, remote: ChannelId, window: u32, max_packet: u16, ours: u16) -> Result<(), ()> {
        self.remote = Some(remote);
        self.send = SendWindow::new(window);
        self.max_payload = usize::from(max_packet.min(ours)).saturating_sub(DATA_HEADER_LEN);
        if self.max_payload == 0 { Err(()) } else { Ok(()) }
    }

    /// An OPEN of ours was sent and its answer has not come.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.answer_due.is_some() && matches!(self.phase, Phase::Opening | Phase::TimedOut | Phase::Abandoned)
    }

    /// CLOSE went both ways: the peer may use its number again.
    pub(crate) fn is_closed(&self) -> bool {
        self.facts.has(Facts::CLOSE_SENT.or(Facts::CLOSE_RECEIVED))
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// What to send next, if anything can be sent.
    pub(crate) fn next_outgoing(&self) -> Option<Outgoing> {
        if !self.is_open() {
            return None;
        }
        if self.facts.wants_close() {
            return Some(Outgoing::Close);
        }
        if !self.outgoing.is_empty() {
            let len = self.outgoing.len().min(self.max_payload).min(self.send.credit() as usize);
            return (len > 0).then_some(Outgoing::Data(len));
        }
        self.facts.wants_eof().then_some(Outgoing::Eof)
    }

    /// Has bytes to send and no credit for them.
    pub(crate) fn is_out_of_credit(&self) -> bool {
        self.is_open() && !self.outgoing.is_empty() && self.send.credit() == 0
    }

    /// How soon an adjust must go out, if one is due.
    pub(crate) fn adjust_due(&self) -> Option<Urgency> {
        let granting = self.is_open() && !self.facts.any(Facts::CLOSE_SENT.or(Facts::RESET));
        // What nobody reads is granted only while we wait for credit, too: a peer that does not read either would wait
        // for us as we for it, and the channel would never end.
        let pointless = self.facts.has(Facts::READER_GONE) && !self.is_out_of_credit();
        if granting && !pointless { self.recv.due() } else { None }
    }

    /// The handles are gone, and what they left behind is sent.
    pub(crate) fn is_drained(&self) -> bool {
        let released = self.facts.has(Facts::READER_GONE.or(Facts::WRITER_GONE));
        match self.phase {
            Phase::Opening | Phase::TimedOut | Phase::Requested => false,
            Phase::Abandoned => true,
            Phase::Refused(_) => released,
            Phase::Open => released && self.facts.has(Facts::CLOSE_SENT),
        }
    }

    /// Nothing will ever happen here again: the number is free.
    pub(crate) fn is_over(&self) -> bool {
        let released = self.facts.has(Facts::READER_GONE.or(Facts::WRITER_GONE));
        match self.phase {
            Phase::Refused(_) => released,
            Phase::Open => released && self.is_closed(),
            Phase::Opening | Phase::TimedOut | Phase::Abandoned | Phase::Requested => false,
        }
    }
}
