//! Plots of distributions, of points and of months.

use super::{FONT, Frame, GRID, INK, PlotError, RELEASE, WIDE, decimals, plain, signed_number};
use crate::histogram::Histogram;
use crate::number::quantile;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Returns a chart with the margins of all curves, and room for labels below the axis.
fn chart_with_margins<'a, 'b, D: DrawingBackend>(
    area: &'a DrawingArea<D, Shift>,
    below: u32,
) -> ChartBuilder<'a, 'b, D> {
    let mut chart = ChartBuilder::on(area);
    chart.margin(6).margin_right(30);
    chart.x_label_area_size(below).y_label_area_size(56);
    chart
}

/// Plots the distribution of errors or changes, per cent.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn distribution(errors: &Histogram, frame: Frame<'_>) -> Result<String, PlotError> {
    let rows = errors.total();
    let share = |count: usize| 100.0 * count as f64 / rows.max(1) as f64;
    let most = errors.counts.iter().copied().map(share).fold(1.0, f64::max);
    let (low, step) = (100.0 * errors.from, 100.0 * errors.step);
    let high = low + step * errors.counts.len() as f64;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, 330)).into_drawing_area();
        let mut chart =
            chart_with_margins(&area, 42).build_cartesian_2d(low..high, 0.0..most * 1.08)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_desc(frame.axis)
            .y_desc("% of values")
            .x_labels(if frame.width < WIDE { 7 } else { 21 })
            .x_label_formatter(&|value| signed_number(*value, decimals(high - low)))
            .y_label_formatter(&|value| format!("{value:.0}"))
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

/// The visible part of a plane.
struct Window {
    /// Thousands of pounds.
    values: [f64; 2],
    /// Per cent.
    changes: [f64; 2],
}

impl Window {
    /// Returns the window of the middle 98 % of the points.
    fn of(points: &[[f64; 2]]) -> Window {
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
        Window {
            values: [least, most.max(least + 1.0)],
            changes: [(100.0 * down).min(0.0) - edge, (100.0 * up).max(0.0) + edge],
        }
    }

    /// Returns the position of a point, and whether the point lies beyond the edge and is drawn on
    /// it.
    fn position(&self, [value, change]: [f64; 2]) -> ((f64, f64), bool) {
        let (value, change) = (value / 1_000.0, 100.0 * change);
        let position = (
            value.clamp(self.values[0], self.values[1]),
            change.clamp(self.changes[0], self.changes[1]),
        );
        (position, position != (value, change))
    }
}

/// Returns how many points [`scattered`] draws on its edge, since they lie beyond it.
pub fn beyond(points: &[[f64; 2]]) -> usize {
    let window = Window::of(points);
    points
        .iter()
        .filter(|point| window.position(**point).1)
        .count()
}

/// Plots values in pounds with their changes. The plot shows the middle 98 %. A point outside is a
/// triangle on its edge.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn scatter_plot(points: &[[f64; 2]], frame: Frame<'_>) -> Result<String, PlotError> {
    let window = Window::of(points);
    let ([least, most], [low, high]) = (window.values, window.changes);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (frame.width, 330)).into_drawing_area();
        let mut chart = chart_with_margins(&area, 42).build_cartesian_2d(least..most, low..high)?;
        let places = decimals(high - low);
        plain(&mut chart.configure_mesh())
            .x_desc(frame.axis)
            .y_desc("change, %")
            .x_labels(6)
            .x_label_formatter(&|value| format!("{value:.0}"))
            .y_label_formatter(&|value| signed_number(*value, places))
            .draw()?;
        let zero = [(least, 0.0), (most, 0.0)];
        chart.draw_series(DashedLineSeries::new(zero, 5, 4, INK.stroke_width(1)))?;
        let (beyond, within): (Vec<_>, Vec<_>) = points
            .iter()
            .map(|point| window.position(*point))
            .partition(|(_, beyond)| *beyond);
        let within = within.into_iter().map(|(position, _)| position);
        chart.draw_series(
            within.map(|position| Circle::new(position, 2, RELEASE.mix(0.5).filled())),
        )?;
        let beyond = beyond.into_iter().map(|(position, _)| position);
        chart.draw_series(beyond.map(|position| TriangleMarker::new(position, 5, INK.filled())))?;
        area.present()?;
    }
    Ok(text)
}

/// A series over months, per cent, each point with the position of its month. Gaps stay open.
pub struct MonthlySeries {
    /// The label.
    pub label: &'static str,
    /// Its colour.
    pub colour: RGBColor,
    /// Place of the month, and value.
    pub points: Vec<(i32, f64)>,
}

/// Courses over months.
///
/// # Errors
/// [`PlotError`] if the plot cannot be drawn.
pub fn months(names: &[String], courses: &[MonthlySeries]) -> Result<String, PlotError> {
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
        let mut chart = chart_with_margins(&area, 34)
            .build_cartesian_2d(0..last.max(1), (low - 1.0)..(high * 1.4 + 1.0))?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .y_desc("% of the price")
            .x_labels(names.len().min(13))
            .x_label_formatter(&|at| {
                let name = usize::try_from(*at).ok().and_then(|at| names.get(at));
                name.cloned().unwrap_or_default()
            })
            .y_label_formatter(&|value| format!("{value:.0}"))
            .draw()?;
        for course in courses {
            let (colour, points) = (course.colour, &course.points);
            let runs = points.chunk_by(|(one, _), (next, _)| *next == one + 1);
            for (at, run) in runs.enumerate() {
                let line = LineSeries::new(run.iter().copied(), colour.stroke_width(2));
                let line = chart.draw_series(line)?;
                if at == 0 {
                    line.label(course.label).legend(move |(x, y)| {
                        PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3))
                    });
                }
            }
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

    /// Counts the lines of a plot over five months.
    fn count_lines(months_drawn: &[i32]) -> usize {
        let names: Vec<String> = (1..=5).map(|month| format!("2026-0{month}")).collect();
        let series = MonthlySeries {
            label: "median error",
            colour: RELEASE,
            points: months_drawn.iter().map(|at| (*at, 2.0)).collect(),
        };
        let drawn = months(&names, &[series]).unwrap();
        assert_eq!(drawn.matches("median error").count(), 1, "{drawn}");
        assert_eq!(drawn.matches("<circle").count(), months_drawn.len());
        drawn.matches("<polyline").count()
    }

    #[test]
    fn no_line_leads_through_months_without_a_value() {
        let whole = count_lines(&[0, 1, 2, 3, 4]);
        assert_eq!(count_lines(&[0, 1, 3, 4]), whole + 1);
        assert_eq!(count_lines(&[0, 2, 4]), whole + 2);
    }
}
