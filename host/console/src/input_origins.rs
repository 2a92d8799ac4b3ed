//! The origins of a value's inputs: the request, stored data, or the release.

use crate::home_inputs::stated_at;
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;

/// The origin of an input that the request states.
const STATED: &str = "the request";

/// Shows each input with its value and its origin. `stored` has the values that stored data gave,
/// by the input's JSON Pointer.
pub fn show(request: &Value, response: &Value, stored: &BTreeMap<String, String>) -> Markup {
    let resolution = &response["input_resolution"];
    let of = |member: &str| {
        let notes = resolution[member].as_array().into_iter().flatten();
        notes.filter_map(|note| Some((note["field"].as_str()?, note)))
    };
    let ignored: Vec<&str> = of("ignored_inputs").map(|(field, _)| field).collect();
    let stated = stated_at(request);
    let stated = stated
        .iter()
        .filter(|(field, ..)| !ignored.contains(&field.as_str()));
    html! {
        section {
            h2 { "Inputs" }
            div.wide tabindex="0" { table {
                caption { "Each input, its value and its origin" }
                thead { tr {
                    th scope="col" { "Input" } th scope="col" { "Value" } th scope="col" { "Origin" }
                } }
                tbody {
                    @for (field, label, words) in stated {
                        (row(label, field, words, STATED))
                    }
                    @for (field, note) in of("stored_data_used") {
                        @let value = stored.get(field).map_or("not shown", String::as_str);
                        (row("", field, value, &format!("stored data: {}", words_of(&note["source"]))))
                    }
                    @for (field, note) in of("derived_inputs") {
                        @let value = match &note["value"] { Value::Null => "not stated".to_owned(), value => words_of(value) };
                        (row("", field, &value, &format!("the release: {}", words_of(&note["reason"]))))
                    }
                    @for (field, note) in of("ignored_inputs") {
                        (row("", field, "", &format!("not used: {}", words_of(&note["reason"]))))
                    }
                }
            } }
        }
    }
}

fn row(label: &str, field: &str, value: &str, origin: &str) -> Markup {
    html! {
        tr.stated[origin == STATED] {
            td { @if label.is_empty() { (label_of(field)) } @else { (label) } " " code.quiet { (field) } }
            td { (value) }
            td { (origin) }
        }
    }
}

/// Returns the words of a pointer's last part.
fn label_of(field: &str) -> String {
    let name = field.rsplit('/').next().unwrap_or_default();
    let words = name.replace("_m2", ", m²").replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Returns a word or a value of JSON as a person reads it.
fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('_', " "),
        Value::Null => "no reason is stated".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_input_has_its_value_and_origin() {
        let request = json!({"property": {"type": "S"}, "size": {"bedrooms": 3, "floor_level": 2}});
        let note = |field: &str, member: &str, word: &str| json!({"field": field, member: word});
        let response = json!({"input_resolution": {
            "stored_data_used": [note("/size/floor_area_m2", "source", "energy_certificate")],
            "derived_inputs": [note("/energy/rating", "reason", "local_typical")],
            "ignored_inputs": [note("/size/floor_level", "reason", "applies_to_flats_only")],
        }});
        let stored = BTreeMap::from([("/size/floor_area_m2".to_owned(), "104.5".to_owned())]);
        let page = show(&request, &response, &stored).into_string();
        for (row, value, origin) in [
            ("/property/type", "Semi-detached", "the request"),
            ("/size/bedrooms", "3", "the request"),
            (
                "/size/floor_area_m2",
                "104.5",
                "stored data: energy certificate",
            ),
            ("/energy/rating", "not stated", "the release: local typical"),
            ("/size/floor_level", "", "not used: applies to flats only"),
        ] {
            let shown = format!("{row}</code></td><td>{value}</td><td>{origin}</td>");
            assert_eq!(page.matches(&shown).count(), 1, "{shown}: {page}");
        }
        assert!(page.contains("Floor area, m² <code"), "{page}");
    }
}
