//! One direction of a path: a pipe of bounded size, a line with a rate, and a delay.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use muxgate_core::Timestamp;

use super::random::Random;

/// What a direction of a path is like.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// From the last bit of a piece on the line to its arrival.
    pub delay: Duration,
    /// Bytes per second.
    pub rate: u64,
    /// Bytes that may wait for the line: the buffers of a socket.
    pub pipe: usize,
    /// The largest piece in which bytes travel.
    pub piece: usize,
    /// Whether the receiver finds them in smaller pieces, cut anywhere.
    pub cut: bool,
}

impl LinkPlan {
    /// A path with this rate in bits per second and this delay, and buffers as a socket has them.
    #[must_use]
    pub fn new(bits_per_second: u64, delay: Duration) -> Self {
        Self { delay, rate: bits_per_second / 8, pipe: 256 * 1024, piece: 16 * 1024, cut: false }
    }
}

/// A direction at work.
#[derive(Debug)]
pub(super) struct Link {
    plan: LinkPlan,
    /// What waits for the line or is on it: when it is gone, and its length.
    piped: VecDeque<(Timestamp, usize)>,
    piped_len: usize,
    line_free_at: Timestamp,
    /// What arrives when.
    travelling: VecDeque<(Timestamp, Bytes)>,
}

impl Link {
    pub(super) fn new(plan: LinkPlan) -> Self {
        Self { plan, piped: VecDeque::new(), piped_len: 0, line_free_at: Timestamp::ZERO, travelling: VecDeque::new() }
    }

    /// Takes the beginning of `bytes`, as far as there is room for whole pieces in the pipe, and says how much.
    pub(super) fn write(&mut self, now: Timestamp, bytes: &mut Bytes) -> usize {
        self.drain(now);
        let mut written = 0;
        while !bytes.is_empty() && self.piped_len + self.piece() <= self.plan.pipe {
            let piece = bytes.split_to(bytes.len().min(self.piece()));
            written += piece.len();
            self.send(now, piece);
        }
        written
    }

    /// When there will be room in a full pipe.
    pub(super) fn room_at(&self) -> Option<Timestamp> {
        let mut excess = (self.piped_len + self.piece()).saturating_sub(self.plan.pipe);
        let enough = self.piped.iter().find(|(_, len)| {
            excess = excess.saturating_sub(*len);
            excess == 0
        });
        enough.map(|(gone, _)| *gone)
    }

    /// The length of all pieces but those at the end of a write. Pieces cut to the room that happens to be there would become
    /// smaller and smaller.
    fn piece(&self) -> usize {
        self.plan.piece.min(self.plan.pipe)
    }

    /// The next piece that has arrived.
    pub(super) fn read(&mut self, now: Timestamp, random: &mut Random) -> Option<Bytes> {
        let (_, front) = self.travelling.front_mut().filter(|(arrival, _)| *arrival <= now)?;
        if self.plan.cut && front.len() > 1 && random.chance(50) {
            return Some(front.split_to(random.index(front.len() - 1) + 1));
        }
        self.travelling.pop_front().map(|(_, piece)| piece)
    }

    /// When the next piece arrives.
    pub(super) fn arrival(&self) -> Option<Timestamp> {
        self.travelling.front().map(|(arrival, _)| *arrival)
    }

    fn send(&mut self, now: Timestamp, piece: Bytes) {
        let nanos = piece.len() as u64 * 1_000_000_000 / self.plan.rate;
        self.line_free_at = self.line_free_at.max(now) + Duration::from_nanos(nanos);
        self.piped.push_back((self.line_free_at, piece.len()));
        self.piped_len += piece.len();
        self.travelling.push_back((self.line_free_at + self.plan.delay, piece));
    }

    fn drain(&mut self, now: Timestamp) {
        while let Some(&(_, len)) = self.piped.front().filter(|(gone, _)| *gone <= now) {
            self.piped_len -= len;
            self.piped.pop_front();
        }
    }
}
