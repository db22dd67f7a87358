//! The tokens that a request presents.
//!
//! A program sends `Authorization: Bearer`. A browser lets its pages set no header but one: the subprotocols of the
//! WebSocket. So a page offers [`JMUX`] and `muxgate.token.` with the token in base64url behind it, which no log of
//! URLs shows, or it puts `?token=` into the URL, as for deployed gateways.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::Request;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, SEC_WEBSOCKET_PROTOCOL};

use super::admission::Rejection;

/// The subprotocol of our sessions. A browser gives a connection up whose server answers none of its offers.
pub(super) const JMUX: &str = "muxgate.jmux";
/// What the offer begins with that carries a token. It is never answered.
const TOKEN_PREFIX: &str = "muxgate.token.";

/// Every token in the request, wherever it stands. An unreadable one is an error, not an absent one.
pub(super) fn presented<B>(request: &Request<B>) -> Result<Vec<String>, Rejection> {
    let headers = request.headers();
    let mut tokens: Vec<_> = headers.get_all(AUTHORIZATION).iter().map(bearer).collect::<Result<_, _>>()?;
    let encoded = offers(headers).filter_map(|offer| offer.strip_prefix(TOKEN_PREFIX));
    tokens.extend(encoded.map(decode).collect::<Result<Vec<_>, _>>()?);
    let query = form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
    tokens.extend(query.filter(|(name, _)| name == "token").map(|(_, token)| token.into_owned()));
    Ok(tokens)
}

/// Whether the client offers [`JMUX`] and so expects it as the answer.
pub(super) fn offers_jmux(headers: &HeaderMap) -> bool {
    offers(headers).any(|offer| offer == JMUX)
}

fn bearer(value: &HeaderValue) -> Result<String, Rejection> {
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or(Rejection::WrongToken)?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned()).ok_or(Rejection::WrongToken)
}

fn decode(encoded: &str) -> Result<String, Rejection> {
    let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| Rejection::TokenEncoding)?;
    String::from_utf8(bytes).map_err(|_| Rejection::TokenEncoding)
}

/// The offered subprotocols: one header or several, commas between (RFC 6455, section 11.3.4).
fn offers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use hyper::header::HeaderName;

    use super::*;

    fn request(uri: &str, headers: &[(HeaderName, &str)]) -> Request<()> {
        let mut request = Request::get(uri).body(()).unwrap();
        for (name, value) in headers {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        request
    }

    fn tokens(uri: &str, headers: &[(HeaderName, &str)]) -> Result<Vec<String>, Rejection> {
        presented(&request(uri, headers))
    }

    fn offered(offer: &str) -> Result<Vec<String>, Rejection> {
        tokens("/", &[(SEC_WEBSOCKET_PROTOCOL, offer)])
    }

    #[test]
    fn a_token_may_stand_in_three_places() {
        assert_eq!(tokens("/", &[]), Ok(vec![]));
        let everywhere = [(SEC_WEBSOCKET_PROTOCOL, "muxgate.jmux, muxgate.token.Yg"), (AUTHORIZATION, "bearer  a")];
        let found = tokens("/?x=y&token=s3cret%2B%2F%3D", &everywhere);
        assert_eq!(found, Ok(vec!["a".to_owned(), "b".to_owned(), "s3cret+/=".to_owned()]));
        assert_eq!(tokens("/?tokens=x", &[]), Ok(vec![]));
    }

    #[test]
    fn offers_may_stand_in_one_header_or_several() {
        let several = [(SEC_WEBSOCKET_PROTOCOL, "x ,muxgate.token.YQ"), (SEC_WEBSOCKET_PROTOCOL, "muxgate.jmux")];
        assert_eq!(tokens("/", &several), Ok(vec!["a".to_owned()]));
        assert!(offers_jmux(request("/", &several).headers()));
        for other in ["jmux", "muxgate.jmux2", "MUXGATE.JMUX", "muxgate.token.YQ"] {
            assert!(!offers_jmux(request("/", &[(SEC_WEBSOCKET_PROTOCOL, other)]).headers()), "{other}");
        }
    }

    #[test]
    fn what_is_not_base64url_without_padding_is_refused() {
        assert_eq!(offered("muxgate.token.czNjcmV0Ky89"), Ok(vec!["s3cret+/=".to_owned()]));
        assert_eq!(offered("muxgate.token.Pz8-"), Ok(vec!["??>".to_owned()]));
        assert_eq!(offered("muxgate.token."), Ok(vec![String::new()]), "an empty token is one, and matches nothing");
        for bad in ["Pz8+", "YQ==", "YQ=", "Y", "YR", "!!!!", "_w"] {
            assert_eq!(offered(&format!("muxgate.token.{bad}")), Err(Rejection::TokenEncoding), "{bad}");
        }
    }

    #[test]
    fn another_scheme_is_a_wrong_token() {
        for wrong in ["Bearer", "Basic YQ==", "a"] {
            assert_eq!(tokens("/", &[(AUTHORIZATION, wrong)]), Err(Rejection::WrongToken), "{wrong}");
        }
    }
}
