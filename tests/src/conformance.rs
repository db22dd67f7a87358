//! Scenarios that run on any executor: core does not know which.

use bytes::Bytes;
use futures::future::{BoxFuture, join, join_all};
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt, StreamExt};
use muxgate_core::{
    Acceptor, ChannelStream, Config, Destination, Incoming, OpenError, Opener, ReasonCode, StoppedClock, client,
    duplex, server,
};

/// Bytes in transit in either direction.
const PIPE: usize = 64 * 1024;

/// Starts a task on the executor under test.
pub type Spawn<'a> = &'a dyn Fn(BoxFuture<'static, ()>);

/// All of the scenarios, one after the other, each on a session of its own.
pub async fn all(spawn: Spawn<'_>) {
    echo_a_megabyte(spawn).await;
    end_first(spawn).await;
    end_second(spawn).await;
    refuse(spawn).await;
    twenty_at_a_time(spawn).await;
    drop_everything(spawn).await;
}

/// A session whose far side answers as the name of the destination says.
fn session(spawn: Spawn<'_>) -> Opener {
    let (near, far) = duplex(PIPE);
    let (opener, near) = client(near, StoppedClock, Config::default());
    let (acceptor, far) = server(far, StoppedClock, Config::default());
    spawn(near.map(|ended| ended.expect("in good order")).boxed());
    spawn(far.map(|ended| ended.expect("in good order")).boxed());
    spawn(serve(acceptor).boxed());
    opener
}

async fn serve(acceptor: Acceptor) {
    acceptor.for_each_concurrent(None, answer).await;
}

async fn answer(incoming: Incoming) {
    let host = incoming.destination().host().to_owned();
    if host == "nobody" {
        return incoming.reject(ReasonCode::ConnectionRefused, "nobody listens");
    }
    let stream = incoming.accept().expect("the session lives");
    match host.as_str() {
        "echo" => echo(stream).await,
        "late" => reply_late(stream).await,
        "banner" => greet(stream).await,
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

async fn open(opener: &Opener, host: &str) -> Result<ChannelStream, OpenError> {
    opener.open(&Destination::tcp(host, 1).expect("valid")).await
}

async fn exchange(opener: &Opener, len: usize) {
    let (mut reader, mut writer) = open(opener, "echo").await.expect("accepted").into_split();
    let content: Vec<u8> = (0..len).map(|at| (at % 251).to_le_bytes()[0]).collect();
    let written = Bytes::from(content.clone());
    let write = async {
        writer.write_chunk(written).await.expect("the other side reads");
        writer.finish();
    };
    let mut received = Vec::new();
    let (read, ()) = join(reader.read_to_end(&mut received), write).await;
    assert_eq!(read.expect("a clean end"), len);
    assert!(received == content, "other bytes came back");
}

async fn echo_a_megabyte(spawn: Spawn<'_>) {
    exchange(&session(spawn), 1 << 20).await;
}

/// The request ends before the answer begins.
async fn end_first(spawn: Spawn<'_>) {
    let mut stream = open(&session(spawn), "late").await.expect("accepted");
    stream.write_all(&[1; 1000]).await.expect("the other side reads");
    stream.close().await.expect("it is open");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("a clean end");
    assert_eq!(reply, "1000 bytes");
}

/// The answer ends before the request begins.
async fn end_second(spawn: Spawn<'_>) {
    let mut stream = open(&session(spawn), "banner").await.expect("accepted");
    let mut banner = String::new();
    stream.read_to_string(&mut banner).await.expect("a clean end");
    assert_eq!(banner, "hello");
    stream.write_all(b"and goodbye").await.expect("the other side reads");
}

async fn refuse(spawn: Spawn<'_>) {
    let opener = session(spawn);
    match open(&opener, "nobody").await {
        Err(OpenError::Refused { reason, description }) => {
            assert_eq!((reason, description.as_str()), (ReasonCode::ConnectionRefused, "nobody listens"));
        }
        other => unreachable!("{other:?}"),
    }
    exchange(&opener, 1000).await;
}

async fn twenty_at_a_time(spawn: Spawn<'_>) {
    let opener = session(spawn);
    join_all((0..20).map(|_| exchange(&opener, 100_000))).await;
    assert_eq!(opener.stats().channels_opened, 20);
}

/// What is dropped in the middle disturbs nobody, and the session goes on.
async fn drop_everything(spawn: Spawn<'_>) {
    let opener = session(spawn);
    for _ in 0..10 {
        let mut stream = open(&opener, "echo").await.expect("accepted");
        stream.write_all(&vec![1; 100_000]).await.expect("there is room");
        stream.read_exact(&mut [0; 1000]).await.expect("it comes back");
        drop(stream);
        drop(open(&opener, "echo"));
    }
    exchange(&opener, 1000).await;
}
