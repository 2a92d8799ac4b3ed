//! The plots, as SVG.

mod curves;
mod marks;

pub use curves::{MonthlySeries, beyond, distribution, months, scatter_plot};
pub use marks::{Mark, Shape, marks};
use plotters::chart::MeshStyle;
use plotters::prelude::*;

/// Width of a plot over the whole page.
pub const WIDE: u32 = 920;
/// Width of a plot that is legible on a telephone, and has room for another beside it elsewhere.
pub const NARROW: u32 = 460;
const INK: RGBColor = RGBColor(27, 36, 48);
const QUIET: RGBColor = RGBColor(139, 151, 165);
const GRID: RGBColor = RGBColor(227, 232, 238);
/// The release, wherever it is drawn.
pub const RELEASE: RGBColor = RGBColor(31, 95, 153);
/// The colour of the other release.
pub const OTHER: RGBColor = RGBColor(201, 138, 43);
const FONT: &str = "sans-serif";

/// A plot could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("a plot could not be drawn: {0}")]
pub struct PlotError(String);

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for PlotError {
    fn from(error: DrawingAreaErrorKind<E>) -> PlotError {
        PlotError(error.to_string())
    }
}

/// The label of an axis, and the width of the plot.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The words under the horizontal axis.
    pub axis: &'a str,
    /// [`WIDE`] or [`NARROW`].
    pub width: u32,
}

impl Frame<'_> {
    /// Returns the width for the labels of marks.
    fn label_width(self) -> u32 {
        if self.width < WIDE { 140 } else { 210 }
    }

    /// Returns the name, as far as there is room for it.
    fn fitting(self, name: &str) -> String {
        let max_chars = self.label_width() as usize / 7;
        match name.chars().count() > max_chars {
            true => name.chars().take(max_chars - 1).chain(['…']).collect(),
            false => name.to_owned(),
        }
    }
}

/// Decimals that tell neighbouring labels of an axis apart.
fn decimals(span: f64) -> usize {
    match span {
        span if span >= 8.0 => 0,
        span if span >= 0.8 => 1,
        _ => 2,
    }
}

/// Formats a number with its sign. Zero has none.
fn signed_number(value: f64, places: usize) -> String {
    let text = format!("{value:+.places$}");
    match text.trim_start_matches(['+', '-', '0', '.']).is_empty() {
        true => "0".to_owned(),
        false => text,
    }
}

/// Returns the lines and letters that all plots share.
fn plain<'m, 'a, 'b, X: Ranged, Y: Ranged, DB: DrawingBackend>(
    mesh: &'m mut MeshStyle<'a, 'b, X, Y, DB>,
) -> &'m mut MeshStyle<'a, 'b, X, Y, DB> {
    mesh.light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(QUIET)
        .label_style((FONT, 14).into_font().color(&INK))
        .axis_desc_style((FONT, 14).into_font().color(&INK))
}
