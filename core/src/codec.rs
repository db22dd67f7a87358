//! Bytes to frames by slicing, frames to a batch of slices.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes, BytesMut};

use crate::frame::{self, ChannelId, DATA_HEADER_LEN, Frame, FrameError};

/// Cuts frames out of a byte stream that arrives in pieces of any size.
///
/// Payload is never collected: each piece of it is passed on as a slice of the buffer in which it arrived, so
/// that a large message costs no copy where it straddles two reads. Other messages wait until they are
/// complete; the decoder holds at most one of them, 64 KiB.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The beginning of a message of which something is missing.
    partial: BytesMut,
    /// The DATA message whose payload is arriving, and how much of it is missing.
    payload: Option<(ChannelId, u16)>,
}

impl Decoder {
    /// The next frame in `input`, from which it is taken; `None` when the input is used up.
    pub fn decode(&mut self, input: &mut Bytes) -> Result<Option<Frame>, FrameError> {
        if let Some((recipient, missing)) = self.payload {
            return Ok(self.take_payload(recipient, missing, input));
        }
        let Some(whole) = self.take_whole(input)? else { return Ok(None) };
        match frame::parse(whole) {
            Frame::Data { recipient, rest, .. } if rest > 0 => Ok(self.take_payload(recipient, rest, input)),
            complete => Ok(Some(complete)),
        }
    }

    /// Whether the stream may end here.
    #[must_use]
    pub fn is_between_frames(&self) -> bool {
        self.partial.is_empty() && self.payload.is_none()
    }

    fn take_payload(&mut self, recipient: ChannelId, missing: u16, input: &mut Bytes) -> Option<Frame> {
        self.payload = Some((recipient, missing));
        if input.is_empty() {
            return None;
        }
        let payload = input.split_to(input.len().min(missing.into()));
        #[expect(clippy::cast_possible_truncation, reason = "at most `missing`, which is a u16")]
        let rest = missing - payload.len() as u16;
        self.payload = (rest > 0).then_some((recipient, rest));
        Some(Frame::Data { recipient, payload, rest })
    }

    /// A complete message, or the header of a DATA message.
    fn take_whole(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, FrameError> {
        if self.partial.is_empty() {
            let needed = frame::needed(input)?;
            if input.len() >= needed {
                return Ok(Some(input.split_to(needed)));
            }
        }
        loop {
            let needed = frame::needed(&self.partial)?;
            if self.partial.len() >= needed {
                return Ok(Some(self.partial.split().freeze()));
            }
            if input.is_empty() {
                return Ok(None);
            }
            let piece = input.split_to(input.len().min(needed - self.partial.len()));
            self.partial.extend_from_slice(&piece);
        }
    }
}

/// Payloads up to this size are copied beside their header: an entry of a vectored write costs more.
const INLINE_PAYLOAD: usize = 512;

/// Frames on their way out: the next bytes for the transport, as slices.
///
/// Headers and small payloads share one buffer that is used again and again; larger payloads are the buffers that
/// the application handed over.
#[derive(Debug, Default)]
pub struct Batch {
    parts: VecDeque<Bytes>,
    /// Bytes that come behind the last part.
    open: BytesMut,
    /// Bytes in `parts` and `open`.
    len: usize,
}

impl Batch {
    /// Bytes still to be written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether everything is written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a message other than DATA.
    pub(crate) fn push(&mut self, frame: &Frame) {
        let before = self.open.len();
        frame.encode(&mut self.open);
        self.len += self.open.len() - before;
    }

    /// Begins a DATA message; exactly `len` bytes of payload must follow.
    pub(crate) fn push_data_header(&mut self, recipient: ChannelId, len: usize) {
        self.open.extend_from_slice(&frame::data_header(recipient, len));
        self.len += DATA_HEADER_LEN;
    }

    /// A part of the payload that was announced.
    pub(crate) fn push_payload(&mut self, payload: Bytes) {
        self.len += payload.len();
        if payload.len() <= INLINE_PAYLOAD {
            self.open.extend_from_slice(&payload);
        } else {
            self.seal();
            self.parts.push_back(payload);
        }
    }

    /// Fills `out` with the first slices and says how many there are.
    pub fn slices<'a>(&'a mut self, out: &mut [IoSlice<'a>]) -> usize {
        self.seal();
        let mut count = 0;
        for (slot, part) in out.iter_mut().zip(&self.parts) {
            *slot = IoSlice::new(part);
            count += 1;
        }
        count
    }

