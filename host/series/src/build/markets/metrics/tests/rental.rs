//! Values, rents and yields.

use super::*;

#[test]
fn values_are_brought_to_the_last_month_by_the_index() {
    // The index stands at 100 + month: 100 in month 0, 123 in month 23.
    let sales = vec![sale(0, 1, 100_000); 5];
    let values = points(
        &sales,
        &[],
        25,
        "rental_market",
        "property_value_gbp",
        Some("all"),
    );
    let Point::Value(value) = values[0].1 else {
        panic!("withheld");
    };
    assert!((value - 123_000.0).abs() < 1e-6, "{value}");
    assert_eq!(
        values[1],
        (24, Point::Missing),
        "month 0 has left the window"
    );
    let few = points(
        &sales[..4],
        &[],
        24,
        "rental_market",
        "property_value_gbp",
        Some("all"),
    );
    assert_eq!(few, [(23, Point::Suppressed)]);
}

#[test]
fn a_yield_takes_the_value_of_its_month_or_of_the_last_one_at_most_two_months_older() {
    let area = area();
    let sales = vec![sale(10, 1, 120_000); 5];
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0)).collect();
    // The last covered month is 25; rents reach from 23 to 28.
    let rents: Vec<_> = (23..=28)
        .map(|month| (0, 0, FIRST.plus(month), 800.0))
        .collect();
    let rents = Rents::given(1, &rents);
    let authority = AuthorityData {
        number: 0,
        area: &area,
        months: Some(Span {
            first: FIRST,
            last: FIRST.plus(25),
        }),
        sales: &sales,
        deliveries: &[],
        index: Some(("E06990001", &index)),
        rents: &rents,
    };
    let lines = all(&authority);
    let of = |metric: &str| lines.iter().find(|line| line.metric == metric).unwrap();
    let gross = of("gross_yield_pct");
    let gaps: Vec<i32> = gross
        .points
        .iter()
        .map(|(_, _, behind)| behind.rental.unwrap().0 - behind.capital.unwrap().0)
        .collect();
    assert_eq!(gaps, [0, 0, 0, 1, 2], "three months newer gives no yield");
    // 12 x 800 / 120,000.
    assert!(
        gross
            .points
            .iter()
            .all(|(_, point, _)| *point == Point::Value(8.0))
    );
    assert_eq!(gross.windows.capital_window_months, Some(24));
    assert_eq!(gross.windows.rental_window_months, Some(1));
    assert_eq!(
        of("monthly_rent_gbp").points.len(),
        6,
        "a rent stands by itself"
    );
    assert_eq!(of("property_value_gbp").points.len(), 3);
}

#[test]
fn a_withheld_value_gives_no_yield_though_an_older_one_is_there() {
    let area = area();
    // Five sales in month 0 are in the window that ends with 23, and not in the next.
    let mut sales = vec![sale(0, 1, 120_000); 5];
    sales.push(sale(20, 1, 120_000));
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0)).collect();
    let rents = Rents::given(
        1,
        &[
            (0, 0, FIRST.plus(23), 800.0),
            (0, 0, FIRST.plus(24), 800.0),
            (0, 0, FIRST.plus(25), 800.0),
        ],
    );
    let authority = AuthorityData {
        number: 0,
        area: &area,
        months: Some(Span {
            first: FIRST,
            last: FIRST.plus(24),
        }),
        sales: &sales,
        deliveries: &[],
        index: Some(("E06990001", &index)),
        rents: &rents,
    };
    let lines = all(&authority);
    let gross = lines
        .iter()
        .find(|line| line.metric == "gross_yield_pct")
        .unwrap();
    let points: Vec<Point> = gross.points.iter().map(|(_, point, _)| *point).collect();
    assert_eq!(
        points,
        [Point::Value(8.0), Point::Suppressed, Point::Suppressed]
    );
}
