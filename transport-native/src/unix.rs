//! Unix domain sockets.

use tokio::net::UnixStream;

use crate::stream::StreamTransport;

/// JMUX on a Unix socket.
pub type UnixTransport = StreamTransport<UnixStream>;
