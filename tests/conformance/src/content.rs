//! Bytes that show what is lost, doubled or out of order.

use muxgate_core::ChannelReader;

/// A prime, so that no power of two hides a shift.
const PERIOD: u8 = 251;

/// The first `len` bytes of a sequence of its own for each `seed`.
pub(crate) fn content(seed: usize, len: usize) -> Vec<u8> {
    // Copied, not counted: unoptimised wasm would take seconds.
    let period: Vec<u8> = (0..PERIOD).collect();
    let begin = seed % period.len();
    let mut bytes = period.repeat(len / period.len() + 2);
    bytes.drain(..begin);
    bytes.truncate(len);
    bytes
}

/// Everything up to a clean end. `read_to_end` would clear its buffer again and again: seconds in unoptimised wasm.
pub(crate) async fn read_all(reader: &mut ChannelReader) -> Vec<u8> {
    let mut received = Vec::new();
    while let Some(chunk) = reader.read_chunk().await.expect("a clean end") {
        received.extend_from_slice(&chunk);
    }
    received
}
