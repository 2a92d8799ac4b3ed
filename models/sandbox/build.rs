//! Turns the cases of `sandbox/cases.toml` that reach the model into a Rust constant, so that the
//! sandbox has nothing to parse.

use serde::Deserialize;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// The part of the table that concerns the model.
#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    address: [String; 3],
    status: Status,
    estimate_gbp: Option<f64>,
    range_gbp: Option<[f64; 2]>,
    confidence: Option<f64>,
    comparables: Option<usize>,
    #[serde(default)]
    derived: bool,
    code: Option<String>,
    failure: Option<String>,
    #[serde(default)]
    country: Country,
}

/// The country of a home. The service answers for a home outside England before it asks the model.
#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Country {
    #[default]
    England,
    Wales,
    Scotland,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Valued,
    Referred,
    ValuationFailed,
    Rejected,
}

/// Comparables of a case that does not state a number.
const COMPARABLES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let file = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../sandbox/cases.toml");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", file.display());
    let table: Table = toml::from_str(&fs::read_to_string(file)?)?;
    let mut constants = String::from("const CASES: &[(&str, Answer)] = &[\n");
    for case in &table.case {
        if let Some(answer) = answer(case)? {
            let [_, _, postcode] = &case.address;
            writeln!(constants, "({postcode:?}, {answer}),")?;
        }
    }
    constants.push_str("];\n");
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("cases.rs"),
        constants,
    )?;
    Ok(())
}

/// Returns the answer of a case as a Rust expression. A case that the service itself answers has
/// none.
fn answer(case: &Case) -> Result<Option<String>, Box<dyn Error>> {
    if case.country != Country::England {
        return Ok(None);
    }
    Ok(Some(match case.status {
        Status::Rejected => return Ok(None),
        Status::Referred => {
            let code = case.code.as_deref().ok_or("a referred case has no code")?;
            format!("Answer::Referred(ReferralReason::{})", camel_case(code))
        }
        Status::ValuationFailed => {
            let failure = case.failure.as_deref();
            match failure.ok_or("a failed case has no failure")? {
                "crash" => "Answer::Crash".to_owned(),
                "endless" => "Answer::Endless".to_owned(),
                reason => format!("Answer::Failed(FailureReason::{})", camel_case(reason)),
            }
        }
        Status::Valued => format!(
            "Answer::Valued {{ estimate: {:?}, range: {:?}, confidence: {:?}, comparables: {}, derived: {} }}",
            case.estimate_gbp.ok_or("a valued case has no estimate")?,
            case.range_gbp.map(|[lower, upper]| (lower, upper)),
            case.confidence.ok_or("a valued case has no confidence")?,
            case.comparables.unwrap_or(COMPARABLES),
            case.derived,
        ),
    }))
}

/// Returns the name of a variant for a code of the contract.
fn camel_case(code: &str) -> String {
    code.split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect()
}
