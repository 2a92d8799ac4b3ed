//! The observations of series by metric and as a file, with the names of their dimensions.

use crate::number::{cell, metric_words, text_of, unit_words};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// A series with the observations of all pages.
pub struct MergedSeries<'a> {
    /// The series as its first page states it.
    pub header: &'a Value,
    /// Its observations.
    pub observations: Vec<&'a Value>,
    selection: &'a Value,
    release_id: &'a Value,
}

impl MergedSeries<'_> {
    /// Returns a dimension of the series, or the selector that chose it.
    fn dimension(&self, name: &str) -> String {
        match &self.header["dimensions"][name] {
            Value::Null => cell(&self.selection[name]),
            value => cell(value),
        }
    }
}

/// The members of a selection that are no selectors of series.
const NO_DIMENSIONS: [&str; 3] = ["mode", "horizon_from_month", "horizon_to_month"];

/// Returns the series of all pages.
pub fn series_of(pages: &[Value]) -> impl Iterator<Item = &Value> {
    pages
        .iter()
        .flat_map(|page| page["series"].as_array().into_iter().flatten())
}

/// Merges the series of pages. A later page goes on with the same series. A period that two choices
/// have stands once.
pub fn merge(pages: &[Value]) -> Vec<MergedSeries<'_>> {
    let mut merged: Vec<MergedSeries<'_>> = Vec::new();
    let mut periods: HashSet<(usize, &str)> = HashSet::new();
    let mut at: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for page in pages {
        for header in series_of(std::slice::from_ref(page)) {
            let release = page["release_id"].as_str().unwrap_or_default();
            let id = header["series_id"].as_str().unwrap_or_default();
            let at = *at.entry((release, id)).or_insert_with(|| {
                merged.push(MergedSeries {
                    header,
                    observations: Vec::new(),
                    selection: &page["selection"],
                    release_id: &page["release_id"],
                });
                merged.len() - 1
            });
            let observations = header["observations"].as_array().into_iter().flatten();
            let new = observations.filter(|found| {
                let period = found["period"].as_str();
                period.is_none_or(|period| periods.insert((at, period)))
            });
            merged[at].observations.extend(new);
        }
    }
    merged
}

/// The dimensions and selectors of series, and the names of areas.
pub struct DimensionNames {
    dimensions: Vec<String>,
    areas: BTreeMap<String, String>,
}

impl DimensionNames {
    /// Returns the dimensions of series in their order, with areas named as the API lists them.
    pub fn of(merged: &[MergedSeries<'_>], areas: &Value) -> DimensionNames {
        let mut dimensions: Vec<String> = Vec::new();
        for series in merged {
            let both = [series.selection, &series.header["dimensions"]];
            let both = both.into_iter().filter_map(Value::as_object);
            for name in both.flat_map(|found| found.keys()) {
                if !NO_DIMENSIONS.contains(&name.as_str()) && !dimensions.contains(name) {
                    dimensions.push(name.clone());
                }
            }
        }
        let areas = areas["areas"].as_array().into_iter().flatten();
        let named = areas.filter_map(|area| {
            let code = area["code"].as_str()?;
            Some((code.to_owned(), area["name"].as_str()?.to_owned()))
        });
        DimensionNames {
            dimensions,
            areas: named.collect(),
        }
    }

    /// Returns a dimension of a series in words.
    fn words(&self, series: &MergedSeries<'_>, dimension: &str) -> String {
        let value = series.dimension(dimension);
        match self.areas.get(&value) {
            Some(name) => format!("{name} ({value})"),
            None => match dimension.ends_with("_months") && !value.is_empty() {
                true if value == "1" => "1 month".to_owned(),
                true => format!("{value} months"),
                false => value.replace('_', " "),
            },
        }
    }

    /// Returns what tells a series from others of its metric.
    pub fn label(&self, series: &MergedSeries<'_>, others: &[&MergedSeries<'_>]) -> String {
        let differs = |of: &dyn Fn(&MergedSeries<'_>) -> String| {
            let own = of(series);
            others.iter().any(|other| of(other) != own).then_some(own)
        };
        let dimensions = self.dimensions.iter();
        let mut parts: Vec<String> = dimensions
            .filter_map(|name| differs(&|series| self.words(series, name)))
            .collect();
        parts.extend(
            WINDOWS
                .iter()
                .filter_map(|name| differs(&|series| cell(&series.header[name])))
                .map(|months| format!("over {months} months")),
        );
        match parts.is_empty() {
            true => cell(&series.header["series_id"]),
            false => parts.join(", "),
        }
    }
}

/// The windows of a series, in months.
const WINDOWS: [&str; 3] = [
    "window_months",
    "capital_window_months",
    "rental_window_months",
];

/// The series of one metric.
pub struct MetricSeries<'a> {
    metric: &'a str,
    unit: &'a str,
    /// Its series.
    pub series: Vec<&'a MergedSeries<'a>>,
}

