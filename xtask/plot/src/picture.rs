//! Panels beside each other, and below them what the colours mean.

use anyhow::Result;
use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Text};
use plotters::prelude::SVGBackend;
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

use crate::axis::{Axis, Marked};
use crate::figures::{Figures, Panel};
use crate::theme::{Theme, colour};

/// Of one panel, in pixels.
const PANEL: (u32, u32) = (400, 320);
/// Of one entry of the legend.
const ENTRY: (u32, u32) = (190, 24);
const MARGIN: u32 = 12;
const FONT: &str = "sans-serif";

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture as SVG.
pub(crate) fn draw(figures: &Figures, theme: &Theme) -> Result<String> {
    let names = names(figures);
    let width = PANEL.0 * u32::try_from(figures.panels.len())?;
    let columns = (width - 2 * MARGIN) / ENTRY.0;
    let rows = u32::try_from(names.len())?.div_ceil(columns);
    let mut svg = String::new();
    {
        let height = PANEL.1 + rows * ENTRY.1 + MARGIN;
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        area.fill(&theme.background)?;
        let (panels, legend) = area.split_vertically(PANEL.1);
        for (panel, area) in figures.panels.iter().zip(panels.split_evenly((1, figures.panels.len()))) {
            draw_panel(panel, &names, &area, theme)?;
        }
        draw_legend(&names, columns, &legend, theme)?;
        area.present()?;
    }
    Ok(svg)
}

/// The series of all panels: each has its place in the legend, and its colour.
fn names(figures: &Figures) -> Vec<&str> {
    let mut names = Vec::new();
    for series in figures.panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

fn draw_panel(panel: &Panel, names: &[&str], area: &Area<'_>, theme: &Theme) -> Result<()> {
    let values: Vec<f64> = panel.series.iter().flat_map(|series| series.values.iter().flatten().copied()).collect();
    let axis = Axis::new(panel.logarithmic, &values);
    let places: Vec<f64> = (0..u32::try_from(panel.ticks.len())?).map(f64::from).collect();
    let last = places.last().copied().unwrap_or_default();
    let text = |size: u32| (FONT, size).into_font().color(&theme.text);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, text(17))
        .margin(MARGIN)
        .set_label_area_size(LabelAreaPosition::Left, 64)
        .set_label_area_size(LabelAreaPosition::Bottom, 44)
        .build_cartesian_2d(Marked { range: -0.2..last + 0.2, marks: places.clone() }, axis.heights.clone())?;
    let place = |at: &f64| {
        let tick = places.iter().zip(&panel.ticks).find(|(place, _)| (*place - at).abs() < 0.5);
        tick.map(|(_, name)| name.clone()).unwrap_or_default()
    };
    chart
        .configure_mesh()
        .bold_line_style(theme.grid)
        .light_line_style(theme.background)
        .max_light_lines(0)
        .axis_style(theme.text)
        .label_style(text(13))
        .axis_desc_style(text(14))
        .x_desc(&panel.x)
        .y_desc(&panel.y)
        .x_label_formatter(&place)
        .y_label_formatter(&|height| axis.number(*height))
        .draw()?;
    for series in &panel.series {
        let index = names.iter().position(|name| *name == series.name).unwrap_or_default();
        let points = places.iter().zip(&series.values);
        let points: Vec<_> = points.filter_map(|(&at, value)| Some((at, axis.height((*value)?)?))).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), colour(index).stroke_width(2)))?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, colour(index).filled())))?;
    }
    Ok(())
}

fn draw_legend(names: &[&str], columns: u32, area: &Area<'_>, theme: &Theme) -> Result<()> {
    let style = TextStyle::from((FONT, 14).into_font()).color(&theme.text).pos(Pos::new(HPos::Left, VPos::Center));
    for (index, name) in names.iter().enumerate() {
        let number = u32::try_from(index)?;
        let (x, y) = (MARGIN + number % columns * ENTRY.0, number / columns * ENTRY.1 + ENTRY.1 / 2);
        let (x, y) = (i32::try_from(x)?, i32::try_from(y)?);
        area.draw(&PathElement::new([(x, y), (x + 26, y)], colour(index).stroke_width(2)))?;
        area.draw(&Circle::new((x + 13, y), 4, colour(index).filled()))?;
        area.draw(&Text::new((*name).to_owned(), (x + 34, y), style.clone()))?;
    }
    Ok(())
}
