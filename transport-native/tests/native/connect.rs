//! Several addresses, some of them dead.

use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use muxgate_transport_native::connect;
use socket2::{Domain, Socket, Type};
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(5);

/// An address on which nobody listens.
fn refusing() -> Result<SocketAddr> {
    std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()
}

/// A listener whose queue is full: connecting to it takes for ever.
struct Silent {
    socket: Socket,
    _queued: Vec<Socket>,
}

impl Silent {
    fn new() -> Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        socket.bind(&any.into())?;
        socket.listen(0)?;
        let addr = socket.local_addr()?;
        // The queue takes one connection more than it was asked to; what follows gets no answer.
        let mut queued = Vec::new();
        for _ in 0..4 {
            let client = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            client.set_nonblocking(true)?;
            let _ = client.connect(&addr);
            queued.push(client);
        }
        Ok(Self { socket, _queued: queued })
    }

    fn addr(&self) -> Result<SocketAddr> {
        Ok(self.socket.local_addr()?.as_socket().expect("it is an internet address"))
    }
}

#[tokio::test]
async fn a_refusal_makes_the_next_address_start_at_once() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let start = Instant::now();
    let stream = connect(&[refusing()?, listener.local_addr()?], LIMIT).await?;
    assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    assert!(start.elapsed() < Duration::from_millis(200));
    Ok(())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn silence_makes_the_next_address_start_a_little_later() -> Result<()> {
    let silent = Silent::new()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let start = Instant::now();
    let stream = connect(&[silent.addr()?, listener.local_addr()?], LIMIT).await?;
    assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    assert!(start.elapsed() >= Duration::from_millis(250));
    Ok(())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn silence_everywhere_ends_with_the_limit() -> Result<()> {
    let silent = Silent::new()?;
    let error = connect(&[silent.addr()?, refusing()?], Duration::from_millis(400)).await;
    assert_eq!(error.expect_err("nobody answers").kind(), ErrorKind::TimedOut);
    Ok(())
}

#[tokio::test]
async fn refusals_everywhere_are_the_error() -> Result<()> {
    let error = connect(&[refusing()?, refusing()?], LIMIT).await;
    assert_eq!(error.expect_err("all refuse").kind(), ErrorKind::ConnectionRefused);
    let error = connect(&[], LIMIT).await;
    assert_eq!(error.expect_err("there is no address").kind(), ErrorKind::NotFound);
    Ok(())
}
