//! Charts as drawings that need no script.

use maud::{Markup, html};

/// Units of a drawing from its left to its right edge. A page stretches them to its width.
pub const WIDTH: f64 = 640.0;
/// Pixels of a drawing from top to bottom.
const HEIGHT: f64 = 220.0;
/// Pixels between the names of two series at the right edge.
const NAME_HEIGHT: f64 = 13.0;

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
    let last = |series: &ChartSeries| series.intervals.iter().rev().find_map(|it| it.value);
    let names = series
        .iter()
        .map(|series| (series.name.as_str(), last(series)));
    let frame = Frame {
        title,
        caption: &format!("{title}, {unit}"),
        unit,
        across: "period",
        axis: &axis,
        marks: marks.collect(),
        names: names.collect(),
    };
    frame.show(&drawing)
}

/// The parts of a chart around its drawing.
pub struct Frame<'a> {
    /// The name for readers who do not see the drawing.
    pub title: &'a str,
    /// The words above it.
    pub caption: &'a str,
    /// The unit of the vertical axis.
    pub unit: &'a str,
    /// The words of the horizontal axis.
    pub across: &'a str,
    /// The vertical axis.
    pub axis: &'a Axis,
    /// Places on the horizontal axis with their words.
    pub marks: Vec<(f64, String)>,
    /// The names of the series, each with its last value.
    pub names: Vec<(&'a str, Option<f64>)>,
}

impl Frame<'_> {
    /// Returns the chart with a drawing in it. The drawing is stretched to the width of the page,
    /// and texts keep their size. A letter tells each of several series where colours are not seen.
    pub fn show(&self, drawing: &Markup) -> Markup {
        let axis = self.axis;
        let letters = self.letters();
        html! {
            figure.chart {
                figcaption { (self.caption) }
                svg.frame height="288" role="img" aria-label=(self.title) {
                    text.unit x="4" y="14" { (self.unit) }
                    text.across x="100%" dx="-4" y="284" { (self.across) }
                    svg.inner x="56" y="26" width="80%" height="220" {
                        @for tick in &axis.ticks {
                            @let y = coordinate(axis.y(*tick));
                            line.grid x1="0" x2="100%" y1=(y) y2=(y) {}
                            text.tick x="-6" y=(coordinate(axis.y(*tick) + 4.0)) { (axis.label(*tick)) }
                        }
                        @for (at, (x, words)) in self.marks.iter().enumerate() {
                            text.year.spare[at % 2 == 1] x={ (coordinate(100.0 * x / WIDTH)) "%" } y="236" { (words) }
                        }
                        svg width="100%" height="220" viewBox="0 0 640 220" preserveAspectRatio="none" { (drawing) }
                        @for (at, y) in &letters {
                            text class={ "letter series-" (at % 6) } x="100%" dx="6" y=(coordinate(y + 4.0)) { (letter(*at)) }
                        }
                    }
                }
                @if self.names.len() > 1 {
                    ul.legend {
                        @for (at, (name, _)) in self.names.iter().enumerate() {
                            li class={ "series-" (at % 6) } {
                                svg.sample width="28" height="10" aria-hidden="true" { path d="M2 5h24" {} }
                                strong { (letter(at)) } " "
                                span { (name) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the places of the letters of several series, moved apart where values are close.
    fn letters(&self) -> Vec<(usize, f64)> {
        if self.names.len() < 2 {
            return Vec::new();
        }
        let names = self.names.iter().enumerate();
        let mut places: Vec<(usize, f64)> = names
            .filter_map(|(at, (_, last))| Some((at, self.axis.y((*last)?))))
            .collect();
        places.sort_by(|one, other| one.1.total_cmp(&other.1));
        let mut least = f64::MIN;
        for (_, y) in &mut places {
            *y = y.max(least);
            least = *y + NAME_HEIGHT;
        }
        // Those that were moved below the drawing go back up, and move others up.
        let mut most = HEIGHT;
        for (_, y) in places.iter_mut().rev() {
            *y = y.min(most);
            most = *y - NAME_HEIGHT;
        }
        places
    }
}

/// Returns the letter of a series: A, B and so on.
fn letter(at: usize) -> char {
    (b'A'..=b'Z').nth(at % 26).map_or('A', char::from)
}

/// Returns the place of a share of the horizontal axis, 0 to 1.
pub fn place(share: f64) -> f64 {
    share * WIDTH
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
        HEIGHT - share * HEIGHT
    }

    /// Returns a value of the axis in few letters, such as 350k or 1.2m.
    pub fn label(&self, value: f64) -> String {
        let most = self.high.abs().max(self.low.abs());
        let (unit, letter) = match most {
            _ if value == 0.0 => (1.0, ""),
            _ if most >= 1e9 => (1e9, "bn"),
            _ if most >= 1e6 => (1e6, "m"),
            _ if most >= 1e4 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let step = if value == 0.0 { 1.0 } else { self.step / unit };
        label(value / unit, step) + letter
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
    fn labels_of_an_axis_are_short() {
        let labels = |low, high| -> Vec<String> {
            let axis = Axis::of(low, high);
            axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
        };
        assert_eq!(labels(0.0, 6e7), ["0", "20m", "40m", "60m"]);
        assert_eq!(labels(250_000.0, 340_000.0)[1], "300k");
        assert_eq!(labels(0.0, 1_200_000.0)[1], "0.5m");
        assert_eq!(labels(3_120.0, 3_890.0)[1], "3,200");
        assert_eq!(labels(0.0, 0.9)[1], "0.5");
    }

    #[test]
    fn several_series_have_a_sample_and_a_letter_each_that_do_not_overlap() {
        let series = |name: &str, value| ChartSeries {
            name: name.to_owned(),
            intervals: vec![Interval {
                from: 0,
                to: 30,
                value: Some(value),
                title: String::new(),
            }],
        };
        let draw = |values: &[f64]| {
            let series: Vec<_> = values.iter().map(|value| series("one", *value)).collect();
            intervals("T", "GBP", &series).into_string()
        };
        let places = |drawn: &str| -> Vec<f64> {
            let letters = drawn.split("class=\"letter").skip(1);
            letters
                .map(|text| text.split(" y=\"").nth(1).unwrap())
                .map(|text| text.split('"').next().unwrap().parse().unwrap())
                .collect()
        };
        let drawn = draw(&[100.0, 100.1]);
        assert_eq!(drawn.matches("class=\"sample\"").count(), 2, "{drawn}");
        let two = places(&drawn);
        assert!(two[1] - two[0] >= 12.9, "{two:?}");
        // Three at the lower edge stay within the drawing.
        let four = places(&draw(&[0.0, 0.0, 0.0, 9.0]));
        let apart = four.windows(2).all(|pair| pair[1] - pair[0] >= 12.9);
        assert!(apart && four[3] <= HEIGHT + 4.0, "{four:?}");
        assert!(
            drawn.contains("class=\"unit\" x=\"4\" y=\"14\">GBP<"),
            "{drawn}"
        );
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
