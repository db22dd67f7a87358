//! Against another WebSocket implementation, and against peers that break the rules.

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http::HeaderMap;
use muxgate_transport_native::WebSocketTransport;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::Instant;
use tokio_websockets::{ClientBuilder, CloseCode, Message, ServerBuilder};

use crate::support::{close, exchange, read, read_exact, write};

const TOTAL: usize = 3_000_000;

type Socket = tokio_websockets::WebSocketStream<DuplexStream>;

/// Our server and their client.
fn server_and_client() -> (WebSocketTransport<DuplexStream>, Socket) {
    let (near, far) = duplex(64 * 1024);
    (WebSocketTransport::server(near, Bytes::new()), ClientBuilder::new().take_over(far))
}

async fn echo(mut socket: Socket) -> Result<Option<CloseCode>> {
    while let Some(message) = socket.next().await {
        let message = message.map_err(Error::other)?;
        if let Some((code, _)) = message.as_close() {
            return Ok(Some(code));
        }
        if message.is_binary() {
            assert!(!message.as_payload().is_empty(), "deployed peers take an empty message for the end");
            socket.send(message).await.map_err(Error::other)?;
        }
    }
    Ok(None)
}

#[tokio::test]
async fn their_client_echoes() -> Result<()> {
    let (mut ours, theirs) = server_and_client();
    let work = async {
        exchange(&mut ours, TOTAL).await?;
        close(&mut ours).await
    };
    let ((), code) = tokio::try_join!(work, echo(theirs))?;
    assert_eq!(code, Some(CloseCode::NORMAL_CLOSURE));
    Ok(())
}

#[tokio::test]
async fn their_server_upgrades_and_echoes() -> Result<()> {
    let (near, far) = duplex(64 * 1024);
    let server = async {
        let (request, socket) = ServerBuilder::new().accept(far).await.map_err(Error::other)?;
        assert_eq!(request.headers().get("host").map(http::HeaderValue::as_bytes), Some(&b"gateway.example"[..]));
        echo(socket).await
    };
    let client = async {
        let mut ours = WebSocketTransport::connect(near, "gateway.example", "/jet/jmux", &HeaderMap::new()).await?;
        exchange(&mut ours, TOTAL).await?;
        close(&mut ours).await
    };
    let ((), code) = tokio::try_join!(client, server)?;
    assert_eq!(code, Some(CloseCode::NORMAL_CLOSURE));
    Ok(())
}

#[tokio::test]
async fn pings_are_answered_between_messages() -> Result<()> {
    let (mut ours, mut theirs) = server_and_client();
    theirs.feed(Message::ping("are you there")).await.map_err(Error::other)?;
    theirs.send(Message::binary("data")).await.map_err(Error::other)?;
    assert_eq!(read_exact(&mut ours, 4).await?, b"data");
    write(&mut ours, b"answer").await?;
    let pong = theirs.next().await.ok_or(ErrorKind::UnexpectedEof)?.map_err(Error::other)?;
    assert!(pong.is_pong() && pong.as_payload()[..] == b"are you there"[..]);
    let answer = theirs.next().await.ok_or(ErrorKind::UnexpectedEof)?.map_err(Error::other)?;
    assert_eq!(answer.as_payload()[..], b"answer"[..]);
    Ok(())
}

