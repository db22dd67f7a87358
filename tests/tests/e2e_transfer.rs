//! Real `curl` through a real gateway: every byte arrives, in both directions, over every kind of session.

use std::net::SocketAddr;
use std::path::Path;

use futures::future::join_all;
use muxgate_tests::process::{
    Certificates, Curl, Forward, Gateway, HttpServer, Pattern, Program, code, muxgate, scenario,
};
use tempfile::TempDir;

const LARGE: usize = 100_000_000;

fn temporary() -> TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// A file with the pattern in it.
fn file(directory: &TempDir, length: usize) -> std::path::PathBuf {
    let path = directory.path().join("body");
    std::fs::write(&path, Pattern::new(length).to_vec()).expect("there is room for temporary files");
    path
}

async fn download(through: SocketAddr, length: usize) {
    let curl = Curl::start(&["--fail", &format!("http://{through}/{length}")]);
    assert_eq!(curl.digest().await, (code::SUCCESS, Pattern::new(length).digest()));
}

async fn upload(through: SocketAddr, method: &str, file: &Path, length: usize) {
    let url = format!("http://{through}/");
    let body = Curl::upload(file, &["--fail", "--request", method, &url]).text().await;
    assert_eq!(body, (code::SUCCESS, Pattern::new(length).digest().sha256));
}

/// 100 MB each way, one after the other and then at once.
async fn transfers(through: SocketAddr) {
    let directory = temporary();
    let file = file(&directory, LARGE);
    download(through, LARGE).await;
    upload(through, "PUT", &file, LARGE).await;
    tokio::join!(download(through, LARGE), upload(through, "POST", &file, LARGE));
}

#[tokio::test]
async fn curl_over_tcp() {
    scenario(async {
        let (server, gateway) = (HttpServer::start().await, Gateway::local_on("tcp").await);
        let forward = Forward::start(gateway.url(), &[server.address()]).await;
        transfers(forward.address()).await;
        assert_eq!(gateway.said().matches("session started").count(), 1, "one session carries everything");
    })
    .await;
}

#[tokio::test]
async fn curl_over_websocket() {
    scenario(async {
        let (server, gateway) = (HttpServer::start().await, Gateway::local_on("ws").await);
        let forward = Forward::start(gateway.url(), &[server.address()]).await;
        transfers(forward.address()).await;
    })
    .await;
}

/// What a gateway on the open network is: certificates on both kinds of listener, and a token where it can be sent.
#[tokio::test]
async fn curl_over_tls_with_a_token() {
    scenario(async {
        let (server, certificates) = (HttpServer::start().await, Certificates::new());
        let token = certificates.with_file("token", "7f3a-secret\n");
        let (cert, key, ca) = (certificates.certificate(), certificates.key(), certificates.authority());
        let tls = ["--allow", "127.0.0.1", "--cert", &cert, "--key", &key, "--listen"];
        let destinations = [server.address().to_string()];

        let args = [&tls[..], &["wss://127.0.0.1:0", "--token-file", &token]].concat();
        let secure = Gateway::start(&args).await;
        let forward = Forward::with(secure.url(), &["--ca", &ca, "--token-file", &token], &destinations).await;
        transfers(forward.address()).await;

        let plain = Gateway::start(&[&tls[..], &["tls://127.0.0.1:0"]].concat()).await;
        let forward = Forward::with(plain.url(), &["--ca", &ca], &destinations).await;
        download(forward.address(), LARGE).await;
        assert!(!secure.said().contains("secret") && !forward.said().contains("secret"), "tokens are not for logs");
    })
    .await;
}

#[tokio::test]
async fn fifty_at_once() {
    scenario(async {
        const LENGTH: usize = 2_000_000;
        let (server, gateway) = (HttpServer::start().await, Gateway::local_on("ws").await);
        let forward = Forward::start(gateway.url(), &[server.address()]).await;
        let directory = temporary();
        let file = file(&directory, LENGTH);
        let downloads = join_all((0..25).map(|_| download(forward.address(), LENGTH)));
        let uploads = join_all((0..25).map(|_| upload(forward.address(), "PUT", &file, LENGTH)));
        tokio::join!(downloads, uploads);
        assert_eq!(gateway.said().matches(": opened").count(), 50);
        assert_eq!(gateway.said().matches("session started").count(), 1);
    })
    .await;
}

/// Two clients, two destinations each, both kinds of listener of one gateway.
#[tokio::test]
async fn sessions_and_forwards_do_not_get_mixed_up() {
    scenario(async {
        let args = ["--listen", "tcp://127.0.0.1:0", "--listen", "ws://127.0.0.1:0", "--allow", "127.0.0.1"];
        let (servers, gateway) = ([HttpServer::start().await, HttpServer::start().await], Gateway::start(&args).await);
        let destinations = servers.each_ref().map(HttpServer::address);
        let first = Forward::start(&gateway.urls[0], &destinations).await;
        let second = Forward::start(&gateway.urls[1], &destinations).await;
        let ways = first.addresses.iter().chain(&second.addresses);
        join_all(ways.zip(1..).map(|(&way, megabytes)| download(way, megabytes * 1_000_000))).await;
        for destination in destinations {
            assert_eq!(gateway.said().matches(&format!("{destination}: opened")).count(), 2);
        }
        assert_eq!(gateway.said().matches("session started").count(), 2);
    })
    .await;
}

/// No port anywhere: the gateway, the client and the program meet on Unix sockets.
#[tokio::test]
async fn curl_over_unix_sockets() {
    scenario(async {
        let (server, directory) = (HttpServer::start().await, temporary());
        let path = |name: &str| directory.path().join(name).display().to_string();
        let gateway = Gateway::start(&["--listen", &format!("unix:{}", path("gateway")), "--allow", "127.0.0.1"]).await;
        let forward = format!("unix:{}={}", path("forward"), server.address());
        let forward = Program::start(&mut muxgate(&["forward", &forward, "--via", gateway.url()]));
        forward.line("listening on ").await;
        let curl = Curl::start(&["--fail", "--unix-socket", &path("forward"), &format!("http://any/{LARGE}")]);
        assert_eq!(curl.digest().await, (code::SUCCESS, Pattern::new(LARGE).digest()));
    })
    .await;
}

/// wstunnel 379: a name whose first address is dead. `localhost` is `::1` and 127.0.0.1 on most machines, and the server
/// listens on the second only.
#[tokio::test]
async fn a_name_connects_though_one_of_its_addresses_is_dead() {
    scenario(async {
        let server = HttpServer::start().await;
        let allow = ["--allow", "localhost", "--allow", "127.0.0.1", "--allow", "::1"];
        let gateway = Gateway::start(&[&allow[..], &["--listen", "tcp://127.0.0.1:0"]].concat()).await;
        let destination = format!("localhost:{}", server.address().port());
        let forward = Forward::with(gateway.url(), &[], &[destination]).await;
        download(forward.address(), 1_000_000).await;
    })
    .await;
}

/// The mode that is there to be compared with carries the same bytes.
#[tokio::test]
async fn credit_for_every_message_works_too() {
    scenario(async {
        let server = HttpServer::start().await;
        let args = ["--listen", "ws://127.0.0.1:0", "--allow", "127.0.0.1", "--credit", "per-message"];
        let gateway = Gateway::start(&args).await;
        let forward = Forward::with(gateway.url(), &args[4..], &[server.address().to_string()]).await;
        let directory = temporary();
        let file = file(&directory, 20_000_000);
        tokio::join!(download(forward.address(), 20_000_000), upload(forward.address(), "PUT", &file, 20_000_000));
    })
    .await;
}
