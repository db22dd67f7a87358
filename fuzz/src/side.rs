//! A session without a driver of its own, and the ends of channels that an application holds there.

use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};
use muxgate_core::codec::{Batch, Decoder};
use muxgate_core::frame::ChannelId;
use muxgate_core::session::Session;
use muxgate_core::{Config, Timestamp};

/// What an application holds of a channel.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "facts about two handles; none of them implies another")]
pub(crate) struct End {
    /// The stream that it writes, and the one that it reads.
    pub(crate) own: u64,
    pub(crate) other: u64,
    /// The handles that it still has.
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// It was told that there is nothing for it, and that it will be woken.
    pub(crate) reader_waits: bool,
    pub(crate) writer_waits: bool,
    /// It has read the end.
    pub(crate) ended: bool,
    /// Fetched and not consumed.
    pub(crate) pieces: VecDeque<Bytes>,
}

impl End {
    pub(crate) fn new(own: u64, other: u64) -> Self {
        Self {
            own,
            other,
            reads: true,
            writes: true,
            reader_waits: false,
            writer_waits: false,
            ended: false,
            pieces: VecDeque::new(),
        }
    }
}

/// A side.
pub(crate) struct Side {
    pub(crate) session: Session,
    pub(crate) decoder: Decoder,
    /// What was sent and has not arrived.
    pub(crate) wire: BytesMut,
    pub(crate) ends: BTreeMap<ChannelId, End>,
    /// Opens on their way: the channel, and whether the opener was told that it will be woken.
    pub(crate) opening: BTreeMap<ChannelId, (u64, bool)>,
    /// There may be requests.
    pub(crate) requested: bool,
    /// There may be something to transmit.
    pub(crate) driver_woken: bool,
}

impl Side {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            session: Session::new(config.clone(), true, tracing::Span::none()),
            decoder: Decoder::default(),
            wire: BytesMut::new(),
            ends: BTreeMap::new(),
            opening: BTreeMap::new(),
            requested: false,
            driver_woken: false,
        }
    }

    /// One of the ends.
    pub(crate) fn pick(&self, lot: u8) -> Option<ChannelId> {
        let count = self.ends.len();
        self.ends.keys().nth(usize::from(lot).checked_rem(count)?).copied()
    }

    /// As the driver does in a turn; `idle` says that it found nothing to read.
    pub(crate) fn transmit(&mut self, now: Timestamp, idle: bool, limit: u16) {
        let mut batch = Batch::default();
        let filled = self.session.poll_transmit(now, idle, limit.into(), &mut batch);
        self.driver_woken = filled || !idle || limit == 0;
        self.session.take_work();
        while !batch.is_empty() {
            let mut slices = [IoSlice::new(&[]); 8];
            let count = batch.slices(&mut slices);
            slices[..count].iter().for_each(|slice| self.wire.extend_from_slice(slice));
            let written = slices[..count].iter().map(|slice| slice.len()).sum();
            batch.advance(written);
        }
    }

    /// Consumes up to `len` bytes of what was fetched on a channel.
    pub(crate) fn consume(&mut self, id: ChannelId, mut len: usize) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        let mut consumed = 0;
        while let Some(piece) = end.pieces.front_mut().filter(|_| len > 0) {
            let part = piece.len().min(len);
            piece.advance(part);
            len -= part;
            consumed += part;
            if piece.is_empty() {
                end.pieces.pop_front();
            }
        }
        if consumed > 0 {
            self.session.consume(id, consumed);
        }
    }

    pub(crate) fn drop_reader(&mut self, id: ChannelId) {
        self.session.release_reader(id);
        self.drop_handle(id, |end| {
            end.reads = false;
            end.pieces.clear();
        });
    }

    pub(crate) fn drop_writer(&mut self, id: ChannelId) {
        self.session.release_writer(id);
        self.drop_handle(id, |end| end.writes = false);
    }

    fn drop_handle(&mut self, id: ChannelId, change: impl FnOnce(&mut End)) {
        let Some(end) = self.ends.get_mut(&id) else { return };
        change(end);
        if !end.reads && !end.writes {
            self.ends.remove(&id);
        }
    }
}
