//! The messages of JMUX and their bytes.
//!
//! All integers are big endian. A message begins with `type u8, size u16, flags u8`, where the size counts the
//! whole message. Flags are zero on sending and ignored on receipt. Bytes behind the fields of a fixed message
//! are ignored, as deployed peers ignore them. Each side numbers its own end of a channel, and a message names
//! the *recipient's* number.

use std::fmt;

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Type, size and flags.
pub const HEADER_LEN: usize = 4;

/// What precedes the payload of a DATA message: the header and the recipient's number.
pub const DATA_HEADER_LEN: usize = 8;

/// The largest message that the 16-bit size can express.
pub const MAX_FRAME_LEN: usize = u16::MAX as usize;

const OPEN: u8 = 100;
const OPEN_SUCCESS: u8 = 101;
const OPEN_FAILURE: u8 = 102;
const WINDOW_ADJUST: u8 = 103;
const DATA: u8 = 104;
const EOF: u8 = 105;
const CLOSE: u8 = 106;

/// The number that one side gave to its end of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(pub u32);

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Asks the other side to connect a new channel to a destination.
    Open {
        /// The opener's number of the channel.
        sender: ChannelId,
        /// Bytes of payload that the opener is ready to receive before it grants more.
        window: u32,
        /// The largest DATA message that the opener takes, header included.
        max_packet: u16,
        /// `scheme://host:port`, as it came: not necessarily UTF-8.
        destination: Bytes,
    },
    /// The destination is connected.
    OpenSuccess {
        /// The opener's number of the channel.
        recipient: ChannelId,
        /// The acceptor's number of the channel.
        sender: ChannelId,
        /// Bytes of payload that the acceptor is ready to receive before it grants more.
        window: u32,
        /// The largest DATA message that the acceptor takes, header included.
        max_packet: u16,
    },
    /// The destination could not be connected; the number is free again.
    OpenFailure {
        /// The opener's number of the channel.
        recipient: ChannelId,
        /// Why.
        reason: ReasonCode,
        /// The same for people, in UTF-8; may be empty.
        description: Bytes,
    },
    /// Grants more credit.
    WindowAdjust {
        /// The receiver's number of the channel.
        recipient: ChannelId,
        /// Bytes of payload that may be sent on top of what was granted before.
        credit: u32,
    },
    /// Payload, or a piece of it: the decoder passes on what has arrived and does not wait for the rest.
    Data {
        /// The receiver's number of the channel.
        recipient: ChannelId,
        /// The bytes.
        payload: Bytes,
        /// Bytes of the same message that are still to come.
        rest: u16,
    },
    /// No more data will be sent in this direction.
    Eof {
        /// The receiver's number of the channel.
        recipient: ChannelId,
    },
    /// The channel is over; answered by CLOSE.
    Close {
        /// The receiver's number of the channel.
        recipient: ChannelId,
    },
}

/// Why an open failed: the reply codes of SOCKS5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasonCode {
    /// 1: nothing more precise is known.
    GeneralFailure,
    /// 2: a rule of the other side forbids it.
    NotAllowed,
    /// 3: no route to the network.
    NetworkUnreachable,
    /// 4: no such host, or no route to it.
    HostUnreachable,
    /// 5: the host answered that nobody listens.
    ConnectionRefused,
    /// 6: no answer in time.
    TtlExpired,
    /// 8: the destination cannot be understood.
    AddressTypeNotSupported,
    /// A code that has no name here.
    Other(u32),
}

impl From<u32> for ReasonCode {
    fn from(code: u32) -> Self {
        match code {
            1 => Self::GeneralFailure,
            2 => Self::NotAllowed,
            3 => Self::NetworkUnreachable,
            4 => Self::HostUnreachable,
            5 => Self::ConnectionRefused,
            6 => Self::TtlExpired,
            8 => Self::AddressTypeNotSupported,
            other => Self::Other(other),
        }
    }
}

