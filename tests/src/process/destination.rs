//! Destinations, well-behaved and not.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use super::exchange::{Pattern, digest_of};

/// A listener and what happens to each connection. Dropping it ends both.
#[derive(Debug)]
pub struct Destination {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl Destination {
    /// Answers each connection with `answer`. How that ends is seen at the other end.
    pub async fn start<A>(answer: impl Fn(TcpStream) -> A + Send + 'static) -> Self
    where
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let (stream, _) = accepted.expect("accepting should work");
                        connections.spawn(answer(stream));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Self { address, accepting }
    }

    /// Returns what comes, and ends when the client does.
    pub async fn echo() -> Self {
        Self::start(|mut stream| async move {
            let (mut reader, mut writer) = stream.split();
            copy(&mut reader, &mut writer).await?;
            writer.shutdown().await
        })
        .await
    }

    /// Sends the first `length` bytes of [`Pattern`], and ends.
    pub async fn pattern(length: usize) -> Self {
        Self::start(move |mut stream| async move {
            for piece in Pattern::new(length) {
                stream.write_all(&piece).await?;
            }
            stream.shutdown().await
        })
        .await
    }

    /// Sends the SHA-256 of what it received, once the client has ended its direction.
    pub async fn answer_after_end() -> Self {
        Self::start(|mut stream| async move {
            let received = digest_of(&mut stream).await?;
            stream.write_all(received.sha256.as_bytes()).await?;
            stream.shutdown().await
        })
        .await
    }

    /// Resets each connection as soon as it is there.
    pub async fn reset() -> Self {
        Self::start(|stream| async move { stream.set_zero_linger() }).await
    }

    /// Accepts, and neither reads nor writes.
    pub async fn silent() -> Self {
        Self::start(|stream| async move {
            let _open = stream;
            pending().await
        })
        .await
    }

    /// Sends an HTTP answer without an end, until `reset` is notified.
    pub async fn reset_in_the_middle(reset: Arc<Notify>) -> Self {
        Self::start(move |mut stream| {
            let reset = reset.clone();
            async move {
                tokio::select! {
                    error = send_for_ever(&mut stream) => error,
                    () = reset.notified() => stream.set_zero_linger(),
                }
            }
        })
        .await
    }

    /// The same, for as long as the client takes it.
    pub async fn source() -> Self {
        Self::start(|mut stream| async move { send_for_ever(&mut stream).await }).await
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn send_for_ever(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n").await?;
    let piece = vec![0; 64 * 1024];
    loop {
        stream.write_all(&piece).await?;
    }
}
