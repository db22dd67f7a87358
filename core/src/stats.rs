//! Numbers about a session and its channels: whatever is shown to people comes from here.

use crate::flow::Urgency;

/// WindowAdjust messages by how pressing they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AdjustCounts {
    /// Sent because the session was idle, or in the spare room of a batch.
    pub lazy: u64,
    /// Sent ahead of data because the peer had half a window left.
    pub urgent: u64,
    /// Sent because the peer had no credit left.
    pub must: u64,
}

impl AdjustCounts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.lazy + self.urgent + self.must
    }

    pub(crate) fn count(&mut self, urgency: Urgency, messages: u64) {
        *match urgency {
            Urgency::Lazy => &mut self.lazy,
            Urgency::Urgent => &mut self.urgent,
            Urgency::Must => &mut self.must,
        } += messages;
    }
}

/// A session since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Payload sent, in bytes.
    pub bytes_sent: u64,
    /// Payload received, in bytes.
    pub bytes_received: u64,
    /// Messages sent.
    pub frames_sent: u64,
    /// Messages received.
    pub frames_received: u64,
    /// WindowAdjust messages sent.
    pub adjusts_sent: AdjustCounts,
    /// WindowAdjust messages received.
    pub adjusts_received: u64,
    /// Channels that hold a number now, in whatever phase.
    pub channels: u32,
    /// Channels opened so far by either side, successfully.
    pub channels_opened: u64,
    /// Opens that failed, on either side.
    pub opens_failed: u64,
    /// Memory promised to the peer over all channels, in bytes.
    pub promised: u64,
    /// Bytes received that applications have not taken.
    pub unread: u64,
    /// How often a channel had bytes to send and no credit.
    pub stalls: u64,
    /// Harmless faults of the peer.
    pub glitches: u64,
}

/// A channel since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Payload sent, in bytes.
    pub bytes_sent: u64,
    /// Payload received, in bytes.
    pub bytes_received: u64,
    /// WindowAdjust messages sent.
    pub adjusts_sent: AdjustCounts,
    /// WindowAdjust messages received.
    pub adjusts_received: u64,
    /// How often there were bytes to send and no credit.
    pub stalls: u64,
    /// The receive window now, in bytes.
    pub window: u32,
    /// Bytes that the peer may send now.
    pub receive_credit: u64,
    /// Bytes that we may send now.
    pub send_credit: u32,
    /// Bytes received that the application has not taken.
    pub unread: u64,
    /// Bytes that the application wrote and that are not sent.
    pub unsent: usize,
}
