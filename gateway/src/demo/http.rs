//! A small HTTP server: a page of text, and files whose content can be checked.

use std::convert::Infallible;
use std::fmt::Write;
use std::future::ready;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::pattern;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A file of the pattern.
struct File {
    path: &'static str,
    len: u64,
    /// In hexadecimal.
    sha256: &'static str,
}

const FILES: [File; 3] = [
    File { path: "/1MiB", len: 1 << 20, sha256: "3cfb3a0501ca1ae76b7d2e938c32c064dd17d2c5247886319b5d89d944ea4430" },
    File { path: "/64MiB", len: 64 << 20, sha256: "736e1d5a28872fe2b08114d449454f808ab0efb7a61bd7e29d24d812219e9646" },
    File { path: "/1GiB", len: 1 << 30, sha256: "8462f98e8de7506ac782beb8f06c3d99b61bab9b1faf30cf6efaf65795eb2d85" },
];

/// Serves one client.
pub(super) async fn serve(stream: TcpStream) -> io::Result<()> {
    let service = service_fn(|request| ready(Ok::<_, Infallible>(answer(&request))));
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.map_err(io::Error::other)
}

/// Whatever the method: the server of HTTP leaves the body out of an answer to HEAD.
fn answer<B>(request: &Request<B>) -> Response<Body> {
    let path = request.uri().path();
    match FILES.iter().find(|file| file.path == path) {
        Some(file) => send(file),
        None if path == "/" => text(StatusCode::OK, index()),
        None => text(StatusCode::NOT_FOUND, "not found\n".to_owned()),
    }
}

fn send(file: &File) -> Response<Body> {
    let frames = pattern::pieces(file.len).map(|piece| Ok(Frame::data(piece)));
    let mut response = Response::new(StreamBody::new(stream::iter(frames)).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, file.len.into());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    // RFC 9530. It is made of base64 and punctuation.
    let digest = HeaderValue::try_from(format!("sha-256=:{}:", STANDARD.encode(file.digest())));
    headers.extend(digest.ok().map(|digest| (hyper::header::HeaderName::from_static("repr-digest"), digest)));
    response
}

fn text(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Full::from(text).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn index() -> String {
    let mut text =
        "This page came through Muxgate. There are files, too, with these lengths and SHA-256:\n\n".to_owned();
    for File { path, len, sha256 } in FILES {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{path:<6} {len:>10}  {sha256}");
    }
    text
}

impl File {
    fn digest(&self) -> Vec<u8> {
        let digits = self.sha256.as_bytes().chunks(2).filter_map(|pair| str::from_utf8(pair).ok());
        digits.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use super::*;

    fn get(path: &str) -> Response<Body> {
        answer(&Request::get(path).body(()).unwrap())
    }

    #[tokio::test]
    async fn the_page_names_every_file() {
        let response = get("/");
        assert_eq!(response.status(), StatusCode::OK);
        let page = response.into_body().collect().await.unwrap().to_bytes();
        for File { path, sha256, .. } in &FILES {
            assert!(str::from_utf8(&page).unwrap().contains(path) && str::from_utf8(&page).unwrap().contains(sha256));
        }
        assert_eq!(get("/none").status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn files_are_as_long_as_they_say() {
        for file in FILES.iter().take(2) {
            let response = get(file.path);
            assert_eq!(response.headers()[CONTENT_LENGTH], file.len.to_string());
            let mut body = response.into_body();
            let mut len = 0;
            while let Some(frame) = body.frame().await {
                len += frame.unwrap().into_data().unwrap().len() as u64;
            }
            assert_eq!(len, file.len);
        }
    }

    #[test]
    fn files_have_the_digest_that_is_said() {
        for file in &FILES {
            let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
            pattern::pieces(file.len).for_each(|piece| hash.update(&piece));
            assert_eq!(hash.finish().as_ref(), file.digest(), "{}", file.path);
        }
        assert_eq!(get("/1MiB").headers()["repr-digest"], "sha-256=:PPs6BQHKGudrfS6TjDLAZN0X0sUkeIYxm12J2UTqRDA=:");
    }
}