impl From<ReasonCode> for u32 {
    fn from(reason: ReasonCode) -> Self {
        match reason {
            ReasonCode::GeneralFailure => 1,
            ReasonCode::NotAllowed => 2,
            ReasonCode::NetworkUnreachable => 3,
            ReasonCode::HostUnreachable => 4,
            ReasonCode::ConnectionRefused => 5,
            ReasonCode::TtlExpired => 6,
            ReasonCode::AddressTypeNotSupported => 8,
            ReasonCode::Other(code) => code,
        }
    }
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GeneralFailure => "general failure",
            Self::NotAllowed => "not allowed by the other side's rules",
            Self::NetworkUnreachable => "network unreachable",
            Self::HostUnreachable => "host unreachable",
            Self::ConnectionRefused => "connection refused",
            Self::TtlExpired => "timed out",
            Self::AddressTypeNotSupported => "destination not understood",
            Self::Other(code) => return write!(f, "reason code {code}"),
        })
    }
}

/// Bytes that are no JMUX. The byte stream cannot be understood from here on, so the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The type is none of 100 to 106.
    #[error("unknown message type {0}")]
    UnknownType(u8),
    /// The size is below what the message needs for its fields.
    #[error("message of type {kind} with a size of {size}")]
    TooShort {
        /// The type.
        kind: u8,
        /// The size that the header gave.
        size: u16,
    },
}

/// The first bytes of a DATA message with a payload of `len` bytes.
///
/// # Panics
///
/// In debug builds, if the payload does not fit into a message.
#[must_use]
pub fn data_header(recipient: ChannelId, len: usize) -> [u8; DATA_HEADER_LEN] {
    debug_assert!(len <= MAX_FRAME_LEN - DATA_HEADER_LEN, "payload of {len} bytes");
    #[expect(clippy::cast_possible_truncation, reason = "checked above; payloads are cut to the peer's maximum")]
    let [size_high, size_low] = ((len + DATA_HEADER_LEN) as u16).to_be_bytes();
    let [a, b, c, d] = recipient.0.to_be_bytes();
    [DATA, size_high, size_low, 0, a, b, c, d]
}

/// How many bytes must be there, given that `bytes` are, before anything can be made of them.
///
/// A DATA message can be used from its header on, every other one when it is complete.
pub(crate) fn needed(bytes: &[u8]) -> Result<usize, FrameError> {
    let [kind, size_high, size_low, _flags, ..] = *bytes else { return Ok(HEADER_LEN) };
    let size = u16::from_be_bytes([size_high, size_low]);
    let fields = match kind {
        OPEN => 14,
        OPEN_SUCCESS => 18,
        OPEN_FAILURE | WINDOW_ADJUST => 12,
        DATA | EOF | CLOSE => 8,
        unknown => return Err(FrameError::UnknownType(unknown)),
    };
    if size < fields {
        return Err(FrameError::TooShort { kind, size });
    }
    Ok(usize::from(if kind == DATA { fields } else { size }))
}

/// Takes apart what [`needed`] asked for. Of a DATA message that is the header alone: its payload is empty and
/// `rest` says how much follows.
pub(crate) fn parse(mut bytes: Bytes) -> Frame {
    let kind = bytes.get_u8();
    let size = bytes.get_u16();
    bytes.advance(1);
    let id = ChannelId(bytes.get_u32());
    match kind {
        OPEN => Frame::Open { sender: id, window: bytes.get_u32(), max_packet: bytes.get_u16(), destination: bytes },
        OPEN_SUCCESS => Frame::OpenSuccess {
            recipient: id,
            sender: ChannelId(bytes.get_u32()),
            window: bytes.get_u32(),
            max_packet: bytes.get_u16(),
        },
        OPEN_FAILURE => Frame::OpenFailure { recipient: id, reason: bytes.get_u32().into(), description: bytes },
        WINDOW_ADJUST => Frame::WindowAdjust { recipient: id, credit: bytes.get_u32() },
        DATA => Frame::Data { recipient: id, payload: Bytes::new(), rest: size - 8 },
        EOF => Frame::Eof { recipient: id },
        _ => Frame::Close { recipient: id },
    }
}

