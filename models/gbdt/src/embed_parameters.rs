//! The constants that the build script writes.

use crate::assembly::Document;
use crate::features::table::Feature;
use crate::mapping::{ColumnSource, TargetName};
use crate::stack::Stack;
use std::fmt::Write;

/// Returns Rust source of the release's constants: the columns in the model's order, the target,
/// the offset, the stack and the reference model's parameters.
pub fn constants(document: &Document, inputs: &[String], fingerprint: &str) -> String {
    let mapping = &document.mapping;
    let target = match mapping.target {
        TargetName::Price => "Price",
        TargetName::LogPrice => "LogPrice",
    };
    let offset = mapping.offset.as_deref().and_then(Feature::from_name);
    let offset = offset.map_or("None".to_owned(), |offset| {
        format!("Some(Feature::{offset:?})")
    });
    let mut columns = String::new();
    for name in inputs {
        // The document was checked, so every column has a source.
        let Some(source) = mapping.columns.get(name) else {
            continue;
        };
        // Writing to a string cannot fail.
        let _ = write!(columns, "{}, ", column(name, source));
    }
    let stack = mapping
        .stack
        .then(|| document.stack.unwrap_or(Stack::equal()));
    // Debug output of plain structs of numbers is a Rust expression. It prints every f64 so that it
    // reads back to the same bits.
    format!(
        "/// The model's columns.\npub const COLUMNS: &[Column] = &[{columns}];\n\
         /// Meaning of the trees' score.\npub const TARGET: Target = Target::{target};\n\
         /// Feature that the score is added to.\npub const OFFSET: Option<Feature> = {offset};\n\
         /// Weights of the members.\npub const STACK: Option<Stack> = {stack:?};\n\
         /// Parameters of the reference model.\npub const REFERENCE: Parameters = {:?};\n\
         /// SHA-256 of the file of parameters, in hexadecimal.\npub const FINGERPRINT: &str = \"{fingerprint}\";\n",
        document.reference.parameters,
    )
}

fn column(name: &str, source: &ColumnSource) -> String {
    let Some(feature) = Feature::from_name(source.feature()) else {
        return String::new();
    };
    let codes = match source {
        ColumnSource::Feature(_) => "Codes::AsIs".to_owned(),
        ColumnSource::Categories(of) if feature == Feature::Authority => {
            format!("Codes::Authorities(&{:?})", of.categories)
        }
        ColumnSource::Categories(of) => {
            let number = |case: &&str| {
                let at = of.categories.iter().position(|c| c == case);
                at.map_or("f64::NAN".to_owned(), |at| format!("{at}.0"))
            };
            let numbers: Vec<String> = feature.cases().iter().map(number).collect();
            format!("Codes::Cases(&[{}])", numbers.join(", "))
        }
    };
    format!("Column {{ name: {name:?}, feature: Feature::{feature:?}, codes: {codes} }}")
}
