//! Charts as drawings that need no script.

use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 10.0;
const RIGHT: f64 = 10.0;

/// A value over an interval of days. A point has the same first and last day.
#[derive(Clone, Debug)]
pub struct Interval {
    /// First day, counted from 1970-01-01.
    pub from: i32,
    /// Last day.
    pub to: i32,
    /// The value; `None` where none was observed, which stays a gap.
    pub value: Option<f64>,
    /// The words that name it.
    pub title: String,
}

/// One series of a chart.
pub struct ChartSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its values in the order of days.
    pub intervals: Vec<Interval>,
}

/// Returns a chart of series in one unit. Intervals are drawn as such, and no line joins two of
/// them: what was not observed is a gap.
pub fn intervals(title: &str, unit: &str, series: &[ChartSeries]) -> Markup {
    let all = || series.iter().flat_map(|series| &series.intervals);
    let values = || all().filter_map(|interval| interval.value);
    let (Some(first), Some(last)) = (
        all().map(|interval| interval.from).min(),
        all().map(|interval| interval.to).max(),
    ) else {
        return html! {};
    };
    let low = values().fold(f64::MAX, f64::min);
    let high = values().fold(f64::MIN, f64::max);
    if low > high {
        return html! { p.quiet { "No value was observed in these periods." } };
    }
    let axis = Axis::of(low, high);
    let days = f64::from((last - first).max(1));
    let x = |day: i32| place(f64::from(day - first) / days);
    let marks = marks(first, last)
        .into_iter()
        .map(|(words, day)| (x(day), words));
    let drawing = html! {
        @for (at, series) in series.iter().enumerate() {
            g class={ "series-" (at % 6) @if is_of_points(series) { " points" } } {
                @for interval in &series.intervals {
                    @if let Some(value) = interval.value {
                        @let (from, to) = (x(interval.from), x(interval.to));
                        // A point is a short line with round ends.
                        path d={ "M" (coordinate(from)) " " (coordinate(axis.y(value))) "H" (coordinate(to.max(from + 0.1))) } {
                            title { (interval.title) }
                        }
                    }
                }
            }
        }
    };
    let names: Vec<&str> = series.iter().map(|series| series.name.as_str()).collect();
    let frame = Frame {
        title,
        caption: &format!("{title}, {unit}"),
        axis: &axis,
        marks: marks.collect(),
        names: &names,
    };
    frame.show(&drawing)
}

/// The parts of a chart around its drawing.
pub struct Frame<'a> {
    /// The name for readers who do not see the drawing.
    pub title: &'a str,
    /// The words above it.
    pub caption: &'a str,
    /// The vertical axis.
    pub axis: &'a Axis,
    /// Places on the horizontal axis with their words.
    pub marks: Vec<(f64, String)>,
    /// The names of the series.
    pub names: &'a [&'a str],
}

