//! The plots, as SVG.

use crate::histogram::Histogram;
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;

const WIDTH: u32 = 920;
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
    /// Points with their intervals.
    Points,
}

/// Marks one below the other, first on top; `line` is where they ought to be.
pub fn marks(
    marks: &[Mark],
    shape: Shape,
    line: Option<f64>,
    axis: &str,
) -> Result<String, PlotError> {
    let height = 70 + 24 * u32::try_from(marks.len()).unwrap_or(0);
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
    }
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        let rows = i32::try_from(marks.len()).unwrap_or(0);
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(40)
            .x_label_area_size(42)
            .y_label_area_size(210)
            .build_cartesian_2d(low..high.max(low + 1.0), (0..rows - 1).into_segmented())?;
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
            .x_desc(axis)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_labels(marks.len() + 1)
            .y_label_formatter(&|row| match row {
                SegmentValue::CenterOf(row) => of(*row).map_or(String::new(), |m| m.label.clone()),
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
            if shape == Shape::Points {
                let point = (mark.value, centre.clone());
                chart.draw_series([Circle::new(point, 5, mark.colour.filled())])?;
            }
            let beside = mark.interval.map_or(mark.value, |[_, high]| high);
            let style = (FONT, 13).into_font().color(&INK);
            let at = EmptyElement::at((beside, centre))
                + Text::new(format!("{:.1}", mark.value), (6, -7), style);
            chart.draw_series([at])?;
        }
        area.present()?;
    }
    Ok(text)
}

/// How errors are distributed, per cent of the price.
pub fn distribution(errors: &Histogram) -> Result<String, PlotError> {
    let rows: usize = errors.counts.iter().sum::<usize>() + errors.below + errors.above;
    let share = |count: usize| 100.0 * count as f64 / rows.max(1) as f64;
    let most = errors.counts.iter().copied().map(share).fold(1.0, f64::max);
    let (low, step) = (100.0 * errors.from, 100.0 * errors.step);
    let high = low + step * errors.counts.len() as f64;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, 330)).into_drawing_area();
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
            .x_desc("error, % of the price; above 0 the estimate was too high")
            .y_desc("% of values")
            .x_labels(21)
            .x_label_formatter(&|value| match value.abs() < 0.5 {
                true => "0".to_owned(),
                false => format!("{value:+.0}"),
            })
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
        let area = SVGBackend::with_string(&mut text, (WIDTH, 320)).into_drawing_area();
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
