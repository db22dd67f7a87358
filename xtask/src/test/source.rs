//! Our sources as the checks see them: files that git knows, Rust as syntax, names with their paths.

use std::fs;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item};

use crate::process::{self, program, root};

/// A file of ours; `path` is relative to the workspace, with slashes.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

/// Files that git tracks or would track, with one of the `extensions`.
pub(super) fn files(extensions: &[&str]) -> Result<Vec<File>> {
    let mut list = program("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--"]);
    list.args(extensions.iter().map(|extension| format!("*.{extension}")));
    let paths = process::output(&mut list)?;
    // A file that was removed but not yet from git's index is no longer ours.
    let present = paths.lines().filter(|path| root().join(path).is_file());
    present.map(read).collect()
}

fn read(path: &str) -> Result<File> {
    let text = fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))?;
    Ok(File { path: path.to_owned(), text })
}

impl File {
    /// The file as Rust.
    pub(super) fn syntax(&self) -> Result<syn::File> {
        syn::parse_file(&self.text).with_context(|| format!("{} is not Rust", self.path))
    }

    /// The file as Rust, without what is compiled for tests only.
    pub(super) fn product(&self) -> Result<syn::File> {
        let mut syntax = self.syntax()?;
        if self.path.contains("/tests/") || self.path.ends_with("/tests.rs") {
            syntax.items.clear();
        }
        remove_tests(&mut syntax.items);
        Ok(syntax)
    }
}

fn remove_tests(items: &mut Vec<Item>) {
    items.retain(|item| !attributes(item).iter().any(is_cfg_test));
    for item in items {
        if let Item::Mod(module) = item
            && let Some((_, inner)) = &mut module.content
        {
            remove_tests(inner);
        }
    }
}

fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("(test)")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// A name as the source writes it, with the path before it: `std::thread::spawn`.
///
/// `use std::{io, thread}` yields `std::io` and `std::thread`, so that no grouping hides a name. Names inside
/// macros count; comments, documentation and strings do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

impl Name {
    /// Whether the segments of `pattern` appear in this name, one after the other.
    pub(super) fn contains(&self, pattern: &str) -> bool {
        let pattern: Vec<_> = pattern.split("::").collect();
        self.path.windows(pattern.len()).any(|segments| segments == pattern)
    }
}

/// All names of `tokens`.
pub(super) fn names(tokens: &impl ToTokens) -> Vec<Name> {
    let mut walk = Walk::default();
    walk.tokens(tokens.to_token_stream());
    walk.names
}

/// Puts names together while walking over tokens.
#[derive(Default)]
struct Walk {
    names: Vec<Name>,
    /// What stands before a group of a `use` item; empty elsewhere.
    prefix: Vec<String>,
    path: Vec<String>,
    line: usize,
    /// The last token was `::`, so that the next one continues the path.
    joined: bool,
}

impl Walk {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut colon = false;
        for token in tokens {
            let second_colon = colon;
            colon = false;
            match token {
                TokenTree::Ident(ident) => self.segment(ident.to_string(), ident.span().start().line),
                TokenTree::Punct(punct) if punct.as_char() == ':' && second_colon => self.joined = true,
                TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint => colon = true,
                TokenTree::Punct(punct) if punct.as_char() == '*' && self.joined => {
                    self.segment("*".to_owned(), punct.span().start().line);
                }
                TokenTree::Group(group) if self.joined && group.delimiter() == Delimiter::Brace => {
                    let prefix = std::mem::take(&mut self.path);
                    self.group(prefix, group.stream());
                }
                TokenTree::Group(group) => {
                    self.end_name();
                    self.group(Vec::new(), group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.end_name(),
            }
        }
        self.end_name();
    }

    fn segment(&mut self, segment: String, line: usize) {
        if !self.joined {
            self.end_name();
        }
        self.path.push(segment);
        self.line = line;
        self.joined = false;
    }

    fn end_name(&mut self) {
        let path = std::mem::replace(&mut self.path, self.prefix.clone());
        if path.len() > self.prefix.len() {
            self.names.push(Name { path, line: self.line });
        }
        self.joined = !self.prefix.is_empty();
    }

    fn group(&mut self, prefix: Vec<String>, tokens: TokenStream) {
        let outer = std::mem::replace(&mut self.prefix, prefix);
        self.path.clone_from(&self.prefix);
        self.joined = !self.prefix.is_empty();
        self.tokens(tokens);
        self.prefix = outer;
        self.path.clone_from(&self.prefix);
        self.joined = !self.prefix.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, names};

    fn written(source: &str) -> Vec<String> {
        let tokens: proc_macro2::TokenStream = source.parse().expect("the test's source is Rust");
        names(&tokens).into_iter().map(|name: Name| name.path.join("::")).collect()
    }

    #[test]
    fn a_grouped_use_hides_no_name() {
        let found = written("use std::{io::{self, Read}, thread, net::*,}; use bytes::Bytes;");
        let expected = ["use", "std::io::self", "std::io::Read", "std::thread", "std::net::*", "use", "bytes::Bytes"];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_inside_macros_and_bodies_count() {
        let found = written("fn f(x: T) { info!(at = ?std::time::Instant::now(), \"thread\"); a.spawn::<u8>(b) }");
        assert!(found.contains(&"std::time::Instant::now".to_owned()), "{found:?}");
        assert!(found.contains(&"spawn".to_owned()), "{found:?}");
        assert!(!found.contains(&"thread".to_owned()), "{found:?}");
    }

    #[test]
    fn documentation_names_nothing() {
        assert!(!written("/// see std::thread\nfn f() {}").contains(&"std::thread".to_owned()));
    }

    #[test]
    fn a_pattern_matches_whole_segments_in_a_row() {
        let name = Name { path: ["std", "sync", "mpsc"].map(str::to_owned).to_vec(), line: 1 };
        assert!(name.contains("std::sync") && name.contains("mpsc"));
        assert!(!name.contains("std::mpsc") && !name.contains("mps"));
    }
}
