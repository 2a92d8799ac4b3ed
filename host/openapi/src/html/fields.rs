//! One named schema as a table of its fields.

use super::text::{escape, inline, prose};
use serde_json::{Error, Value};
use std::fmt::Write;
use utoipa::openapi::{RefOr, Schema};

/// Renders a section of the page.
///
/// # Errors
/// The schema cannot be written as JSON.
pub fn schema(name: &str, schema: &RefOr<Schema>) -> Result<String, Error> {
    let value = serde_json::to_value(schema)?;
    let mut out = format!(
        "<section class=\"schema\"><h3 id=\"schema-{name}\"><a class=\"anchor\" href=\"#schema-{name}\">{name}</a></h3>"
    );
    out.push_str(&prose(value["description"].as_str().unwrap_or_default()));
    match schema {
        RefOr::T(Schema::Object(object)) if !object.properties.is_empty() => {
            out.push_str("<table><thead><tr><th scope=\"col\">Field<th scope=\"col\">Type<th scope=\"col\">Meaning</tr></thead><tbody>");
            for (field, schema) in &object.properties {
                let need = if object.required.contains(field) {
                    " <span class=\"need\">required</span>"
                } else {
                    ""
                };
                let schema = serde_json::to_value(schema)?;
                let _ = write!(
                    out,
                    "<tr><td><code>{}</code>{need}</td><td>{}</td><td>{}{}</td></tr>",
                    escape(field),
                    kind(&schema),
                    inline(schema["description"].as_str().unwrap_or_default()),
                    nested_fields(&schema),
                );
            }
            out.push_str("</tbody></table>");
            if value["additionalProperties"] == false {
                out.push_str("<p class=\"note\">Takes no other field.</p>");
            }
        }
        _ if value["enum"].is_array() || value["x-extensible-enum"].is_array() => {}
        _ => {
            let _ = write!(out, "<p>{}</p>", kind(&value));
        }
    }
    out.push_str(&rules(&value["allOf"]));
    out.push_str("</section>");
    Ok(out)
}

/// Renders the fields of an unnamed object.
fn nested_fields(schema: &Value) -> String {
    let Some(fields) = schema["properties"].as_object() else {
        return String::new();
    };
    let fields: String = fields
        .iter()
        .map(|(name, field)| {
            let description = inline(field["description"].as_str().unwrap_or_default());
            format!(
                "<li><code>{}</code>: {}. {description}</li>",
                escape(name),
                kind(field)
            )
        })
        .collect();
    format!("<ul>{fields}</ul>")
}

/// Renders the subtypes that a schema allows for each type.
fn rules(rules: &Value) -> String {
    let pairs: Vec<String> = rules
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|rule| {
            let kind = rule["if"]["properties"]["type"]["const"].as_str()?;
            let words = rule["then"]["properties"]["subtype"]["enum"].as_array()?;
            let words: Vec<_> = words.iter().filter_map(Value::as_str).map(code).collect();
            Some(format!("<li>{}: {}</li>", code(kind), words.join(", ")))
        })
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("<p>Subtypes by type:</p><ul>{}</ul>", pairs.concat()),
    }
}

/// Returns the type of a schema with its limits.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    if let Some(choices) = choices {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(word) = schema["const"].as_str() {
        return code(word);
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).map(code).collect();
        return words.join(", ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let mut out = types.join(" or ");
    if types.contains(&"array") {
        let _ = write!(out, " of {}", kind(&schema["items"]));
    }
    for limit in limits(schema) {
        let _ = write!(out, ", {limit}");
    }
    out
}

fn limits(schema: &Value) -> Vec<String> {
    let mut limits = Vec::new();
    if let Some(format) = schema["format"]
        .as_str()
        .filter(|format| !format.starts_with("int") && *format != "double")
    {
        limits.push(format.to_owned());
    }
    let span = |low: &str, high: &str, what: &str| match (&schema[low], &schema[high]) {
        (Value::Number(low), Value::Number(high)) => Some(format!("{low} to {high}{what}")),
        (Value::Null, Value::Number(high)) => Some(format!("at most {high}{what}")),
        (Value::Number(low), Value::Null) if low.as_f64() != Some(0.0) => {
            Some(format!("at least {low}{what}"))
        }
        _ => None,
    };
    limits.extend(span("minimum", "maximum", "").filter(|_| schema["exclusiveMinimum"].is_null()));
    limits.extend(
        span("exclusiveMinimum", "maximum", "")
            .filter(|_| schema["exclusiveMinimum"].is_number())
            .map(|span| format!("above {span}")),
    );
    limits.extend(span("minLength", "maxLength", " characters"));
    limits.extend(span("minItems", "maxItems", " items"));
    if !schema["default"].is_null() {
        limits.push(format!(
            "default {}",
            escape(&schema["default"].to_string())
        ));
    }
    limits
}

fn code(word: &str) -> String {
    format!("<code>{}</code>", escape(word))
}
