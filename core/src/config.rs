//! Every limit of a session, with its default and the reason for it.

use std::time::Duration;

/// When credit is granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CreditPolicy {
    /// In few adjusts: when the session is idle, at half a window at the latest.
    #[default]
    Batched,
    /// One adjust for each DATA message that was consumed, at once. Costs throughput and fairness; it exists to be
    /// compared with.
    PerMessage,
}

/// The settings of one side of a session.
///
/// ```
/// use muxgate_core::Config;
///
/// let config = Config { max_channels: 100, ..Config::default() };
/// ```
#[derive(Debug, Clone)]
pub struct Config {
    /// Memory that all receive windows together may promise, in bytes, on top of [`min_window`](Self::min_window)
    /// per channel.
    ///
    /// 64 MiB: room for five channels at the full rate of a 1 Gbit/s path of 100 ms.
    pub budget: u64,

    /// The smallest receive window, in bytes; every channel has it, whatever the budget.
    ///
    /// 16 KiB. Deployed peers never send again when their window is 4096 bytes or less.
    pub min_window: u32,

    /// The window that channels start with while there are few of them, in bytes.
    ///
    /// 256 KiB: enough for 2 Gbit/s over a path of 1 ms, and little enough to hold for a reader that stops.
    pub base_window: u32,

    /// The largest window that a channel grows to, in bytes.
    ///
    /// 16 MiB: 1.3 Gbit/s over a path of 100 ms.
    pub max_window: u32,

    /// Bytes that each channel takes from the application ahead of sending them, whatever window the peer announces.
    ///
    /// 256 KiB: a few frames, so that the transport finds work whenever it has room.
    pub send_buffer: usize,

    /// The largest DATA message in either direction, header included, in bytes.
    ///
    /// 65,528, of which 65,520 are payload: fewer and larger writes are what makes bulk data fast; at 100 Mbit/s one such
    /// message takes five milliseconds. Values below 9 are taken as 9.
    pub max_frame: u16,

    /// Channels that may exist at a time, opened by either side.
    pub max_channels: u32,

    /// Opens of the peer that wait for the application at a time; more are refused.
    pub backlog: usize,

    /// How long the peer may take to answer an open.
    ///
    /// 30 s: longer than a gateway's own limit for connecting. Deployed peers never answer some opens at all.
    pub open_timeout: Duration,

    /// How long the peer may take to end the transport after we ended our direction.
    pub close_timeout: Duration,

    /// When credit is granted.
    pub credit: CreditPolicy,

    /// Harmless faults of the peer (messages for channels that are gone, and the like) that are forgiven at once ...
    pub glitch_burst: u32,

    /// ... and how many are forgiven per second on top of that.
    pub glitch_rate: u32,

    /// Refusals that wait to be sent; beyond it the peer provokes answers without reading them, and the session
    /// ends.
    pub max_replies: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            budget: 64 * 1024 * 1024,
            min_window: 16 * 1024,
            base_window: 256 * 1024,
            max_window: 16 * 1024 * 1024,
            send_buffer: 256 * 1024,
            max_frame: 65_528,
            max_channels: 16_384,
            backlog: 1024,
            open_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(10),
            credit: CreditPolicy::Batched,
            glitch_burst: 10_000,
            glitch_rate: 330,
            max_replies: 16_384,
        }
    }
}
