//! The figures and plots of a release's back-test, and the verdicts of its check report.

use crate::bars::{Bar, bars};
use crate::number::{number_of, percent, percent_of, text_of, thousands};
use maud::{Markup, html};
use serde_json::Value;

/// Returns the figures of a back-test.
pub fn accuracy(backtest: &Value) -> Markup {
    let (subject, overall) = (&backtest["subject"], &backtest["overall"]);
    let (accuracy, ranges) = (&overall["accuracy"], &overall["ranges"]);
    let none = Vec::new();
    html! {
        h3 { "Back-test on sales of " (text_of(&subject["from"])) " to " (text_of(&subject["to"])) }
        dl {
            dt { "Valued" } dd { (number_of(&overall["valued"])) " of " (number_of(&overall["sales"])) }
            dt { "Median absolute error" } dd { (percent_of(&accuracy["mdape"], 1)) }
            dt { "Within 10 %" } dd { (percent_of(&accuracy["within_10"], 1)) }
            dt { "Median error" } dd { (percent_of(&accuracy["median_error"], 1)) }
            dt { "FSD" } dd { (percent_of(&accuracy["fsd"], 1)) }
            dt { "Prices within their range" }
            dd { (percent_of(&ranges["coverage"], 1)) ", promised " (percent_of(&ranges["nominal"], 1)) }
            @for floor in overall["floors"].as_array().unwrap_or(&none) {
                dt { "Against the baseline: " (text_of(&floor["floor"]).replace('_', " ")) }
                dd { (against(floor)) }
            }
        }
        div.plots {
            (errors(&backtest["errors"]))
            (by_price(backtest))
            (coverage(backtest, "confidence", "Prices within their range, by confidence"))
            (coverage(backtest, "price", "Prices within their range, by price"))
        }
    }
}

/// Returns the verdicts of a check report.
pub fn verdicts(check: &Value) -> Markup {
    let none = Vec::new();
    let checks = check["checks"].as_array().unwrap_or(&none);
    html! {
        details {
            summary {
                "Check: " @if check["passed"] == true { "passed" } @else { "failed" }
                ", " (thousands(i64::try_from(checks.len()).unwrap_or(i64::MAX))) " checks"
                @if check["not_judged"].as_u64().is_some_and(|count| count > 0) {
                    ", of which " (number_of(&check["not_judged"])) " were not judged"
                }
            }
            table {
                caption { "Checks" }
                thead { tr { th scope="col" { "Check" } th scope="col" { "Verdict" } th scope="col" { "Finding" } } }
                tbody {
                    @for found in checks {
                        tr {
                            td { (text_of(&found["check"]).replace('_', " ")) }
                            td { (text_of(&found["verdict"]).replace('_', " ")) }
                            td { (text_of(&found["summary"])) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns whose error a baseline's comparison is, and who is better.
fn against(floor: &Value) -> String {
    let both = &floor["like_for_like"];
    let error = |of: &str| percent_of(&both[of]["mdape"], 1);
    let verdict = match text_of(&floor["verdict"]) {
        "beaten" => "The release beats the baseline.",
        "not_beaten" => "The release does not beat the baseline.",
        _ => "It is not judged.",
    };
    format!(
        "The median absolute error of the release is {}, and that of the baseline {}, on the same {} sales. {verdict}",
        error("release"),
        error("floor"),
        number_of(&both["release"]["rows"]),
    )
}

/// Returns the sales by the error of their estimate.
#[allow(clippy::cast_precision_loss)]
fn errors(errors: &Value) -> Markup {
    let (from, step) = (errors["from"].as_f64(), errors["step"].as_f64());
    let (Some((from, step)), Some(counts)) = (from.zip(step), errors["counts"].as_array()) else {
        return html! {};
    };
    let bar = |(at, count): (usize, &Value)| {
        let first = 100.0 * (from + step * at as f64);
        let words = format!("{first:.1} % to {:.1} %", first + 100.0 * step);
        Bar {
            // A label each eight bars, such as −30 %.
            label: match at % 8 {
                0 => format!("{first:+.0}"),
                _ => String::new(),
            },
            title: format!("{words}: {} sales", number_of(count)),
            value: count.as_f64(),
        }
    };
    let all: Vec<Bar> = counts.iter().enumerate().map(bar).collect();
    bars(
        "Error of the estimate against the price paid",
        "sales",
        "error, %",
        &all,
        None,
    )
}

/// Returns the median absolute error by bands of the price that was paid.
fn by_price(backtest: &Value) -> Markup {
    let all = of_groups(backtest, "price", |group| &group["accuracy"]["mdape"]);
    bars(
        "Median absolute error, by price",
        "%",
        "price paid, £",
        &all,
        None,
    )
}

/// Returns the share of prices within their range by groups, with the promised share as a line.
fn coverage(backtest: &Value, by: &str, title: &str) -> Markup {
    let all = of_groups(backtest, by, |group| &group["ranges"]["coverage"]);
    let nominal = backtest["subject"]["nominal_coverage"].as_f64();
    let promised = nominal.map(|share| (100.0 * share, "promised"));
    let across = if by == "price" { "price paid, £" } else { by };
    bars(title, "%", across, &all, promised)
}

/// Returns a figure of the groups of a division in per cent. Groups of few sales have none.
fn of_groups(backtest: &Value, by: &str, figure: fn(&Value) -> &Value) -> Vec<Bar> {
    let divisions = backtest["divisions"].as_array().into_iter().flatten();
    let mut found = divisions.filter(|division| division["by"] == by);
    let groups = found
        .next()
        .and_then(|division| division["groups"].as_array());
    let groups = groups.into_iter().flatten();
    let bar = |group: &Value| {
        let value = figure(group).as_f64()?;
        let key = text_of(&group["key"]);
        let label = key
            .replace("below ", "<")
            .replace(" to ", "–")
            .replace(" and above", "+");
        Some(Bar {
            title: format!(
                "{key}: {} of {} sales",
                percent(value, 1),
                number_of(&group["sales"])
            ),
            label,
            value: Some(100.0 * value),
        })
    };
    groups.filter_map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_baseline_says_whose_error_is_whose() {
        let floor = json!({
            "verdict": "beaten",
            "like_for_like": {"release": {"rows": 356, "mdape": 0.064}, "floor": {"mdape": 0.0765}},
        });
        assert_eq!(
            against(&floor),
            "The median absolute error of the release is 6.4 %, and that of the baseline 7.6 %, on \
             the same 356 sales. The release beats the baseline."
        );
    }

    #[test]
    fn plots_have_a_bar_for_each_group_with_a_figure() {
        let group = |key: &str, coverage: Value| json!({"key": key, "sales": 40, "accuracy": {"mdape": 0.07}, "ranges": {"coverage": coverage}});
        let backtest = json!({
            "subject": {"nominal_coverage": 0.8},
            "overall": {"accuracy": {"fsd": 0.124_932}},
            "errors": {"from": -0.5, "step": 0.025, "counts": [0, 3]},
            "divisions": [{"by": "price", "groups": [
                group("below 100k", json!(null)), group("100k to 150k", json!(0.83)),
            ]}],
        });
        let drawn = accuracy(&backtest).into_string();
        for shown in [
            "<dd>12.5 %</dd>",
            "<title>-47.5 % to -45.0 %: 3 sales</title>",
            "<title>100k to 150k: 83.0 % of 40 sales</title>",
            "<title>promised</title>",
            ">100k–150k</text>",
        ] {
            assert!(drawn.contains(shown), "{shown}: {drawn}");
        }
        assert!(!drawn.contains("below 100k: –"), "{drawn}");
    }
}
