//! What the npm package does in a page: `tests/browser/bench/page.mjs` measures, and prints a line for each figure.

use anyhow::{Context, Result};

use super::Args;
use super::figures::{Figures, Results};
use super::ways::{BARE, PAGE, Programs};
use crate::npm;
use crate::process::{program, root, run_with};
use crate::progress::Progress;

/// Builds the package and measures it.
pub(super) fn measure(programs: &Programs, args: &Args, progress: &Progress) -> Result<Results> {
    let folder = root().join("tests/browser");
    npm::build(progress)?;
    npm::node::ensure_packages(&folder, progress)?;
    let mut bench = program("node");
    bench.args(["bench/page.mjs", &args.rounds.to_string(), &args.seconds.to_string()]);
    bench.current_dir(folder).env("MUXGATE_BIN", programs.muxgate().get_program());
    let mut results = Results::default();
    let mut strange = Vec::new();
    run_with(&mut bench, |line| {
        progress.news(line);
        if let Some(line) = line.strip_prefix("figure ") {
            add(&mut results, line).unwrap_or_else(|| strange.push(line.to_owned()));
        }
    })?;
    strange.is_empty().then_some(results).with_context(|| format!("these are no figures: {strange:?}"))
}

/// Adds a line of load, way, name and value.
fn add(results: &mut Results, line: &str) -> Option<()> {
    let words: Vec<_> = line.split(' ').collect();
    let &[load, way, name, value] = &words[..] else { return None };
    let way = match way {
        "bare" => &BARE,
        "page" => &PAGE,
        _ => return None,
    };
    results.add(load, way.name, Figures::from([(name.to_owned(), value.parse().ok()?)]));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::bench::figures::{Cell, Results};

    #[test]
    fn figures_are_added_by_load_way_and_name() {
        let mut results = Results::default();
        assert_eq!(add(&mut results, "down page gbit_per_s 0.5"), Some(()));
        let cell = Cell { load: "down", way: "muxgate in a page", figure: "gbit_per_s", relative_to: None };
        assert_eq!(results.median(cell), Some(0.5));
        assert_eq!(add(&mut results, "down node gbit_per_s 0.5"), None);
        assert_eq!(add(&mut results, "down page gbit_per_s"), None);
    }
}
