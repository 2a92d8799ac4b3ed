//! Series as a chart draws them.

use crate::chart::{ChartSeries, Interval};
use crate::number::number_of;
use crate::series_table::{DimensionNames, MergedSeries};
use domesday_registers::Day;
use serde_json::Value;

/// Returns the series of one metric as a chart draws them, named by what differs among them.
pub fn chart_series(of_metric: &[&MergedSeries<'_>], names: &DimensionNames) -> Vec<ChartSeries> {
    let draw = |series: &&MergedSeries<'_>| ChartSeries {
        name: names.label(series, of_metric),
        intervals: series
            .observations
            .iter()
            .filter_map(|found| interval(found))
            .collect(),
    };
    of_metric.iter().map(draw).collect()
}

/// Returns the interval of an observation: its window, or its day or month.
fn interval(observation: &Value) -> Option<Interval> {
    let period = observation["period"].as_str()?;
    let day = |member: &str| Day::parse_iso(observation[member].as_str()?);
    let (from, to) = match (day("period_start"), day("period_end")) {
        (Some(from), Some(to)) => (from, to),
        _ => {
            let of_period =
                Day::parse_iso(period).or_else(|| Day::parse_iso(&format!("{period}-01")))?;
            (of_period, of_period)
        }
    };
    let value = observation["value"].as_f64();
    Some(Interval {
        from: from.0,
        to: to.0,
        value,
        title: format!("{period}: {}", number_of(&observation["value"])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_observation_is_drawn_over_its_window_or_on_its_day() {
        let window = json!({"period": "2026-07", "value": 3.5, "period_start": "2025-08-01", "period_end": "2026-07-31"});
        let drawn = interval(&window).unwrap();
        assert_eq!((drawn.to - drawn.from, drawn.value), (364, Some(3.5)));
        let day = interval(&json!({"period": "1970-01-02", "value": null})).unwrap();
        assert_eq!((day.from, day.to, day.value), (1, 1, None));
        let month = interval(&json!({"period": "1970-02", "value": 1})).unwrap();
        assert_eq!((month.from, month.title.as_str()), (31, "1970-02: 1"));
    }
}