impl MetricSeries<'_> {
    /// Returns the name of the metric in words.
    pub fn words(&self) -> String {
        metric_words(self.metric)
    }

    /// Returns its unit in words.
    pub fn unit_words(&self) -> String {
        unit_words(self.unit)
    }

    /// Returns its name in the API.
    pub fn name(&self) -> &str {
        self.metric
    }
}

/// Returns the series by their metrics.
pub fn by_metric<'a>(merged: &'a [MergedSeries<'a>]) -> Vec<MetricSeries<'a>> {
    let mut metrics: Vec<MetricSeries<'a>> = Vec::new();
    for series in merged {
        let metric = text_of(&series.header["metric"]);
        match metrics.iter_mut().find(|known| known.metric == metric) {
            Some(known) => known.series.push(series),
            None => metrics.push(MetricSeries {
                metric,
                unit: text_of(&series.header["unit"]),
                series: vec![series],
            }),
        }
    }
    metrics
}

/// Returns all observations as the rows of a file, each with its dimensions and whose data it is.
pub fn file_rows(
    merged: &[MergedSeries<'_>],
    names: &DimensionNames,
    attribution: impl Fn(&str) -> String,
) -> Vec<Vec<String>> {
    let has_areas = names.dimensions.iter().any(|name| name == "area");
    let mut head = vec!["series_id", "metric", "unit", "basis"];
    head.extend(names.dimensions.iter().map(String::as_str));
    if has_areas {
        head.push("area_name");
    }
    head.extend(WINDOWS);
    head.extend([
        "method",
        "period",
        "value",
        "status",
        "release_id",
        "attribution",
    ]);
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for series in merged {
        let header = series.header;
        let mut start: Vec<String> = ["series_id", "metric", "unit", "basis"]
            .map(|member| cell(&header[member]))
            .to_vec();
        let dimension = |name: &String| series.dimension(name);
        start.extend(names.dimensions.iter().map(dimension));
        if has_areas {
            let code = series.dimension("area");
            start.push(names.areas.get(&code).cloned().unwrap_or_default());
        }
        start.extend(WINDOWS.map(|member| cell(&header[member])));
        start.push(cell(&header["method"]));
        let release = cell(series.release_id);
        let sources = attribution(&release);
        for found in &series.observations {
            let mut row = start.clone();
            row.extend(["period", "value", "status"].map(|member| cell(&found[member])));
            row.extend([release.clone(), sources.clone()]);
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pages() -> Vec<Value> {
        let page = |area: &str, period: &str| {
            let series = json!({
                "series_id": format!("m:{area}"), "metric": "m", "unit": "u", "basis": "b",
                "window_months": 12, "dimensions": {"bedrooms": 3},
                "observations": [{"period": period, "value": 1}],
            });
            json!({"release_id": "r", "selection": {"area": area, "mode": "range"}, "series": [series]})
        };
        vec![
            page("E1", "2026-01"),
            page("E2", "2026-01"),
            page("E2", "2026-02"),
        ]
    }

    #[test]
    fn series_are_named_by_what_differs_and_go_on_over_pages() {
        let pages = pages();
        let merged = merge(&pages);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[1].observations.len(), 2);
        let areas = json!({"areas": [{"code": "E1", "name": "Ambleford"}]});
        let names = DimensionNames::of(&merged, &areas);
        let all: Vec<&MergedSeries<'_>> = merged.iter().collect();
        assert_eq!(names.label(&merged[0], &all), "Ambleford (E1)");
        assert_eq!(names.label(&merged[1], &all), "E2");
        assert_eq!(names.label(&merged[0], &all[..1]), "m:E1");
    }

    #[test]
    fn a_period_of_two_choices_stands_once() {
        let mut pages = pages();
        let again = pages[1].clone();
        pages.push(again);
        let merged = merge(&pages);
        assert_eq!(merged.len(), 2);
        let periods = merged[1].observations.iter().map(|found| &found["period"]);
        assert_eq!(periods.collect::<Vec<_>>(), ["2026-01", "2026-02"]);
        assert_eq!(merged[0].observations.len(), 1, "another area's period");
    }

    #[test]
    fn a_row_of_a_file_has_its_dimensions_and_its_source() {
        let pages = pages();
        let merged = merge(&pages);
        let areas = json!({"areas": [{"code": "E1", "name": "Ambleford"}]});
        let names = DimensionNames::of(&merged, &areas);
        let rows = file_rows(&merged, &names, |release| format!("of {release}"));
        assert_eq!(
            rows[0].join(","),
            "series_id,metric,unit,basis,area,bedrooms,area_name,window_months,\
             capital_window_months,rental_window_months,method,period,value,status,release_id,attribution"
        );
        assert_eq!(
            rows[1].join(","),
            "m:E1,m,u,b,E1,3,Ambleford,12,,,,2026-01,1,,r,of r"
        );
        assert_eq!(rows.len(), 4);
    }
}
