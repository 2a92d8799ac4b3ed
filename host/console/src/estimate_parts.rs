//! The two parts of an estimate: the home's own sales and the market.
//!
//! The release states the weight of the own sales. The market's part is the estimate of the same
//! release without them. The own sales' part is what gives the estimate with it, on a scale of
//! logarithms.

use crate::number::{percent, pounds, pounds_of};
use maud::{Markup, html};
use serde_json::Value;

/// The weight of own sales below which the rest says nothing about them.
const LEAST_WEIGHT: f64 = 0.05;

/// The estimates behind a value that the response does not state, in pounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct PartEstimates {
    /// The price of the last own sale, carried to the valuation date by the index.
    pub last_sale: Option<f64>,
    /// The estimate of the same release without the home's own sales.
    pub market: Option<f64>,
}

/// Returns the value that the home's own sales give together. `weight` is theirs, 0 to 1.
fn own_part(estimate: f64, weight: f64, market: f64) -> Option<f64> {
    let known = weight >= LEAST_WEIGHT && estimate > 0.0 && market > 0.0;
    known.then(|| ((estimate.ln() - (1.0 - weight) * market.ln()) / weight).exp())
}

/// Shows what each part of an estimate gives, and its weight. Nothing is shown where the response
/// has no context.
pub fn show(response: &Value, parts: PartEstimates) -> Markup {
    let estimate = response["valuation"]["estimated_value_gbp"].as_f64();
    let Some(estimate) = estimate.filter(|_| response["context"].is_object()) else {
        return html! {};
    };
    let sale = &response["context"]["own_sale"];
    let weight = sale["weight"].as_f64().unwrap_or(0.0);
    let market = match sale.is_object() {
        true => parts.market,
        false => Some(estimate),
    };
    let own = market.and_then(|market| own_part(estimate, weight, market));
    html! {
        h3 { "What gives the estimate" }
        div.wide tabindex="0" { table.parts {
            caption { "The home's own sales and the market, with their weights" }
            thead { tr {
                th scope="col" { "Part" } th.number scope="col" { "Gives" } th.number scope="col" { "Weight" }
            } }
            tbody {
                tr {
                    th scope="row" { "Its own sales" }
                    td.number { (whole_pounds(own)) }
                    td.number { (percent(weight, 1)) }
                }
                tr {
                    th scope="row" { "The market" }
                    td.number { (whole_pounds(market)) }
                    td.number { (percent(1.0 - weight, 1)) }
                }
                tr {
                    th scope="row" { "Estimate" }
                    td.number { (pounds_of(&response["valuation"]["estimated_value_gbp"])) }
                    td.number { "100.0 %" }
                }
            }
        } }
        @if sale.is_object() {
            p {
                "The home itself was last sold on " (sale["sale_date"].as_str().unwrap_or("–")) " for "
                strong { (pounds_of(&sale["price_gbp"])) }
                @if parts.last_sale.is_some() { ", which the index carries to " strong { (whole_pounds(parts.last_sale)) } " on the valuation date" }
                ". The release states the weight of its own sales together."
            }
            p.quiet {
                @if market.is_some() {
                    "The market's part is what this release gives for the home without its own sales. The release was run again for it, which costs no unit. "
                    "The own sales' part follows from it: with their weights, the mean of the logarithms is the estimate. "
                    "The release may weigh several own sales, and correct the index for homes that are sold again."
                } @else {
                    "What each part gives is not known: no estimate without the own sales was saved with this value."
                }
            }
        } @else {
            p { "No sale of the home itself has a weight in this estimate, so the market gives all of it." }
        }
        (comparables(response, estimate, market))
    }
}

/// Shows where the estimate and the market's part lie among the comparables that are listed.
fn comparables(response: &Value, estimate: f64, market: Option<f64>) -> Markup {
    let shown = adjusted_prices(response);
    let Some((low, high)) = shown.iter().min().zip(shown.iter().max()) else {
        return html! {};
    };
    let outside = |number: f64| !(*low..=*high).contains(&rounded_gbp(number));
    let has_own_sale = response["context"]["own_sale"].is_object();
    html! {
        p {
            "The comparables shown give " (pounds(*low)) " to " (pounds(*high)) ". "
            @if let Some(mean) = mean_by_similarity(response) {
                "Their mean, weighted by similarity, is " strong { (whole_pounds(Some(mean))) } ". "
            }
            @if has_own_sale && market.is_some_and(outside) {
                "The market's part lies outside of them: the release weighs more sales than it shows, or figures of the area. "
            }
            @if outside(estimate) {
                "The estimate lies outside of them. "
                @if has_own_sale { "The home's own sales moved it there, or comparables that are not shown." }
                @else { "Comparables that are not shown have a weight too." }
            }
        }
    }
}

/// Returns the mean of the adjusted prices of the comparables that a response lists, weighted by
/// their similarity.
fn mean_by_similarity(response: &Value) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for comparable in response["comparables"].as_array()? {
        let price = comparable["adjusted_price_gbp"].as_f64()?;
        let similarity = comparable["similarity"].as_f64()?;
        sum += price * similarity;
        weights += similarity;
    }
    (weights > 0.0).then(|| sum / weights)
}

/// Returns the adjusted prices of the comparables that a response lists.
fn adjusted_prices(response: &Value) -> Vec<i64> {
    let listed = response["comparables"].as_array().into_iter().flatten();
    listed
        .filter_map(|comparable| comparable["adjusted_price_gbp"].as_i64())
        .collect()
}

fn whole_pounds(number: Option<f64>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| pounds(rounded_gbp(number)))
}

fn rounded_gbp(number: f64) -> i64 {
    // Prices of homes are far below the largest whole number.
    #[allow(clippy::cast_possible_truncation)]
    let whole = number.round() as i64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_parts_with_their_weights_give_the_estimate() {
        let own = own_part(240_000.0, 0.6, 220_000.0).unwrap();
        let together = 0.6 * own.ln() + 0.4 * 220_000.0_f64.ln();
        assert!((together.exp() - 240_000.0).abs() < 1e-6);
        assert!(own > 240_000.0);
    }

    #[test]
    fn without_an_own_sale_the_market_gives_all() {
        let response =
            json!({"valuation": {"estimated_value_gbp": 240_000}, "context": {"own_sale": null}});
        let shown = show(&response, PartEstimates::default()).into_string();
        assert!(
            shown.contains("£240,000</td><td class=\"number\">100.0 %"),
            "{shown}"
        );
        assert!(shown.contains("the market gives all of it"), "{shown}");
    }

    #[test]
    fn a_weight_near_nothing_says_nothing_about_own_sales() {
        assert_eq!(own_part(240_000.0, 0.04, 241_000.0), None);
    }

    #[test]
    fn a_part_outside_of_the_comparables_is_named() {
        let response = json!({
            "valuation": {"estimated_value_gbp": 240_000},
            "context": {"own_sale": {"sale_date": "2020-01-02", "price_gbp": 200_000, "weight": 0.5}},
            "comparables": [
                {"adjusted_price_gbp": 230_000, "similarity": 0.9},
                {"adjusted_price_gbp": 250_000, "similarity": 0.3},
            ],
        });
        let of = |market| {
            let last_sale = Some(210_000.0);
            show(&response, PartEstimates { last_sale, market }).into_string()
        };
        let within = of(Some(245_000.0));
        assert!(within.contains("is <strong>£235,000</strong>"), "{within}");
        assert!(!within.contains("outside"), "{within}");
        assert!(of(Some(260_000.0)).contains("part lies outside of them"));
        assert!(of(None).contains("without the own sales was saved with this value"));
    }
}
