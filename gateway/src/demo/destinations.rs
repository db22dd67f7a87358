//! What the demo's tunnel leads to: four services on free ports of loopback.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncWriteExt, BufReader, copy_buf, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

use super::http;
use super::pattern::PATTERN;
use crate::listen::{Listener, Socket};

/// Bytes that are moved at a time. More would keep everything else on this thread waiting.
const BUFFER: usize = 64 * 1024;

/// Where the services are. They run as long as the runtime does.
#[derive(Debug)]
pub(super) struct Destinations {
    /// Sends back what it gets.
    echo: SocketAddr,
    /// Has a page and large files.
    http: SocketAddr,
    /// Sends without end.
    source: SocketAddr,
    /// Takes everything.
    sink: SocketAddr,
}

impl Destinations {
    /// Starts the services, on the runtime of this thread.
    pub(super) async fn start() -> io::Result<Self> {
        Ok(Self {
            echo: start(serve_echo).await?,
            http: start(http::serve).await?,
            source: start(serve_source).await?,
            sink: start(serve_sink).await?,
        })
    }

    pub(super) fn addresses(&self) -> [SocketAddr; 4] {
        [self.echo, self.http, self.source, self.sink]
    }

    /// As the page reads it. Addresses have nothing to escape.
    pub(super) fn to_json(&self) -> String {
        let Self { echo, http, source, sink } = self;
        format!(r#"{{ "echo": "{echo}", "http": "http://{http}/", "source": "{source}", "sink": "{sink}" }}"#)
    }
}

impl fmt::Display for Destinations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { echo, http, source, sink } = self;
        write!(f, "echo {echo}, http://{http}/, source {source}, sink {sink}")
    }
}

async fn start<F>(serve: fn(TcpStream) -> F) -> io::Result<SocketAddr>
where
    F: Future<Output = io::Result<()>> + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let listener = Listener::Tcp(listener);
    spawn_local(async move {
        while let Socket::Tcp(stream) = listener.accept().await {
            spawn_local(async move {
                // A client that goes away is no failure of a destination.
                if let Err(error) = serve(stream).await {
                    tracing::debug!("destination {address}: {error}");
                }
            });
        }
    });
    Ok(address)
}

async fn serve_echo(stream: TcpStream) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    copy_buf(&mut BufReader::with_capacity(BUFFER, reader), &mut writer).await?;
    writer.shutdown().await
}

async fn serve_source(mut stream: TcpStream) -> io::Result<()> {
    loop {
        for piece in PATTERN.chunks(BUFFER) {
            stream.write_all(piece).await?;
        }
    }
}

async fn serve_sink(stream: TcpStream) -> io::Result<()> {
    copy_buf(&mut BufReader::with_capacity(BUFFER, stream), &mut sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use tokio::io::AsyncReadExt;
    use tokio::task::LocalSet;

    use super::*;

    #[tokio::test]
    async fn each_does_what_it_is_for() {
        let services = async {
            let services = Destinations::start().await.unwrap();

            let mut echo = TcpStream::connect(services.echo).await.unwrap();
            echo.write_all(b"there and back").await.unwrap();
            echo.shutdown().await.unwrap();
            let mut answer = String::new();
            echo.read_to_string(&mut answer).await.unwrap();
            assert_eq!(answer, "there and back");

            let mut source = TcpStream::connect(services.source).await.unwrap();
            let mut sent = vec![0; PATTERN.len() + 100];
            source.read_exact(&mut sent).await.unwrap();
            assert!(sent.starts_with(&PATTERN) && sent[PATTERN.len()..] == PATTERN[..100]);

            let mut sink = TcpStream::connect(services.sink).await.unwrap();
            sink.write_all(&vec![1; 10_000_000]).await.unwrap();
            sink.shutdown().await.unwrap();
            assert_eq!(sink.read(&mut [0]).await.unwrap(), 0, "it says nothing");
        };
        LocalSet::new().run_until(services).await;
    }

    #[tokio::test]
    async fn the_page_hears_of_all() {
        let services = LocalSet::new().run_until(Destinations::start()).await.unwrap();
        let json = services.to_json();
        for address in services.addresses() {
            assert!(json.contains(&address.to_string()), "{json}");
        }
    }
}
