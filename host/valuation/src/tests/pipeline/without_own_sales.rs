//! The estimate without the home's own sales.

use super::*;
use domesday_engine::evidence::{EvidenceQuery, EvidenceResponse, EvidenceSource, Nearness};
use domesday_engine::subject::Subject;
use domesday_valuation::pipeline::without_own_sales::{
    WithoutOwnSales, estimate_without_own_sales,
};

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

/// Returns the number of sales of the home itself in an answer to the question.
fn count_own(evidence: &dyn EvidenceSource, home: &Subject, question: &EvidenceQuery) -> usize {
    let EvidenceResponse::Sales(sales) = evidence.ask(home, question).unwrap() else {
        return 0;
    };
    let own = |nearness| nearness == Nearness::SameProperty;
    sales.iter().filter(|sale| own(sale.nearness)).count()
}

#[test]
fn own_sales_are_hidden_among_those_near_by_too() {
    let fixtures = releases().join(format!("valuation/{}/fixtures.jsonl", demo::RELEASE));
    let lines = std::fs::read_to_string(fixtures).unwrap();
    let evidence = release().evidence.clone();
    let hidden = WithoutOwnSales(evidence.clone());
    let (mut own, mut near) = (0, 0);
    for row in lines.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let home: Subject = serde_json::from_value(row["subject"].clone()).unwrap();
        for asked in row["evidence"].as_array().unwrap() {
            let question = serde_json::from_value(asked["question"].clone()).unwrap();
            let found = count_own(&*evidence, &home, &question);
            match question {
                EvidenceQuery::NearbySales(_) => near += found,
                _ => own += found,
            }
            assert_eq!(count_own(&hidden, &home, &question), 0, "{question:?}");
        }
    }
    assert!(own > 0 && near > 0, "{own} own sales, {near} near by");
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
