//! Samples in time as charts: slots of equal length, by the clock, in UTC.

use crate::chart::{Axis, Frame, label, line, place};
use chrono::{DateTime, Timelike, Utc};
use domesday_state::UnixMillis;
use maud::{Markup, html};

/// Slots of a chart.
const SLOTS: usize = 240;
/// Rows of the table beneath a chart.
const ROWS: usize = 12;

/// The part of the past that charts show.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    end: UnixMillis,
    hours: u32,
}

/// A series of a timeline.
pub struct TimeSeries<'a> {
    /// The name in the legend.
    pub name: &'a str,
    /// Values by their times. A sample may lack the value.
    pub points: Vec<(UnixMillis, Option<f64>)>,
}

/// A chart of series in one unit.
pub struct Timeline<'a> {
    /// The title of the plot.
    pub title: &'a str,
    /// The unit of the values.
    pub unit: &'a str,
    /// The limit of the values, where there is one.
    pub limit: Option<f64>,
    /// The series.
    pub series: Vec<TimeSeries<'a>>,
}

impl Span {
    /// Returns the hours until `end`.
    pub fn ending(end: UnixMillis, hours: u32) -> Span {
        Span { end, hours }
    }

    /// Returns its first moment.
    pub fn start(self) -> UnixMillis {
        UnixMillis(self.parts(SLOTS).0)
    }

    fn millis(self) -> i64 {
        i64::from(self.hours) * 3_600_000
    }

    /// Returns the first moment of the parts of a span, and the length of each. Parts begin by the
    /// clock, so that samples that share a part share it whenever a page is loaded.
    fn parts(self, parts: usize) -> (i64, i64) {
        let length = self.millis() / i64::try_from(parts).unwrap_or(1);
        let end = (self.end.0.div_euclid(length) + 1) * length;
        (end - self.millis(), length)
    }

    /// Returns the part of a span of this many parts that a time is in.
    fn part(self, at: UnixMillis, parts: usize) -> Option<usize> {
        let (start, length) = self.parts(parts);
        let part = usize::try_from((at.0 - start).div_euclid(length)).ok()?;
        (part < parts).then_some(part)
    }

    /// Returns the place of a time on the horizontal axis.
    #[allow(clippy::cast_precision_loss)]
    pub fn x(self, at: UnixMillis) -> f64 {
        place((at.0 - self.start().0) as f64 / self.millis() as f64)
    }

    /// Returns the times of the axis: every ten minutes, or every hour of a longer span.
    pub fn marks(self) -> Vec<(f64, String)> {
        let step = if self.hours > 1 { 3_600_000 } else { 600_000 };
        let first = self.start().0.div_euclid(step) * step + step;
        // A word at the edge would be cut off.
        let last = self.end.0 - step / 4;
        let times = (0..).map(|at| first + at * step);
        times
            .take_while(|at| *at <= last)
            .map(|at| (self.x(UnixMillis(at)), clock(UnixMillis(at))))
            .collect()
    }

    /// Returns the largest value of each of this many parts, so that no peak is lost.
    fn merge(self, series: &TimeSeries<'_>, parts: usize) -> Vec<Option<f64>> {
        let mut merged: Vec<Option<f64>> = vec![None; parts];
        for (at, value) in &series.points {
            if let (Some(part), Some(value)) = (self.part(*at, parts), value) {
                merged[part] = Some(merged[part].map_or(*value, |known| known.max(*value)));
            }
        }
        merged
    }
}

