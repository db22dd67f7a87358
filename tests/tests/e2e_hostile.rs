//! Clients that do not want a session, or not one that keeps to the rules. None of them gets further than it may, and
//! none disturbs the others.

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use muxgate_core::ReasonCode;
use muxgate_core::frame::{ChannelId, Frame};
use muxgate_tests::process::{
    Certificates, Curl, Destination, Forward, Gateway, HttpServer, Pattern, RawSession, ReservedPort, code, pipe,
    request, scenario, status, upgrade,
};
use muxgate_tests::scripted::{MAX_PACKET, WINDOW, failure, open_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, interval};

/// An honest client on the same gateway.
struct Honest {
    _server: HttpServer,
    forward: Forward,
}

impl Honest {
    async fn new(gateway: &Gateway) -> Self {
        let server = HttpServer::start().await;
        let forward = Forward::start(gateway.url(), &[server.address()]).await;
        Self { _server: server, forward }
    }

    async fn is_served(&self) {
        let curl = Curl::start(&["--fail", &format!("http://{}/1000000", self.forward.address())]);
        assert_eq!(curl.digest().await, (code::SUCCESS, Pattern::new(1_000_000).digest()));
    }
}

#[tokio::test]
async fn requests_that_are_no_upgrade_get_the_status_that_says_why() {
    scenario(async {
        let gateway = Gateway::local_on("ws").await;
        let get = "GET /jet/jmux HTTP/1.1\r\nHost: gateway\r\n\r\n";
        let cases = [
            (request(""), 101),
            (request("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"), 101),
            (get.to_owned(), 426),
            (get.replace("/jet/jmux", "/"), 404),
            (request("").replace("GET", "POST"), 405),
            (request("").replace("Version: 13", "Version: 8"), 426),
            (request("").replace("HTTP/1.1", "HTTP/1.0"), 426),
            (request("").replace("ub25jZQ==", "!"), 400),
            (request("Content-Length: 5\r\n"), 400),
            (request(&"X: x\r\n".repeat(2_000)), 431),
            (request(&format!("X: {}\r\n", "x".repeat(20_000_000))), 431),
        ];
        for (request, expected) in cases {
            let start = &request[..request.len().min(200)];
            assert_eq!(status(gateway.authority(), &request).await, expected, "{start}");
        }
        let (head, _) =
            upgrade(gateway.authority(), &request("Sec-WebSocket-Extensions: permessage-deflate\r\n")).await;
        assert!(!head.to_ascii_lowercase().contains("sec-websocket-extensions"), "no compression: {head}");
        Honest::new(&gateway).await.is_served().await;
    })
    .await;
}

/// websockify 435: a foreign page must not use the gateway of the network that its visitor is in.
#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    scenario(async {
        let args = ["--listen", "ws://127.0.0.1:0", "--allow-origin", "https://app.example"];
        let gateway = Gateway::start(&args).await;
        let foreign = [
            "https://evil.example",
            "null",
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "https://evil-app.example",
            "",
        ];
        for origin in foreign {
            let request = request(&format!("Origin: {origin}\r\n"));
            assert_eq!(status(gateway.authority(), &request).await, 403, "{origin}");
        }
        assert_eq!(status(gateway.authority(), &request("Origin: https://app.example\r\n")).await, 101);
        let both = "Origin: https://app.example\r\nOrigin: https://evil.example\r\n";
        assert_eq!(status(gateway.authority(), &request(both)).await, 403);
    })
    .await;
}

