//! Frames do not depend on how their bytes were cut.

use arbitrary::Unstructured;
use bytes::{Bytes, BytesMut};
use muxgate_core::codec::Decoder;
use muxgate_core::frame::{Frame, FrameError};

/// The largest message.
const MAX_MESSAGE: usize = 65_535;

/// The bytes, decoded in one piece and in pieces of the sizes that they say, give the same frames, the same error and the
/// same rest; and the frames, encoded again, decode to themselves.
pub(crate) fn run(input: &[u8]) {
    let mut choices = Unstructured::new(input);
    let Ok(cuts) = choices.arbitrary::<[u8; 4]>() else { return };
    let stream = choices.take_rest();
    let mut cuts = cuts.into_iter().cycle();
    let whole = decode(std::iter::once(stream));
    let mut rest = stream;
    let pieces = std::iter::from_fn(|| {
        let cut = usize::from(cuts.next()?).clamp(1, rest.len().max(1));
        let (piece, behind) = rest.split_at_checked(cut)?;
        rest = behind;
        Some(piece)
    });
    assert_eq!(decode(pieces), whole);
    encoded_again_they_are_the_same(&whole.frames);
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Decoded {
    frames: Vec<Frame>,
    /// The beginning of a payload of which something is missing.
    unfinished: Vec<u8>,
    between_frames: bool,
    error: Option<FrameError>,
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = Decoder::default();
    let mut result = Decoded::default();
    for piece in pieces {
        let mut piece = Bytes::copy_from_slice(piece);
        loop {
            match decoder.decode(&mut piece) {
                Ok(Some(frame)) => result.take(frame),
                Ok(None) => break,
                Err(error) => {
                    // What came of the message before the error is not a matter of frames.
                    result.error = Some(error);
                    return result;
                }
            }
        }
        assert!(piece.is_empty(), "the decoder uses its input up");
    }
    result.between_frames = decoder.is_between_frames();
    result
}

impl Decoded {
    fn take(&mut self, frame: Frame) {
        match frame {
            Frame::Data { recipient, payload, rest } => {
                self.unfinished.extend_from_slice(&payload);
                assert!(self.unfinished.len() + usize::from(rest) < MAX_MESSAGE);
                if rest == 0 {
                    let payload = std::mem::take(&mut self.unfinished).into();
                    self.frames.push(Frame::Data { recipient, payload, rest });
                }
            }
            other => self.frames.push(other),
        }
    }
}

fn encoded_again_they_are_the_same(frames: &[Frame]) {
    let mut encoded = BytesMut::new();
    for frame in frames {
        frame.encode(&mut encoded);
    }
    assert_eq!(decode(std::iter::once(&encoded[..])).frames, frames);
}
