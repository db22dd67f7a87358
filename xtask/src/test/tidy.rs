//! The step `tidy`: sizes that keep the code readable, and no notes to ourselves.

use anyhow::{Result, bail};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Signature};

use super::source::{File, files};
use crate::progress::Progress;

/// Lines of a function from `fn` to its closing brace, comments included.
const FUNCTION_LINES: usize = 70;
/// Lines of a file.
const FILE_LINES: usize = 600;
/// In a comment above a longer function or inside it, followed by why one piece is better than two.
const EXCEPTION: &str = "// exception: ";
/// Work belongs into issues. Spelt so that this file passes its own check.
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

pub(super) fn check(_: &Progress) -> Result<String> {
    let files = files(&["rs", "ts", "tsx", "js", "mjs", "css", "html", "py", "sh", "toml"])?;
    let mut faults = Vec::new();
    let mut functions = 0;
    for file in &files {
        faults.extend(lines(file));
        if file.path.rsplit('.').next() == Some("rs") {
            let found = Functions::of(file)?;
            functions += found.count;
            faults.extend(found.faults);
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(format!("{} files, {functions} functions", files.len()))
}

fn lines(file: &File) -> Vec<String> {
    let notes = file.text.lines().enumerate().filter(|(_, line)| NOTES.iter().any(|note| line.contains(note)));
    let mut faults: Vec<_> =
        notes.map(|(at, _)| format!("{}:{}: a note to ourselves; file an issue", file.path, at + 1)).collect();
    let lines = file.text.lines().count();
    if lines > FILE_LINES {
        faults.push(format!("{}: {lines} lines, more than {FILE_LINES}; split it by subject", file.path));
    }
    faults
}

/// Measures the functions of one file.
struct Functions<'a> {
    file: &'a File,
    count: usize,
    faults: Vec<String>,
}

impl<'a> Functions<'a> {
    fn of(file: &'a File) -> Result<Self> {
        let mut functions = Self { file, count: 0, faults: Vec::new() };
        functions.visit_file(&file.syntax()?);
        Ok(functions)
    }

    fn measure(&mut self, attributes: &[Attribute], signature: &Signature, body: &Block) {
        self.count += 1;
        let first = signature.fn_token.span.start().line;
        let last = body.brace_token.span.close().end().line;
        let lines = last + 1 - first;
        if lines > FUNCTION_LINES && !self.is_exception(attributes, first, last) {
            let Self { file, .. } = self;
            self.faults.push(format!(
                "{}:{first}: `{}` has {lines} lines, more than {FUNCTION_LINES}; split it, or say why not in `{EXCEPTION}...`",
                file.path, signature.ident,
            ));
        }
    }

    fn is_exception(&self, attributes: &[Attribute], first: usize, last: usize) -> bool {
        let first = attributes.iter().map(|attribute| attribute.span().start().line).fold(first, usize::min);
        // Lines count from 1: this skips to the line above the first attribute.
        let above = first.saturating_sub(2);
        self.file.text.lines().take(last).skip(above).any(|line| line.trim_start().starts_with(EXCEPTION))
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.measure(&item.attrs, &item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::{EXCEPTION, File, Functions, lines};

    fn rust(text: String) -> File {
        File { path: "core/src/a.rs".to_owned(), text }
    }

    fn function(lines: usize) -> String {
        format!("#[inline]\nfn long() {{\n{}}}\n", "    f();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines() {
        let faults = |lines| Functions::of(&rust(function(lines))).expect("it parses").faults;
        assert!(faults(70).is_empty());
        assert_eq!(faults(71).len(), 1);
    }

    #[test]
    fn an_exception_is_said_above_the_attributes_or_inside() {
        let above = format!("{EXCEPTION}one match\n{}", function(80));
        let inside = function(80).replacen("    f();", &format!("    {EXCEPTION}one match"), 1);
        for text in [above, inside] {
            assert!(Functions::of(&rust(text)).expect("it parses").faults.is_empty());
        }
    }

    #[test]
    fn methods_count_too() {
        let file = rust(format!("impl A {{\n{}}}\ntrait B {{\n{}}}\n", function(71), function(71)));
        assert_eq!(Functions::of(&file).expect("it parses").faults.len(), 2);
    }

    #[test]
    fn long_files_and_notes_are_faults() {
        assert!(lines(&rust("\n".repeat(600))).is_empty());
        assert_eq!(lines(&rust("\n".repeat(601))).len(), 1);
        let note = concat!("// TO", "DO: later\n");
        assert_eq!(lines(&rust(note.to_owned())), ["core/src/a.rs:1: a note to ourselves; file an issue"]);
    }
}
