//! JMUX transports on tokio: TCP, TLS, WebSocket, Unix sockets, standard input and output.
//!
//! `Dialer` connects to an `Endpoint` and yields an `AnyTransport`. A server makes a `StreamTransport` or a
//! `WebSocketTransport` of what it accepted.

mod any;
mod clock;
mod connect;
mod dialer;
mod endpoint;
mod read_buffer;
mod stdio;
mod stream;
mod tcp;
pub mod tls;
mod token;
#[cfg(unix)]
mod unix;
pub mod websocket;

pub use any::AnyTransport;
pub use clock::TokioClock;
pub use connect::connect;
pub use dialer::Dialer;
pub use endpoint::{DEFAULT_PATH, Endpoint, EndpointError, HostPort};
pub use read_buffer::ReadBuffer;
pub use stdio::{StdioTransport, stdio};
pub use stream::StreamTransport;
pub use tcp::{TcpTransport, tune};
pub use tls::TlsTransport;
pub use token::Token;
#[cfg(unix)]
pub use unix::UnixTransport;
pub use websocket::WebSocketTransport;
