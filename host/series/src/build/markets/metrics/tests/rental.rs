//! Values, rents and yields.

use super::*;

/// Returns all series of an authority with these sales, rents and index. Its covered months end
/// with `last`.
fn lines(last: i32, sales: &[Sale], index: &BTreeMap<Month, f64>, rents: &Rents) -> Vec<Line> {
    let area = area();
    all(&AuthorityData {
        number: 0,
        area: &area,
        months: Some(Span {
            first: FIRST,
            last: FIRST.plus(last),
        }),
        sales,
        deliveries: &[],
        index: Some(("E06990001", index)),
        rents,
    })
}

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
    let sales = vec![sale(10, 1, 120_000); 5];
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0)).collect();
    // The last covered month is 25; rents reach from 23 to 28.
    let rents: Vec<_> = (23..=28)
        .map(|month| (0, 0, FIRST.plus(month), 800.0))
        .collect();
    let rents = Rents::from_groups(1, &rents);
    let lines = lines(25, &sales, &index, &rents);
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

/// The window of a series does not depend on whether the release has any observation of it.
#[test]
fn a_yield_without_rents_states_the_window_of_the_current_publication() {
    let sales = vec![sale(10, 1, 120_000); 5];
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0)).collect();
    for (rents, window) in [
        (Rents::default(), 1),
        (Rents::from_groups(12, &[(0, 0, FIRST.plus(25), 800.0)]), 12),
    ] {
        let lines = lines(25, &sales, &index, &rents);
        let of = |metric: &'static str| lines.iter().filter(move |line| line.metric == metric);
        assert_eq!(of("gross_yield_pct").count(), 5);
        for gross in of("gross_yield_pct") {
            assert_eq!(gross.windows.rental_window_months, Some(window));
            assert_eq!(gross.windows.capital_window_months, Some(24));
        }
        for rent in of("monthly_rent_gbp") {
            assert_eq!(rent.windows.window_months, Some(window));
        }
    }
}

#[test]
fn a_yield_is_twelve_rents_over_the_value_of_the_disclosed_month() {
    let sales = vec![sale(10, 1, 120_000); 5];
    // The index rises, so that each month has another value.
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0 + f64::from(month)));
    let rents: Vec<_> = (23..=27)
        .map(|month| (0, 0, FIRST.plus(month), 800.0))
        .collect();
    let lines = lines(25, &sales, &index.collect(), &Rents::from_groups(1, &rents));
    let of = |metric: &str| lines.iter().find(|line| line.metric == metric).unwrap();
    let values = &of("property_value_gbp").points;
    let yields = &of("gross_yield_pct").points;
    assert_eq!(yields.len(), 5);
    for (month, point, behind) in yields {
        assert_eq!(behind.rental, Some(*month));
        let capital = values.iter().find(|(of, ..)| Some(*of) == behind.capital);
        let (Point::Value(gross), Some((_, Point::Value(value), _))) = (point, capital) else {
            panic!("{month:?} has no yield or no value");
        };
        let expected = 100.0 * 12.0 * 800.0 / *value;
        assert!((*gross - expected).abs() < 1e-9, "{month:?} {gross}");
    }
}

#[test]
fn a_withheld_value_gives_no_yield_though_an_older_one_is_there() {
    // Five sales in month 0 are in the window that ends with 23, and not in the next.
    let mut sales = vec![sale(0, 1, 120_000); 5];
    sales.push(sale(20, 1, 120_000));
    let index = (0..36).map(|month| (FIRST.plus(month), 100.0)).collect();
    let rents = Rents::from_groups(
        1,
        &[
            (0, 0, FIRST.plus(23), 800.0),
            (0, 0, FIRST.plus(24), 800.0),
            (0, 0, FIRST.plus(25), 800.0),
        ],
    );
    let lines = lines(24, &sales, &index, &rents);
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
