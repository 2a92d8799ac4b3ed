//! The catalogue of datasets: a list that can be searched, and the first choice of each selector.

use crate::fields::Fields;
use crate::number::{metric_words, text_of, unit_words};
use maud::{Markup, html};
use serde_json::Value;

/// The field of the words that are searched for.
pub const SEARCH: &str = "search";

/// Returns the datasets of a family whose name or metrics have the words, each with a link.
pub fn catalogue_of(family: &str, datasets: &[Value], search: Option<&str>) -> Markup {
    let search = search.unwrap_or_default();
    let found = datasets.iter().filter(|dataset| is_found(dataset, search));
    let found: Vec<&Value> = found.collect();
    html! {
        form.find method="get" action={ "/" (family) } role="search" {
            label {
                span { "Search the datasets" }
                input type="search" name=(SEARCH) value=(search) maxlength="100";
            }
            button { "Search" }
        }
        @if found.is_empty() { p role="status" { "No dataset has these words." } }
        @else {
            div.wide tabindex="0" {
                table.catalogue {
                    caption { (found.len()) " of " (datasets.len()) " datasets" }
                    thead { tr { th scope="col" { "Dataset" } th scope="col" { "Metrics" } th scope="col" { "Frequency" } th scope="col" { "Name in the API" } } }
                    tbody {
                        @for dataset in found {
                            @let name = text_of(&dataset["dataset"]);
                            tr {
                                th scope="row" { a href={ "/" (family) "?dataset=" (name) } { (name.replace('_', " ")) } }
                                td { (metrics(dataset).join("; ")) }
                                td { (text_of(&dataset["frequency"])) }
                                td { code { (name) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the metrics of a dataset in words, with their units.
fn metrics(dataset: &Value) -> Vec<String> {
    let metrics = dataset["metrics"].as_array().into_iter().flatten();
    let words = |metric: &Value| {
        let unit = unit_words(text_of(&metric["unit"]));
        format!("{}, {unit}", metric_words(text_of(&metric["metric"])))
    };
    metrics.map(words).collect()
}

/// Reports whether a dataset has all words, in its name or its metrics.
fn is_found(dataset: &Value, search: &str) -> bool {
    let name = text_of(&dataset["dataset"]).replace('_', " ");
    let all = format!(
        "{name} {} {}",
        dataset["dataset"],
        metrics(dataset).join(" ")
    );
    let all = all.to_lowercase();
    let search = search.to_lowercase();
    search.split_whitespace().all(|word| all.contains(word))
}

/// Sets each required field that the fields lack to its first choice, where there is a list.
pub fn set_first_choices(dataset: &Value, areas: &Value, fields: &mut Fields) {
    let required = dataset["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if fields.get(name).is_some() {
            continue;
        }
        let first = match name {
            "area" => &areas["areas"][0]["code"],
            _ => &dataset["selector_options"][name][0],
        };
        match first {
            Value::Null => {}
            Value::String(text) => fields.set(name, text),
            other => fields.set(name, &other.to_string()),
        }
    }
}

/// Returns the first field that a dataset requires and the form lacks.
pub fn missing(dataset: &Value, fields: &Fields) -> Option<String> {
    let required = dataset["required"].as_array()?.iter();
    let mut names = required.filter_map(Value::as_str);
    let name = names.find(|name| fields.get(name).is_none())?;
    Some(format!("the field {}", name.replace('_', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn dataset() -> Value {
        json!({
            "dataset": "price_bands", "required": ["dataset", "area", "price_band", "term_years", "other"],
            "metrics": [{"metric": "price_per_sqm_gbp", "unit": "GBP/m2"}],
            "selector_options": {"price_band": ["under_100k", "1m_plus"], "term_years": [2, 5]},
        })
    }

    #[test]
    fn a_dataset_is_found_by_words_of_its_name_and_its_metrics() {
        let all = [dataset(), json!({"dataset": "bank_rate"})];
        let shown = |search| catalogue_of("markets", &all, search).into_string();
        assert!(shown(None).contains("2 of 2 datasets"));
        let found = shown(Some("Price m²"));
        assert!(found.contains("/markets?dataset=price_bands"), "{found}");
        assert!(!found.contains("bank_rate"), "{found}");
        assert!(found.contains("price per m², £/m²"), "{found}");
        assert!(shown(Some("rents")).contains("No dataset has these words."));
    }

    #[test]
    fn the_first_choice_of_each_list_is_made_and_a_field_without_one_is_named() {
        let areas = json!({"areas": [{"code": "E1"}, {"code": "E2"}]});
        let mut fields = Fields::parse(b"dataset=price_bands&term_years=5");
        set_first_choices(&dataset(), &areas, &mut fields);
        let query = "dataset=price_bands&term_years=5&area=E1&price_band=under_100k";
        assert_eq!(fields.query(), query);
        let named = missing(&dataset(), &fields);
        assert_eq!(named.as_deref(), Some("the field other"));
    }
}
