//! Transports on real sockets.

mod clock;
mod connect;
mod dialer;
mod exchange;
mod streams;
mod support;
mod tls;
mod websocket;
