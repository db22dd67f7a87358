//! The end of a session, in good order and by force.

use std::time::Duration;

use futures::future::{AbortHandle, join, join4};
use futures::{AsyncReadExt, AsyncWriteExt};
use muxgate_core::{Config, OpenError, ReadError, WriteError};

use crate::Engine;
use crate::content::content;
use crate::peer::{FLOOD, Session, until};

pub(crate) async fn a_closed_session_lets_its_channels_finish<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let mut stream = session.open("echo").await;
    session.opener.close();
    assert!(matches!(session.try_open("echo").await, Err(OpenError::Connection(_))));
    stream.write_all(b"the last words").await.expect("it is open");
    stream.close().await.expect("it is open");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("a clean end");
    assert_eq!(answer, "the last words");
    drop(stream);
    session.end().await;
}

pub(crate) async fn everything_that_waits_learns_that_our_end_is_gone<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let end = session.near.clone();
    everything_settles(session, end).await;
}

pub(crate) async fn everything_that_waits_learns_that_the_other_end_is_gone<E: Engine>(engine: E) {
    let session = Session::start(&engine);
    let end = session.far.clone();
    everything_settles(session, end).await;
}

/// An open, a read, a write and those who wait for the end itself, while `end` cuts the session.
async fn everything_settles(session: Session, end: AbortHandle) {
    let (mut reader, mut writer) = session.open("deaf").await.into_split();
    let waiting = join4(
        session.try_open("silent"),
        reader.read_chunk(),
        writer.write_chunk(content(0, FLOOD).into()),
        session.opener.closed(),
    );
    let cut = async {
        // A stall says that the write waits for credit; the others were polled before.
        until(|| session.opener.stats().stalls > 0).await;
        end.abort();
    };
    let ((opened, read, written, _), ()) = join(waiting, cut).await;
    assert!(matches!(opened, Err(OpenError::Connection(_))), "{opened:?}");
    assert!(matches!(read, Err(ReadError::Connection(_))), "{read:?}");
    assert!(matches!(written, Err(WriteError::Connection(_))), "{written:?}");
    session.served.await.expect("the far side learns it as well");
}

pub(crate) async fn an_open_that_nobody_answers_times_out<E: Engine>(engine: E) {
    let session = Session::with(&engine, Config { open_timeout: Duration::from_millis(20), ..Config::default() });
    assert!(matches!(session.try_open("silent").await, Err(OpenError::TimedOut)));
    let mut stream = session.open("late").await;
    stream.close().await.expect("it is open");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("a clean end");
    assert_eq!(reply, "0 bytes");
    drop(stream);
    session.end().await;
}
