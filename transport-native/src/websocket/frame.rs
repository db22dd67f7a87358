//! The WebSocket frame header and the mask (RFC 6455, section 5).

/// The longest header: two bytes, an eight-byte length, a four-byte mask.
pub(super) const MAX_HEADER: usize = 14;

/// Values of the short length that announce a length of two or of eight bytes behind it (section 5.2).
const LONG: u8 = 0x7E;
const VERY_LONG: u8 = 0x7F;
const MASKED: u8 = 0x80;
const LAST: u8 = 0x80;
const RESERVED: u8 = 0x70;

/// The longest payload of a control frame (section 5.5).
pub(super) const MAX_CONTROL: usize = 125;

/// The kinds of frame (section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xA => Self::Pong,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0x0,
            Self::Text => 0x1,
            Self::Binary => 0x2,
            Self::Close => 0x8,
            Self::Ping => 0x9,
            Self::Pong => 0xA,
        }
    }

    pub(super) fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// What the other side did wrong, with the close code that says so (section 7.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) code: u16,
    pub(super) text: &'static str,
}

impl Violation {
    pub(super) fn protocol(text: &'static str) -> Self {
        Self { code: 1002, text }
    }
}

/// The header of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) last: bool,
    pub(super) opcode: Opcode,
    pub(super) mask: Option<[u8; 4]>,
    pub(super) len: u64,
}

impl Header {
    /// The size of the header that begins with these two bytes.
    pub(super) fn size(second: u8) -> usize {
        let length = match second & !MASKED {
            LONG => 2,
            VERY_LONG => 8,
            _ => 0,
        };
        2 + length + if second & MASKED == 0 { 0 } else { 4 }
    }

    /// Reads a header from exactly the bytes that `size` asked for.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Violation> {
        let &[first, second, ref rest @ ..] = bytes else {
            return Err(Violation::protocol("short frame header"));
        };
        if first & RESERVED != 0 {
            return Err(Violation::protocol("reserved bit set, though no extension was agreed"));
        }
        let opcode = Opcode::from_bits(first & 0x0F).ok_or(Violation::protocol("unknown opcode"))?;
        let (rest, mask) = match rest.split_last_chunk() {
            Some((rest, mask)) if second & MASKED != 0 => (rest, Some(*mask)),
            _ => (rest, None),
        };
        // What is left is the extended length, if there is one.
        let len = match rest {
            [] => u64::from(second & !MASKED),
            length => length.iter().fold(0, |len, &byte| len << 8 | u64::from(byte)),
        };
        let header = Self { last: first & LAST != 0, opcode, mask, len };
        if opcode.is_control() && (len > MAX_CONTROL as u64 || !header.last) {
            return Err(Violation::protocol("long or fragmented control frame"));
        }
        if len > i64::MAX as u64 {
            return Err(Violation::protocol("frame length out of range"));
        }
        Ok(header)
    }

    /// Appends the header to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let masked = if self.mask.is_some() { MASKED } else { 0 };
        out.push(if self.last { LAST } else { 0 } | self.opcode.bits());
        if let Ok(len @ 0..LONG) = u8::try_from(self.len) {
            out.push(masked | len);
        } else if let Ok(len) = u16::try_from(self.len) {
            out.push(masked | LONG);
            out.extend_from_slice(&len.to_be_bytes());
        } else {
            out.push(masked | VERY_LONG);
            out.extend_from_slice(&self.len.to_be_bytes());
        }
        if let Some(mask) = self.mask {
            out.extend_from_slice(&mask);
        }
    }
}

/// Masks or unmasks `data` in place (section 5.3), word by word.
pub(super) fn apply_mask(mask: [u8; 4], data: &mut [u8]) {
    let (words, rest) = data.as_chunks_mut();
    for word in words {
        *word = mask_word(mask, *word);
    }
    rest.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
}

/// Appends `data`, masked, to `out`: one pass instead of a copy and a mask doubles the speed.
pub(super) fn extend_masked(mask: [u8; 4], data: &[u8], out: &mut Vec<u8>) {
    let (words, rest) = data.as_chunks();
    out.extend(words.iter().flat_map(|word| mask_word(mask, *word)));
    out.extend(rest.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
}

/// A word of this size is what the compiler widens to vectors best.
fn mask_word([a, b, c, d]: [u8; 4], word: [u8; 8]) -> [u8; 8] {
    (u64::from_ne_bytes(word) ^ u64::from_ne_bytes([a, b, c, d, a, b, c, d])).to_ne_bytes()
}

/// The mask for what comes `n` bytes later.
pub(super) fn advance_mask(mut mask: [u8; 4], n: usize) -> [u8; 4] {
    mask.rotate_left(n % 4);
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written() {
        for len in [0, 1, 125, 126, 127, 65_535, 65_536, i64::MAX as u64] {
            for mask in [None, Some([1, 2, 3, 4])] {
                let header = Header { last: len > 0, opcode: Opcode::Binary, mask, len };
                let mut bytes = Vec::new();
                header.write(&mut bytes);
                assert_eq!(bytes.len(), Header::size(bytes[1]));
                assert_eq!(Header::parse(&bytes), Ok(header));
            }
        }
    }

    #[test]
    fn the_example_of_the_rfc() {
        // Section 5.7: a masked "Hello".
        let mut bytes = [0x7f, 0x9f, 0x4d, 0x51, 0x58];
        apply_mask([0x37, 0xfa, 0x21, 0x3d], &mut bytes);
        assert_eq!(&bytes, b"Hello");
    }

    #[test]
    fn a_mask_goes_on_wherever_the_payload_is_cut() {
        let mask = [1, 2, 4, 8];
        let data: Vec<u8> = (0..100).collect();
        let mut whole = data.clone();
        apply_mask(mask, &mut whole);
        for cut in 0..data.len() {
            let mut parts = Vec::new();
            extend_masked(mask, &data[..cut], &mut parts);
            extend_masked(advance_mask(mask, cut), &data[cut..], &mut parts);
            assert_eq!(parts, whole);
        }
    }
}
