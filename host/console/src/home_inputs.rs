//! The inputs of a home: the fields of a form, and the request that they make.

use crate::fields::Fields;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

/// The field that asks for stored data where the form leaves a blank.
pub const STORED: &str = "use_stored_data";

/// The kind of a field's value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Date,
    Number,
    Choice(&'static [(&'static str, &'static str)]),
}

/// A field of the form: its name, its label, where its value stands in a request, and its kind.
struct Input {
    name: &'static str,
    label: &'static str,
    pointer: [&'static str; 2],
    kind: Kind,
    required: bool,
}

const fn input(
    name: &'static str,
    label: &'static str,
    section: &'static str,
    kind: Kind,
    required: bool,
) -> Input {
    Input {
        name,
        label,
        pointer: [section, name],
        kind,
        required,
    }
}

const TYPES: &[(&str, &str)] = &[
    ("D", "Detached"),
    ("S", "Semi-detached"),
    ("T", "Terraced"),
    ("F", "Flat or maisonette"),
];
const SUBTYPES: &[(&str, &str)] = &[
    ("house_detached", "Detached house"),
    ("house_semi_detached", "Semi-detached house"),
    ("house_mid_terrace", "Mid-terraced house"),
    ("house_end_terrace", "End-terraced house"),
    ("bungalow_detached", "Detached bungalow"),
    ("bungalow_semi_detached", "Semi-detached bungalow"),
    ("bungalow_terraced", "Terraced bungalow"),
    ("flat_purpose_built", "Purpose-built flat"),
    ("flat_converted", "Converted flat"),
    ("maisonette", "Maisonette"),
];
const TENURES: &[(&str, &str)] = &[("freehold", "Freehold"), ("leasehold", "Leasehold")];
const OCCUPANCIES: &[(&str, &str)] = &[
    ("owner_occupied", "Owner-occupied"),
    ("tenanted", "Tenanted"),
    ("vacant", "Vacant"),
];

/// The fields of the form, by heading.
const INPUTS: [(&str, &[Input]); 3] = [
    (
        "Address",
        &[
            input("postcode", "Postcode", "property", Kind::Text, true),
            input(
                "building_number_or_name",
                "Building number or name, with the flat",
                "property",
                Kind::Text,
                true,
            ),
            input("street", "Street", "property", Kind::Text, true),
        ],
    ),
    (
        "Home",
        &[
            input("type", "Type", "property", Kind::Choice(TYPES), true),
            input(
                "subtype",
                "Subtype",
                "property",
                Kind::Choice(SUBTYPES),
                true,
            ),
            input(
                "title_tenure",
                "Tenure",
                "property",
                Kind::Choice(TENURES),
                true,
            ),
            input(
                "years_remaining",
                "Years left of the lease",
                "lease",
                Kind::Number,
                false,
            ),
            input("bedrooms", "Bedrooms", "size", Kind::Number, false),
            input(
                "floor_area_m2",
                "Floor area, m²",
                "size",
                Kind::Number,
                false,
            ),
            input(
                "status",
                "Occupancy",
                "occupancy",
                Kind::Choice(OCCUPANCIES),
                true,
            ),
        ],
    ),
    (
        "Valuation",
        &[input(
            "valuation_date",
            "Valuation date",
            "property",
            Kind::Date,
            true,
        )],
    ),
];

/// Returns the request of a form's fields. A text in place of a number is sent as it is, so that
/// the API names it.
pub fn request_of(fields: &Fields) -> Value {
    let mut request = Map::new();
    for input in INPUTS.iter().flat_map(|(_, inputs)| *inputs) {
        let Some(text) = fields.get(input.name) else {
            continue;
        };
        let value = match input.kind {
            Kind::Number => serde_json::from_str::<serde_json::Number>(text)
                .map_or_else(|_| Value::from(text), Value::Number),
            _ => Value::from(text),
        };
        let [section, name] = input.pointer;
        let section = request.entry(section).or_insert_with(|| json!({}));
        if let Value::Object(section) = section {
            section.insert(name.to_owned(), value);
        }
    }
    for section in ["property", "occupancy", "size"] {
        request.entry(section).or_insert_with(|| json!({}));
    }
    request.insert(
        "options".to_owned(),
        json!({
            "include_comparables": true,
            "comparables_limit": 10,
            "include_context_metrics": true,
            STORED: fields.get(STORED).is_some(),
        }),
    );
    Value::Object(request)
}

/// Returns the fields of a request that the console made.
pub fn fields_of(request: &Value) -> Fields {
    let mut fields = Fields::default();
    for input in INPUTS.iter().flat_map(|(_, inputs)| *inputs) {
        let [section, name] = input.pointer;
        match &request[section][name] {
            Value::String(text) => fields.set(input.name, text),
            Value::Number(number) => fields.set(input.name, &number.to_string()),
            _ => {}
        }
    }
    if request["options"][STORED] == true {
        fields.set(STORED, "yes");
    }
    fields
}

/// Returns the inputs that a request states, each with its JSON Pointer and label, in words.
pub fn stated_at(request: &Value) -> Vec<(String, &'static str, String)> {
    let fields = fields_of(request);
    let inputs = INPUTS.iter().flat_map(|(_, inputs)| *inputs);
    inputs
        .filter_map(|input| {
            let [section, name] = input.pointer;
            let words = words_of(input, fields.get(input.name)?);
            Some((format!("/{section}/{name}"), input.label, words))
        })
        .collect()
}

/// Returns the inputs that a request states, each with its label, in words.
pub fn stated_inputs(request: &Value) -> Vec<(&'static str, String)> {
    let stated = stated_at(request).into_iter();
    let mut stated: Vec<_> = stated.map(|(_, label, words)| (label, words)).collect();
    let filled = match request["options"][STORED] == true {
        true => "yes",
        false => "no",
    };
    stated.push(("Blanks filled from stored data", filled.to_owned()));
    stated
}

/// Returns the names of the inputs without which no home can be valued.
pub fn required_inputs() -> impl Iterator<Item = &'static str> {
    let inputs = INPUTS.iter().flat_map(|(_, inputs)| *inputs);
    inputs
        .filter(|input| input.required)
        .map(|input| input.name)
}

