//! The plots, as SVG.

use crate::histogram::Histogram;
use crate::number::quantile;
use plotters::coord::ranged1d::SegmentValue;
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
/// What it is held against.
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

/// One line of a plot of several things of a kind, per cent.
pub struct Mark {
    /// What it is.
    pub label: String,
    /// How much, and in which colour.
    pub value: f64,
    /// Its colour.
    pub colour: RGBColor,
    /// The ends between which it may well be.
    pub interval: Option<[f64; 2]>,
}

/// Whether marks are bars from nothing, or points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Bars.
    Bars,
    /// Points with their intervals, shares of a hundred.
    Points,
    /// Points with their intervals, on either side of nothing.
    Changes,
    /// Points with their intervals, amounts of any size from nothing on.
    Amounts,
}

/// What an axis says, and how wide the plot is.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The words under the horizontal axis.
    pub axis: &'a str,
    /// [`WIDE`] or [`NARROW`].
    pub width: u32,
}

impl Frame<'_> {
    /// Room for the names of what is marked.
    fn names(self) -> u32 {
        if self.width < WIDE { 140 } else { 210 }
    }

    /// The name, as far as there is room for it.
    fn fitting(self, name: &str) -> String {
        let room = self.names() as usize / 7;
        match name.chars().count() > room {
            true => name.chars().take(room - 1).chain(['…']).collect(),
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

/// Marks one below the other, first on top; `line` is where they ought to be.
pub fn marks(
    marks: &[Mark],
    shape: Shape,
    line: Option<f64>,
    frame: Frame<'_>,
) -> Result<String, PlotError> {
    // An axis of a single place has no extent, and nothing could be drawn along it.
    let rows = i32::try_from(marks.len()).unwrap_or(0).max(2);
    let height = 70 + 24 * rows.unsigned_abs();
    let ends = marks.iter().flat_map(|mark| {
        let [low, high] = mark.interval.unwrap_or([mark.value; 2]);
        [low, high, mark.value]
    });
    let (mut low, mut high) = ends
        .chain(line)
        .fold((f64::MAX, f64::MIN), |(low, high), end| {
            (low.min(end), high.max(end))
        });
    match shape {
        Shape::Bars => (low, high) = (0.0, high * 1.12),
        Shape::Points => (low, high) = ((low - 3.0).max(0.0), (high + 3.0).min(101.0)),
        Shape::Changes => {
            // The figure beside the last point wants room.
            let edge = (0.15 * (high - low)).max(0.25);
            (low, high) = (low - edge, high + 2.0 * edge);
        }
        Shape::Amounts => (low, high) = (0.0, high * 1.2),
    }
    let high = match shape {
        Shape::Changes => high,
        Shape::Bars | Shape::Points | Shape::Amounts => high.max(low + 1.0),
    };
    let places = decimals(high - low);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(40)
            .x_label_area_size(42)
            .y_label_area_size(frame.names())
            .build_cartesian_2d(low..high, (0..rows - 1).into_segmented())?;
        // The vertical axis counts upwards, and a reader downwards.
        let of = |row: i32| {
            usize::try_from(rows - 1 - row)
                .ok()
                .and_then(|at| marks.get(at))
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(QUIET)
            .x_desc(frame.axis)
            .x_labels(if frame.width < WIDE { 6 } else { 10 })
            .x_label_formatter(&|value| match shape {
                Shape::Changes => signed(*value, places),
                Shape::Bars | Shape::Points | Shape::Amounts => format!("{value:.places$}"),
            })
            .y_labels(rows.unsigned_abs() as usize + 1)
            .y_label_formatter(&|row| match row {
                SegmentValue::CenterOf(row) => {
                    of(*row).map_or(String::new(), |mark| frame.fitting(&mark.label))
                }
                _ => String::new(),
            })
            .label_style((FONT, 14).into_font().color(&INK))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        if let Some(line) = line {
            let ends = [
                (line, SegmentValue::Exact(0)),
                (line, SegmentValue::Exact(rows)),
            ];
            chart.draw_series(DashedLineSeries::new(ends, 5, 4, INK.stroke_width(1)))?;
        }
        for row in 0..rows {
            let Some(mark) = of(row) else { continue };
            let centre = SegmentValue::CenterOf(row);
            if shape == Shape::Bars {
                let bar = [
                    (0.0, SegmentValue::Exact(row)),
                    (mark.value, SegmentValue::Exact(row + 1)),
                ];
                let mut bar = Rectangle::new(bar, mark.colour.filled());
                bar.set_margin(4, 4, 0, 0);
                chart.draw_series([bar])?;
            }
            if let Some([low, high]) = mark.interval {
                let ends = [(low, centre.clone()), (high, centre.clone())];
                let stroke = mark.colour.stroke_width(2);
                chart.draw_series([PathElement::new(ends, stroke)])?;
            }
            if shape != Shape::Bars {
                let point = (mark.value, centre.clone());
                chart.draw_series([Circle::new(point, 5, mark.colour.filled())])?;
            }
            let beside = mark.interval.map_or(mark.value, |[_, high]| high);
            let style = (FONT, 13).into_font().color(&INK);
            let at = EmptyElement::at((beside, centre))
                + Text::new(said(shape, mark.value), (6, -7), style);
            chart.draw_series([at])?;
        }
        area.present()?;
    }
    Ok(text)
}

/// The figure beside a mark.
fn said(shape: Shape, value: f64) -> String {
    match shape {
        Shape::Changes => signed(value, if value.abs() < 1.0 { 2 } else { 1 }),
        Shape::Amounts if value >= 100.0 => format!("{value:.0}"),
        Shape::Bars | Shape::Points | Shape::Amounts => format!("{value:.1}"),
    }
}

/// With its sign, but for nothing.
fn signed(value: f64, places: usize) -> String {
    let text = format!("{value:+.places$}");
    match text.trim_start_matches(['+', '-', '0', '.']).is_empty() {
        true => "0".to_owned(),
        false => text,
    }
}

/// How errors or changes are distributed, per cent.
pub fn distribution(errors: &Histogram, frame: Frame<'_>) -> Result<String, PlotError> {
    let rows = errors.total();
    let share = |count: usize| 100.0 * count as f64 / rows.max(1) as f64;
    let most = errors.counts.iter().copied().map(share).fold(1.0, f64::max);
    let (low, step) = (100.0 * errors.from, 100.0 * errors.step);
    let high = low + step * errors.counts.len() as f64;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, 330)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(low..high, 0.0..most * 1.08)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(QUIET)
            .x_desc(frame.axis)
            .y_desc("% of values")
            .x_labels(if frame.width < WIDE { 7 } else { 21 })
            .x_label_formatter(&|value| signed(*value, decimals(high - low)))
            .y_label_formatter(&|value| format!("{value:.0}"))
            .label_style((FONT, 14).into_font().color(&INK))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        chart.draw_series(errors.counts.iter().enumerate().map(|(at, count)| {
            let left = low + step * at as f64;
            let mut bar = Rectangle::new(
                [(left, 0.0), (left + step, share(*count))],
                RELEASE.filled(),
            );
            bar.set_margin(0, 0, 1, 1);
            bar
        }))?;
        let zero = [(0.0, 0.0), (0.0, most * 1.08)];
        chart.draw_series(DashedLineSeries::new(zero, 5, 4, INK.stroke_width(1)))?;
        area.present()?;
    }
    Ok(text)
}

