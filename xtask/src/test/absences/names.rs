//! Names that may not be used in some places.

use crate::test::source::{File, Name, names};

/// Names that product code below some folders may not use.
struct Rule {
    within: &'static [&'static str],
    /// Paths as in source; `=` in front asks for the whole path.
    names: &'static [&'static str],
    instead: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        within: &["core/src/"],
        names: &["Instant", "SystemTime", "UNIX_EPOCH"],
        instead: "core reads no clock: take `now` as a parameter, or ask the caller's `Clock`",
    },
    Rule {
        within: &["core/src/"],
        names: &["std::thread", "std::process", "spawn", "spawn_local", "spawn_blocking"],
        instead: "core spawns nothing: return a future that the caller spawns",
    },
    Rule {
        within: &["core/src/"],
        // Addresses are values and may be named; `std::net` alone could hide a socket.
        names: &[
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "ToSocketAddrs",
            "=std::net",
            "std::os",
            "std::fs",
            "std::env",
        ],
        instead: "core has no sockets and no surroundings: take a `Transport` or a setting",
    },
    Rule {
        within: &["core/", "transport-native/", "gateway/", "tests/"],
        names: &["JsValue", "js_sys", "wasm_bindgen", "web_sys"],
        instead: "JavaScript stays inside transport-wasm",
    },
    Rule {
        within: &["transport-native/src/", "transport-wasm/src/"],
        names: &["muxgate_core::frame", "muxgate_core::codec", "muxgate_core::Frame", "WindowAdjust"],
        instead: "transports know no frames: they carry a byte stream",
    },
    Rule {
        within: &["core/", "transport-native/", "transport-wasm/", "gateway/", "tests/", "xtask/"],
        names: &[
            "unbounded",
            "unbounded_channel",
            "UnboundedSender",
            "UnboundedReceiver",
            "std::sync::mpsc::channel",
            "std::sync::mpsc::Sender",
            // Then `mpsc::channel()` could not be told from a bounded one.
            "=std::sync::mpsc",
            "=std::sync::mpsc::self",
        ],
        instead: "no queue is unbounded: choose a capacity and wait, or refuse",
    },
];

/// Crate roots that forbid `unsafe` for the whole crate.
const WITHOUT_UNSAFE: &[&str] = &["core/src/lib.rs", "gateway/src/lib.rs", "gateway/src/main.rs"];

/// The forbidden names of one file.
pub(super) fn faults(path: &str, syntax: &syn::File) -> Vec<String> {
    let rules: Vec<_> = RULES.iter().filter(|rule| rule.within.iter().any(|folder| path.starts_with(folder))).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let breach = |name: Name| {
        let rule = rules.iter().find(|rule| rule.names.iter().any(|pattern| matches(&name, pattern)))?;
        Some(format!("{path}:{}: `{}`: {}", name.line, name.path.join("::"), rule.instead))
    };
    names(syntax).into_iter().filter_map(breach).collect()
}

fn matches(name: &Name, pattern: &str) -> bool {
    match pattern.strip_prefix('=') {
        Some(whole) => name.path.join("::") == whole,
        None => name.contains(pattern),
    }
}

/// The crate roots that do not say `#![forbid(unsafe_code)]`.
pub(super) fn missing_forbids(files: &[File]) -> Vec<String> {
    let roots = files.iter().filter(|file| WITHOUT_UNSAFE.contains(&file.path.as_str()));
    let careless = roots.filter(|file| !file.text.contains("#![forbid(unsafe_code)]"));
    careless.map(|file| format!("{}: `#![forbid(unsafe_code)]` is missing", file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::{File, faults, missing_forbids};

    fn found(path: &str, source: &str) -> usize {
        faults(path, &syn::parse_file(source).expect("the test's source is Rust")).len()
    }

    #[test]
    fn core_has_no_clock_thread_or_socket() {
        let breaches = [
            "use std::{net::TcpStream, io};",
            "use std::net;",
            "use std::time::{Duration, Instant};",
            "fn f() { std::thread::yield_now() }",
            "fn f() { executor.spawn(g()) }",
            "fn f() { trace!(at = ?std::time::SystemTime::now()) }",
        ];
        for source in breaches {
            assert_eq!(found("core/src/a.rs", source), 1, "{source}");
            assert_eq!(found("gateway/src/a.rs", source), 0, "{source}");
        }
        assert_eq!(found("core/src/a.rs", "/// Like std::thread::spawn.\nfn respawn(instant: u8) {}"), 0);
        assert_eq!(found("core/src/a.rs", "use std::net::IpAddr;"), 0);
    }

    #[test]
    fn only_bounded_queues() {
        assert_eq!(
            found("gateway/src/a.rs", "fn f() { let (a, b) = tokio::sync::mpsc::unbounded_channel::<u8>(); }"),
            1
        );
        assert_eq!(found("gateway/src/a.rs", "use std::sync::mpsc;"), 1);
        assert_eq!(found("gateway/src/a.rs", "use std::sync::{Arc, mpsc::{self, Sender}};"), 2);
        assert_eq!(found("gateway/src/a.rs", "use std::sync::mpsc::sync_channel; use tokio::sync::mpsc;"), 0);
    }

    #[test]
    fn roots_forbid_unsafe_code() {
        let file = |text: &str| File { path: "core/src/lib.rs".to_owned(), text: text.to_owned() };
        assert_eq!(missing_forbids(&[file("//! Core.\n")]).len(), 1);
        assert!(missing_forbids(&[file("#![forbid(unsafe_code)]\n")]).is_empty());
    }
}