#[tokio::test]
async fn only_the_token_opens_a_session() {
    scenario(async {
        let files = Certificates::new();
        let token = files.with_file("token", "s3cret\n");
        let gateway = Gateway::start(&["--listen", "ws://127.0.0.1:0", "--token-file", &token]).await;
        let with = |token: &str| request(&format!("Authorization: Bearer {token}\r\n"));
        let in_query = |token: &str| request("").replace("/jet/jmux", &format!("/jet/jmux?token={token}"));
        let cases = [
            (with("s3cret"), 101),
            (in_query("s3cret"), 101),
            (request(""), 401),
            (with("s3cre7"), 401),
            (with(""), 401),
            (in_query("s3cret%00"), 401),
            (request("Authorization: Basic czNjcmV0\r\n"), 401),
            (with("s3cret").replace("/jet/jmux", "/jet/jmux?token=other"), 400),
        ];
        for (request, expected) in cases {
            assert_eq!(status(gateway.authority(), &request).await, expected, "{request}");
        }
        let url = format!("http://{}/jet/jmux", gateway.authority());
        let upgrade = ["-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13"];
        let key = ["-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "--include", &url];
        let (_, answer) = Curl::start(&[&upgrade[..], &key].concat()).text().await;
        let answer = answer.to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 401 ") && answer.contains("www-authenticate: bearer"), "{answer}");
        assert!(!gateway.said().contains("s3cre"), "tokens are not for logs: {}", gateway.said());
    })
    .await;
}

/// wstunnel 358: nobody holds a connection without ever showing who they are. Takes the ten seconds of the limit.
#[tokio::test]
async fn clients_that_never_finish_a_handshake_are_cut() {
    scenario(async {
        const REQUEST: &[u8] = b"GET /jet/jmux HTTP/1.1\r\nX: ";
        /// The header of a TLS record of 16 KiB with a handshake in it.
        const HELLO: &[u8] = b"\x16\x03\x01\x40\x00";

        let files = Certificates::new();
        let (cert, key) = (files.certificate(), files.key());
        let listen = ["--listen", "ws://127.0.0.1:0", "--listen", "wss://127.0.0.1:0", "--listen", "tls://127.0.0.1:0"];
        let args = [&listen[..], &["--allow", "127.0.0.1", "--cert", &cert, "--key", &key]].concat();
        let gateway = Gateway::start(&args).await;
        let began = Instant::now();
        let beginnings = [REQUEST, HELLO, HELLO];
        let clients = gateway.urls.iter().zip(beginnings).flat_map(|(url, slow)| [(url, &b""[..]), (url, slow)]);
        let cut = join_all(clients.map(|(url, beginning)| is_cut(url, beginning)));
        let honest = async { Honest::new(&gateway).await.is_served().await };
        tokio::join!(cut, honest);
        assert!(began.elapsed() < Duration::from_secs(30), "the limit is ten seconds for each stage");
    })
    .await;
}

/// Sends `beginning` and then a byte now and then, until the gateway ends the connection.
async fn is_cut(url: &str, beginning: &[u8]) {
    let (_, address) = url.split_once("://").expect("it is a URL");
    let (mut reader, mut writer) = TcpStream::connect(address).await.expect("the gateway listens").into_split();
    let dribble = async {
        let mut ticks = interval(Duration::from_millis(200));
        let _ = writer.write_all(beginning).await;
        while !beginning.is_empty() {
            ticks.tick().await;
            let _ = writer.write_u8(b'x').await;
        }
        pending::<()>().await;
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = dribble => {}
        // By an end or by a reset, with or without a word.
        _ = reader.read_to_end(&mut answer) => assert!(!answer.starts_with(b"HTTP/1.1 101")),
    }
}

/// Half-open connections of one address, more than a gateway takes, do not keep another address out.
#[tokio::test]
async fn one_address_does_not_keep_others_out() {
    scenario(async {
        let gateway = Gateway::local_on("ws").await;
        let mut greedy = Vec::new();
        for _ in 0..1100 {
            greedy.push(TcpStream::connect(gateway.authority()).await.expect("the kernel takes it"));
        }
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, 2], 0).into()).expect("all of 127.0.0.0/8 is this machine");
        let mut other = socket.connect(gateway.authority().parse().expect("an address")).await.expect("it listens");
        let began = Instant::now();
        other.write_all(request("").as_bytes()).await.expect("the gateway reads");
        let mut answer = [0; 12];
        other.read_exact(&mut answer).await.expect("the gateway answers");
        assert_eq!(&answer, b"HTTP/1.1 101");
        assert!(began.elapsed() < Duration::from_secs(10), "not only once the others are cut");
        // The first of them is still there, and the last was closed.
        greedy[0].write_all(request("").as_bytes()).await.expect("it may take ten seconds");
        assert_eq!(greedy[0].read_u8().await.expect("it is answered"), b'H');
        greedy[1099].read_u8().await.expect_err("one too many");
    })
    .await;
}