/// Returns the label and the name of the field that a JSON Pointer of the API names.
pub fn field_of(pointer: &str) -> Option<(&'static str, &'static str)> {
    if pointer == "/size" {
        return Some(("Bedrooms or floor area", "bedrooms"));
    }
    let inputs = INPUTS.iter().flat_map(|(_, inputs)| *inputs);
    let named = |input: &&Input| format!("/{}/{}", input.pointer[0], input.pointer[1]) == pointer;
    let input = inputs.into_iter().find(named)?;
    Some((input.label, input.name))
}

/// Returns the value of an input in words.
fn words_of(input: &Input, value: &str) -> String {
    let choice = match input.kind {
        Kind::Choice(choices) => choices.iter().find(|(choice, _)| *choice == value),
        _ => None,
    };
    choice.map_or(value, |(_, words)| words).to_owned()
}

/// Returns the fields under their headings, filled in. The floor area is required where the form's
/// sender may not have stored data. The fields of `refused` are marked, and the first has the
/// focus.
pub fn fieldsets(fields: &Fields, may_store: bool, refused: &[&str]) -> Markup {
    // A person states the inputs that stored data cannot fill.
    let is_required =
        |input: &Input| input.required || (!may_store && input.name == "floor_area_m2");
    html! {
        @for (heading, inputs) in INPUTS {
            fieldset {
                legend { (heading) }
                @for input in inputs {
                    (field(input, fields.get(input.name).unwrap_or_default(), is_required(input), refused))
                }
            }
        }
    }
}

fn field(input: &Input, value: &str, required: bool, refused: &[&str]) -> Markup {
    let invalid = refused.contains(&input.name).then_some("true");
    let focus = refused.first() == Some(&input.name);
    html! {
        label {
            span { (input.label) @if required { " " abbr title="required" { "*" } } }
            @match input.kind {
                Kind::Choice(choices) => {
                    select name=(input.name) required[required] aria-invalid=[invalid] autofocus[focus] {
                        @if !required || value.is_empty() { option value="" { "–" } }
                        @for (choice, words) in choices {
                            option value=(choice) selected[*choice == value] { (words) }
                        }
                    }
                }
                Kind::Text => { input name=(input.name) value=(value) required[required] aria-invalid=[invalid] autofocus[focus] maxlength="200"; }
                Kind::Date => { input type="date" name=(input.name) value=(value) required[required] aria-invalid=[invalid] autofocus[focus]; }
                Kind::Number => { input name=(input.name) value=(value) required[required] aria-invalid=[invalid] autofocus[focus] inputmode="decimal" maxlength="20"; }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_field_is_marked_and_has_the_focus() {
        assert_eq!(field_of("/occupancy/status").unwrap().0, "Occupancy");
        let (label, name) = field_of("/size").unwrap();
        assert_eq!(label, "Bedrooms or floor area");
        assert_eq!(field_of("/fabric"), None);
        let form = fieldsets(&Fields::default(), true, &[name]).into_string();
        let marked = "name=\"bedrooms\" value=\"\" aria-invalid=\"true\" autofocus";
        assert!(form.contains(marked), "{form}");
        assert_eq!(form.matches("aria-invalid").count(), 1);
    }

    #[test]
    fn a_form_becomes_a_request_and_back() {
        let fields = Fields::parse(
            b"postcode=QA1+1AF&building_number_or_name=15&street=Badger+Yard&type=S&subtype=maisonette\
              &title_tenure=freehold&status=vacant&valuation_date=2026-10-15&bedrooms=3&floor_area_m2=9x\
              &use_stored_data=yes",
        );
        let request = request_of(&fields);
        assert_eq!(
            request["size"],
            json!({"bedrooms": 3, "floor_area_m2": "9x"})
        );
        assert_eq!(request["occupancy"], json!({"status": "vacant"}));
        assert_eq!(request["property"]["postcode"], "QA1 1AF");
        assert_eq!(request["options"]["use_stored_data"], true);
        assert_eq!(request.get("lease"), None);
        assert_eq!(request_of(&fields_of(&request)), request);
    }
}
