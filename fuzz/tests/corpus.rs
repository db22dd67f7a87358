//! Every target, without a fuzzer: over what failed once or reached something new, over random bytes, and over the
//! former with some of the latter in it. `MUXGATE_FUZZ_SECONDS` says for how long; otherwise it is a fixed number of inputs.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use muxgate_fuzz::{TARGETS, Target, target};

/// Random inputs of each target.
const ROUNDS: u64 = 500;

fn run(name: &str) {
    let Target { run, .. } = target(name).expect("there is a target of this name");
    let corpus = corpus(name);
    for (file, input) in &corpus {
        println!("{file}");
        run(input);
    }
    let seconds = env::var("MUXGATE_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let (began, limit) = (Instant::now(), seconds.map(Duration::from_secs));
    for seed in 0.. {
        if limit.map_or(seed == ROUNDS, |limit| began.elapsed() > limit) {
            break;
        }
        println!("seed {seed}");
        run(&Random(seed).input(&corpus));
    }
}

fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let entries = fs::read_dir(folder).expect("every target has a corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    files.sort_unstable();
    let read = |path: &Path| fs::read(path).expect("the file can be read");
    let corpus: Vec<_> = files.iter().map(|path| (path.display().to_string(), read(path))).collect();
    assert!(!corpus.is_empty(), "{name} has an empty corpus");
    corpus
}

/// The same numbers for the same seed (`SplitMix64`).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("lengths fit");
        usize::try_from(self.next() % bound).expect("it is below a length")
    }

    /// Random bytes, or a file of the corpus with some of its bytes changed, cut out or repeated.
    fn input(&mut self, corpus: &[(String, Vec<u8>)]) -> Vec<u8> {
        if self.next().is_multiple_of(2) {
            let words = self.below(500);
            return (0..words).flat_map(|_| self.next().to_le_bytes()).collect();
        }
        let mut input = corpus[self.below(corpus.len())].1.clone();
        for _ in 0..=self.below(8) {
            let (from, to) = (self.below(input.len() + 1), self.below(input.len() + 1));
            match self.next() % 3 {
                0 if from < input.len() => input[from] = self.next().to_le_bytes()[0],
                1 if from < to => drop(input.drain(from..to)),
                2 if from < to => input.extend_from_within(from..to),
                _ => input.push(self.next().to_le_bytes()[0]),
            }
        }
        input
    }
}

#[test]
fn every_target_has_a_test() {
    let tested = ["admission", "decoder", "peer", "session", "text", "websocket"];
    assert_eq!(TARGETS.map(|target| target.name), tested);
}

#[test]
fn admission() {
    run("admission");
}

#[test]
fn decoder() {
    run("decoder");
}

#[test]
fn peer() {
    run("peer");
}

#[test]
fn session() {
    run("session");
}

#[test]
fn text() {
    run("text");
}

#[test]
fn websocket() {
    run("websocket");
}
