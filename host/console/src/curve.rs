//! Curves by tenor: one line a day, so that days can be compared.

use crate::chart::{Axis, Frame, line, place};
use crate::number::{metric_words, unit_words};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Days that one drawing shows, at most.
const MOST_DAYS: usize = 6;
/// Days that a slider moves a curve through, at most.
const MOST_SLIDER_DAYS: usize = 130;
/// Tenors from which values of a day are a curve.
const LEAST_TENORS: usize = 4;

/// The place of a day in the link of a slider.
pub const DAY_IN_LINK: &str = "0000-00-00";

/// The curves of one metric: the values of each day by tenor in months.
pub struct Curves {
    metric: String,
    unit: String,
    days: BTreeMap<String, Vec<(u32, Option<f64>)>>,
}

/// The days around a curve, through which a slider moves it.
pub struct CurveSlider<'a> {
    /// The curves of the days.
    pub through: &'a Curves,
    /// The day that is shown first.
    pub day: &'a str,
    /// The address of the page of a day, which stands in it as [`DAY_IN_LINK`].
    pub link: &'a str,
}

/// Returns the curves of a response's series, where that is what they are: values by tenor, of a
/// few days. A value that was not observed is a gap of its line.
pub fn curves_of<'a>(series: impl Iterator<Item = &'a Value>) -> Option<Vec<Curves>> {
    read(series, MOST_DAYS)
}

/// Returns the curves of as many days as a slider has.
pub fn curves_through_time<'a>(series: impl Iterator<Item = &'a Value>) -> Option<Vec<Curves>> {
    read(series, MOST_SLIDER_DAYS)
}

fn read<'a>(series: impl Iterator<Item = &'a Value>, most_days: usize) -> Option<Vec<Curves>> {
    let mut curves: Vec<Curves> = Vec::new();
    let (mut tenors, mut days) = (BTreeSet::new(), BTreeSet::new());
    for series in series {
        let tenor = series["dimensions"]["tenor_months"].as_u64()?;
        let tenor = u32::try_from(tenor).ok()?;
        tenors.insert(tenor);
        let metric = series["metric"].as_str()?;
        let at = curves.iter().position(|known| known.metric == metric);
        let at = at.unwrap_or_else(|| {
            curves.push(Curves {
                metric: metric.to_owned(),
                unit: series["unit"].as_str().unwrap_or_default().to_owned(),
                days: BTreeMap::new(),
            });
            curves.len() - 1
        });
        for observation in series["observations"].as_array()? {
            let day = observation["period"].as_str()?.to_owned();
            days.insert(day.clone());
            if days.len() > most_days {
                return None;
            }
            let of_day = curves[at].days.entry(day).or_default();
            of_day.push((tenor, observation["value"].as_f64()));
        }
    }
    for of_day in curves
        .iter_mut()
        .flat_map(|curves| curves.days.values_mut())
    {
        of_day.sort_by_key(|(tenor, _)| *tenor);
        of_day.dedup_by_key(|(tenor, _)| *tenor);
    }
    (tenors.len() >= LEAST_TENORS).then_some(curves)
}

impl Curves {
    /// Returns the metric.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// Draws the curves, with years of tenor from left to right. A slider moves the curve of its
    /// day, and shares the axis, so that a move is seen.
    pub fn show(&self, slider: Option<&CurveSlider<'_>>) -> Markup {
        let around = slider.map(|slider| &slider.through.days);
        let all = || {
            self.days
                .values()
                .chain(around.into_iter().flat_map(BTreeMap::values))
        };
        let points = || all().flatten();
        let values = || points().filter_map(|(_, value)| *value);
        let (low, high) = (
            values().fold(f64::MAX, f64::min),
            values().fold(f64::MIN, f64::max),
        );
        let last = points().map(|(tenor, _)| *tenor).max().unwrap_or(1);
        if low > high {
            return html! { p.quiet { "No value was observed on these days." } };
        }
        let axis = Axis::of(low, high);
        let x = |months: u32| place(f64::from(months) / f64::from(last.max(1)));
        let path = |points: &[(u32, Option<f64>)]| {
            line(
                points.iter().map(|(tenor, value)| (x(*tenor), *value)),
                &axis,
            )
        };
        let years = last / 12;
        let every = years.div_ceil(8).max(1);
        let title = metric_words(&self.metric) + " by tenor";
        let unit = unit_words(&self.unit);
        let marks = (0..=years).filter(|year| year % every == 0);
        let moves = |day: &String| slider.is_some_and(|slider| slider.day == day);
        let drawing = html! {
            @for (at, (day, points)) in self.days.iter().enumerate() {
                g class={ "series-" (at % 6) " lines" } data-moves=[moves(day).then_some(at)] {
                    path d=(path(points)) { title { (day) } }
                }
            }
        };
        let last =
            |points: &Vec<(u32, Option<f64>)>| points.iter().rev().find_map(|(_, value)| *value);
        let days = self.days.iter();
        let names = days.map(|(day, points)| (day.as_str(), last(points)));
        let frame = Frame {
            title: &title,
            caption: &format!("{title}, {unit}"),
            unit: &unit,
            across: "years of tenor",
            axis: &axis,
            marks: marks.map(|year| (x(12 * year), year.to_string())).collect(),
            names: names.collect(),
        };
        html! {
            (frame.show(&drawing))
            @if let Some(slider) = slider { (slider.show(path)) }
        }
    }
}

