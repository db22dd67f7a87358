//! JMUX transports on tokio.
