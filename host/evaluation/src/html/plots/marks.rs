//! Things of a kind, one below the other.

use super::{FONT, Frame, INK, PlotError, WIDE, decimals, plain, signed_number};
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;

/// One line of a plot of several things of a kind, per cent.
pub struct Mark {
    /// The label.
    pub label: String,
    /// The value of the mark.
    pub value: f64,
    /// Its colour.
    pub colour: RGBColor,
    /// The ends between which it may well be.
    pub interval: Option<[f64; 2]>,
}

/// The shape of marks: bars from zero, or points.
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

/// Draws marks one below the other, the first on top. `line` is their intended value.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn marks(
    marks: &[Mark],
    shape: Shape,
    line: Option<f64>,
    frame: Frame<'_>,
) -> Result<String, PlotError> {
    // An axis of a single place has no extent, and nothing could be drawn along it.
    let rows = i32::try_from(marks.len()).unwrap_or(0).max(2);
    let height = 70 + 24 * rows.unsigned_abs();
    let (low, high) = axis_ends(marks, shape, line);
    let places = decimals(high - low);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, height)).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(40)
            .x_label_area_size(42)
            .y_label_area_size(frame.label_width())
            .build_cartesian_2d(low..high, (0..rows - 1).into_segmented())?;
        // The vertical axis counts upwards, and a reader downwards.
        let of = |row: i32| {
            usize::try_from(rows - 1 - row)
                .ok()
                .and_then(|at| marks.get(at))
        };
        plain(&mut chart.configure_mesh())
            .disable_y_mesh()
            .x_desc(frame.axis)
            .x_labels(if frame.width < WIDE { 6 } else { 10 })
            .x_label_formatter(&|value| match shape {
                Shape::Changes => signed_number(*value, places),
                Shape::Bars | Shape::Points | Shape::Amounts => format!("{value:.places$}"),
            })
            .y_labels(rows.unsigned_abs() as usize + 1)
            .y_label_formatter(&|row| match row {
                SegmentValue::CenterOf(row) => {
                    of(*row).map_or(String::new(), |mark| frame.fitting(&mark.label))
                }
                _ => String::new(),
            })
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
                + Text::new(value_label(shape, mark.value), (6, -7), style);
            chart.draw_series([at])?;
        }
        area.present()?;
    }
    Ok(text)
}

/// Returns the ends of the horizontal axis, with space for the figures beside the marks.
fn axis_ends(marks: &[Mark], shape: Shape, line: Option<f64>) -> (f64, f64) {
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
            // The figure beside the last point needs space.
            let edge = (0.15 * (high - low)).max(0.25);
            (low, high) = (low - edge, high + 2.0 * edge);
        }
        Shape::Amounts => (low, high) = (0.0, high * 1.2),
    }
    let high = match shape {
        Shape::Changes => high,
        Shape::Bars | Shape::Points | Shape::Amounts => high.max(low + 1.0),
    };
    (low, high)
}

/// Returns the figure beside a mark.
fn value_label(shape: Shape, value: f64) -> String {
    match shape {
        Shape::Changes => signed_number(value, if value.abs() < 1.0 { 2 } else { 1 }),
        Shape::Amounts if value >= 100.0 => format!("{value:.0}"),
        Shape::Bars | Shape::Points | Shape::Amounts => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NARROW, RELEASE};
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
