//! The evidence that a value's confidence rests on, in words.
//!
//! A release states a score and a band, and no reason. What stands here are the facts of the
//! response that a reader judges the strength of evidence by.

use crate::number::percent;
use serde_json::Value;

/// Returns the facts behind the confidence of a value, a sentence each.
pub fn grounds(response: &Value) -> Vec<String> {
    let comparables = response["comparables"].as_array();
    let mut grounds: Vec<String> = comparables
        .and_then(|all| describe_comparables(all))
        .into_iter()
        .collect();
    if let Some(weight) = response["context"]["own_sale"]["weight"].as_f64() {
        let date = response["context"]["own_sale"]["sale_date"].as_str();
        grounds.push(format!(
            "Own sales of the home have {} of the weight, the last of {}.",
            percent(weight, 0),
            date.unwrap_or("an unknown day")
        ));
    }
    grounds.extend(width(&response["valuation"]));
    grounds
}

/// Returns what the comparables that are shown have in common.
fn describe_comparables(comparables: &[Value]) -> Option<String> {
    let numbers = |member: &str| ends(comparables.iter().filter_map(|it| it[member].as_f64()));
    let (near, far) = numbers("distance_m")?;
    let (least, most) = numbers("similarity")?;
    let dates = comparables.iter().filter_map(|it| it["sale_date"].as_str());
    let (first, last) = (dates.clone().min()?, dates.max()?);
    Some(format!(
        "{} comparables are shown: {near:.0} to {far:.0} m away, sold {first} to {last}, of \
         similarity {least:.2} to {most:.2}.",
        comparables.len()
    ))
}

/// Returns how far the range reaches below and above the estimate.
fn width(valuation: &Value) -> Option<String> {
    let estimate = valuation["estimated_value_gbp"].as_f64()?;
    let end = |member: &str| valuation["range"][member].as_f64();
    let (lower, upper) = (end("lower_value_gbp")?, end("upper_value_gbp")?);
    let share = |end: f64| percent((end / estimate - 1.0).abs(), 1);
    (estimate > 0.0).then(|| {
        format!(
            "The range reaches {} below the estimate and {} above it.",
            share(lower),
            share(upper)
        )
    })
}

/// Returns the least and the greatest of some numbers.
fn ends(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |ends, number| {
        let (least, most) = ends.unwrap_or((number, number));
        Some((least.min(number), most.max(number)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_facts_behind_a_confidence_are_those_of_the_response() {
        let response = json!({
            "valuation": {
                "estimated_value_gbp": 200_000,
                "range": {"lower_value_gbp": 180_000, "upper_value_gbp": 221_000},
            },
            "context": {"own_sale": {"sale_date": "2019-04-01", "price_gbp": 1, "weight": 0.421}},
            "comparables": [
                {"distance_m": 40, "similarity": 0.91, "sale_date": "2024-02-01"},
                {"distance_m": 430, "similarity": 0.4, "sale_date": "2026-08-03"},
            ],
        });
        assert_eq!(
            grounds(&response),
            [
                "2 comparables are shown: 40 to 430 m away, sold 2024-02-01 to 2026-08-03, of \
                 similarity 0.40 to 0.91.",
                "Own sales of the home have 42 % of the weight, the last of 2019-04-01.",
                "The range reaches 10.0 % below the estimate and 10.5 % above it.",
            ]
        );
        assert_eq!(grounds(&json!({})), [""; 0]);
    }
}
