//! The ends of a channel, in every order.

use futures::{AsyncReadExt, AsyncWriteExt};
use muxgate_core::{OpenError, ReasonCode};

use crate::Engine;
use crate::peer::Session;
use crate::transfer::exchange;

pub(crate) async fn the_request_ends_before_the_answer<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let mut stream = session.open("late").await;
    stream.write_all(&[1; 1000]).await.expect("the other side reads");
    stream.close().await.expect("it is open");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("a clean end");
    assert_eq!(reply, "1000 bytes");
    drop(stream);
    session.end().await;
}

pub(crate) async fn the_answer_ends_before_the_request<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let mut stream = session.open("banner").await;
    let mut banner = String::new();
    stream.read_to_string(&mut banner).await.expect("a clean end");
    assert_eq!(banner, "hello");
    stream.write_all(b"and goodbye").await.expect("the other side reads");
    drop(stream);
    session.end().await;
}

pub(crate) async fn a_refusal_says_why<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    match session.try_open("nobody").await {
        Err(OpenError::Refused { reason, description }) => {
            assert_eq!((reason, description.as_str()), (ReasonCode::ConnectionRefused, "nobody listens"));
        }
        other => unreachable!("{other:?}"),
    }
    assert_eq!(session.opener.stats().opens_failed, 1);
    exchange(&session, 0, 1000).await;
    session.end().await;
}

pub(crate) async fn a_reset_is_seen_as_one<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let (mut reader, writer) = session.open("reset").await.into_split();
    assert!(reader.read_chunk().await.expect("the session lives").is_none());
    assert!(reader.was_reset());
    drop((reader, writer));
    exchange(&session, 0, 1000).await;
    session.end().await;
}
