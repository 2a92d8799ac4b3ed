//! Hand-worked numbers of every metric, on a few sales of one authority.

use super::super::sales::{Dwelling, TYPES};
use super::*;
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

mod rental;

const FIRST: Month = Month(600);

fn area() -> Area {
    Area {
        code: "E06990001".to_owned(),
        name: "Quay".to_owned(),
        land_hectares: 250.0,
        region: String::new(),
    }
}

fn dwelling(type_index: usize) -> Dwelling {
    let types = [
        PropertyType::Detached,
        PropertyType::SemiDetached,
        PropertyType::Terraced,
        PropertyType::Flat,
    ];
    Dwelling::new(types[type_index - 1]).unwrap()
}

fn sale(month: i32, type_index: usize, price: u32) -> Sale {
    Sale {
        area: 0,
        month: FIRST.plus(month),
        dwelling: dwelling(type_index),
        new_build: false,
        price,
        floor_area: None,
        bedrooms: None,
    }
}

/// Returns the points of one series, as (month from [`FIRST`], point).
fn points(
    sales: &[Sale],
    deliveries: &[Delivery],
    months: i32,
    dataset: &str,
    metric: &str,
    choice: Option<&str>,
) -> Vec<(i32, Point)> {
    let mut sales = sales.to_vec();
    sales.sort_unstable();
    let area = area();
    let rents = Rents::default();
    let index = (0..months)
        .map(|month| (FIRST.plus(month), 100.0 + f64::from(month)))
        .collect();
    let authority = AuthorityData {
        number: 0,
        area: &area,
        months: Some(Span {
            first: FIRST,
            last: FIRST.plus(months - 1),
        }),
        sales: &sales,
        deliveries,
        index: Some(("E06990001", &index)),
        rents: &rents,
    };
    let lines = all(&authority);
    let matches = |line: &&Line| {
        let chosen = line.selectors.first().map(|(_, value)| *value);
        line.dataset == dataset && line.metric == metric && chosen == choice
    };
    let line = lines.iter().find(matches).unwrap();
    line.points
        .iter()
        .map(|(month, point, _)| (month.0 - FIRST.0, *point))
        .collect()
}

#[test]
fn counts_values_and_shares_roll_over_twelve_months() {
    let mut sales = vec![sale(0, 1, 100_000); 4];
    sales.push(sale(11, 1, 500_000));
    sales.push(sale(11, 4, 200_000));
    let of = |metric, choice| points(&sales, &[], 13, "market_activity", metric, Some(choice));
    assert_eq!(
        of("sales_count", "all"),
        [(11, Point::Value(6.0)), (12, Point::Value(2.0))]
    );
    assert_eq!(
        of("sales_count", "flat"),
        [(11, Point::Value(1.0)), (12, Point::Value(1.0))]
    );
    assert_eq!(
        of("sales_count", "terraced")[0].1,
        Point::Value(0.0),
        "a true zero"
    );
    // 4 x 100,000 + 500,000 + 200,000; then two sales, which are too few.
    assert_eq!(
        of("sales_value_gbp", "all"),
        [(11, Point::Value(1_100_000.0)), (12, Point::Suppressed)]
    );
    assert_eq!(of("sales_value_gbp", "terraced")[0].1, Point::Value(0.0));
    // 1,100,000 over 2.5 square kilometres.
    assert_eq!(
        of("sales_value_per_km2_gbp", "all")[0].1,
        Point::Value(440_000.0)
    );
    assert_eq!(
        of("sales_share_pct", "detached")[0].1,
        Point::Value(100.0 * 5.0 / 6.0)
    );
    assert_eq!(of("sales_share_pct", "detached")[1].1, Point::Value(50.0));
}

#[test]
fn a_share_of_nothing_is_missing_and_not_zero() {
    let sales = [sale(0, 1, 100_000)];
    let shares = points(
        &sales,
        &[],
        13,
        "market_activity",
        "sales_share_pct",
        Some("flat"),
    );
    assert_eq!(shares, [(11, Point::Value(0.0)), (12, Point::Missing)]);
}

