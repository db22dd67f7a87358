#![expect(clippy::unwrap_used, reason = "a failure fails the test")]

use std::mem::size_of;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::poll_fn;
use muxgate_core::{Acceptor, Config, Destination, Opener, StoppedClock, client, duplex, server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

/// One relay in the middle: on one side the program, on the other the far end of the channel.
struct Scene {
    program: TcpStream,
    relay: JoinHandle<Result<(), RelayError>>,
    reader: ChannelReader,
    writer: ChannelWriter,
    session: JoinHandle<()>,
    handles: (Opener, Acceptor),
}

async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (near, far) = tokio::join!(TcpStream::connect(address), listener.accept());
    (near.unwrap(), far.unwrap().0)
}

/// A session with one open channel: the two ends of the channel, what drives the session, and its handles.
async fn channel() -> (ChannelStream, ChannelStream, JoinHandle<()>, (Opener, Acceptor)) {
    let (near, far) = duplex(64 * 1024);
    let (opener, near) = client(near, StoppedClock, Config::default());
    let (mut requests, far) = server(far, StoppedClock, Config::default());
    let session = tokio::spawn(async move { drop(tokio::join!(near, far)) });
    let destination = Destination::tcp("program.example", 1).unwrap();
    let accept = async { requests.accept().await.unwrap().accept().unwrap() };
    let (far_end, near_end) = tokio::join!(opener.open(&destination), accept);
    (far_end.unwrap(), near_end, session, (opener, requests))
}

async fn scene() -> Scene {
    let (far_end, near_end, session, handles) = channel().await;
    let (program, local) = tcp_pair().await;
    let relay = tokio::spawn(Relay::new(local, near_end));
    let (reader, writer) = far_end.into_split();
    Scene { program, relay, reader, writer, session, handles }
}

impl Scene {
    async fn read_far_to_end(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(chunk) = self.reader.read_chunk().await.unwrap() {
            all.extend_from_slice(&chunk);
        }
        all
    }

    async fn read_program_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        self.program.read_to_end(&mut all).await.map(|_| all)
    }
}

/// Otherwise a keystroke on another channel would wait for everything that a bulk transfer has.
#[tokio::test]
async fn a_program_that_sends_much_gets_one_piece_a_turn() {
    let (_far_end, near_end, _session, _handles) = channel().await;
    let (mut program, local) = tcp_pair().await;
    program.write_all(&vec![0; 512 * 1024]).await.unwrap();
    local.readable().await.unwrap();
    let mut relay = Relay::new(local, near_end);
    let room = poll_fn(|cx| relay.writer.poll_room(cx)).await.unwrap();
    // The session is not driven meanwhile: this thread does not yield.
    assert!((&mut relay).now_or_never().is_none());
    let moved = room - poll_fn(|cx| relay.writer.poll_room(cx)).now_or_never().unwrap().unwrap();
    assert!((1..=64 * 1024).contains(&moved), "{moved}");
}

