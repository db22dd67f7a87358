//! Draws figures: `muxgate-plot FIGURES PICTURE` writes `PICTURE-light.svg` and `PICTURE-dark.svg`.
#![forbid(unsafe_code)]

mod axis;
mod figures;
mod picture;
mod theme;

use std::env;
use std::fs;

use anyhow::{Context, Result};

use figures::Figures;
use theme::{DARK, LIGHT};

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let (figures, picture) = (arguments.next(), arguments.next());
    let (figures, picture) = (figures.context("wanted: figures")?, picture.context("wanted: a picture")?);
    let text = fs::read_to_string(&figures).with_context(|| format!("cannot read {figures}"))?;
    let figures = Figures::parse(&text)?;
    for theme in [LIGHT, DARK] {
        let path = format!("{picture}-{}.svg", theme.name);
        fs::write(&path, picture::draw(&figures, &theme)?).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}
