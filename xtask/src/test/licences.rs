//! The step `licences`: deny.toml's list, without the minutes it takes to install cargo-deny.

use std::fs;

use anyhow::{Context, Result, bail};
use spdx::{Expression, ParseMode};

use crate::process::{cargo, output, root};
use crate::progress::Progress;

pub(super) fn check(_: &Progress) -> Result<String> {
    let policy = fs::read_to_string(root().join("deny.toml")).context("cannot read deny.toml")?;
    let allowed = allowed(&policy)?;
    // Locked: what is built is what was committed.
    let tree =
        ["tree", "--locked", "--workspace", "--target", "all", "--edges", "normal,build,dev", "--prefix", "none"];
    let packages = output(cargo(tree).args(["--no-dedupe", "--format", "{p}\t{l}"]))?;
    // An empty line stands between the trees of two crates of ours.
    let mut packages: Vec<_> = packages.lines().filter(|line| !line.is_empty()).collect();
    packages.sort_unstable();
    packages.dedup();

    let faults: Vec<_> = packages.iter().filter_map(|package| fault(package, &allowed)).collect();
    if !faults.is_empty() {
        bail!("{}\nchoose another crate, or argue for the licence in deny.toml", faults.join("\n"));
    }
    Ok(format!("{} packages", packages.len()))
}

/// The licences that `deny.toml` allows.
fn allowed(policy: &str) -> Result<Vec<String>> {
    let policy: toml::Table = policy.parse().context("deny.toml is not TOML")?;
    let list = policy.get("licenses").and_then(|licences| licences.get("allow")?.as_array());
    let list = list.context("deny.toml has no list licenses.allow")?;
    Ok(list.iter().filter_map(|licence| licence.as_str()).map(str::to_owned).collect())
}

/// What is wrong with a line with a package, a tab and its licence expression.
fn fault(package: &str, allowed: &[String]) -> Option<String> {
    let (name, licence) = package.split_once('\t').unwrap_or((package, ""));
    // Lax: old crates write "MIT/Apache-2.0".
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => {
            let fits = expression.evaluate(|required| allowed.iter().any(|licence| *licence == required.to_string()));
            (!fits).then(|| format!("{name}: licence {licence} is not allowed"))
        }
        Err(_) => Some(format!("{name}: its licence \"{licence}\" cannot be understood")),
    }
}

#[cfg(test)]
mod tests {
    use super::{allowed, fault};

    #[test]
    fn one_allowed_alternative_is_enough() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let fits = |licence: &str| fault(&format!("a v1\t{licence}"), &allowed).is_none();
        assert!(fits("MIT") && fits("GPL-3.0-only OR MIT") && fits("MIT/Apache-2.0"));
        assert!(fits("Apache-2.0 WITH LLVM-exception"));
        assert!(!fits("GPL-3.0-only") && !fits("MIT AND MPL-2.0") && !fits("Apache-2.0"));
        assert!(!fits(""), "a crate without a licence may not be used");
    }

    #[test]
    fn the_list_is_that_of_cargo_deny() {
        let policy = "[licenses]\nallow = [\"MIT\", \"ISC\"]\n[bans]\nwildcards = \"deny\"\n";
        assert_eq!(allowed(policy).expect("it is TOML"), ["MIT", "ISC"]);
    }
}