/// Values in pounds with their changes, of which the middle 98 % are within the plot.
pub fn scattered(points: &[[f64; 2]], frame: Frame<'_>) -> Result<String, PlotError> {
    let ends = |at: usize, spared: f64| {
        let mut values: Vec<f64> = points.iter().map(|point| point[at]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let end = |part| quantile(&values, part).unwrap_or(0.0);
        (end(spared), end(1.0 - spared))
    };
    let (least, most) = ends(0, 0.01);
    let (down, up) = ends(1, 0.01);
    let (least, most) = (least * 0.9 / 1_000.0, most * 1.1 / 1_000.0);
    // No change is in the plot, and a row that did not move is not on its edge.
    let edge = (0.1 * 100.0 * (up - down)).max(0.25);
    let (low, high) = ((100.0 * down).min(0.0) - edge, (100.0 * up).max(0.0) + edge);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, 330)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(42)
            .y_label_area_size(56)
            .build_cartesian_2d(least..most.max(least + 1.0), low..high)?;
        let places = decimals(high - low);
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(QUIET)
            .x_desc(frame.axis)
            .y_desc("change, %")
            .x_labels(6)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_label_formatter(&|value| signed(*value, places))
            .label_style((FONT, 14).into_font().color(&INK))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        let zero = [(least, 0.0), (most.max(least + 1.0), 0.0)];
        chart.draw_series(DashedLineSeries::new(zero, 5, 4, INK.stroke_width(1)))?;
        let within = points.iter().filter_map(|[value, change]| {
            let (value, change) = (value / 1_000.0, 100.0 * change);
            let inside = (least..=most).contains(&value) && (low..=high).contains(&change);
            inside.then_some((value, change))
        });
        chart.draw_series(within.map(|point| Circle::new(point, 2, RELEASE.mix(0.5).filled())))?;
        area.present()?;
    }
    Ok(text)
}

