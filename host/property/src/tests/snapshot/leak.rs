//! Nothing of the future is visible.

use super::world::{CertificateRow, SoldRow, World, around, day};
use domesday_property::{NearbyQuery, Order, Snapshot};
use domesday_registers::Day;

fn nearby(
    snapshot: &Snapshot,
    before: &str,
    with_floor_area: bool,
) -> Vec<(Day, Option<f64>, Option<Day>)> {
    let query = NearbyQuery {
        easting: 450_100,
        northing: 300_100,
        radius_m: 1_000,
        limit: 10,
        order: Order::Newest,
        with_floor_area,
        ..around(day(before))
    };
    let sales = snapshot.nearby_sales(&query).unwrap();
    sales
        .iter()
        .map(|sale| (sale.day, sale.floor_area_m2, sale.attributes_day))
        .collect()
}

fn world() -> World {
    let sale = |id, day| SoldRow {
        id,
        day,
        ..SoldRow::default()
    };
    let lodged = |key, day, area| CertificateRow {
        key,
        day,
        area,
        ..CertificateRow::default()
    };
    World::with_sales(&[
        sale(1, "2010-05-01"),
        sale(2, "2016-05-01"),
        sale(3, "2019-05-01"),
    ])
    .and_certificates(&[
        lodged(1, "2015-03-01", "80"),
        lodged(2, "2016-05-01", "90"),
        lodged(3, "2017-03-01", "100"),
    ])
}

#[test]
fn a_certificate_shows_only_from_the_day_after_its_lodgement() {
    let snapshot = world().build().open();
    let first = |before| nearby(&snapshot, before, false).pop();
    // The sale of 2010 has no certificate of its time: the first later one stands in, once lodged.
    assert_eq!(first("2015-03-01"), Some((day("2010-05-01"), None, None)));
    assert_eq!(
        first("2015-03-02"),
        Some((day("2010-05-01"), Some(80.0), Some(day("2015-03-01"))))
    );
    // The sale of 2016 shows the certificate of its own day, and never the later one.
    let second = |before| {
        nearby(&snapshot, before, false)
            .into_iter()
            .find(|sale| sale.0 == day("2016-05-01"))
    };
    assert_eq!(second("2016-05-01"), None);
    for before in ["2016-05-02", "2018-01-01", "2030-01-01"] {
        assert_eq!(
            second(before),
            Some((day("2016-05-01"), Some(90.0), Some(day("2016-05-01")))),
            "{before}"
        );
    }
    assert_eq!(nearby(&snapshot, "2015-03-01", true), []);
    assert_eq!(nearby(&snapshot, "2015-03-02", true).len(), 1);
}

#[test]
fn a_property_is_as_it_was_on_record() {
    let snapshot = world().build().open();
    let property = snapshot.property(100_000_000_001).unwrap().unwrap();
    let area = |before| {
        property
            .attributes_before(day(before))
            .map(|attributes| attributes.floor_area_m2)
    };
    assert_eq!(area("2015-03-01"), None);
    assert_eq!(area("2015-03-02"), Some(Some(80.0)));
    assert_eq!(area("2017-03-01"), Some(Some(90.0)));
    assert_eq!(area("2030-01-01"), Some(Some(100.0)));
}

#[test]
fn an_earlier_certificate_fills_gaps_of_a_later_one() {
    let world = World::default().and_certificates(&[
        CertificateRow {
            key: 1,
            ..CertificateRow::default()
        },
        CertificateRow {
            key: 2,
            day: "2018-01-01",
            area: "",
            rooms: "6",
            kind: "Flat",
            form: "NO DATA!",
            ..CertificateRow::default()
        },
    ]);
    let property = world
        .build()
        .open()
        .property(100_000_000_001)
        .unwrap()
        .unwrap();
    let merged = property.attributes_before(day("2020-01-01")).unwrap();
    assert_eq!(
        (merged.floor_area_m2, merged.habitable_rooms),
        (Some(84.5), Some(6))
    );
    assert_eq!(merged.lodged, day("2018-01-01"));
    assert_eq!(
        merged.subtype.map(|subtype| Some(subtype.property_type())),
        Some(merged.property_type)
    );
}

#[test]
fn own_sales_are_newest_first_and_strictly_earlier() {
    let snapshot = world().build().open();
    let own = |before, limit| -> Vec<Day> {
        let sales = snapshot
            .own_sales(100_000_000_001, day(before), limit)
            .unwrap();
        sales.iter().map(|sale| sale.day).collect()
    };
    assert_eq!(
        own("2030-01-01", 9),
        ["2019-05-01", "2016-05-01", "2010-05-01"].map(day)
    );
    assert_eq!(own("2019-05-01", 1), [day("2016-05-01")]);
    assert_eq!(own("2010-05-01", 9), []);
    assert_eq!(snapshot.own_sales(5, day("2030-01-01"), 9).unwrap(), []);
}

#[test]
fn exported_subjects_use_only_certificates_before_their_sale() {
    let snapshot = world().build().open();
    let exported: Vec<_> = snapshot.export().unwrap().map(Result::unwrap).collect();
    let subject: Vec<_> = exported
        .iter()
        .map(|e| (e.sale.day, e.subject.and_then(|s| s.floor_area_m2)))
        .collect();
    assert_eq!(
        subject,
        [
            (day("2010-05-01"), None),
            (day("2016-05-01"), Some(80.0)),
            (day("2019-05-01"), Some(100.0))
        ]
    );
}

#[test]
fn the_index_stops_at_months_that_ended() {
    let snapshot = World::default().build().open();
    let authority = domesday_property::GssCode::parse("E07000900").unwrap();
    let months = |before| {
        let series = snapshot
            .price_index(authority, None, day(before), i32::MIN, usize::MAX)
            .unwrap();
        series.map(|series| (series.area_code.to_string(), series.points.len()))
    };
    assert_eq!(months("2020-03-01"), Some(("E07000900".into(), 2)));
    assert_eq!(months("2020-02-29"), Some(("E07000900".into(), 1)));
    assert_eq!(
        months("2020-01-31"),
        Some(("E92000001".into(), 1)),
        "only the national index goes back so far"
    );
    assert_eq!(months("1968-04-30"), None);
    let detached = Some(domesday_registers::codes::PropertyType::Detached);
    let series = snapshot
        .price_index(authority, detached, day("2021-01-01"), i32::MIN, usize::MAX)
        .unwrap()
        .unwrap();
    assert_eq!(
        (series.area_code.to_string(), series.points[0].1),
        ("E12000900".into(), 91.0)
    );
    let months = |since, most| {
        let series = snapshot.price_index(authority, None, day("2020-03-01"), since, most);
        let points = series.unwrap().unwrap().points;
        points.iter().map(|(month, _)| *month).collect::<Vec<_>>()
    };
    let january = 50 * 12;
    assert_eq!(months(i32::MIN, 9), [january, january + 1]);
    assert_eq!(months(january + 1, 9), [january + 1]);
    assert_eq!(months(i32::MIN, 1), [january + 1], "the latest are kept");
    assert_eq!(months(i32::MAX, 9), [0; 0]);
}
