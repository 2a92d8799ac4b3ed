//! The fits that `domesday release build` runs outside the sandbox: `train`, then `calibrate`.
//!
//! Both write the file of parameters that `build.rs` bakes in. This model has nothing to train: its
//! prices come from the evidence. Its ranges are calibrated, type by type, on sales that came later
//! than those for training.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

/// `build.rs` embeds their ranges in this order.
const TYPES: [&str; 4] = ["detached", "semi_detached", "terraced", "flat"];

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| -> Result<&String, String> {
        let at = given.iter().position(|word| word == name);
        at.and_then(|at| given.get(at + 1))
            .ok_or(format!("{name} is missing"))
    };
    let parameters = match given.first().map(String::as_str) {
        // The sales up to --train-until are in --sales, one JSON object a line, for models that
        // learn from them.
        Some("train") => json!({"range": {}}),
        Some("calibrate") => {
            let coverage: f64 = option("--coverage")?.parse()?;
            let ratios = ratios(BufReader::new(File::open(option("--predictions")?)?))?;
            json!({"range": ranges(&ratios, coverage)})
        }
        _ => return Err("say train or calibrate".into()),
    };
    fs::write(option("--out")?, format!("{parameters:#}\n"))?;
    Ok(())
}

/// Returns the type and price over estimate of each sale that was valued. A power makes them ratios
/// at a confidence of 0.5.
fn ratios(predictions: impl BufRead) -> Result<Vec<(String, f64)>, Box<dyn Error>> {
    let mut ratios = Vec::new();
    for line in predictions.lines() {
        let sale: Value = serde_json::from_str(&line?)?;
        let number = |name: &str| sale[name].as_f64();
        if let (Some(price), Some(estimate), Some(confidence)) = (
            number("price_gbp"),
            number("estimate"),
            number("confidence"),
        ) {
            // `src/lib.rs` multiplies by the same width.
            let width = 1.5 - confidence;
            let ratio = (price / estimate).powf(1.0 / width);
            let kind = sale["property_type"].as_str().unwrap_or_default();
            ratios.push((kind.to_owned(), ratio));
        }
    }
    Ok(ratios)
}

/// Returns the range of each type. A type of few sales has that of all.
fn ranges(ratios: &[(String, f64)], coverage: f64) -> BTreeMap<&'static str, Option<[f64; 2]>> {
    let of = |kind: Option<&str>| {
        let chosen = ratios
            .iter()
            .filter(|(known, _)| kind.is_none_or(|kind| kind == known));
        range(chosen.map(|(_, ratio)| *ratio).collect(), coverage)
    };
    TYPES.map(|kind| (kind, of(Some(kind)).or(of(None)))).into()
}

/// Returns the ends between which `coverage` of the ratios lie, with as many below as above.
/// Returns `None` of too few ratios.
///
/// With n ratios the k-th smallest has a new one below it in k of n + 1 cases, whatever their
/// distribution.
fn range(mut ratios: Vec<f64>, coverage: f64) -> Option<[f64; 2]> {
    ratios.sort_by(f64::total_cmp);
    // A little more, since 0.2 is not quite 1 less 0.8 in binary.
    let outside = ((1.0 - coverage) / 2.0 * (ratios.len() as f64 + 1.0) + 1e-9).floor() as usize;
    let lower = ratios.get(outside.checked_sub(1)?)?;
    let upper = ratios.get(ratios.len().checked_sub(outside)?)?;
    Some([*lower, *upper])
}

#[cfg(test)]
mod tests {
    use super::{range, ranges};

    #[test]
    fn as_many_ratios_lie_below_as_above() {
        let ratios = (1..=99).rev().map(f64::from).collect();
        assert_eq!(range(ratios, 0.8), Some([10.0, 90.0]));
        assert_eq!(range(vec![1.0, 2.0], 0.8), None);
    }
    #[test]
    fn a_type_of_few_sales_has_the_range_of_all() {
        let flats = (1..=99).map(|ratio| ("flat".to_owned(), f64::from(ratio)));
        let found = ranges(&flats.collect::<Vec<_>>(), 0.8);
        assert_eq!(found["flat"], Some([10.0, 90.0]));
        assert_eq!(found["detached"], found["flat"]);
    }
}