impl Frame {
    /// Appends the message. Texts that do not fit are cut.
    pub fn encode(&self, out: &mut BytesMut) {
        let start = out.len();
        match self {
            Self::Open { sender, window, max_packet, destination } => {
                begin(out, OPEN, *sender);
                out.put_u32(*window);
                out.put_u16(*max_packet);
                put_text(out, destination, start);
            }
            Self::OpenSuccess { recipient, sender, window, max_packet } => {
                begin(out, OPEN_SUCCESS, *recipient);
                out.put_u32(sender.0);
                out.put_u32(*window);
                out.put_u16(*max_packet);
            }
            Self::OpenFailure { recipient, reason, description } => {
                begin(out, OPEN_FAILURE, *recipient);
                out.put_u32((*reason).into());
                put_text(out, description, start);
            }
            Self::WindowAdjust { recipient, credit } => {
                begin(out, WINDOW_ADJUST, *recipient);
                out.put_u32(*credit);
            }
            Self::Data { recipient, payload, .. } => {
                begin(out, DATA, *recipient);
                put_text(out, payload, start);
            }
            Self::Eof { recipient } => begin(out, EOF, *recipient),
            Self::Close { recipient } => begin(out, CLOSE, *recipient),
        }
        #[expect(clippy::cast_possible_truncation, reason = "put_text keeps the message below 65,536 bytes")]
        let size = (out.len() - start) as u16;
        out[start + 1..start + 3].copy_from_slice(&size.to_be_bytes());
    }
}

/// The header with a size of zero, to be filled in, and the first channel number.
fn begin(out: &mut BytesMut, kind: u8, id: ChannelId) {
    out.put_slice(&[kind, 0, 0, 0]);
    out.put_u32(id.0);
}

fn put_text(out: &mut BytesMut, text: &[u8], start: usize) {
    let room = MAX_FRAME_LEN - (out.len() - start);
    out.put_slice(&text[..text.len().min(room)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needed_asks_for_the_header_first() {
        for len in 0..HEADER_LEN {
            assert_eq!(needed(&vec![OPEN; len]), Ok(HEADER_LEN));
        }
    }

    #[test]
    fn needed_rejects_unknown_types() {
        for kind in [0, 99, 107, 255] {
            assert_eq!(needed(&[kind, 0, 8, 0]), Err(FrameError::UnknownType(kind)));
        }
    }

    #[test]
    fn needed_rejects_sizes_below_the_fields() {
        for (kind, fields) in [(OPEN, 14), (OPEN_SUCCESS, 18), (OPEN_FAILURE, 12), (WINDOW_ADJUST, 12)] {
            for size in 0..fields {
                assert_eq!(needed(&[kind, 0, size, 0]), Err(FrameError::TooShort { kind, size: size.into() }));
            }
            assert_eq!(needed(&[kind, 0, fields, 0]), Ok(usize::from(fields)));
        }
        for kind in [DATA, EOF, CLOSE] {
            assert_eq!(needed(&[kind, 0, 7, 0]), Err(FrameError::TooShort { kind, size: 7 }));
        }
    }

    #[test]
    fn data_header_is_what_encode_writes() {
        let mut encoded = BytesMut::new();
        let payload = Bytes::from_static(b"hello");
        Frame::Data { recipient: ChannelId(0x0102_0304), payload, rest: 0 }.encode(&mut encoded);
        assert_eq!(encoded[..DATA_HEADER_LEN], data_header(ChannelId(0x0102_0304), 5));
    }

    #[test]
    fn oversized_texts_are_cut_to_one_message() {
        let mut encoded = BytesMut::new();
        let description = Bytes::from(vec![b'x'; 100_000]);
        Frame::OpenFailure { recipient: ChannelId(1), reason: ReasonCode::GeneralFailure, description }
            .encode(&mut encoded);
        assert_eq!(encoded.len(), MAX_FRAME_LEN);
        assert_eq!(needed(&encoded), Ok(MAX_FRAME_LEN));
    }
}
