//! The evidence behind a value: its parts, its comparables step by step, and its area.

use super::value_sales::SalesBehind;
use domesday_console::estimate_parts::{self, PartEstimates};
use domesday_console::number::{
    format_rounded, number_of, percent, percent_change, pounds_of, text_of,
};
use maud::{Markup, html};
use serde_json::Value;

/// The adjustment of a comparable from which on it is large: a quarter of its price.
const LARGE_ADJUSTMENT: f64 = 0.25;

/// Shows the parts of the estimate, the map, the comparables and the area. `market` is the estimate
/// without the home's own sales.
pub(super) fn show(
    response: &Value,
    maps: &Markup,
    behind: &SalesBehind,
    market: Option<f64>,
) -> Markup {
    let none = Vec::new();
    let comparables = response["comparables"].as_array().unwrap_or(&none);
    let context = &response["context"];
    let sale = &context["own_sale"];
    let parts = PartEstimates {
        last_sale: behind.carry(&sale["sale_date"], &sale["price_gbp"]),
        market,
    };
    html! {
        section {
            h2 { "Evidence" }
            (estimate_parts::show(response, parts))
            @if !comparables.is_empty() {
                (warning(comparables, behind))
                div.evidence {
                    (maps)
                    (table(comparables, behind))
                }
                p.quiet {
                    "Points are those of postcodes. An adjusted price is what the comparable would have fetched as this home on the valuation date. "
                    @if let Some(index) = behind.index_name() {
                        "The published index of " strong { (index) } " carries its price to that date. "
                        "It is the index that the release gets for the home, whatever the comparable's type and area. "
                    }
                    "The model adjusts the rest: size, type, age, tenure and place."
                }
            }
            (behind.show(response))
            @if context.is_object() {
                h3 { "The area: " (text_of(&context["local_authority"]["name"])) ", postcode sector " (text_of(&context["postcode_sector"])) }
                dl {
                    dt { "Sales in twelve months" } dd { (number_of(&context["sales_count_12m"])) }
                    dt { "Median price" } dd { (pounds_of(&context["median_price_gbp"])) }
                    dt { "Price per square metre" } dd { "£" (format_rounded(&context["price_per_sqm_gbp"])) " per m²" }
                    dt { "Change over twelve months" } dd { (number_of(&context["price_change_12m_pct"])) " %" }
                }
            }
        }
    }
}

/// Warns of comparables that the model adjusted much: they are unlike the home.
fn warning(comparables: &[Value], behind: &SalesBehind) -> Markup {
    let large = comparables.iter().filter(|it| is_large(it, behind)).count();
    html! {
        @if large > 0 {
            p.warning role="note" {
                strong { "Large adjustments. " }
                (large) " of the " (comparables.len()) " comparables "
                @if large == 1 { "is" } @else { "are" }
                " adjusted by more than " (percent(LARGE_ADJUSTMENT, 0))
                @if behind.index_name().is_some() { " beyond the index" }
                ". A price that needs as much says little about this home. The table marks "
                @if large == 1 { "it." } @else { "them." }
            }
        }
    }
}

fn is_large(comparable: &Value, behind: &SalesBehind) -> bool {
    let share = behind.adjustment(comparable);
    share.is_some_and(|share| share.abs() > LARGE_ADJUSTMENT)
}

fn table(comparables: &[Value], behind: &SalesBehind) -> Markup {
    html! {
        div.wide tabindex="0" {
            table {
                caption { "Comparables" }
                thead {
                    tr {
                        th scope="col" { "No." } th.number scope="col" { "Adjusted" }
                        th.number scope="col" { "Price" } th scope="col" { "Sold" }
                        th.number scope="col" { "By index" } th.number scope="col" { "By the rest" }
                        th scope="col" { "Postcode" }
                        th scope="col" { "Type" } th.number scope="col" { "Floor area, m²" }
                        th.number scope="col" { "Distance, m" } th.number scope="col" { "Similarity" }
                    }
                }
                tbody {
                    @for comparable in comparables {
                        tr id={ "comparable-" (number_of(&comparable["rank"])) } tabindex="-1" {
                            th scope="row" { (number_of(&comparable["rank"])) }
                            td.number { strong { (pounds_of(&comparable["adjusted_price_gbp"])) } }
                            td.number { (pounds_of(&comparable["price_gbp"])) }
                            td.date { (text_of(&comparable["sale_date"])) }
                            @let (index, rest) = behind.steps(comparable).unwrap_or_else(|| ("–".to_owned(), change(comparable)));
                            td.number { (index) }
                            td.number.large[is_large(comparable, behind)] { (rest) }
                            td.date { (text_of(&comparable["postcode"])) }
                            td { (text_of(&comparable["property_type"])) }
                            td.number { (number_of(&comparable["floor_area_m2"])) }
                            td.number { (number_of(&comparable["distance_m"])) }
                            td.number { (number_of(&comparable["similarity"])) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the adjustment of a comparable's price.
fn change(comparable: &Value) -> String {
    let price = comparable["price_gbp"].as_f64();
    let adjusted = comparable["adjusted_price_gbp"].as_f64();
    match price.filter(|price| *price > 0.0).zip(adjusted) {
        Some((price, adjusted)) => percent_change(price, adjusted),
        None => "–".to_owned(),
    }
}