#[tokio::test]
async fn the_program_ends_first_and_still_gets_the_answer() {
    let mut scene = scene().await;
    scene.program.write_all(b"request").await.unwrap();
    scene.program.shutdown().await.unwrap();
    assert_eq!(scene.read_far_to_end().await, b"request");
    assert!(!scene.reader.was_reset());
    scene.writer.write_chunk(Bytes::from_static(b"late answer")).await.unwrap();
    scene.writer.finish();
    assert_eq!(scene.read_program_to_end().await.unwrap(), b"late answer");
    scene.relay.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_far_end_ends_first_and_still_gets_the_answer() {
    let mut scene = scene().await;
    scene.writer.write_chunk(Bytes::from_static(b"hello")).await.unwrap();
    scene.writer.finish();
    assert_eq!(scene.read_program_to_end().await.unwrap(), b"hello");
    scene.program.write_all(b"late answer").await.unwrap();
    scene.program.shutdown().await.unwrap();
    assert_eq!(scene.read_far_to_end().await, b"late answer");
    scene.relay.await.unwrap().unwrap();
}

#[tokio::test]
async fn bulk_both_ways_at_once_arrives_whole() {
    let scene = scene().await;
    let sent: Vec<u8> = (0..8_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let (mut from_program, mut to_program) = scene.program.into_split();
    let (mut reader, mut writer) = (scene.reader, scene.writer);
    let upload = async {
        to_program.write_all(&sent).await.unwrap();
        to_program.shutdown().await.unwrap();
    };
    let download = async {
        writer.write_chunk(Bytes::from(sent.clone())).await.unwrap();
        writer.finish();
    };
    let uploaded = async {
        let mut all = Vec::new();
        while let Some(chunk) = reader.read_chunk().await.unwrap() {
            all.extend_from_slice(&chunk);
        }
        all
    };
    let downloaded = async {
        let mut all = Vec::new();
        from_program.read_to_end(&mut all).await.unwrap();
        all
    };
    let ((), (), uploaded, downloaded) = tokio::join!(upload, download, uploaded, downloaded);
    assert!(uploaded == sent && downloaded == sent);
    scene.relay.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_reset_of_the_far_end_reaches_the_program_as_a_reset() {
    let mut scene = scene().await;
    scene.writer.reset();
    let error = scene.read_program_to_end().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(matches!(scene.relay.await.unwrap(), Err(RelayError::Reset)));
}

#[tokio::test]
async fn a_reset_of_the_program_reaches_the_far_end_as_a_reset() {
    let mut scene = scene().await;
    scene.program.write_all(b"before").await.unwrap();
    assert_eq!(scene.reader.read_chunk().await.unwrap().unwrap(), "before");
    scene.program.set_zero_linger().unwrap();
    drop(std::mem::replace(&mut scene.program, tcp_pair().await.0));
    assert_eq!(scene.reader.read_chunk().await.unwrap(), None);
    assert!(scene.reader.was_reset());
    assert!(matches!(scene.relay.await.unwrap(), Err(RelayError::Local(_))));
}

#[tokio::test]
async fn a_program_that_stops_reading_for_good_stops_the_far_end() {
    let mut scene = scene().await;
    drop(std::mem::replace(&mut scene.program, tcp_pair().await.0));
    let chunk = Bytes::from(vec![0; 64 * 1024]);
    while scene.writer.write_chunk(chunk.clone()).await.is_ok() {}
    assert!(matches!(scene.relay.await.unwrap(), Err(RelayError::Local(_))));
}

#[tokio::test]
async fn a_far_end_that_left_does_not_wait_for_a_silent_program() {
    let Scene { mut program, relay, reader, writer, session, handles } = scene().await;
    drop((reader, writer));
    let mut all = Vec::new();
    program.read_to_end(&mut all).await.unwrap();
    relay.await.unwrap().unwrap();
    drop(handles);
    session.await.unwrap();
}

#[tokio::test]
async fn the_end_of_the_session_is_a_reset_after_what_had_arrived() {
    let mut scene = scene().await;
    scene.writer.write_chunk(Bytes::from_static(b"arrived")).await.unwrap();
    let mut arrived = [0; 7];
    scene.program.read_exact(&mut arrived).await.unwrap();
    scene.session.abort();
    let error = scene.read_program_to_end().await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(matches!(scene.relay.await.unwrap(), Err(RelayError::Session(_))));
}

#[tokio::test]
async fn a_dropped_relay_resets_both_sides() {
    let mut scene = scene().await;
    scene.relay.abort();
    assert_eq!(scene.reader.read_chunk().await.unwrap(), None);
    assert!(scene.reader.was_reset());
    assert_eq!(scene.read_program_to_end().await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_far_end_that_does_not_read_slows_the_program() {
    let mut scene = scene().await;
    let total = 32 * 1024 * 1024;
    let (mut from_program, mut to_program) = scene.program.into_split();
    let upload = tokio::spawn(async move {
        let piece = vec![7; 64 * 1024];
        for _ in 0..total / piece.len() {
            to_program.write_all(&piece).await.unwrap();
        }
    });
    // The answer travels the other way meanwhile.
    scene.writer.write_chunk(Bytes::from_static(b"ping")).await.unwrap();
    let mut ping = [0; 4];
    from_program.read_exact(&mut ping).await.unwrap();
    assert!(!upload.is_finished(), "32 MiB fit into no window of a reader that does not read");
    let mut received = 0;
    while let Some(chunk) = scene.reader.read_chunk().await.unwrap() {
        received += chunk.len();
    }
    assert_eq!(received, total);
    upload.await.unwrap();
}

#[tokio::test]
async fn a_program_is_gone_when_it_resets_and_not_when_it_ends() {
    let (mut near, far) = tcp_pair().await;
    near.write_all(b"kept").await.unwrap();
    near.shutdown().await.unwrap();
    far.readable().await.unwrap();
    tokio::select! {
        biased;
        () = far.gone() => panic!("it may still wait for an answer"),
        () = tokio::task::yield_now() => {}
    }
    near.set_zero_linger().unwrap();
    drop(near);
    far.gone().await;
}

#[test]
fn an_idle_relay_is_small() {
    assert!(size_of::<Relay<TcpStream>>() <= 256, "{} bytes", size_of::<Relay<TcpStream>>());
}
