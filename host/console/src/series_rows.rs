//! The observations of a metric as a table: a row a period, and a column a series.

use crate::number::{cell, format_rounded};
use crate::series_table::{DimensionNames, MergedSeries, MetricSeries};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a table. The file has all.
const MOST_ROWS: usize = 240;
/// Rows that a printed table has. The style sheet hides the others.
const ON_PAPER: usize = 24;
/// Columns of values.
const MOST_COLUMNS: usize = 6;

/// The values of one series by period.
struct Column<'a> {
    heading: String,
    values: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Column<'a> {
    fn value(&self, period: &str) -> Option<&'a Value> {
        self.values.get(period).copied()
    }
}

/// Returns the observations of a metric, the newest first. Values are rounded. Two series have
/// their difference beside them.
pub fn table(of_metric: &MetricSeries<'_>, names: &DimensionNames) -> Markup {
    let columns: Vec<Column<'_>> = of_metric
        .series
        .iter()
        .map(|series| Column {
            heading: names.label(series, &of_metric.series),
            values: values(series),
        })
        .collect();
    let periods: BTreeSet<&str> = columns
        .iter()
        .flat_map(|column| column.values.keys().copied())
        .collect();
    let periods: Vec<&str> = periods.into_iter().rev().collect();
    let caption = caption(of_metric);
    // Many series of few periods are a curve, whose rows are its series.
    if columns.len() > MOST_COLUMNS {
        let shown = periods.get(..MOST_COLUMNS).unwrap_or(&periods);
        let rows = columns.iter().map(|column| {
            let value = shown.iter().map(|period| column.value(period));
            (column.heading.as_str(), value.collect())
        });
        let left_out = periods.len() - shown.len();
        let periods: Vec<String> = shown.iter().map(ToString::to_string).collect();
        return draw(&caption, "Series", &periods, rows.collect(), left_out);
    }
    let rows = periods.iter().map(|period| {
        let values = columns.iter().map(|column| column.value(period));
        (*period, values.collect())
    });
    let headings: Vec<String> = columns
        .iter()
        .map(|column| column.heading.clone())
        .collect();
    draw(&caption, "Period", &headings, rows.collect(), 0)
}

fn values<'a>(series: &MergedSeries<'a>) -> BTreeMap<&'a str, &'a Value> {
    let observations = series.observations.iter();
    let values =
        observations.filter_map(|found| Some((found["period"].as_str()?, &found["value"])));
    values.collect()
}

/// Returns the name of the metric, its unit, its name in the API, and the status of its values.
fn caption(of_metric: &MetricSeries<'_>) -> String {
    let series = of_metric.series.iter();
    let statuses: BTreeSet<String> = series
        .flat_map(|series| &series.observations)
        .map(|found| cell(&found["status"]).replace('_', " "))
        .filter(|status| !status.is_empty())
        .collect();
    let statuses: Vec<String> = statuses.into_iter().collect();
    let (words, unit) = (of_metric.words(), of_metric.unit_words());
    let status = match statuses.is_empty() {
        true => String::new(),
        false => format!("; status: {}", statuses.join(", ")),
    };
    format!("{words}, {unit} ({}){status}", of_metric.name())
}

fn draw(
    caption: &str,
    first: &str,
    headings: &[String],
    rows: Vec<(&str, Vec<Option<&Value>>)>,
    columns_left_out: usize,
) -> Markup {
    let differs = headings.len() == 2;
    // The caption says what it is.
    let heading = |text: &str| match headings.len() {
        1 => "Value".to_owned(),
        _ => text.to_owned(),
    };
    let all = rows.len();
    html! {
        div.wide.tall tabindex="0" {
            table {
                caption {
                    (caption)
                    @if all > MOST_ROWS { ". The newest " (MOST_ROWS) " of " (all) " rows; the files have all" }
                    @if columns_left_out > 0 { ". The files have " (columns_left_out) " earlier periods" }
                    @if all > ON_PAPER { span.on-paper { " On paper, the first " (ON_PAPER) " of " (all) " rows. The CSV file has the other " (all - ON_PAPER) "." } }
                }
                thead {
                    tr {
                        th scope="col" { (first) }
                        @for text in headings { th.number scope="col" { (heading(text)) } }
                        @if differs { th.number scope="col" { "Difference, second − first" } }
                    }
                }
                tbody {
                    @for (name, values) in rows.iter().take(MOST_ROWS) {
                        tr {
                            th scope="row" { (name) }
                            @for value in values { td.number { (value.map_or_else(|| "–".to_owned(), format_rounded)) } }
                            @if differs { td.number { (difference(values)) } }
                        }
                    }
                }
            }
        }
    }
}

fn difference(values: &[Option<&Value>]) -> String {
    let number = |at: usize| values.get(at).copied().flatten().and_then(Value::as_f64);
    match number(0).zip(number(1)) {
        Some((first, second)) => format_rounded(&Value::from(second - first)),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series_table::{by_metric, merge};
    use serde_json::json;

    fn page(area: &str, values: &[(&str, f64)]) -> Value {
        let observations: Vec<Value> = values
            .iter()
            .map(|(period, value)| json!({"period": period, "value": value, "status": "estimated"}))
            .collect();
        json!({"release_id": "r", "selection": {"area": area}, "series": [{
            "series_id": area, "metric": "price_per_sqm_gbp", "unit": "GBP/m2",
            "observations": observations,
        }]})
    }

    fn draw(pages: &[Value]) -> String {
        let merged = merge(pages);
        let names = DimensionNames::of(&merged, &Value::Null);
        let metrics = by_metric(&merged);
        table(&metrics[0], &names).into_string()
    }

    #[test]
    fn a_row_is_a_period_the_newest_first_with_two_areas_and_their_difference() {
        let pages = [
            page("E1", &[("2026-06", 3_000.0), ("2026-07", 3_259.779_932)]),
            page("E2", &[("2026-07", 3_300.0)]),
        ];
        let drawn = draw(&pages);
        assert!(
            drawn.contains("price per m², £/m² (price_per_sqm_gbp)"),
            "{drawn}"
        );
        let row = "<th scope=\"row\">2026-07</th><td class=\"number\">3,259.78</td>\
                   <td class=\"number\">3,300</td><td class=\"number\">40.22</td>";
        assert!(drawn.contains(row), "{drawn}");
        let place = |text: &str| drawn.find(text).unwrap();
        assert!(place(">2026-07<") < place(">2026-06<"), "{drawn}");
    }

    #[test]
    fn a_long_table_says_what_paper_and_the_page_leave_out() {
        let days: Vec<String> = (0..300).map(|day| format!("{:04}", 2_000 + day)).collect();
        let values: Vec<(&str, f64)> = days.iter().map(|day| (day.as_str(), 1.0)).collect();
        let drawn = draw(&[page("E1", &values)]);
        assert!(drawn.contains("The newest 240 of 300 rows"), "{drawn}");
        assert!(
            drawn.contains("On paper, the first 24 of 300 rows."),
            "{drawn}"
        );
        assert_eq!(drawn.matches("<tr>").count(), 241);
    }

    #[test]
    fn many_series_of_few_periods_are_rows() {
        let names: Vec<String> = (1..9).map(|at| format!("E{at}")).collect();
        let pages: Vec<Value> = names
            .iter()
            .map(|area| page(area, &[("2026-07", 1.0)]))
            .collect();
        let drawn = draw(&pages);
        assert!(drawn.contains("<th scope=\"row\">E8</th>"), "{drawn}");
    }
}