/// A frame of a client with an empty mask, so that the payload is as it was given.
fn frame(first: u8, length: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut masked = length.to_vec();
    masked[0] |= 0x80;
    [&[first], &masked[..], &[0; 4], payload].concat()
}

#[tokio::test]
async fn broken_websockets_end_alone_and_with_a_reason() {
    scenario(async {
        let gateway = Gateway::local_on("ws").await;
        let honest = Honest::new(&gateway).await;
        let cases = [
            ("no mask", vec![0x82, 1, 0], 1002),
            ("a length of 2^63", frame(0x82, &[127, 0x80, 0, 0, 0, 0, 0, 0, 0], b""), 1002),
            ("text", frame(0x81, &[2], b"hi"), 1003),
            ("compressed", frame(0xc2, &[2], b"hi"), 1002),
            ("an unknown opcode", frame(0x83, &[0], b""), 1002),
            ("a continuation of nothing", frame(0x80, &[0], b""), 1002),
            ("a ping in fragments", frame(0x09, &[0], b""), 1002),
            ("a long ping", frame(0x89, &[126, 0, 126], &[0; 126]), 1002),
        ];
        for (what, bytes, expected) in cases {
            let (_, mut stream) = upgrade(gateway.authority(), &request("")).await;
            stream.write_all(&bytes).await.expect("the session lives");
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).await.expect("there should be a close frame");
            let code = u16::from_be_bytes([answer[2], answer[3]]);
            assert_eq!((answer[0], code), (0x88, expected), "{what}");
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
            honest.is_served().await;
        }
        assert_eq!(gateway.said().matches("session started").count(), 9);
    })
    .await;
}

#[tokio::test]
async fn broken_messages_end_their_session_alone() {
    scenario(async {
        let gateway = Gateway::local().await;
        let honest = Honest::new(&gateway).await;
        let message = |kind: u8, size: u16| [&[kind][..], &size.to_be_bytes(), &[0; 100]].concat();
        let sizes = (0..4).map(|size| message(104, size));
        let kinds = [0, 99, 107, 255].map(|kind| message(kind, 8));
        let short = [100, 101, 102, 103, 104, 105, 106].map(|kind| message(kind, 7));
        let http = b"GET / HTTP/1.1\r\nHost: gateway\r\n\r\n".to_vec();
        for bytes in sizes.chain(kinds).chain(short).chain([http]) {
            let mut session = RawSession::connect(gateway.authority()).await;
            session.stream.write_all(&bytes).await.expect("the session lives");
            assert_eq!(session.next().await, None, "{:?}", &bytes[..4]);
            honest.is_served().await;
        }
    })
    .await;
}

/// Sends an OPEN for each destination, all at once, and returns the answers in the same order.
async fn answers(session: &mut RawSession, destinations: &[&[u8]]) -> Vec<Frame> {
    let opens = (0..).zip(destinations).map(|(sender, destination)| open_with(sender, WINDOW, MAX_PACKET, destination));
    session.send(opens).await;
    let mut answers = HashMap::new();
    while answers.len() < destinations.len() {
        let answer = session.next().await.expect("the session lives");
        let (Frame::OpenSuccess { recipient, .. } | Frame::OpenFailure { recipient, .. }) = answer else {
            unreachable!("no channel is open, so there is nothing else to say: {answer:?}");
        };
        assert!(answers.insert(recipient, answer).is_none(), "two answers for channel {recipient}");
    }
    (0..).map_while(|sender| answers.remove(&ChannelId(sender))).collect()
}

