//! Results as text: the same tables on the terminal and in BENCHMARKS.md.

use std::fs;

use anyhow::{Context, Result};

use super::figures::{Cell, Results};
use super::scenarios::{Column, Scenario};
use super::targets;
use super::ways::Way;
use crate::process::root;

const FILE: &str = "BENCHMARKS.md";

/// The tables of one scenario.
pub(super) fn of(scenario: &Scenario, ways: &[&Way], results: &Results) -> String {
    let heading = format!("## {}\n\n{}\n\n", scenario.title, scenario.about);
    [heading, figures(scenario, ways, results), skipped(ways), judgements(scenario, results)].concat()
}

fn figures(scenario: &Scenario, ways: &[&Way], results: &Results) -> String {
    let heads = scenario.columns.iter().map(|column| column.head.to_owned());
    let measured = ways.iter().filter(|way| way.missing().is_none());
    let mut rows = vec![std::iter::once(String::new()).chain(heads).collect()];
    rows.extend(measured.map(|way| row(way, scenario.columns, results)));
    table(&rows)
}

fn row(way: &Way, columns: &[Column], results: &Results) -> Vec<String> {
    let cell = |&Column { load, figure, relative_to, decimals, .. }: &Column| {
        let relative_to = relative_to.map(|way| way.name);
        let value = results.median(Cell { load, way: way.name, figure, relative_to });
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
    };
    std::iter::once(way.name.to_owned()).chain(columns.iter().map(cell)).collect()
}

fn skipped(ways: &[&Way]) -> String {
    let missing = ways.iter().filter_map(|way| Some((way.name, way.missing()?)));
    let lines = missing.map(|(way, program)| format!("\nSkipped: {way}, because {program} is not installed.\n"));
    lines.collect::<Vec<_>>().concat()
}

fn judgements(scenario: &Scenario, results: &Results) -> String {
    let mut rows = vec![["target", "measured", "wanted", ""].map(str::to_owned).to_vec()];
    for target in targets::of_scenario(scenario.name) {
        rows.push(std::iter::once(target.name.to_owned()).chain(target.judge(results)).collect());
    }
    if rows.len() == 1 { String::new() } else { format!("\n{}", table(&rows)) }
}

/// A Markdown table that is also readable as it is. The first row is its head, the first column text, the rest
/// numbers.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("| {cell:width$} "),
            _ => format!("| {cell:>width$} "),
        });
        cells.collect::<String>() + "|\n"
    };
    let rule: Vec<_> = widths.iter().enumerate().map(|(column, &width)| dashes(column, width)).collect();
    let mut lines: Vec<_> = rows.iter().map(|row| line(row)).collect();
    lines.insert(1, line(&rule));
    lines.concat()
}

/// The rule below the head; a colon aligns numbers to the right.
fn dashes(column: usize, width: usize) -> String {
    let dashes = "-".repeat(width.saturating_sub(1));
    dashes + if column == 0 { "-" } else { ":" }
}

/// Replaces the section `name` of BENCHMARKS.md.
pub(super) fn write(name: &str, section: &str) -> Result<()> {
    let path = root().join(FILE);
    let old = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let new = replaced(&old, name, section).with_context(|| format!("{FILE} has no section for {name}"))?;
    fs::write(&path, new).with_context(|| format!("cannot write {FILE}"))
}

/// `text` with `section` between the markers of `name`.
fn replaced(text: &str, name: &str, section: &str) -> Option<String> {
    let begin = format!("<!-- bench {name} -->\n");
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!("{before}{begin}{section}<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::{replaced, table};

    #[test]
    fn a_table_is_aligned() {
        let rows = [["", "Gbit/s"], ["direct", "12.1"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "|        | Gbit/s |\n| ------ | -----: |\n| direct |   12.1 |\n");
    }

    #[test]
    fn a_section_is_replaced_and_nothing_else() {
        let text = "a\n<!-- bench x -->\nold\n<!-- end -->\nb\n<!-- bench y -->\n<!-- end -->\n";
        let new = replaced(text, "x", "new\n").expect("the section is there");
        assert_eq!(new, "a\n<!-- bench x -->\nnew\n<!-- end -->\nb\n<!-- bench y -->\n<!-- end -->\n");
        assert_eq!(replaced(text, "z", "new\n"), None);
    }
}