#[test]
fn price_per_square_metre_counts_a_floor_area_from_its_lodgement_on() {
    let measured = |month, on_record| Sale {
        floor_area: Some((8_000, FIRST.plus(on_record))),
        ..sale(month, 3, 200_000)
    };
    // Nine are on record at once, the tenth in month 12.
    let mut sales = vec![measured(5, 5); 9];
    sales.push(measured(6, 12));
    let per_sqm = points(
        &sales,
        &[],
        18,
        "market_activity",
        "price_per_sqm_gbp",
        Some("all"),
    );
    assert_eq!(per_sqm[0], (11, Point::Suppressed));
    assert_eq!(per_sqm[1], (12, Point::Value(2_500.0)));
    assert_eq!(
        per_sqm[5],
        (16, Point::Value(2_500.0)),
        "month 5 is still within"
    );
    assert_eq!(
        per_sqm[6],
        (17, Point::Suppressed),
        "only the tenth is left"
    );
    let none = points(
        &sales,
        &[],
        18,
        "market_activity",
        "price_per_sqm_gbp",
        Some("flat"),
    );
    assert_eq!(none[0].1, Point::Missing);
}

#[test]
fn bands_hold_their_lower_bound_and_not_their_upper() {
    let sales =
        [99_999, 100_000, 149_999, 150_000, 1_000_000, u32::MAX].map(|price| sale(0, 1, price));
    let count = |band| points(&sales, &[], 12, "price_bands", "sales_count", Some(band))[0].1;
    assert_eq!(count("under_100k"), Point::Value(1.0));
    assert_eq!(count("100k_to_150k"), Point::Value(2.0));
    assert_eq!(count("150k_to_200k"), Point::Value(1.0));
    assert_eq!(count("750k_to_1m"), Point::Value(0.0));
    assert_eq!(count("1m_plus"), Point::Value(2.0));
    let share = points(
        &sales,
        &[],
        12,
        "price_bands",
        "sales_share_pct",
        Some("100k_to_150k"),
    );
    assert_eq!(share[0].1, Point::Value(100.0 * 2.0 / 6.0));
}

#[test]
fn the_differential_is_adjusted_for_the_mix_of_types() {
    let new = |type_index, price| Sale {
        new_build: true,
        ..sale(0, type_index, price)
    };
    // New: 30 flats at 220,000 and 10 detached at 440,000. Established: 10 flats at 200,000 and 40
    // detached at 400,000. At the new homes' weights the established mean is (30 x 200,000 + 10 x
    // 400,000) / 40 = 250,000. The new mean is 275,000, or 10 per cent more.
    let mut sales = vec![new(4, 220_000); 30];
    sales.extend(vec![new(1, 440_000); 10]);
    sales.extend(vec![sale(0, 4, 200_000); 10]);
    sales.extend(vec![sale(0, 1, 400_000); 40]);
    // Four established terraced houses take no part.
    sales.extend(vec![sale(0, 3, 1); 4]);
    sales.extend(vec![new(3, 900_000); 9]);
    let of = |metric, choice| {
        points(
            &sales,
            &[],
            36,
            "new_build_price_differential",
            metric,
            Some(choice),
        )[0]
        .1
    };
    let Point::Value(percent) = of("price_differential_pct", "all") else {
        panic!("withheld");
    };
    assert!((percent - 10.0).abs() < 1e-9, "{percent}");
    assert_eq!(of("new_build_price_gbp", "all"), Point::Value(275_000.0));
    assert_eq!(of("established_price_gbp", "all"), Point::Value(250_000.0));
    assert_eq!(of("new_build_sales_count", "all"), Point::Value(49.0));
    assert_eq!(
        of("price_differential_pct", "detached"),
        Point::Suppressed,
        "ten new ones"
    );
    assert_eq!(
        of("price_differential_pct", "semi_detached"),
        Point::Missing
    );
}