impl Frame<'_> {
    /// Returns the chart with a drawing in it.
    pub fn show(&self, drawing: &Markup) -> Markup {
        let axis = self.axis;
        html! {
            figure.chart {
                figcaption { (self.caption) }
                svg viewBox="0 0 720 260" role="img" aria-label=(self.title) {
                    @for tick in &axis.ticks {
                        path.grid d={ "M" (LEFT) " " (coordinate(axis.y(*tick))) "H710" } {}
                        text.tick x="64" y=(coordinate(axis.y(*tick) + 4.0)) { (label(*tick, axis.step)) }
                    }
                    @for (x, words) in &self.marks {
                        text.year x=(coordinate(*x)) y="252" { (words) }
                    }
                    (drawing)
                }
                @if self.names.len() > 1 {
                    ul.legend {
                        @for (at, name) in self.names.iter().enumerate() {
                            li class={ "series-" (at % 6) } { (name) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the place of a share of the horizontal axis, 0 to 1.
pub fn place(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

/// Returns the path of a line through points. A point without a value is a gap, and one between two
/// gaps is a dash.
pub fn line(points: impl Iterator<Item = (f64, Option<f64>)>, axis: &Axis) -> String {
    let mut path = String::new();
    let mut points = points.peekable();
    let mut joined = false;
    while let Some((x, value)) = points.next() {
        if let Some(value) = value {
            let (x, y) = (coordinate(x), coordinate(axis.y(value)));
            let alone = !joined && points.peek().is_none_or(|(_, next)| next.is_none());
            path += &match (joined, alone) {
                (true, _) => format!("L{x} {y}"),
                (false, true) => format!("M{x} {y}h2"),
                (false, false) => format!("M{x} {y}"),
            };
        }
        joined = value.is_some();
    }
    path
}

/// Reports whether a series has so few points of one day each that they are drawn as dots.
fn is_of_points(series: &ChartSeries) -> bool {
    let mut intervals = series.intervals.iter();
    series.intervals.len() <= 400 && intervals.all(|interval| interval.from == interval.to)
}

/// The vertical axis: its ends, and round values between them.
pub struct Axis {
    low: f64,
    high: f64,
    /// The distance between two ticks.
    pub step: f64,
    /// The values with a tick.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// Returns an axis on which both values lie.
    pub fn of(low: f64, high: f64) -> Axis {
        let span = if high > low {
            high - low
        } else {
            high.abs().max(1.0)
        };
        let rough = span / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|times| times * power)
            .find(|step| *step >= rough)
            .unwrap_or(10.0 * power);
        let (first, last) = (
            (low / step).floor(),
            (high / step).ceil().max((low / step).floor() + 1.0),
        );
        let mut ticks = Vec::new();
        let mut tick = first;
        // At most some six values lie within the span.
        while tick <= last && ticks.len() < 12 {
            ticks.push(tick * step);
            tick += 1.0;
        }
        Axis {
            low: first * step,
            high: last * step,
            step,
            ticks,
        }
    }

    /// Returns the place of a value in a drawing.
    pub fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }
}

/// Returns a value of the axis with the decimals that its step has.
pub fn label(value: f64, step: f64) -> String {
    match step {
        _ if step >= 1.0 => {
            // The axis has values of this size at most.
            #[allow(clippy::cast_possible_truncation)]
            let whole = value.round() as i64;
            crate::number::thousands(whole)
        }
        _ if step >= 0.1 => format!("{value:.1}"),
        _ if step >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Returns some years, or months where fewer than two years begin, with the day that each begins
/// on.
fn marks(first: i32, last: i32) -> Vec<(String, i32)> {
    use domesday_registers::Day;
    let month = |day: i32| Day(day).month();
    let begins = |month: i32| Day::first_of_month(month).map(|day| (month, day.0));
    let months: Vec<(i32, i32)> = (month(first)..=month(last))
        .filter_map(begins)
        .filter(|(_, day)| (first..=last).contains(day))
        .collect();
    let years = months.iter().filter(|(month, _)| month.rem_euclid(12) == 0);
    let years: Vec<(String, i32)> = years
        .map(|(month, day)| ((1970 + month.div_euclid(12)).to_string(), *day))
        .collect();
    let all = match years.len() {
        0 | 1 => months
            .into_iter()
            .map(|(_, day)| (Day(day).to_string().chars().take(7).collect(), day))
            .collect(),
        _ => years,
    };
    let every = all.len().div_ceil(8).max(1);
    all.into_iter().step_by(every).collect()
}

/// Returns a coordinate with one decimal.
pub fn coordinate(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_values_around_all() {
        let axis = Axis::of(3_120.0, 3_890.0);
        assert_eq!((axis.low, axis.high, axis.step), (3_000.0, 4_000.0, 200.0));
        let flat = Axis::of(5.0, 5.0);
        assert!(flat.low <= 5.0 && flat.high > 5.0 && flat.ticks.len() >= 2);
        let small = Axis::of(0.011, 0.018);
        assert!(small.low <= 0.011 && small.high >= 0.018);
    }

    #[test]
    fn a_gap_stays_a_gap() {
        let interval = |from, value| Interval {
            from,
            to: from + 30,
            value,
            title: String::new(),
        };
        let series = ChartSeries {
            name: "one".to_owned(),
            intervals: vec![
                interval(0, Some(1.0)),
                interval(31, None),
                interval(62, Some(2.0)),
            ],
        };
        let drawn = intervals("Title", "GBP", &[series]).into_string();
        assert_eq!(drawn.matches("<title>").count(), 2, "{drawn}");
        let empty = ChartSeries {
            name: "none".to_owned(),
            intervals: vec![interval(0, None)],
        };
        let drawn = intervals("Title", "GBP", &[empty]).into_string();
        assert!(drawn.contains("No value was observed"), "{drawn}");
    }
}
