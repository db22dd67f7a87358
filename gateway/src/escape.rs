//! Text from a peer, made safe to show.
//!
//! A description or host name may carry terminal escape sequences or direction overrides. Everything that a
//! peer wrote goes through [`Printable`] before it reaches a terminal or a log.

use std::fmt;

/// Longest text shown, in characters: enough for any host name, too little to flood a log.
const MAX_CHARS: usize = 300;

/// Displays text with everything that is not visible written as an escape such as `\u{1b}`.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.0.chars();
        for c in chars.by_ref().take(MAX_CHARS) {
            match c {
                '"' | '\'' => fmt::Write::write_char(f, c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        if chars.next().is_some() { f.write_str("...") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_a_terminal_would_obey() {
        let hostile = "a\x1b[2J\r\nb\u{9b}31m\u{202e}c\0\x7f";
        let shown = Printable(hostile).to_string();
        assert_eq!(shown, "a\\u{1b}[2J\\r\\nb\\u{9b}31m\\u{202e}c\\0\\u{7f}");
    }

    #[test]
    fn leaves_words_alone() {
        assert_eq!(Printable("can't reach \"größe\"").to_string(), "can't reach \"größe\"");
    }

    #[test]
    fn a_backslash_cannot_imitate_an_escape() {
        assert_eq!(Printable("\\u{1b}").to_string(), "\\\\u{1b}");
    }

    #[test]
    fn cuts_floods() {
        let shown = Printable(&"x".repeat(100_000)).to_string();
        assert_eq!(shown.len(), MAX_CHARS + 3);
    }
}
