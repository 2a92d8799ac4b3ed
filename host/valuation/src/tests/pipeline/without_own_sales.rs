//! The estimate without the home's own sales.

use super::*;
use domesday_valuation::pipeline::without_own_sales::estimate_without_own_sales;

fn without(house: &Value) -> f64 {
    estimate_without_own_sales(release(), &house.to_string()).unwrap()
}

#[test]
fn an_estimate_lies_between_the_market_and_the_homes_own_sales() {
    let house = demo::house();
    let valued = result(&house, &context(Kind::Existing));
    let estimate = valued["valuation"]["estimated_value_gbp"].as_f64().unwrap();
    let weight = valued["context"]["own_sale"]["weight"].as_f64().unwrap();
    let market = without(&house);
    assert!((market - estimate).abs() > 1.0, "{market} {estimate}");
    // The demo's release blends logarithms.
    let own = ((estimate.ln() - (1.0 - weight) * market.ln()) / weight).exp();
    let (low, high) = (market.min(own), market.max(own));
    assert!((low..=high).contains(&estimate), "{market} {own}");
}

#[test]
fn a_home_without_own_sales_has_the_same_estimate_without_them() {
    let mut house = demo::house();
    // A home of another number in the street, until one has no sale.
    let valued = (1..200).find_map(|number| {
        house["property"]["building_number_or_name"] = json!(number.to_string());
        let valued = result(&house, &context(Kind::Existing));
        let unsold = valued["status"] == "valued" && valued["context"]["own_sale"].is_null();
        unsold.then_some(valued)
    });
    let valued = valued.unwrap();
    let estimate = valued["valuation"]["estimated_value_gbp"].as_f64().unwrap();
    assert!((without(&house) - estimate).abs() <= 0.5);
}

#[test]
fn a_request_with_errors_has_none() {
    let mut house = demo::house();
    house["property"]["postcode"] = json!("nowhere");
    let none = estimate_without_own_sales(release(), &house.to_string());
    assert_eq!(none, None);
}
