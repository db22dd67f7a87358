//! What the gateway tells about a session.

use anyhow::{Context, Result};

use super::figures::Figures;

/// The classes of WindowAdjust messages.
const CLASSES: [&str; 3] = ["lazy", "urgent", "must"];

/// Adjusts per 10^9 bytes, from the log line about the end of a session that received bulk data.
pub(super) fn of(log: &[String]) -> Result<Figures> {
    let line = log.iter().find(|line| line.contains("session ended")).context("the gateway logged no session's end")?;
    let gigabytes = number(line, "bytes_received")? / 1e9;
    let mut figures = Figures::new();
    let mut all = 0.0;
    for class in CLASSES {
        let adjusts = number(line, &format!("adjusts_{class}"))? / gigabytes;
        all += adjusts;
        figures.insert(format!("{class}_per_gb"), adjusts);
    }
    figures.insert("adjusts_per_gb".to_owned(), all);
    Ok(figures)
}

fn number(line: &str, field: &str) -> Result<f64> {
    let value = line.split_whitespace().find_map(|word| word.strip_prefix(field)?.strip_prefix('='));
    let number = value.and_then(|value| value.parse().ok());
    number.with_context(|| format!("`{line}` has no number {field}"))
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn adjusts_are_counted_per_gigabyte() {
        let log = [
            "session started",
            "session ended bytes_received=500000000 adjusts_lazy=1 adjusts_urgent=20 adjusts_must=0",
        ];
        let figures = of(&log.map(str::to_owned)).expect("the line has every field");
        assert_eq!(figures.get("urgent_per_gb"), Some(&40.0));
        assert_eq!(figures.get("adjusts_per_gb"), Some(&42.0));
        assert!(of(&["session ended bytes_received=1".to_owned()]).is_err());
    }
}
