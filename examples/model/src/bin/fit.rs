//! The fits that `domesday release build` runs outside the sandbox: `train`, then `calibrate`.
//!
//! Both write the file of parameters that `build.rs` bakes in. This model has nothing to train: its
//! prices come from the evidence. Its range is calibrated on sales that came later than those for
//! training.

use serde_json::{Value, json};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};

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
        Some("train") => json!({"range": null}),
        Some("calibrate") => {
            let coverage: f64 = option("--coverage")?.parse()?;
            let ratios = ratios(BufReader::new(File::open(option("--predictions")?)?))?;
            json!({"range": range(ratios, coverage)})
        }
        _ => return Err("say train or calibrate".into()),
    };
    fs::write(option("--out")?, format!("{parameters:#}\n"))?;
    Ok(())
}

/// Returns price over estimate of each sale that was valued. A power makes them ratios at a
/// confidence of 0.5.
fn ratios(predictions: impl BufRead) -> Result<Vec<f64>, Box<dyn Error>> {
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
            ratios.push((price / estimate).powf(1.0 / width));
        }
    }
    Ok(ratios)
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
    use super::range;

    #[test]
    fn as_many_ratios_lie_below_as_above() {
        let ratios = (1..=99).rev().map(f64::from).collect();
        assert_eq!(range(ratios, 0.8), Some([10.0, 90.0]));
        assert_eq!(range(vec![1.0, 2.0], 0.8), None);
    }
}
