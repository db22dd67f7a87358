//! Numbers by name, round after round.

use std::collections::BTreeMap;

/// What one load measured.
pub(super) type Figures = BTreeMap<String, f64>;

/// One number of many.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    /// The load, as its scenario calls it.
    pub(super) load: &'static str,
    /// The name of the way.
    pub(super) way: &'static str,
    /// The figure, as the load calls it.
    pub(super) figure: &'static str,
    /// The way whose figure it is divided by.
    pub(super) relative_to: Option<&'static str>,
}

/// All figures of a scenario: by load, way and name, one of each round.
#[derive(Default)]
pub(super) struct Results(BTreeMap<(String, String, String), Vec<f64>>);

impl Results {
    /// Adds what `load` measured through `way` in one round.
    pub(super) fn add(&mut self, load: &str, way: &str, figures: Figures) {
        for (figure, value) in figures {
            self.0.entry((load.to_owned(), way.to_owned(), figure)).or_default().push(value);
        }
    }

    /// The median over all rounds, of ratios within each round where the cell is a ratio.
    pub(super) fn median(&self, cell: Cell) -> Option<f64> {
        let values = self.values(cell, cell.way)?;
        match cell.relative_to {
            None => median(values.to_vec()),
            Some(other) => {
                let others = self.values(cell, other)?;
                median(values.iter().zip(others).map(|(value, other)| value / other).collect())
            }
        }
    }

    fn values(&self, cell: Cell, way: &str) -> Option<&[f64]> {
        let key = (cell.load.to_owned(), way.to_owned(), cell.figure.to_owned());
        self.0.get(&key).map(Vec::as_slice)
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(values[low].midpoint(values[high]))
}

#[cfg(test)]
mod tests {
    use super::{Cell, Figures, Results};

    fn results(ours: &[f64], theirs: &[f64]) -> Results {
        let mut results = Results::default();
        for (way, values) in [("ours", ours), ("theirs", theirs)] {
            for &value in values {
                results.add("bulk", way, Figures::from([("rate".to_owned(), value)]));
            }
        }
        results
    }

    const OURS: Cell = Cell { load: "bulk", way: "ours", figure: "rate", relative_to: None };

    #[test]
    fn medians_of_odd_and_even_numbers_of_rounds() {
        assert_eq!(results(&[9.0, 1.0, 2.0], &[]).median(OURS), Some(2.0));
        assert_eq!(results(&[9.0, 1.0, 2.0, 4.0], &[]).median(OURS), Some(3.0));
        assert_eq!(results(&[], &[]).median(OURS), None);
    }

    #[test]
    fn a_ratio_compares_within_a_round() {
        let ratio = Cell { relative_to: Some("theirs"), ..OURS };
        // The machine was ten times slower in the second round, for both.
        assert_eq!(results(&[5.0, 0.5, 5.0], &[10.0, 1.0, 10.0]).median(ratio), Some(0.5));
    }
}
