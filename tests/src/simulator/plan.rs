//! What the applications at the ends of the channels do.

use std::time::Duration;

use muxgate_core::{ReasonCode, Timestamp};

/// The life of one channel.
#[derive(Debug, Clone)]
pub struct ChannelPlan {
    /// The side that opens it, 0 or 1.
    pub opener: usize,
    /// When it does.
    pub opens_at: Timestamp,
    /// How long it waits for the answer before it gives up.
    pub patience: Option<Duration>,
    /// What the other side says.
    pub answer: Answer,
    /// How long it takes for that.
    pub answers_after: Duration,
    /// What happens at the opener's end, and at the other one.
    pub ends: [EndPlan; 2],
}

impl ChannelPlan {
    /// Side 0 opens at once and is accepted at once.
    #[must_use]
    pub fn new(opener: EndPlan, acceptor: EndPlan) -> Self {
        Self {
            opener: 0,
            opens_at: Timestamp::ZERO,
            patience: None,
            answer: Answer::Accept,
            answers_after: Duration::ZERO,
            ends: [opener, acceptor],
        }
    }

    /// The opener sends so many bytes as fast as it can, and the other end reads them at once.
    #[must_use]
    pub fn bulk(len: u64) -> Self {
        Self::new(EndPlan::new(Write::bytes(len), Read::Prompt), EndPlan::new(Write::bytes(0), Read::Prompt))
    }
}

/// The answer to an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The channel is connected.
    Accept,
    /// It is not.
    Refuse(ReasonCode),
}

/// What an application does with its end of a channel.
#[derive(Debug, Clone)]
pub struct EndPlan {
    /// With the sending direction.
    pub write: Write,
    /// With the receiving direction.
    pub read: Read,
}

impl EndPlan {
    /// Both.
    #[must_use]
    pub fn new(write: Write, read: Read) -> Self {
        Self { write, read }
    }
}

/// What is written to a channel.
#[derive(Debug, Clone)]
pub enum Write {
    /// Bytes of the application's own.
    Content {
        /// How many.
        len: u64,
        /// Most bytes of one write.
        chunk: usize,
        /// Time between two writes; zero: as fast as there is room.
        every: Duration,
        /// Whether it waits until the peer has ended its direction.
        after_peer: bool,
        /// What follows the last of them.
        end: End,
    },
    /// What was read, which is consumed only when it is written. It ends when the peer does.
    Echo,
}

impl Write {
    /// As fast as possible, then the end.
    #[must_use]
    pub fn bytes(len: u64) -> Self {
        Self::Content { len, chunk: 64 * 1024, every: Duration::ZERO, after_peer: false, end: End::Finish }
    }

    /// One byte now and then.
    #[must_use]
    pub fn keystrokes(count: u64, every: Duration) -> Self {
        Self::Content { len: count, chunk: 1, every, after_peer: false, end: End::Finish }
    }
}

/// How an application ends its direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It says so, and keeps the handle.
    Finish,
    /// It drops the handle.
    Drop,
    /// It resets the channel.
    Reset,
}

/// How a channel is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// Everything, at once.
    Prompt,
    /// So many bytes every so often.
    Slow {
        /// Bytes at a time.
        bytes: usize,
        /// Time between two reads.
        every: Duration,
    },
    /// Not at all for a while, then promptly.
    Stalled {
        /// The end of the while.
        until: Timestamp,
    },
    /// The reader is dropped after so many bytes.
    Dropped {
        /// Bytes read before.
        after: u64,
    },
}

impl Read {
    /// Never.
    pub const NEVER: Self = Self::Stalled { until: Timestamp::MAX };
}