#[tokio::test]
async fn a_reader_that_writes_nothing_answers_pings_too() -> Result<()> {
    let (mut ours, mut theirs) = server_and_client();
    theirs.send(Message::ping("1")).await.map_err(Error::other)?;
    let pong = tokio::select! {
        read = read(&mut ours) => unreachable!("no data comes: {read:?}"),
        pong = theirs.next() => pong.ok_or(ErrorKind::UnexpectedEof)?.map_err(Error::other)?,
    };
    assert!(pong.is_pong());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_pinged_and_then_given_up() -> Result<()> {
    const PERIOD: Duration = Duration::from_secs(30);
    let (ours, mut theirs) = server_and_client();
    let mut ours = ours.with_keepalive(PERIOD);
    let start = Instant::now();
    let error = tokio::select! {
        read = read(&mut ours) => read.expect_err("nothing comes"),
        // A peer that takes pings but, as it does not flush, never answers one.
        () = async { while theirs.get_mut().read(&mut [0; 16]).await.is_ok_and(|n| n > 0) {} } => unreachable!("open"),
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(start.elapsed().as_secs(), 6 * PERIOD.as_secs(), "silence, four pings, and the end");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_answers_pings_is_kept() -> Result<()> {
    let (ours, theirs) = server_and_client();
    let mut ours = ours.with_keepalive(Duration::from_secs(30));
    tokio::select! {
        read = read(&mut ours) => unreachable!("the peer is alive: {read:?}"),
        ended = echo(theirs) => unreachable!("it was not closed: {ended:?}"),
        () = tokio::time::sleep(Duration::from_secs(3600)) => Ok(()),
    }
}

#[tokio::test]
async fn a_close_frame_is_the_end() -> Result<()> {
    for code in [None, Some(CloseCode::NORMAL_CLOSURE), Some(CloseCode::GOING_AWAY)] {
        let (mut ours, mut theirs) = server_and_client();
        theirs.send(Message::close(code, "")).await.map_err(Error::other)?;
        assert_eq!(read(&mut ours).await?, None);
        assert_eq!(read(&mut ours).await?, None, "and it stays the end");
        let reply = theirs.next().await.ok_or(ErrorKind::UnexpectedEof)?.map_err(Error::other)?;
        assert!(reply.is_close(), "a close frame is answered");
        let error = write(&mut ours, b"more").await.expect_err("nothing follows a close frame");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
    Ok(())
}

#[tokio::test]
async fn a_peer_that_closes_and_goes_ended_well() -> Result<()> {
    let (mut ours, mut theirs) = server_and_client();
    theirs.send(Message::close(Some(CloseCode::NORMAL_CLOSURE), "")).await.map_err(Error::other)?;
    drop(theirs);
    assert_eq!(read(&mut ours).await?, None, "that the answer reaches nobody is no error");
    Ok(())
}

#[tokio::test]
async fn after_our_close_frame_the_rest_of_the_peer_still_arrives() -> Result<()> {
    let (near, far) = duplex(64 * 1024);
    let mut near = WebSocketTransport::client(near, Bytes::new());
    let mut far = WebSocketTransport::server(far, Bytes::new());
    close(&mut near).await?;
    write(&mut far, b"the rest").await?;
    assert_eq!(read(&mut far).await?, None);
    close(&mut far).await?;
    assert_eq!(read_exact(&mut near, 8).await?, b"the rest");
    assert_eq!(read(&mut near).await?, None);
    Ok(())
}

#[tokio::test]
async fn another_close_code_is_an_error_that_names_it() -> Result<()> {
    let (mut ours, mut theirs) = server_and_client();
    theirs.send(Message::close(Some(CloseCode::POLICY_VIOLATION), "no\n")).await.map_err(Error::other)?;
    let error = read(&mut ours).await.expect_err("the end is not a good one");
    assert_eq!(error.to_string(), "the peer closed the WebSocket with code 1008: no\\n");
    Ok(())
}

#[tokio::test]
async fn text_is_refused() -> Result<()> {
    let (mut ours, mut theirs) = server_and_client();
    theirs.send(Message::text("text")).await.map_err(Error::other)?;
    let error = read(&mut ours).await.expect_err("JMUX is binary");
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    let reply = theirs.next().await.ok_or(ErrorKind::UnexpectedEof)?.map_err(Error::other)?;
    assert_eq!(reply.as_close().map(|(code, _)| code), Some(CloseCode::UNSUPPORTED_DATA));
    Ok(())
}

#[tokio::test]
async fn an_end_without_close_frame_is_an_error() -> Result<()> {
    let (mut ours, theirs) = server_and_client();
    drop(theirs);
    let error = read(&mut ours).await.expect_err("no close frame came");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    Ok(())
}

/// Frames from a client, by hand; the mask is zero, which changes nothing.
#[tokio::test]
async fn broken_frames_are_refused_with_1002() -> Result<()> {
    let broken: &[(&str, &[u8])] = &[
        ("no mask", &[0x82, 0x01, 0]),
        ("reserved bit", &[0xC2, 0x81, 0, 0, 0, 0, 0]),
        ("unknown opcode", &[0x83, 0x81, 0, 0, 0, 0, 0]),
        ("continuation of nothing", &[0x80, 0x81, 0, 0, 0, 0, 0]),
        ("fragmented ping", &[0x09, 0x80, 0, 0, 0, 0]),
        ("long ping", &[0x89, 0xFE, 0, 126, 0, 0, 0, 0]),
        ("close code of one byte", &[0x88, 0x81, 0, 0, 0, 0, 3]),
        ("reserved close code", &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xEE]),
        ("message in a message", &[0x02, 0x80, 0, 0, 0, 0, 0x82, 0x80, 0, 0, 0, 0]),
        ("endless frame", &[0x82, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ];
    for (name, bytes) in broken {
        let (near, mut far) = duplex(1024);
        let mut ours = WebSocketTransport::server(near, Bytes::new());
        far.write_all(bytes).await?;
        let error = read(&mut ours).await.expect_err(name);
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{name}");
        let mut reply = [0; 4];
        far.read_exact(&mut reply).await?;
        assert_eq!((reply[0], &reply[2..]), (0x88, &1002_u16.to_be_bytes()[..]), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn fragments_and_empty_messages_are_one_stream() -> Result<()> {
    let (near, mut far) = duplex(1024);
    let start = Bytes::from_static(&[0x82, 0x80, 0, 0, 0, 0, 0x02, 0x83, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2, b'c' ^ 3]);
    let mut ours = WebSocketTransport::server(near, start);
    far.write_all(&[0x8A, 0x80, 0, 0, 0, 0, 0x00, 0x82, 0, 0, 0, 0, b'd', b'e']).await?;
    far.write_all(&[0x80, 0x81, 0, 0, 0, 0, b'f', 0x82, 0x81, 0, 0, 0, 0, b'g']).await?;
    assert_eq!(read_exact(&mut ours, 7).await?, b"abcdefg");
    Ok(())
}

#[tokio::test]
async fn a_piece_of_a_message_is_handed_on_at_once() -> Result<()> {
    let (near, mut far) = duplex(1024);
    let mut ours = WebSocketTransport::server(near, Bytes::new());
    far.write_all(&[0x82, 0xFE, 0xFF, 0xFF, 0, 0, 0, 0, b'x']).await?;
    assert_eq!(read_exact(&mut ours, 1).await?, b"x");
    Ok(())
}
