//! Curves by tenor: one line a day, so that days can be compared.

use crate::chart::{Axis, Frame, line, place};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Days that one drawing shows, at most.
const MOST_DAYS: usize = 6;
/// Tenors from which values of a day are a curve.
const LEAST_TENORS: usize = 4;

/// The curves of one metric: the values of each day by tenor in months.
pub struct Curves {
    metric: String,
    unit: String,
    days: BTreeMap<String, Vec<(u32, Option<f64>)>>,
}

/// Returns the curves of a response's series, where that is what they are: values by tenor, of a
/// few days. A value that was not observed is a gap of its line.
pub fn curves_of<'a>(series: impl Iterator<Item = &'a Value>) -> Option<Vec<Curves>> {
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
            if days.len() > MOST_DAYS {
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
    /// Draws the curves, with years of tenor from left to right.
    pub fn show(&self) -> Markup {
        let all = || self.days.values().flatten();
        let values = || all().filter_map(|(_, value)| *value);
        let (low, high) = (
            values().fold(f64::MAX, f64::min),
            values().fold(f64::MIN, f64::max),
        );
        let last = all().map(|(tenor, _)| *tenor).max().unwrap_or(1);
        if low > high {
            return html! { p.quiet { "No value was observed on these days." } };
        }
        let axis = Axis::of(low, high);
        let x = |months: u32| place(f64::from(months) / f64::from(last.max(1)));
        let years = last / 12;
        let every = years.div_ceil(8).max(1);
        let title = self.metric.replace('_', " ") + " by tenor";
        let marks = (0..=years).filter(|year| year % every == 0);
        let drawing = html! {
            @for (at, (day, points)) in self.days.iter().enumerate() {
                g class={ "series-" (at % 6) } {
                    @let points = points.iter().map(|(tenor, value)| (x(*tenor), *value));
                    path d=(line(points, &axis)) { title { (day) } }
                }
            }
        };
        let names: Vec<&str> = self.days.keys().map(String::as_str).collect();
        let frame = Frame {
            title: &title,
            caption: &format!("{title}, {}, years of tenor from left to right", self.unit),
            axis: &axis,
            marks: marks.map(|year| (x(12 * year), year.to_string())).collect(),
            names: &names,
        };
        frame.show(&drawing)
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
        let drawn = curves[0].show().into_string();
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
}
