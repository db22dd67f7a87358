//! Bytes that are made anew at each end, and what proves that they arrived.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::{Bytes, BytesMut};
use ring::digest::{Context, SHA256};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of one piece.
const PIECE: usize = 256 * 1024;

/// Bytes before they repeat: prime, so that a byte in a wrong place shows.
const PERIOD: usize = 4_194_319;

static PERIODIC: LazyLock<Bytes> = LazyLock::new(|| {
    let mut bytes = BytesMut::with_capacity(PERIOD + size_of::<u64>());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while bytes.len() < PERIOD {
        // Xorshift: cheap, and no two pieces of it look alike.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_be_bytes());
    }
    bytes.freeze().slice(..PERIOD)
});

/// A stream of bytes that both ends know, in pieces of one shared buffer.
#[derive(Debug, Clone)]
pub struct Pattern {
    offset: usize,
    left: usize,
}

impl Pattern {
    /// The first `length` bytes.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self { offset: 0, left: length }
    }

    /// The digest of all bytes that are left.
    #[must_use]
    pub fn digest(self) -> Digest {
        let mut digest = Sha256::default();
        self.for_each(|piece| digest.update(&piece));
        digest.finish()
    }

    /// All bytes that are left.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.clone().collect::<Vec<_>>().concat()
    }

    /// How many bytes are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }
}

impl Iterator for Pattern {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let length = PIECE.min(self.left).min(PERIOD - self.offset);
        let piece = PERIODIC.slice(self.offset..self.offset + length);
        self.offset = (self.offset + length) % PERIOD;
        self.left -= length;
        (length > 0).then_some(piece)
    }
}

/// How many bytes there were, and their SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Bytes.
    pub length: usize,
    /// In hexadecimal digits.
    pub sha256: String,
}

/// A digest in the making.
#[derive(Clone)]
pub struct Sha256 {
    length: usize,
    context: Context,
}

impl Default for Sha256 {
    fn default() -> Self {
        Self { length: 0, context: Context::new(&SHA256) }
    }
}

impl Sha256 {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        self.context.update(bytes);
    }

    /// The digest of all of them.
    #[must_use]
    pub fn finish(self) -> Digest {
        let mut sha256 = String::new();
        for byte in self.context.finish().as_ref() {
            write!(sha256, "{byte:02x}").expect("a string takes everything");
        }
        Digest { length: self.length, sha256 }
    }
}

/// Reads `stream` to its end.
pub async fn digest_of(mut stream: impl AsyncRead + Unpin) -> std::io::Result<Digest> {
    let mut digest = Sha256::default();
    let mut piece = vec![0; PIECE];
    loop {
        match stream.read(&mut piece).await? {
            0 => return Ok(digest.finish()),
            n => digest.update(&piece[..n]),
        }
    }
}
