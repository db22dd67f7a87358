//! From WebSocket frames to pieces of the byte stream, without I/O.

use bytes::{Buf, Bytes, BytesMut};

use super::Role;
use super::frame::{Header, MAX_CONTROL, MAX_HEADER, Opcode, Violation, advance_mask, apply_mask};

/// What the other side sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A piece of the stream, never empty.
    Data(Bytes),
    Ping(Vec<u8>),
    Close(Option<CloseReason>),
}

/// Why the other side ended the connection (RFC 6455, section 5.5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CloseReason {
    pub(super) code: u16,
    pub(super) text: String,
}

/// Takes frames apart as they arrive.
///
/// A piece is handed on as soon as it is there, whether its message is complete or not: JMUX is a byte stream. So
/// nothing is held back however long a message is, but a header or a control frame that straddles two reads.
#[derive(Debug)]
pub(super) struct Reader {
    role: Role,
    header: [u8; MAX_HEADER],
    header_len: usize,
    frame: Option<Header>,
    /// Inside a message whose last frame has not begun.
    fragmented: bool,
    control: Vec<u8>,
}

impl Reader {
    pub(super) fn new(role: Role) -> Self {
        Self { role, header: [0; MAX_HEADER], header_len: 0, frame: None, fragmented: false, control: Vec::new() }
    }

    /// The next event in `input`; `None` once more input is needed, with `input` used up.
    pub(super) fn next(&mut self, input: &mut BytesMut) -> Result<Option<Event>, Violation> {
        while !input.is_empty() || self.frame.is_some_and(|frame| frame.len == 0) {
            let Some(frame) = &mut self.frame else {
                self.read_header(input)?;
                continue;
            };
            let payload = take_payload(frame, input);
            let (opcode, done) = (frame.opcode, frame.len == 0);
            if done {
                self.frame = None;
            }
            if !opcode.is_control() {
                if !payload.is_empty() {
                    return Ok(Some(Event::Data(payload.freeze())));
                }
                continue;
            }
            self.control.extend_from_slice(&payload);
            if done && let Some(event) = self.control_event(opcode)? {
                return Ok(Some(event));
            }
        }
        // An empty handle would still pin the buffer that it came from.
        *input = BytesMut::new();
        Ok(None)
    }

    /// Takes bytes of the header; `self.frame` is set once it is complete.
    fn read_header(&mut self, input: &mut BytesMut) -> Result<(), Violation> {
        let size = if self.header_len < 2 { 2 } else { Header::size(self.header[1]) };
        let n = (size - self.header_len).min(input.len());
        self.header[self.header_len..][..n].copy_from_slice(&input[..n]);
        input.advance(n);
        self.header_len += n;
        if self.header_len >= 2 && self.header_len == Header::size(self.header[1]) {
            let frame = Header::parse(&self.header[..self.header_len])?;
            self.header_len = 0;
            self.check(&frame)?;
            self.frame = Some(frame);
        }
        Ok(())
    }

    /// The rules that depend on the role and on the frames before.
    fn check(&mut self, frame: &Header) -> Result<(), Violation> {
        match (self.role, frame.mask) {
            (Role::Server, None) => return Err(Violation::protocol("frame of a client without mask")),
            (Role::Client, Some(_)) => return Err(Violation::protocol("frame of a server with a mask")),
            _ => {}
        }
        match (frame.opcode, self.fragmented) {
            (Opcode::Text, _) => {
                return Err(Violation { code: 1003, text: "text message, but JMUX is binary" });
            }
            (Opcode::Continuation, false) => return Err(Violation::protocol("continuation of nothing")),
            (Opcode::Binary, true) => return Err(Violation::protocol("new message inside a message")),
            (Opcode::Continuation | Opcode::Binary, _) => self.fragmented = !frame.last,
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => {}
        }
        Ok(())
    }

    fn control_event(&mut self, opcode: Opcode) -> Result<Option<Event>, Violation> {
        let payload = std::mem::take(&mut self.control);
        debug_assert!(payload.len() <= MAX_CONTROL, "the header was checked");
        Ok(match opcode {
            Opcode::Ping => Some(Event::Ping(payload)),
            Opcode::Close => Some(Event::Close(close_reason(&payload)?)),
            _ => None,
        })
    }
}

/// Takes what `input` has of the payload, unmasked, and counts it off the frame.
fn take_payload(frame: &mut Header, input: &mut BytesMut) -> BytesMut {
    let n = usize::try_from(frame.len).map_or(input.len(), |len| len.min(input.len()));
    // All of it: move the handle instead of sharing it, which would leave an empty one behind.
    let mut payload = if n == input.len() { std::mem::take(input) } else { input.split_to(n) };
    if let Some(mask) = &mut frame.mask {
        apply_mask(*mask, &mut payload);
        *mask = advance_mask(*mask, n);
    }
    frame.len -= n as u64;
    payload
}

fn close_reason(payload: &[u8]) -> Result<Option<CloseReason>, Violation> {
    match payload.split_first_chunk() {
        Some((code, text)) => {
            let (code, text) = (u16::from_be_bytes(*code), String::from_utf8_lossy(text).into_owned());
            match code {
                1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(Some(CloseReason { code, text })),
                _ => Err(Violation::protocol("close code that must not be sent")),
            }
        }
        None if payload.is_empty() => Ok(None),
        None => Err(Violation::protocol("close code of one byte")),
    }
}