    /// Forgets the first `written` bytes.
    ///
    /// # Panics
    ///
    /// If there are fewer: the caller checks what its transport claims.
    pub fn advance(&mut self, mut written: usize) {
        assert!(written <= self.len, "{written} bytes written of {}", self.len);
        self.len -= written;
        self.seal();
        while written > 0 {
            let first = &mut self.parts[0];
            if first.len() > written {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.parts.pop_front();
        }
    }

    fn seal(&mut self) {
        if !self.open.is_empty() {
            self.parts.push_back(self.open.split().freeze());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::frame::ReasonCode;

    fn any_frame() -> impl Strategy<Value = Frame> {
        let id = any::<u32>().prop_map(ChannelId);
        let bytes = proptest::collection::vec(any::<u8>(), 0..2000).prop_map(Bytes::from);
        prop_oneof![
            (id.clone(), any::<u32>(), any::<u16>(), bytes.clone()).prop_map(
                |(sender, window, max_packet, destination)| Frame::Open { sender, window, max_packet, destination }
            ),
            (id.clone(), id.clone(), any::<u32>(), any::<u16>()).prop_map(|(recipient, sender, window, max_packet)| {
                Frame::OpenSuccess { recipient, sender, window, max_packet }
            }),
            (id.clone(), any::<u32>().prop_map(ReasonCode::from), bytes.clone())
                .prop_map(|(recipient, reason, description)| Frame::OpenFailure { recipient, reason, description }),
            (id.clone(), any::<u32>()).prop_map(|(recipient, credit)| Frame::WindowAdjust { recipient, credit }),
            (id.clone(), bytes).prop_map(|(recipient, payload)| Frame::Data { recipient, payload, rest: 0 }),
            id.clone().prop_map(|recipient| Frame::Eof { recipient }),
            id.prop_map(|recipient| Frame::Close { recipient }),
        ]
    }

    /// Decodes everything and joins the pieces of each payload again.
    fn decode_all(pieces: impl IntoIterator<Item = Bytes>) -> Result<Vec<Frame>, FrameError> {
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        let mut joined = BytesMut::new();
        for mut piece in pieces {
            while let Some(frame) = decoder.decode(&mut piece)? {
                match frame {
                    Frame::Data { recipient, payload, rest } => {
                        joined.extend_from_slice(&payload);
                        if rest == 0 {
                            frames.push(Frame::Data { recipient, payload: joined.split().freeze(), rest });
                        }
                    }
                    other => frames.push(other),
                }
            }
            assert!(piece.is_empty(), "the decoder uses its input up");
        }
        assert!(decoder.is_between_frames());
        Ok(frames)
    }

    proptest! {
        #[test]
        fn frames_survive_any_chunking(
            frames in proptest::collection::vec(any_frame(), 0..12),
            cuts in proptest::collection::vec(1_usize..900, 1..40),
        ) {
            let mut encoded = BytesMut::new();
            for frame in &frames {
                frame.encode(&mut encoded);
            }
            let mut rest = encoded.freeze();
            let mut cuts = cuts.into_iter().cycle();
            let pieces = std::iter::from_fn(move || {
                let cut = cuts.next()?.min(rest.len());
                (cut > 0).then(|| rest.split_to(cut))
            });
            prop_assert_eq!(decode_all(pieces), Ok(frames));
        }

        #[test]
        fn arbitrary_bytes_end_in_an_error_or_in_frames(bytes in proptest::collection::vec(any::<u8>(), 0..5000)) {
            let mut decoder = Decoder::default();
            let mut input = Bytes::from(bytes);
            while let Ok(Some(_)) = decoder.decode(&mut input) {}
        }

        #[test]
        fn a_batch_gives_back_what_was_pushed(
            payloads in proptest::collection::vec(0_usize..3000, 1..20),
            steps in proptest::collection::vec(1_usize..4000, 1..20),
        ) {
            let mut batch = Batch::default();
            let mut expected = BytesMut::new();
            for (index, &len) in payloads.iter().enumerate() {
                let payload = Bytes::from(vec![index.to_le_bytes()[0]; len]);
                batch.push_data_header(ChannelId(7), len);
                batch.push_payload(payload.clone());
                batch.push(&Frame::Eof { recipient: ChannelId(7) });
                Frame::Data { recipient: ChannelId(7), payload, rest: 0 }.encode(&mut expected);
                Frame::Eof { recipient: ChannelId(7) }.encode(&mut expected);
            }
            prop_assert_eq!(batch.len(), expected.len());
            let mut written = Vec::new();
            let mut steps = steps.into_iter().cycle();
            while !batch.is_empty() {
                let mut slices = [IoSlice::new(&[]); 3];
                let count = batch.slices(&mut slices);
                let offered: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
                let step = steps.next().unwrap_or(1).min(offered.len());
                written.extend_from_slice(&offered[..step]);
                batch.advance(step);
            }
            prop_assert_eq!(written, expected.to_vec());
        }
    }

    #[test]
    fn payload_is_a_slice_of_the_input() {
        let mut encoded = BytesMut::new();
        let payload = Bytes::from(vec![1; 5000]);
        Frame::Data { recipient: ChannelId(1), payload, rest: 0 }.encode(&mut encoded);
        let mut input = encoded.freeze();
        let range = input.as_ptr_range();
        let decoded = Decoder::default().decode(&mut input);
        assert!(matches!(decoded, Ok(Some(Frame::Data { payload, rest: 0, .. })) if range.contains(&payload.as_ptr())));
    }

    #[test]
    fn an_empty_data_message_is_a_frame() {
        let mut input = Bytes::copy_from_slice(&frame::data_header(ChannelId(3), 0));
        let empty = Frame::Data { recipient: ChannelId(3), payload: Bytes::new(), rest: 0 };
        assert_eq!(Decoder::default().decode(&mut input), Ok(Some(empty)));
    }
}