/// Something over months, per cent, each point with the place of its month; gaps are kept.
pub struct Course {
    /// What it is.
    pub label: &'static str,
    /// Its colour.
    pub colour: RGBColor,
    /// Place of the month, and value.
    pub points: Vec<(i32, f64)>,
}

/// Courses over months.
pub fn months(names: &[String], courses: &[Course]) -> Result<String, PlotError> {
    let values = courses
        .iter()
        .flat_map(|course| course.points.iter().map(|(_, value)| *value));
    let (low, high) = values.fold((0.0_f64, 1.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let last = i32::try_from(names.len()).unwrap_or(1) - 1;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDE, 320)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(30)
            .x_label_area_size(34)
            .y_label_area_size(56)
            .build_cartesian_2d(0..last.max(1), (low - 1.0)..(high * 1.4 + 1.0))?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .bold_line_style(GRID)
            .axis_style(QUIET)
            .y_desc("% of the price")
            .x_labels(names.len().min(13))
            .x_label_formatter(&|at| {
                let name = usize::try_from(*at).ok().and_then(|at| names.get(at));
                name.cloned().unwrap_or_default()
            })
            .y_label_formatter(&|value| format!("{value:.0}"))
            .label_style((FONT, 14).into_font().color(&INK))
            .axis_desc_style((FONT, 14).into_font().color(&INK))
            .draw()?;
        for course in courses {
            let (colour, points) = (course.colour, course.points.clone());
            chart
                .draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?
                .label(course.label)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3))
                });
            let dots = points
                .iter()
                .map(|point| Circle::new(*point, 3, colour.filled()));
            chart.draw_series(dots)?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE)
            .border_style(GRID)
            .label_font((FONT, 14).into_font().color(&INK))
            .draw()?;
        area.present()?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_has_its_name_and_its_figure_within_the_plot() {
        for count in [1, 2, 9] {
            let all: Vec<Mark> = (0..count)
                .map(|at| Mark {
                    label: format!("group {at}"),
                    value: f64::from(at) + 0.25,
                    colour: RELEASE,
                    interval: None,
                })
                .collect();
            for shape in [Shape::Bars, Shape::Points, Shape::Changes, Shape::Amounts] {
                let frame = Frame {
                    axis: "%",
                    width: NARROW,
                };
                let text = marks(&all, shape, Some(0.0), frame).unwrap();
                for at in 0..count {
                    assert!(text.contains(&format!("group {at}\n")), "{count} {text}");
                }
                let height = 70 + 24 * count.max(2);
                let ends = text.split(" y=\"").skip(1);
                for y in ends.filter_map(|rest| rest.split('"').next()?.parse::<i32>().ok()) {
                    assert!((0..height).contains(&y), "{y} {text}");
                }
            }
        }
    }
}
