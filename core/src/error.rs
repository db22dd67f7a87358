//! One error type per operation.

use std::io;
use std::sync::Arc;

use crate::frame::{FrameError, ReasonCode};

/// Why a session ended. Cheap to clone: every handle learns it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectionError {
    /// The transport failed.
    #[error("the transport failed: {0}")]
    Transport(Arc<io::Error>),
    /// The transport ended inside a message.
    #[error("the transport ended in the middle of a message")]
    UnexpectedEof,
    /// The peer sent bytes that are no JMUX.
    #[error("the peer does not speak JMUX: {0}")]
    Frame(#[from] FrameError),
    /// The peer broke a rule without which a session cannot go on.
    #[error("the peer broke the protocol: {0}")]
    Protocol(&'static str),
    /// The peer ended the transport in good order.
    #[error("the session was ended by the peer")]
    PeerClosed,
    /// This side ended the session, or its connection was dropped.
    #[error("the session was ended on this side")]
    Closed,
}

/// Why no channel was opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// The peer said no.
    #[error("refused: {reason}{}{description}", if .description.is_empty() { "" } else { ": " })]
    Refused {
        /// Why.
        reason: ReasonCode,
        /// The peer's words: text of a stranger, to be escaped before it reaches a terminal.
        description: String,
    },
    /// The peer did not answer within [`Config::open_timeout`](crate::Config::open_timeout).
    #[error("the peer did not answer in time")]
    TimedOut,
    /// [`Config::max_channels`](crate::Config::max_channels) channels exist already.
    #[error("too many channels are open")]
    TooManyChannels,
    /// The session is over, or is being ended.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Why nothing more can be read from a channel.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// The peer broke a rule; only this channel ended.
    #[error("the peer broke the protocol on this channel: {0}")]
    Protocol(&'static str),
    /// The session ended before the peer ended this channel. What had arrived was readable first.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Why nothing more can be written to a channel.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError {
    /// The peer closed the channel: nobody reads any more.
    #[error("the channel was closed by the peer")]
    Stopped,
    /// This side ended its direction before.
    #[error("the channel was finished on this side")]
    Finished,
    /// The session is over.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match error {
            ReadError::Protocol(_) => io::ErrorKind::InvalidData,
            ReadError::Connection(_) => io::ErrorKind::ConnectionAborted,
        };
        Self::new(kind, error)
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        let kind = match error {
            WriteError::Stopped | WriteError::Finished => io::ErrorKind::BrokenPipe,
            WriteError::Connection(_) => io::ErrorKind::ConnectionAborted,
        };
        Self::new(kind, error)
    }
}