impl CurveSlider<'_> {
    /// Shows links to the days before and after, and the slider that a script begins.
    fn show(&self, path: impl Fn(&[(u32, Option<f64>)]) -> String) -> Markup {
        let days: Vec<&String> = self.through.days.keys().collect();
        let Some(at) = days.iter().position(|day| *day == self.day) else {
            return html! {};
        };
        let link = |day: &str| self.link.replace(DAY_IN_LINK, day);
        let drawn = self
            .through
            .days
            .iter()
            .map(|(day, points)| (day, path(points)));
        let drawn: Vec<_> = drawn.collect();
        let drawn = serde_json::to_string(&drawn).unwrap_or_default();
        // A script shows a link that the first or last day lacks.
        let beside = |rel: &str, at: Option<usize>| {
            let day = at.and_then(|at| days.get(at));
            let words = day.map_or_else(String::new, |day| match rel {
                "prev" => format!("← {day}"),
                _ => format!("{day} →"),
            });
            let href = link(day.map_or(self.day, |day| day));
            html! { a rel=(rel) href=(href) hidden[day.is_none()] { (words) } }
        };
        html! {
            div.slider data-curve-days=(drawn) data-link=(self.link) {
                (beside("prev", at.checked_sub(1)))
                label hidden {
                    span { "Day: " output { (self.day) } }
                    input type="range" min="0" max=(days.len() - 1) value=(at) aria-valuetext=(self.day);
                }
                (beside("next", at.checked_add(1)))
                a.table-of-day hidden href=(link(self.day)) { "Show this day in the table" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn series(tenor: u32, value: Option<f64>) -> Value {
        json!({
            "metric": "rate_pct", "unit": "percent", "dimensions": {"tenor_months": tenor},
            "observations": [{"period": "2026-09-30", "value": value}],
        })
    }

    #[test]
    fn values_of_a_day_by_tenor_are_a_curve_with_gaps() {
        let all = [(1, Some(2.0)), (2, Some(2.1)), (3, None), (4, Some(2.3))];
        let all = all.map(|(tenor, value)| series(tenor, value));
        let curves = curves_of(all.iter()).unwrap();
        let points = &curves[0].days["2026-09-30"];
        assert_eq!(points[1..3], [(2, Some(2.1)), (3, None)]);
        let drawn = curves[0].show(None).into_string();
        let path = drawn.split("<path d=\"").last().unwrap();
        let path = path.split('"').next().unwrap();
        assert_eq!(
            path.matches('M').count(),
            2,
            "the missing tenor is a gap: {path}"
        );
    }

    #[test]
    fn a_few_tenors_many_days_or_another_dimension_are_no_curve() {
        let few = [1, 2, 3].map(|tenor| series(tenor, Some(1.0)));
        assert!(curves_of(few.iter()).is_none());
        let other = json!({"metric": "m", "dimensions": {}, "observations": []});
        assert!(curves_of([other].iter()).is_none());
        let days: Vec<Value> = (1..9)
            .map(|day| json!({"period": format!("2026-09-0{day}"), "value": 1.0}))
            .collect();
        let many = [1, 2, 3, 4].map(|tenor| {
            json!({"metric": "m", "dimensions": {"tenor_months": tenor}, "observations": days})
        });
        assert!(curves_of(many.iter()).is_none());
    }

    #[test]
    fn a_slider_has_a_path_for_each_day_and_links_to_those_beside() {
        let days = ["2026-09-28", "2026-09-29", "2026-09-30"];
        let of = |tenor: u32, days: &[&str]| {
            let observations: Vec<Value> = days
                .iter()
                .enumerate()
                .map(
                    |(at, day)| json!({"period": day, "value": 2.0 + f64::from(tenor) + at as f64}),
                )
                .collect();
            json!({"metric": "m", "dimensions": {"tenor_months": tenor}, "observations": observations})
        };
        let one: Vec<Value> = (1..5).map(|tenor| of(tenor, &days[1..2])).collect();
        let all: Vec<Value> = (1..5).map(|tenor| of(tenor, &days)).collect();
        let shown = curves_of(one.iter()).unwrap();
        let through = curves_through_time(all.iter()).unwrap();
        let slider = CurveSlider {
            through: &through[0],
            day: days[1],
            link: "/rates?from=0000-00-00&to=0000-00-00",
        };
        let page = shown[0].show(Some(&slider)).into_string();
        for part in [
            "rel=\"prev\" href=\"/rates?from=2026-09-28&amp;to=2026-09-28\"",
            "rel=\"next\" href=\"/rates?from=2026-09-30&amp;to=2026-09-30\"",
            "min=\"0\" max=\"2\" value=\"1\"",
            "data-moves=\"0\"",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("&quot;2026-09-").count(), 3, "{page}");
    }
}
