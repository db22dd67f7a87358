//! The bearer token of a gateway: read from a file, never shown, compared in constant time.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use subtle::ConstantTimeEq;

/// Longest token, in bytes: it has to fit into a request head together with everything else.
const MAX_TOKEN: usize = 8 * 1024;

/// A bearer token. Its debug form does not show it.
#[derive(Clone)]
pub struct Token(String);

/// Why there is no usable token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The source cannot be read.
    #[error("cannot read it: {0}")]
    Read(#[from] io::Error),
    /// Nothing in it. An empty token would let everybody in.
    #[error("it is empty: write a token into it, for example with: openssl rand -hex 32")]
    Empty,
    /// Longer than a request head may be.
    #[error("it is longer than 8192 bytes")]
    TooLong,
    /// Not fit for an HTTP header.
    #[error("a token is one line of visible ASCII characters without spaces")]
    Characters,
}

impl Token {
    /// Checks a token. One trailing line end does not belong to it.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let token = line.strip_suffix('\r').unwrap_or(line);
        match token.len() {
            0 => Err(TokenError::Empty),
            length if length > MAX_TOKEN => Err(TokenError::TooLong),
            _ if !token.bytes().all(|b| b.is_ascii_graphic()) => Err(TokenError::Characters),
            _ => Ok(Self(token.to_owned())),
        }
    }

    /// Reads a token from a file, and warns if every user of the machine can do the same.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let file = File::open(path)?;
        if file.metadata()?.permissions().mode() & 0o004 != 0 {
            tracing::warn!("the token file {} is readable by every user of this machine: chmod 600 it", path.display());
        }
        Self::from_reader(file)
    }

    /// Reads a token to the end of `source`.
    pub fn from_reader(source: impl Read) -> Result<Self, TokenError> {
        let mut text = String::new();
        // One more than fits, so that a file of any size is seen to be too long.
        let limit = MAX_TOKEN as u64 + 3;
        match source.take(limit).read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(TokenError::Characters),
            Err(error) => Err(error.into()),
            Ok(_) => Self::new(&text),
        }
    }

    /// Whether `presented` is this token. Takes as long for a wrong token of the right length as for the right one.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// The token itself, for the request of a client.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests read constants")]
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text).unwrap()
    }

    #[test]
    fn one_trailing_line_end_is_trimmed() {
        assert_eq!(token("secret\n").expose(), "secret");
        assert_eq!(token("secret\r\n").expose(), "secret");
        assert_eq!(token("secret").expose(), "secret");
        assert!(matches!(Token::new("secret\n\n"), Err(TokenError::Characters)));
    }

    #[test]
    fn an_empty_source_is_refused() {
        for text in ["", "\n", "\r\n"] {
            assert!(matches!(Token::from_reader(text.as_bytes()), Err(TokenError::Empty)), "{text:?}");
        }
    }

    #[test]
    fn what_no_header_carries_is_refused() {
        for text in ["two words", " x", "x\ty", "x\0", "tökèn", "a\nb"] {
            assert!(matches!(Token::from_reader(text.as_bytes()), Err(TokenError::Characters)), "{text:?}");
        }
        assert!(matches!(Token::from_reader(&b"\xff"[..]), Err(TokenError::Characters)));
        let long = "x".repeat(MAX_TOKEN);
        assert_eq!(Token::from_reader(format!("{long}\r\n").as_bytes()).unwrap().expose(), long);
        assert!(matches!(Token::from_reader(io::repeat(b'x')), Err(TokenError::TooLong)));
    }

    #[test]
    fn only_the_token_matches() {
        let token = token("secret");
        assert!(token.matches("secret"));
        for wrong in ["", "secre", "secrets", "Secret", "secreT"] {
            assert!(!token.matches(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_debug_form_hides_it() {
        assert_eq!(format!("{:?}", token("secret")), "Token(..)");
    }
}