fn home(day: &str, postcode: u64, type_index: usize) -> Delivery {
    Delivery {
        area: 0,
        postcode,
        day: Day::parse_iso(day).unwrap(),
        dwelling: dwelling(type_index),
        price: 300_000,
    }
}

#[test]
fn deliveries_cluster_into_developments() {
    // FIRST is January 2020. Two in one postcode within 180 days, one on its own, two more than
    // 180 days apart, and one without a postcode.
    let homes = [
        home("2020-05-01", 0, 1),
        home("2020-01-10", 5, 1),
        home("2020-07-08", 5, 4),
        home("2020-02-01", 6, 1),
        home("2020-01-01", 7, 1),
        home("2020-06-30", 7, 1),
    ];
    let of = |metric| points(&[], &homes, 14, "development_deliveries", metric, None);
    assert_eq!(of("developments_count")[0], (11, Point::Value(1.0)));
    assert_eq!(of("deliveries_count")[0], (11, Point::Value(2.0)));
    assert_eq!(of("homes_per_development")[0], (11, Point::Value(2.0)));
    assert_eq!(
        of("major_development_share_pct")[0],
        (11, Point::Value(0.0))
    );
    // In the window that begins with February 2020 one of the two is gone.
    assert_eq!(of("developments_count")[1], (12, Point::Value(0.0)));
    assert_eq!(of("homes_per_development")[1], (12, Point::Missing));
    let delivered = |choice| {
        points(
            &[],
            &homes,
            14,
            "new_build_deliveries",
            "deliveries_count",
            Some(choice),
        )[0]
        .1
    };
    assert_eq!(delivered("all"), Point::Value(6.0));
    assert_eq!(delivered("flat"), Point::Value(1.0));
}

#[test]
fn ten_homes_make_a_major_development() {
    let mut homes = vec![home("2020-03-01", 5, 4); 10];
    homes.extend([home("2020-03-01", 6, 4), home("2020-03-02", 6, 4)]);
    let of = |metric| points(&[], &homes, 12, "development_deliveries", metric, None)[0].1;
    assert_eq!(
        of("major_development_share_pct"),
        Point::Value(100.0 * 10.0 / 12.0)
    );
    assert_eq!(of("homes_per_development"), Point::Value(6.0));
}

#[test]
fn new_homes_have_a_share_of_sales() {
    let new = Sale {
        new_build: true,
        ..sale(3, 4, 1)
    };
    let sales = [new, sale(3, 4, 1), sale(3, 4, 1), sale(3, 1, 1)];
    let of = |metric, choice| {
        points(
            &sales,
            &[],
            12,
            "new_build_sales_share",
            metric,
            Some(choice),
        )[0]
        .1
    };
    assert_eq!(of("new_build_share_pct", "all"), Point::Value(25.0));
    assert_eq!(of("new_build_share_pct", "flat"), Point::Value(100.0 / 3.0));
    assert_eq!(of("new_build_share_pct", "terraced"), Point::Missing);
    assert_eq!(of("new_build_sales_count", "detached"), Point::Value(0.0));
}

#[test]
fn a_window_without_sales_or_coverage_says_nothing() {
    let short = points(
        &[sale(0, 1, 1)],
        &[],
        11,
        "market_activity",
        "sales_count",
        Some("all"),
    );
    assert_eq!(short, [], "eleven months are no window of twelve");
    assert_eq!(TYPES.len(), 5);
}

#[test]
fn the_lines_are_the_catalogue() {
    use crate::catalogue::Family;
    use std::collections::BTreeSet;
    let area = area();
    let rents = Rents::default();
    let authority = AuthorityData {
        number: 0,
        area: &area,
        months: None,
        sales: &[],
        deliveries: &[],
        index: None,
        rents: &rents,
    };
    let computed: BTreeSet<(&str, &str)> = all(&authority)
        .iter()
        .map(|line| (line.dataset, line.metric))
        .collect();
    let listed = Family::Markets
        .datasets()
        .iter()
        .flat_map(|dataset| dataset.metrics.iter().map(|metric| (dataset.id, metric.id)));
    assert_eq!(computed, listed.collect());
}
