//! An HTTP server with large bodies.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Destination;
use super::exchange::{Digest, Pattern, Sha256};

/// `GET /NUMBER` gets so many bytes of [`Pattern`]; a body that is sent gets its SHA-256 as the answer.
#[derive(Debug)]
pub struct HttpServer(Destination);

impl HttpServer {
    /// Starts one.
    pub async fn start() -> Self {
        Self(Destination::start(serve).await)
    }

    /// Where it is.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

async fn serve(stream: TcpStream) -> io::Result<()> {
    let connection = http1::Builder::new().half_close(true).serve_connection(TokioIo::new(stream), service_fn(answer));
    connection.await.map_err(io::Error::other)
}

async fn answer(request: Request<Incoming>) -> hyper::Result<Response<Answer>> {
    if request.method() == Method::GET {
        let length = request.uri().path().trim_start_matches('/').parse().unwrap_or(0);
        return Ok(Response::new(Answer::Pattern(Pattern::new(length))));
    }
    let received = digest(request.into_body()).await?;
    Ok(Response::new(Answer::Text(Some(received.sha256.into()))))
}

async fn digest(mut body: Incoming) -> hyper::Result<Digest> {
    let mut digest = Sha256::default();
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(piece) = frame?.into_data() {
            digest.update(&piece);
        }
    }
    Ok(digest.finish())
}

/// The body of an answer.
enum Answer {
    Pattern(Pattern),
    Text(Option<Bytes>),
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match self.get_mut() {
            Self::Pattern(pattern) => pattern.next(),
            Self::Text(text) => text.take(),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        let left = match self {
            Self::Pattern(pattern) => pattern.left(),
            Self::Text(text) => text.as_ref().map_or(0, Bytes::len),
        };
        SizeHint::with_exact(left as u64)
    }
}
