//! Compares the demo world's prices with the real market.

use super::common::{demo, number, read_rows};
use std::collections::{BTreeMap, HashMap};

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

#[test]
fn prices_are_believable() {
    let (folder, _) = demo();
    let truth: HashMap<String, _> = read_rows(folder.path(), "truth.csv")
        .into_iter()
        .map(|row| (row["uprn"].clone(), row))
        .collect();
    let mut by_authority: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut by_type: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let mut by_sector: HashMap<String, Vec<(f64, f64)>> = HashMap::new();
    let mut luck = Vec::new();
    for sale in read_rows(folder.path(), "truth-sales.csv") {
        if sale["circumstance"] != "ordinary" {
            continue;
        }
        let price = number(&sale, "price_gbp");
        luck.push((price / number(&sale, "true_value_gbp")).ln());
        if sale["date"].as_str() < "2024-01-01" {
            continue;
        }
        let home = &truth[&sale["uprn"]];
        let area = number(home, "floor_area_m2");
        by_authority
            .entry(home["authority"].clone())
            .or_default()
            .push(price / area);
        by_type
            .entry((home["authority"].clone(), home["property_type"].clone()))
            .or_default()
            .push(price);
        let sector = &home["postcode"][..home["postcode"].len() - 2];
        by_sector
            .entry(sector.to_owned())
            .or_default()
            .push((price, area));
    }
    let deviation = (luck.iter().map(|x| x * x).sum::<f64>() / luck.len() as f64).sqrt();
    assert!((0.07..0.10).contains(&deviation), "luck {deviation}");
    for (authority, per_m2) in by_authority {
        let middle = median(per_m2);
        assert!(
            (1_200.0..9_000.0).contains(&middle),
            "{authority}: {middle}"
        );
        let of = |letter: &str| median(by_type[&(authority.clone(), letter.to_owned())].clone());
        let order = ["D", "S", "T", "F"].map(of);
        assert!(
            order.is_sorted_by(|dearer, cheaper| dearer > cheaper),
            "{authority}: {order:?}"
        );
    }
    let mut errors = Vec::new();
    for sold in by_sector.values().filter(|sold| sold.len() >= 8) {
        let per_m2 = median(sold.iter().map(|(price, area)| price / area).collect());
        errors.extend(
            sold.iter()
                .map(|(price, area)| (per_m2 * area / price - 1.0).abs()),
        );
    }
    let naive = median(errors);
    assert!(
        (0.08..0.20).contains(&naive),
        "a naive valuation misses by {naive}"
    );
}
