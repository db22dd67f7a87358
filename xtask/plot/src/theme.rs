//! Colours.

use plotters::style::RGBColor;

/// Colours of one kind of page.
pub(crate) struct Theme {
    /// In the name of the file.
    pub(crate) name: &'static str,
    pub(crate) background: RGBColor,
    pub(crate) text: RGBColor,
    pub(crate) grid: RGBColor,
}

pub(crate) const LIGHT: Theme = Theme {
    name: "light",
    background: RGBColor(255, 255, 255),
    text: RGBColor(31, 35, 40),
    grid: RGBColor(222, 226, 231),
};

pub(crate) const DARK: Theme =
    Theme { name: "dark", background: RGBColor(13, 17, 23), text: RGBColor(230, 237, 243), grid: RGBColor(48, 54, 61) };

/// Of series: each is seen on white and on black.
const SERIES: [RGBColor; 9] = [
    RGBColor(139, 148, 158),
    RGBColor(176, 112, 16),
    RGBColor(37, 120, 235),
    RGBColor(13, 158, 140),
    RGBColor(168, 85, 247),
    RGBColor(229, 72, 77),
    RGBColor(30, 170, 210),
    RGBColor(240, 140, 20),
    RGBColor(219, 60, 150),
];

/// The colour of a series.
pub(crate) fn colour(series: usize) -> RGBColor {
    SERIES[series % SERIES.len()]
}
