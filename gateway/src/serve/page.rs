//! The demo page, from inside the binary.
//!
//! The files of `web-demo/dist` are embedded when the binary is built with the feature `page`: it takes Node to build them,
//! which a gateway has no need of otherwise. They are found by their names in that set, and nothing else is: no path of a
//! request ever reaches a file system.

use std::fmt;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::exit::Failure;

/// What the page reads to know which destinations it may offer.
const DESTINATIONS: &str = "demo.json";
/// Files whose names change with their content: `vite build` puts a hash into them.
const HASHED: &str = "assets/";

/// One file of the page.
#[derive(Debug, Clone)]
pub(crate) struct File {
    content: Bytes,
    /// The same as long as the content is.
    etag: String,
}

/// The page, and the destinations that it offers.
pub(crate) struct Page {
    find: fn(&str) -> Option<File>,
    destinations: Bytes,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").finish_non_exhaustive()
    }
}

impl Page {
    /// The page of this binary, with `destinations` as its `demo.json`. Fails in a binary that was built without it.
    pub(crate) fn embedded(destinations: String) -> Result<Self, Failure> {
        let find = embedded::FIND.ok_or_else(|| {
            Failure::usage(
                "this muxgate was built without the page: `cargo xtask demo` builds one with it, as \
                 target/release/muxgate",
            )
        })?;
        Ok(Self { find, destinations: destinations.into() })
    }

    /// Answers a request for anything but a session.
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "a page is read with GET\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let name = match request.uri().path() {
            "/" => "index.html",
            path => path.strip_prefix('/').unwrap_or(path),
        };
        if name == DESTINATIONS {
            return file(name, self.destinations.clone(), "no-store");
        }
        let Some(File { content, etag }) = (self.find)(name) else {
            return text(StatusCode::NOT_FOUND, "not found\n");
        };
        let fresh = is_fresh(request.headers(), &etag);
        let caching = if name.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
        let mut response = file(name, if fresh { Bytes::new() } else { content }, caching);
        if fresh {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        // It is made of hexadecimal digits and quotes.
        response.headers_mut().extend(HeaderValue::try_from(etag).ok().map(|etag| (ETAG, etag)));
        response
    }
}

/// The answer to a request whose `Host` is a name that the gateway does not go by.
pub(crate) fn misdirected() -> Response<Full<Bytes>> {
    let why = "this gateway does not go by that name: list the page's origin with --allow-origin\n";
    text(StatusCode::MISDIRECTED_REQUEST, why)
}

fn text(status: StatusCode, why: &'static str) -> Response<Full<Bytes>> {
    let mut response = file("why.txt", Bytes::from_static(why.as_bytes()), "no-store");
    *response.status_mut() = status;
    response
}

fn file(name: &str, content: Bytes, caching: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(content));
    let mut add = |name: HeaderName, value| response.headers_mut().insert(name, HeaderValue::from_static(value));
    add(CONTENT_TYPE, media_type(name));
    add(CACHE_CONTROL, caching);
    add(X_CONTENT_TYPE_OPTIONS, "nosniff");
    // The rest of the policy stands in the page; this one is only heard here. Nobody may click on it through a frame.
    add(CONTENT_SECURITY_POLICY, "frame-ancestors 'none'");
    response
}

/// Whether the client has this version already (RFC 9110, section 13.1.2).
fn is_fresh(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut known = values.flat_map(|value| value.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == etag)
}

/// Those of the files that `vite build` writes. Browsers compile wasm while it arrives only if it is called so.
fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(not(feature = "page"))]
mod embedded {
    pub(super) const FIND: Option<fn(&str) -> Option<super::File>> = None;
}

#[cfg(feature = "page")]
mod embedded {
    use std::borrow::Cow;
    use std::fmt::Write;

    use bytes::Bytes;
    use rust_embed::{EmbeddedFile, RustEmbed};

    use super::File;

    pub(super) const FIND: Option<fn(&str) -> Option<File>> = Some(find);