impl Timeline<'_> {
    /// Returns the chart with a table beneath it.
    #[allow(clippy::cast_precision_loss)]
    pub fn show(&self, span: Span) -> Markup {
        let merged = |parts| {
            let series = self.series.iter();
            let merged = series.map(move |series| span.merge(series, parts));
            merged.collect::<Vec<_>>()
        };
        let drawn = merged(SLOTS);
        let values = || drawn.iter().flatten().flatten().copied();
        let most = values().fold(0.0, f64::max);
        // A limit that is far away would press the values to the ground.
        let limit = self.limit.filter(|limit| most >= limit / 4.0);
        // An axis that ends below 1 would make much of nothing.
        let axis = Axis::of(0.0, limit.unwrap_or(1.0).max(most).max(1.0));
        let x = |slot: usize| place((slot as f64 + 0.5) / SLOTS as f64);
        let drawing = html! {
            @if let Some(limit) = limit {
                path.limit d={ "M" (place(0.0)) " " (format!("{:.1}", axis.y(limit))) "H" (place(1.0)) } { title { "the limit" } }
            }
            @for (at, (series, values)) in self.series.iter().zip(&drawn).enumerate() {
                g class={ "series-" (at % 6) " plot lines" } {
                    path d=(line(values.iter().enumerate().map(|(slot, value)| (x(slot), *value)), &axis)) {
                        title { (series.name) }
                    }
                }
            }
        };
        let names = self.series.iter().zip(&drawn).map(|(series, values)| {
            let last = values.iter().rev().find_map(|value| *value);
            (series.name, last)
        });
        let frame = Frame {
            title: self.title,
            caption: &self.caption(most),
            unit: self.unit,
            across: "UTC",
            axis: &axis,
            marks: span.marks(),
            names: names.collect(),
        };
        html! {
            (frame.show(&drawing))
            (self.table(span, &merged(ROWS)))
        }
    }

    /// Returns the words above the chart: the unit, the latest values, the largest and the limit.
    fn caption(&self, most: f64) -> String {
        let latest = |series: &TimeSeries<'_>| {
            let value = series.points.last().and_then(|(_, value)| *value);
            value.map_or_else(|| "none".to_owned(), short)
        };
        let now: Vec<String> = match self.series.as_slice() {
            [only] => vec![latest(only)],
            all => all
                .iter()
                .map(|series| format!("{} {}", series.name, latest(series)))
                .collect(),
        };
        let limit = self.limit.map(|limit| format!(", limit {}", short(limit)));
        format!(
            "{}, {}. Now {}; at most {}{}.",
            self.title,
            self.unit,
            now.join(", "),
            short(most),
            limit.unwrap_or_default()
        )
    }

    fn table(&self, span: Span, rows: &[Vec<Option<f64>>]) -> Markup {
        let minutes = i64::from(span.hours) * 60 / 12;
        let begins = |row: usize| {
            let row = i64::try_from(row).unwrap_or(0);
            let (start, length) = span.parts(ROWS);
            UnixMillis(start + row * length)
        };
        html! {
            details {
                summary { (self.title) " as a table" }
                div.wide tabindex="0" {
                    table {
                        caption { (self.title) ", " (self.unit) ": largest of each " (minutes) " minutes" }
                        thead { tr { th scope="col" { "From, UTC" } @for series in &self.series { th scope="col" { (series.name) } } } }
                        tbody {
                            @for row in 0..ROWS {
                                tr {
                                    th scope="row" { (clock(begins(row))) }
                                    @for series in rows {
                                        td.number { @match series[row] { Some(value) => (short(value)), None => "–" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a number with the decimals that its size needs.
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => label(value, 1.0),
        size if size >= 10.0 => label(value, 0.1),
        size if size >= 1.0 => label(value, 0.01),
        _ => format!("{value:.3}"),
    }
}

/// Returns the time of day.
pub fn clock(at: UnixMillis) -> String {
    utc(at).map_or_else(String::new, |time| {
        format!("{:02}:{:02}", time.hour(), time.minute())
    })
}

/// Returns the day and the time to the second.
pub fn moment(at: UnixMillis) -> String {
    utc(at).map_or_else(String::new, |time| {
        time.format("%Y-%m-%d %H:%M:%S UTC").to_string()
    })
}

fn utc(at: UnixMillis) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(at.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: UnixMillis = UnixMillis(1_800_000_000_000);

    fn timeline(points: Vec<(i64, Option<f64>)>, limit: Option<f64>) -> String {
        let points = points.into_iter();
        let points = points.map(|(second, value)| (UnixMillis(END.0 - 1_000 * second), value));
        let timeline = Timeline {
            title: "Queue",
            unit: "tasks",
            limit,
            series: vec![TimeSeries {
                name: "queue",
                points: points.collect(),
            }],
        };
        timeline.show(Span::ending(END, 1)).into_string()
    }

    fn path(drawn: &str) -> &str {
        let path = drawn.split("plot lines\"><path d=\"").nth(1).unwrap();
        path.split('"').next().unwrap()
    }

    #[test]
    fn samples_that_are_missing_are_a_gap() {
        let every = (0..30).map(|at| (10 * at, Some(1.0)));
        let drawn = timeline(every.clone().collect(), None);
        assert_eq!(path(&drawn).matches('M').count(), 1, "{drawn}");
        let some = every.filter(|(second, _)| !(100..150).contains(second));
        let drawn = timeline(some.collect(), None);
        assert_eq!(path(&drawn).matches('M').count(), 2, "{drawn}");
    }

    #[test]
    fn a_part_is_the_same_whenever_the_page_is_loaded() {
        let spike = UnixMillis(END.0 - 31_000);
        let series = TimeSeries {
            name: "4xx",
            points: (0..6)
                .map(|at| (UnixMillis(spike.0 + 10_000 * (at - 3)), Some(0.0)))
                .chain([(spike, Some(9.0))])
                .collect(),
        };
        let begins = |late: i64| -> Vec<i64> {
            let span = Span::ending(UnixMillis(END.0 + late), 1);
            let values = span.merge(&series, SLOTS);
            let (start, length) = span.parts(SLOTS);
            let peaks = values.iter().enumerate();
            let peaks = peaks.filter(|(_, value)| **value == Some(9.0));
            peaks.map(|(at, _)| start + length * at as i64).collect()
        };
        let first = begins(0);
        assert_eq!(first.len(), 1, "{first:?}");
        for late in [1, 5_000, 35_000, 100_000] {
            assert_eq!(begins(late), first, "{late}");
        }
    }

    #[test]
    fn an_axis_of_small_values_ends_at_1() {
        let drawn = timeline(vec![(20, Some(0.1))], None);
        assert!(drawn.contains(">1.0</text>"), "{drawn}");
    }

    #[test]
    fn a_peak_is_drawn_and_in_the_table() {
        let drawn = timeline(
            vec![(20, Some(1.0)), (17, Some(900.0)), (12, Some(2.0))],
            Some(1_000.0),
        );
        assert!(drawn.contains("at most 900, limit 1,000"), "{drawn}");
        assert!(drawn.contains("<td class=\"number\">900</td>"), "{drawn}");
        assert!(drawn.contains("class=\"limit\""), "{drawn}");
        let far = timeline(vec![(20, Some(1.0))], Some(1_000.0));
        assert!(!far.contains("class=\"limit\""), "{far}");
    }

    #[test]
    fn times_of_the_axis_are_of_utc() {
        // 2027-01-15 08:00:00 UTC.
        let marks = Span::ending(END, 1).marks();
        let words: Vec<&str> = marks.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["07:10", "07:20", "07:30", "07:40", "07:50"]);
        assert_eq!(moment(END), "2027-01-15 08:00:00 UTC");
    }
}
