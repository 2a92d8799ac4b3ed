//! The two parts of an estimate: the home's own sales and the market.
//!
//! The release states the weight of the own sales. Their part is the last one's price, carried by
//! the index. The market's is what gives the estimate with it, on a scale of logarithms.

use crate::number::{pounds, pounds_of};
use maud::{Markup, html};
use serde_json::Value;

/// The weight of own sales above which the rest says nothing about the market.
const MOST_WEIGHT: f64 = 0.95;

/// The parts of one estimate.
struct Parts {
    estimate: f64,
    /// The weight of the home's own sales, 0 to 1.
    weight: f64,
    /// The price of the last own sale, carried to the valuation date.
    own: Option<f64>,
}

impl Parts {
    /// Returns the value that the market gives.
    fn market(&self) -> Option<f64> {
        if self.weight <= 0.0 {
            return Some(self.estimate);
        }
        let own = self.own.filter(|_| self.weight <= MOST_WEIGHT)?;
        let rest = self.estimate.ln() - self.weight * own.ln();
        Some((rest / (1.0 - self.weight)).exp())
    }
}

/// Shows what each part of an estimate gives, and its weight. `carried` is the price of the last
/// own sale as the index carries it. Nothing is shown where the response has no context.
pub fn show(response: &Value, carried: Option<f64>) -> Markup {
    let estimate = response["valuation"]["estimated_value_gbp"].as_f64();
    let Some(estimate) = estimate.filter(|_| response["context"].is_object()) else {
        return html! {};
    };
    let sale = &response["context"]["own_sale"];
    let parts = Parts {
        estimate,
        weight: sale["weight"].as_f64().unwrap_or(0.0),
        own: carried.filter(|own| *own > 0.0),
    };
    let shown = adjusted_prices(response);
    let ends = shown.iter().min().zip(shown.iter().max());
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
                    td.number { (whole_pounds(parts.own.filter(|_| sale.is_object()))) }
                    td.number { (percent(parts.weight)) }
                }
                tr {
                    th scope="row" { "The market" }
                    td.number { (whole_pounds(parts.market())) }
                    td.number { (percent(1.0 - parts.weight)) }
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
                @if parts.own.is_some() { ", which the index carries to " strong { (whole_pounds(parts.own)) } " on the valuation date" }
                ". The release states the weight of its own sales."
            }
            p.quiet {
                "The market's part is worked out here: with it, the weighted mean of the logarithms is the estimate. "
                "A release may weigh earlier sales too and correct the index, so its own figures can differ by a few per cent."
            }
        } @else {
            p { "No sale of the home itself has a weight in this estimate, so the market gives all of it." }
        }
        @if let Some((low, high)) = ends {
            p {
                "The comparables shown give " (pounds(*low)) " to " (pounds(*high)) ". "
                @if !(*low..=*high).contains(&rounded_gbp(estimate)) {
                    "The estimate lies outside of them. "
                    @if sale.is_object() { "The home's own sale moved it there, or comparables that are not shown." }
                    @else { "Comparables that are not shown have a weight too." }
                }
            }
        }
    }
}

/// Returns the adjusted prices of the comparables that a response lists.
fn adjusted_prices(response: &Value) -> Vec<i64> {
    let listed = response["comparables"].as_array().into_iter().flatten();
    listed
        .filter_map(|comparable| comparable["adjusted_price_gbp"].as_i64())
        .collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
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
        let parts = Parts {
            estimate: 240_000.0,
            weight: 0.6,
            own: Some(260_000.0),
        };
        let market = parts.market().unwrap();
        let together = 0.6 * 260_000.0_f64.ln() + 0.4 * market.ln();
        assert!((together.exp() - 240_000.0).abs() < 1e-6);
        assert!(market < 240_000.0);
    }

    #[test]
    fn without_an_own_sale_the_market_gives_all() {
        let response =
            json!({"valuation": {"estimated_value_gbp": 240_000}, "context": {"own_sale": null}});
        let shown = show(&response, None).into_string();
        assert!(
            shown.contains("£240,000</td><td class=\"number\">100.0 %"),
            "{shown}"
        );
        assert!(shown.contains("the market gives all of it"), "{shown}");
    }

    #[test]
    fn a_weight_near_one_says_nothing_about_the_market() {
        let parts = Parts {
            estimate: 240_000.0,
            weight: 0.96,
            own: Some(241_000.0),
        };
        assert_eq!(parts.market(), None);
    }
}
