//! Axes: where they begin and end, and what stands beside them.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// Round numbers of a decade.
const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

/// About how many numbers stand beside a linear axis.
const NUMBERS: f64 = 6.0;

/// A part of a line with marks where we want them, not where a library likes them.
#[derive(Clone)]
pub(crate) struct Marked {
    pub(crate) range: Range<f64>,
    pub(crate) marks: Vec<f64>,
}

impl Ranged for Marked {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let part = (value - self.range.start) / (self.range.end - self.range.start);
        #[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
        let pixels = (part * f64::from(last - first)).round() as i32;
        first + pixels
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// A vertical axis. On a logarithmic one heights are decades.
pub(crate) struct Axis {
    logarithmic: bool,
    /// Heights, of which those that have a number are marked.
    pub(crate) heights: Marked,
}

impl Axis {
    /// An axis with room for all `values`; a linear one begins at zero.
    pub(crate) fn new(logarithmic: bool, values: &[f64]) -> Self {
        let most = values.iter().copied().fold(0.0, f64::max);
        if logarithmic {
            let least = values.iter().copied().filter(|&value| value > 0.0).fold(most, f64::min);
            return Self::decades(least.log10(), most.log10());
        }
        let step = round(most / NUMBERS);
        let marks: Vec<_> = multiples(step).take_while(|&mark| mark < most + step).collect();
        let range = 0.0..marks.last().copied().unwrap_or(1.0);
        Self { logarithmic, heights: Marked { range, marks } }
    }

    fn decades(least: f64, most: f64) -> Self {
        let range = least - 0.1..most + 0.1;
        let decades = multiples(1.0).map(|step| range.start.floor() + step).take_while(|&decade| decade <= range.end);
        // Few decades get numbers in between.
        let round = if most - least > 3.0 { &ROUND[..1] } else { &ROUND };
        let marks = decades.flat_map(|decade| round.iter().map(move |number| decade + number.log10()));
        let marks = marks.filter(|mark| range.contains(mark)).collect();
        Self { logarithmic: true, heights: Marked { range, marks } }
    }

    /// The height of a value; none if the axis cannot show it.
    pub(crate) fn height(&self, value: f64) -> Option<f64> {
        if self.logarithmic { (value > 0.0).then(|| value.log10()) } else { Some(value) }
    }

    /// The number at a height.
    pub(crate) fn number(&self, height: f64) -> String {
        let value = if self.logarithmic { 10_f64.powf(height) } else { height };
        // As many digits as round numbers of that size have.
        match value {
            10.0.. => grouped(&format!("{value:.0}")),
            1.0.. if self.logarithmic => format!("{value:.0}"),
            _ => {
                let number = format!("{value:.2}");
                number.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        }
    }
}

fn multiples(step: f64) -> impl Iterator<Item = f64> {
    (0_u32..).map(move |count| f64::from(count) * step)
}

/// The next round number from `least` on.
fn round(least: f64) -> f64 {
    let decade = 10_f64.powf(least.max(1e-9).log10().floor());
    let number = ROUND.into_iter().map(|number| number * decade).find(|&number| number >= least);
    number.unwrap_or(10.0 * decade)
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::Axis;

    fn numbers(axis: &Axis) -> Vec<String> {
        axis.heights.marks.iter().map(|&mark| axis.number(mark)).collect()
    }

    #[test]
    fn a_linear_axis_begins_at_zero() {
        assert_eq!(numbers(&Axis::new(false, &[13.0, 34.5])), ["0", "10", "20", "30", "40"]);
        assert_eq!(numbers(&Axis::new(false, &[0.8])), ["0", "0.2", "0.4", "0.6", "0.8"]);
    }

    #[test]
    fn a_logarithmic_axis_has_decades() {
        let axis = Axis::new(true, &[0.0, 21.0, 12_027.0]);
        assert_eq!(numbers(&axis), ["20", "50", "100", "200", "500", "1,000", "2,000", "5,000", "10,000"]);
        assert_eq!((axis.height(0.0), axis.height(100.0)), (None, Some(2.0)));
    }

    #[test]
    fn nothing_at_all_has_an_axis_too() {
        assert!(!Axis::new(false, &[]).heights.marks.is_empty());
    }
}
