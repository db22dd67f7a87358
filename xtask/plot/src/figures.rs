//! What is drawn, as text: lines of words between tabs.
//!
//! ```text
//! panel   Throughput   connections   Gbit/s   linear
//! ticks   1       2       10
//! series  direct  33.91   31.30   32.09
//! ```
//!
//! A panel ends where the next one begins. What was not measured is `-`.

use anyhow::{Context, Result, bail};

/// A row of panels.
pub(crate) struct Figures {
    pub(crate) panels: Vec<Panel>,
}

/// Lines over one axis.
pub(crate) struct Panel {
    pub(crate) title: String,
    /// What is on the horizontal axis.
    pub(crate) x: String,
    /// What is on the vertical axis, with its unit.
    pub(crate) y: String,
    /// Whether equal factors are equally far apart.
    pub(crate) logarithmic: bool,
    /// Names of the places on the horizontal axis.
    pub(crate) ticks: Vec<String>,
    pub(crate) series: Vec<Series>,
}

/// One line: a value for each place.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) values: Vec<Option<f64>>,
}

impl Figures {
    /// Reads the text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut panels = Vec::new();
        for line in text.lines() {
            add(&mut panels, line).with_context(|| format!("in `{line}`"))?;
        }
        if panels.is_empty() {
            bail!("there are no panels");
        }
        Ok(Self { panels })
    }
}

fn add(panels: &mut Vec<Panel>, line: &str) -> Result<()> {
    let words: Vec<_> = line.split('\t').map(str::to_owned).collect();
    match &words[..] {
        [kind, title, x, y, scale] if kind == "panel" => panels.push(Panel {
            title: title.clone(),
            x: x.clone(),
            y: y.clone(),
            logarithmic: scale == "logarithmic",
            ticks: Vec::new(),
            series: Vec::new(),
        }),
        [kind, ticks @ ..] if kind == "ticks" => last(panels)?.ticks = ticks.to_vec(),
        [kind, name, values @ ..] if kind == "series" => {
            let panel = last(panels)?;
            if values.len() != panel.ticks.len() {
                bail!("{} values for {} ticks", values.len(), panel.ticks.len());
            }
            let values = values.iter().map(|value| number(value)).collect::<Result<_>>()?;
            panel.series.push(Series { name: name.clone(), values });
        }
        _ => bail!("neither a panel nor ticks nor a series"),
    }
    Ok(())
}

fn last(panels: &mut [Panel]) -> Result<&mut Panel> {
    panels.last_mut().context("a panel comes first")
}

fn number(text: &str) -> Result<Option<f64>> {
    if text == "-" { Ok(None) } else { text.parse().map(Some).with_context(|| format!("`{text}` is no number")) }
}

#[cfg(test)]
mod tests {
    use super::Figures;

    #[test]
    fn panels_have_ticks_and_series() {
        let text = "panel\tA\tx\ty\tlinear\nticks\t1\t2\nseries\tmine\t0.5\t-\n";
        let panel = &Figures::parse(text).expect("it is well formed").panels[0];
        assert_eq!((panel.title.as_str(), panel.ticks.len(), panel.logarithmic), ("A", 2, false));
        assert_eq!((panel.series[0].name.as_str(), &panel.series[0].values[..]), ("mine", &[Some(0.5), None][..]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let panel = "panel\tA\tx\ty\tlinear\nticks\t1\t2\n";
        for text in ["", "series\ta\t1\n", &format!("{panel}series\ta\t1\n"), &format!("{panel}series\ta\t1\tb\n")] {
            assert!(Figures::parse(text).is_err(), "{text}");
        }
    }
}