/// A gateway to the whole world is none to its own machine and network, however these are spelt.
#[tokio::test]
async fn no_spelling_of_a_special_address_gets_through() {
    scenario(async {
        let canary = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let port = canary.local_addr().expect("the listener is bound").port();
        let gateway = Gateway::start(&["--listen", "tcp://127.0.0.1:0", "--allow", "*"]).await;
        let hosts = "127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. 127.255.255.254 \
            0.0.0.0 0 localhost LOCALHOST. ::1 [::1] :: ::ffff:127.0.0.1 [::ffff:7f00:1] ::127.0.0.1 \
            64:ff9b::127.0.0.1 2002:7f00:1:: 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 169.254.169.254 2852039166 \
            fd00::1 fe80::1 fe80::1%lo ff02::1 224.0.0.1 255.255.255.255";
        let destinations: Vec<_> = hosts.split_whitespace().map(|host| format!("tcp://{host}:{port}")).collect();
        let bytes: Vec<_> = destinations.iter().map(String::as_bytes).collect();
        let mut session = RawSession::connect(gateway.authority()).await;
        for (destination, answer) in destinations.iter().zip(answers(&mut session, &bytes).await) {
            let Frame::OpenFailure { reason, .. } = answer else { unreachable!("{destination} was opened") };
            // Other reasons would mean that somebody was asked.
            let unasked = [ReasonCode::NotAllowed, ReasonCode::AddressTypeNotSupported, ReasonCode::GeneralFailure];
            assert!(unasked.contains(&reason), "{destination}: {reason}");
        }
        let touched = canary.accept().now_or_never();
        assert!(touched.is_none(), "nobody may have connected: {touched:?}");
    })
    .await;
}

/// What cannot be a destination is refused like one that cannot be reached, once each, and the session goes on.
#[tokio::test]
async fn every_open_gets_one_answer_whatever_it_names() {
    scenario(async {
        let (echo, refusing, gateway) = (Destination::echo().await, ReservedPort::new(), Gateway::local().await);
        let (good, refused) = (format!("tcp://{}", echo.address()), format!("tcp://{}", refusing.address()));
        let long = format!("tcp://{}:80", "a".repeat(60_000));
        let bad: &[&[u8]] = &[
            refused.as_bytes(),
            b"",
            b"tcp://",
            b"tcp://127.0.0.1",
            b"tcp://127.0.0.1:0",
            b"tcp://127.0.0.1:65536",
            b"tcp://127.0.0.1:http",
            b"udp://127.0.0.1:80",
            b"http://127.0.0.1:80/",
            b"tcp://user@127.0.0.1:80",
            b"tcp://a\nb:80",
            b"tcp://\xff\xfe:80",
            b"tcp://\x1b[2J\x1b]0;owned\x07\r\nmuxgate: listening on tcp://evil:1",
            long.as_bytes(),
        ];
        let mut session = RawSession::connect(gateway.authority()).await;
        for _ in 0..20 {
            for (destination, answer) in bad.iter().zip(answers(&mut session, bad).await) {
                let destination = String::from_utf8_lossy(&destination[..destination.len().min(80)]);
                assert!(matches!(answer, Frame::OpenFailure { .. }), "{destination}: {answer:?}");
            }
        }
        let answer = answers(&mut session, &[good.as_bytes()]).await;
        assert!(matches!(answer[0], Frame::OpenSuccess { .. }), "{answer:?}");
        let said = gateway.said();
        assert!(!said.contains(['\x1b', '\x07', '\r']), "escape sequences are not for logs: {said}");
        assert_eq!(said.matches("\nmuxgate: listening").count(), 0, "nor are lines that somebody made up: {said}");
    })
    .await;
}

/// What a gateway says about a refusal is shown to people, but cannot act on their terminal.
#[tokio::test]
async fn a_gateway_cannot_write_to_the_terminal() {
    scenario(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let via = format!("tcp://{}", listener.local_addr().expect("the listener is bound"));
        let mut pipe = pipe(&via, &[], "db.internal:5432");
        let (stream, _) = listener.accept().await.expect("the client connects");
        let mut session = RawSession::new(stream);
        let Some(Frame::Open { sender, .. }) = session.next().await else { unreachable!("the client opens a channel") };
        session.send([failure(sender.0, ReasonCode::Other(99), "\x1b[2Jnot \r\ntoday\u{9b}31m\u{202e}")]).await;
        assert_eq!(pipe.ended().await, code::REFUSED);
        let said = pipe.said();
        assert!(said.contains("db.internal:5432") && said.contains("not "), "{said}");
        assert!(!said.contains(['\x1b', '\r', '\n', '\u{9b}', '\u{202e}']), "{said:?}");
    })
    .await;
}