    #[derive(RustEmbed)]
    #[folder = "../web-demo/dist"]
    struct Files;

    fn find(name: &str) -> Option<File> {
        let EmbeddedFile { data, metadata } = Files::get(name)?;
        let content = match data {
            Cow::Borrowed(data) => Bytes::from_static(data),
            Cow::Owned(data) => data.into(),
        };
        let digest = metadata.sha256_hash().iter().take(16).fold(String::new(), |mut digest, byte| {
            // Writing into a string cannot fail.
            let _ = write!(digest, "{byte:02x}");
            digest
        });
        Some(File { content, etag: format!("\"{digest}\"") })
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use http_body_util::BodyExt;

    use super::*;

    /// A page of three files.
    pub(crate) fn page() -> Page {
        let find = |name: &str| {
            let content = match name {
                "index.html" => "<!doctype html>",
                "assets/a-1.wasm" => "\0asm",
                "theme.js" => "theme",
                _ => return None,
            };
            Some(File { content: content.into(), etag: format!("\"{}\"", name.len()) })
        };
        Page { find, destinations: "{}".into() }
    }

    fn get(path: &str, headers: &[(HeaderName, &str)]) -> Response<Full<Bytes>> {
        let mut request = Request::get(path).body(()).unwrap();
        for (name, value) in headers {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        page().answer(&request)
    }

    async fn content(response: Response<Full<Bytes>>) -> Bytes {
        response.into_body().collect().await.unwrap().to_bytes()
    }

    #[tokio::test]
    async fn files_have_their_types_and_may_be_kept() {
        for (path, media_type, caching, expected) in [
            ("/", "text/html; charset=utf-8", "no-cache", "<!doctype html>"),
            ("/index.html?x=y", "text/html; charset=utf-8", "no-cache", "<!doctype html>"),
            ("/assets/a-1.wasm", "application/wasm", "public, max-age=31536000, immutable", "\0asm"),
            ("/theme.js", "text/javascript; charset=utf-8", "no-cache", "theme"),
            ("/demo.json", "application/json", "no-store", "{}"),
        ] {
            let response = get(path, &[]);
            let headers = response.headers();
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            assert_eq!(
                (&headers[CONTENT_TYPE], &headers[CACHE_CONTROL]),
                (&media_type.parse().unwrap(), &caching.parse().unwrap())
            );
            assert_eq!(headers[X_CONTENT_TYPE_OPTIONS], "nosniff");
            assert_eq!(content(response).await, expected);
        }
    }

    #[tokio::test]
    async fn what_a_browser_has_is_not_sent_again() {
        let etag = get("/", &[]).headers()[ETAG].to_str().unwrap().to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
            let response = get("/", &[(IF_NONE_MATCH, &known)]);
            assert_eq!(
                (response.status(), &response.headers()[ETAG]),
                (StatusCode::NOT_MODIFIED, &etag.parse().unwrap())
            );
            assert!(content(response).await.is_empty());
        }
        assert_eq!(get("/", &[(IF_NONE_MATCH, "\"x\"")]).status(), StatusCode::OK);
    }

    #[test]
    fn everything_else_is_not_found() {
        for path in [
            "/index",
            "/assets",
            "/assets/",
            "//index.html",
            "/../index.html",
            "/assets/../index.html",
            "/%69ndex.html",
        ] {
            assert_eq!(get(path, &[]).status(), StatusCode::NOT_FOUND, "{path}");
        }
        let post = page().answer(&Request::post("/").body(()).unwrap());
        assert_eq!(
            (post.status(), &post.headers()[ALLOW]),
            (StatusCode::METHOD_NOT_ALLOWED, &"GET, HEAD".parse().unwrap())
        );
    }

    #[test]
    fn a_binary_without_the_page_says_how_to_get_one() {
        match Page::embedded(String::new()) {
            Ok(page) => assert_eq!(page.answer(&Request::get("/").body(()).unwrap()).status(), StatusCode::OK),
            Err(failure) => assert!(failure.to_string().contains("cargo xtask demo"), "{failure}"),
        }
    }
}
