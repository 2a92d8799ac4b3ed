//! The form that chooses a dataset and its selectors.

use crate::fields::Fields;
use crate::number::{metric_words, text_of, unit_words};
use maud::{Markup, html};
use serde_json::Value;

/// The field of an area that another is compared with.
pub const COMPARED: &str = "compared_with";
/// The field of a day whose curve another is compared with.
pub const COMPARED_DAY: &str = "compared_day";

/// Shows the choice of a dataset, and the fields of its selectors.
pub fn show(
    family: &str,
    datasets: &[Value],
    chosen: Option<&Value>,
    areas: &Value,
    fields: &Fields,
) -> Markup {
    let current = |name: &str| fields.get(name).unwrap_or_default().to_owned();
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let selectors: Vec<String> = chosen
        .map(|chosen| [names(&chosen["required"]), names(&chosen["optional"])].concat())
        .unwrap_or_default();
    let fixed = ["dataset", "metrics", "release_id", "page_size", "cursor"];
    html! {
        form.inputs.series method="get" action={ "/" (family) } {
            label {
                span { "Dataset" }
                select name="dataset" required {
                    @for dataset in datasets {
                        @let name = text_of(&dataset["dataset"]);
                        option value=(name) selected[name == current("dataset")] { (name.replace('_', " ")) }
                    }
                }
            }
            @for name in selectors.iter().filter(|name| !fixed.contains(&name.as_str())) {
                (selector(name, chosen, areas, &current(name)))
            }
            @if selectors.iter().any(|name| name == "area") {
                (compared_area(areas, &current(COMPARED)))
            }
            @if selectors.iter().any(|name| name == "tenor_months") {
                label {
                    span { "Compared day" }
                    input name=(COMPARED_DAY) value=(current(COMPARED_DAY)) maxlength="10" placeholder="YYYY-MM-DD";
                }
            }
            @if let Some(chosen) = chosen { (metrics(chosen, &current("metrics"))) }
            button.primary { "Show" }
            @if selectors.iter().any(|name| name == "from") {
                p.quiet.wide-field { "Without dates the latest observations are shown." }
            }
        }
    }
}

/// Returns the choice of one metric, or of those that the dataset has by default.
fn metrics(dataset: &Value, value: &str) -> Markup {
    let metrics = dataset["metrics"].as_array();
    html! {
        @if let Some(metrics) = metrics.filter(|metrics| metrics.len() > 1) {
            label {
                span { "Metric" }
                select name="metrics" {
                    option value="" { "all that are usual" }
                    @for metric in metrics {
                        @let name = text_of(&metric["metric"]);
                        @let unit = unit_words(text_of(&metric["unit"]));
                        option value=(name) selected[name == value] { (metric_words(name)) ", " (unit) " (" (name) ")" }
                    }
                }
            }
        }
    }
}

/// Returns the field of an area to compare with.
fn compared_area(areas: &Value, value: &str) -> Markup {
    html! {
        label {
            span { "Compared with" }
            select name=(COMPARED) {
                option value="" { "–" }
                @for area in areas["areas"].as_array().into_iter().flatten() {
                    @let code = text_of(&area["code"]);
                    option value=(code) selected[code == value] { (text_of(&area["name"])) " (" (code) ")" }
                }
            }
        }
    }
}

/// Returns the field of one selector: a choice where the catalogue lists its values.
fn selector(name: &str, dataset: Option<&Value>, areas: &Value, value: &str) -> Markup {
    let words = heading(name);
    let listed = dataset.map(|dataset| &dataset["selector_options"][name]);
    let listed = listed.and_then(Value::as_array);
    let areas = areas["areas"].as_array().filter(|_| name == "area");
    html! {
        label {
            span { (words) }
            @if let Some(areas) = areas {
                select name=(name) {
                    @for area in areas {
                        @let code = text_of(&area["code"]);
                        option value=(code) selected[code == value] { (text_of(&area["name"])) " (" (code) ")" }
                    }
                }
            } @else if let Some(listed) = listed {
                select name=(name) {
                    option value="" { "–" }
                    @for option in listed {
                        @let option = option.as_str().map_or_else(|| option.to_string(), str::to_owned);
                        option value=(option) selected[option == value] { (option.replace('_', " ")) }
                    }
                }
            } @else {
                input name=(name) value=(value) maxlength="200"
                    placeholder=[["from", "to"].contains(&name).then_some(period_form(dataset))];
            }
        }
    }
}

/// Returns the form of a period of a dataset: a day, or a month.
fn period_form(dataset: Option<&Value>) -> &'static str {
    match dataset.map(|dataset| text_of(&dataset["frequency"])) {
        Some("monthly") => "YYYY-MM",
        Some("daily") => "YYYY-MM-DD",
        _ => "YYYY-MM or YYYY-MM-DD",
    }
}

/// Returns the name of a selector as the heading of its field.
pub fn heading(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
