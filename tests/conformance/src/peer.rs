//! A session in memory whose far side answers as the name of the destination says.

use std::future::{pending, poll_fn};
use std::task::Poll;

use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable};
use futures::stream::FuturesUnordered;
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt, StreamExt, select};
use muxgate_core::{
    Acceptor, ChannelStream, Config, ConnectionError, Destination, Incoming, OpenError, Opener, ReasonCode, client,
    duplex, server,
};

use crate::Engine;
use crate::content::content;

/// Bytes in transit in either direction.
const PIPE: usize = 64 * 1024;

/// What the destination `flood` sends, in bytes.
pub(crate) const FLOOD: usize = 1 << 20;

/// The near end of a session, and what ends it by force.
pub(crate) struct Session {
    pub(crate) opener: Opener,
    pub(crate) near: AbortHandle,
    pub(crate) far: AbortHandle,
    /// Resolves when the far side knows that the session is over; with an error if it panicked.
    pub(crate) served: oneshot::Receiver<()>,
}

impl Session {
    pub(crate) fn start(engine: &impl Engine) -> Self {
        Self::with(engine, Config::default())
    }

    /// `config` is that of the near side.
    pub(crate) fn with(engine: &impl Engine, config: Config) -> Self {
        let (near, far) = duplex(PIPE);
        let (opener, near) = client(near, engine.clock(), config);
        let (acceptor, far) = server(far, engine.clock(), Config::default());
        let (near, stop_near) = abortable(near);
        let (far, stop_far) = abortable(far);
        engine.drive(near);
        engine.drive(far);
        let (report, served) = oneshot::channel();
        engine.spawn(serve(acceptor, report).boxed());
        Self { opener, near: stop_near, far: stop_far, served }
    }

    pub(crate) async fn try_open(&self, host: &str) -> Result<ChannelStream, OpenError> {
        self.opener.open(&Destination::tcp(host, 1).expect("valid")).await
    }

    pub(crate) async fn open(&self, host: &str) -> ChannelStream {
        self.try_open(host).await.expect("accepted")
    }

    /// Ends the session in good order, once all channels are gone. Fails if the far side did.
    pub(crate) async fn end(self) {
        self.opener.close();
        assert!(matches!(self.opener.closed().await, ConnectionError::Closed));
        self.served.await.expect("the far side comes to the end as well");
        assert_eq!(self.opener.stats().unread, 0);
    }
}

/// Ready when `condition` holds, which other tasks bring about.
pub(crate) async fn until(mut condition: impl FnMut() -> bool) {
    poll_fn(|cx| {
        if condition() {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn serve(acceptor: Acceptor, report: oneshot::Sender<()>) {
    let mut questions = acceptor.fuse();
    let mut answers = FuturesUnordered::new();
    loop {
        select! {
            incoming = questions.next() => match incoming {
                Some(incoming) => answers.push(answer(incoming)),
                None => break,
            },
            () = answers.select_next_some() => {}
        }
    }
    // Most scenarios do not ask.
    let _ = report.send(());
}

async fn answer(incoming: Incoming) {
    let host = incoming.destination().host().to_owned();
    match host.as_str() {
        "nobody" => return incoming.reject(ReasonCode::ConnectionRefused, "nobody listens"),
        // Holds the question.
        "silent" => return pending().await,
        _ => {}
    }
    let Ok(stream) = incoming.accept() else { return };
    match host.as_str() {
        "echo" => echo(stream).await,
        "late" => reply_late(stream).await,
        "banner" => greet(stream).await,
        "flood" => flood(stream).await,
        "deaf" => listen_to_nothing(stream).await,
        "reset" => stream.into_split().1.reset(),
        other => unreachable!("{other}"),
    }
}

async fn echo(stream: ChannelStream) {
    let (mut reader, mut writer) = stream.into_split();
    while let Ok(Some(piece)) = reader.read_chunk().await {
        if writer.write_chunk(piece).await.is_err() {
            return;
        }
    }
}

/// Answers when everything has arrived.
async fn reply_late(mut stream: ChannelStream) {
    let mut request = Vec::new();
    stream.read_to_end(&mut request).await.expect("a clean end");
    stream.write_all(format!("{} bytes", request.len()).as_bytes()).await.expect("the other side reads");
}

/// Speaks and ends first, then listens.
async fn greet(mut stream: ChannelStream) {
    stream.write_all(b"hello").await.expect("the other side reads");
    stream.close().await.expect("it is open");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.expect("a clean end");
    assert_eq!(rest, b"and goodbye");
}

/// Sends without being asked, and ends.
async fn flood(stream: ChannelStream) {
    let (_reader, mut writer) = stream.into_split();
    // An error means that the other side has gone, which it may.
    let _ = writer.write_chunk(Bytes::from(content(0, FLOOD))).await;
}

/// Reads nothing until nobody is left to write.
async fn listen_to_nothing(stream: ChannelStream) {
    let (_reader, mut writer) = stream.into_split();
    poll_fn(|cx| writer.poll_stopped(cx)).await;
}
