//! `nearby_sales` against a sort of everything.

use super::world::{SoldRow, World, around, day, place};
use domesday_property::{
    CELL_WORK, FoundSales, NearbyQuery, Order, PropertyTypes, Snapshot, SnapshotError,
};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::OnceLock;

const DAYS: [&str; 8] = [
    "2017-12-31",
    "2018-01-01",
    "2018-06-30",
    "2019-01-01",
    "2019-12-31",
    "2020-02-29",
    "2020-02-29",
    "2021-07-01",
];
const KINDS: [char; 5] = ['D', 'S', 'T', 'F', 'O'];

/// A sale and where it lies.
struct KnownSale {
    sold: SoldRow,
    at: (i32, i32),
}

/// Returns a world of 600 sales in sixty postcodes, and its snapshot.
///
/// Half of the postcodes are within about a kilometre and half over six, cell edges among them.
fn world() -> &'static (Vec<KnownSale>, Snapshot) {
    static WORLD: OnceLock<(Vec<KnownSale>, Snapshot)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut dice = 12_345_u64;
        let mut roll = |sides: u64| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % sides
        };
        let points: Vec<(String, (i32, i32))> = (0..60_u8)
            .map(|n| {
                let edge = [0, 499, 500, 1_000][roll(4) as usize];
                let offset = |random: u64| if n % 3 == 0 { edge } else { random as i32 };
                let spread = if n % 2 == 0 { 1_200 } else { 6_000 };
                let at = (
                    450_000 + offset(roll(spread)),
                    300_000 + offset(roll(spread)),
                );
                (
                    format!(
                        "ZZ1 1{}{}",
                        char::from(b'A' + n / 26),
                        char::from(b'A' + n % 26)
                    ),
                    at,
                )
            })
            .collect();
        let known: Vec<KnownSale> = (0..600)
            .map(|id| {
                let (postcode, at) = &points[roll(60) as usize];
                let sold = SoldRow {
                    id,
                    day: DAYS[roll(8) as usize],
                    kind: KINDS[roll(5) as usize],
                    category: ['A', 'B'][roll(2) as usize],
                    postcode: postcode.clone(),
                    ..SoldRow::default()
                };
                KnownSale { sold, at: *at }
            })
            .collect();
        let sales: Vec<SoldRow> = known.iter().map(|known| known.sold.clone()).collect();
        let mut world = World::with_sales(&sales);
        world.postcodes = points
            .iter()
            .map(|(code, at)| place(code, at.0, at.1, "E92000001", "E07000900"))
            .collect();
        (known, world.build().open())
    })
}

fn id(sold: &SoldRow) -> u64 {
    let digest = Sha256::digest(sold.transaction());
    u64::from_be_bytes(digest[..8].try_into().unwrap())
}

fn property_type(kind: char) -> PropertyType {
    match kind {
        'D' => PropertyType::Detached,
        'S' => PropertyType::SemiDetached,
        'T' => PropertyType::Terraced,
        'F' => PropertyType::Flat,
        _ => PropertyType::Other,
    }
}

fn by_sorting(known: &[KnownSale], query: &NearbyQuery) -> Vec<u64> {
    let mut found: Vec<(i64, Day, u64)> = known
        .iter()
        .map(|k| {
            let (dx, dy) = (
                i64::from(k.at.0 - query.easting),
                i64::from(k.at.1 - query.northing),
            );
            (dx * dx + dy * dy, k)
        })
        .filter(|(squared, k)| {
            *squared <= i64::from(query.radius_m).pow(2)
                && day(k.sold.day) >= query.from
                && day(k.sold.day) < query.before
                && query.types.contains(property_type(k.sold.kind))
                && (!query.standard_only || k.sold.category == 'A')
        })
        .map(|(squared, k)| (squared, day(k.sold.day), id(&k.sold)))
        .collect();
    match query.order {
        Order::Nearest => found.sort_by_key(|&(squared, day, id)| (squared, Reverse(day), id)),
        Order::Newest => found.sort_by_key(|&(squared, day, id)| (Reverse(day), squared, id)),
    }
    found
        .into_iter()
        .take(query.limit)
        .map(|(_, _, id)| id)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    #[test]
    fn it_agrees_with_sorting_everything(
        east in prop_oneof![-300_i32..1_500, -2_000_i32..9_000],
        north in prop_oneof![-300_i32..1_500, -2_000_i32..9_000],
        radius_m in prop_oneof![0_u32..700, 0_u32..9_000],
        days in (0_usize..8, 0_usize..8),
        shift in 0_i32..2,
        types in proptest::collection::vec(0_usize..5, 1..5),
        limit in prop_oneof![0_usize..5, 0_usize..80, Just(1_000)],
        newest in any::<bool>(),
        standard_only in any::<bool>(),
    ) {
        let (known, snapshot) = world();
        let query = NearbyQuery {
            easting: 450_000 + east,
            northing: 300_000 + north,
            radius_m,
            from: day(DAYS[days.0]),
            before: Day(day(DAYS[days.1]).0 + shift),
            types: types.iter().map(|&kind| property_type(KINDS[kind])).collect(),
            limit,
            order: if newest { Order::Newest } else { Order::Nearest },
            standard_only,
            with_floor_area: false,
            exclude_uprn: None,
        };
        let found = snapshot.nearby_sales(&query).unwrap();
        for sale in &found {
            let (dx, dy) = (f64::from(sale.easting - query.easting), f64::from(sale.northing - query.northing));
            prop_assert_eq!(sale.distance_m, (dx * dx + dy * dy).sqrt());
        }
        let ids: Vec<u64> = found.iter().map(|sale| sale.id).collect();
        prop_assert_eq!(ids, by_sorting(known, &query));
        let packed = snapshot.find_nearby_sales(&query, &mut { u64::MAX }, &|| false).unwrap().unwrap();
        prop_assert_eq!((packed.len(), packed.is_empty()), (found.len(), found.is_empty()));
        for sale in &found {
            prop_assert!(packed.contains(sale.id));
            prop_assert_eq!(packed.find(sale.id).unwrap(), Some(sale.clone()));
        }
        prop_assert!(!packed.contains(0));
        prop_assert_eq!(packed.find(0).unwrap(), None);
    }
}

#[test]
fn points_and_days_out_of_this_world_find_nothing() {
    let (_, snapshot) = world();
    let query = NearbyQuery {
        easting: 450_000,
        northing: 300_000,
        radius_m: u32::MAX,
        from: Day(i32::MIN),
        before: Day(i32::MAX),
        types: PropertyTypes::RESIDENTIAL,
        limit: usize::MAX,
        order: Order::Nearest,
        standard_only: false,
        with_floor_area: false,
        exclude_uprn: None,
    };
    let all = snapshot.nearby_sales(&query).unwrap().len();
    assert!(all > 400, "the widest question is answered: {all}");
    for (easting, northing) in [
        (i32::MIN, i32::MIN),
        (i32::MAX, i32::MAX),
        (i32::MIN, i32::MAX),
        (0, 0),
    ] {
        for order in [Order::Nearest, Order::Newest] {
            let far = NearbyQuery {
                easting,
                northing,
                order,
                ..query
            };
            assert_eq!(snapshot.nearby_sales(&far).unwrap(), []);
        }
    }
    let never = NearbyQuery {
        before: Day(i32::MIN),
        ..query
    };
    assert_eq!(snapshot.nearby_sales(&never).unwrap(), []);
}

#[test]
fn a_search_ends_where_its_work_does() {
    let (known, snapshot) = world();
    for order in [Order::Nearest, Order::Newest] {
        let query = NearbyQuery {
            easting: 450_000,
            northing: 300_000,
            radius_m: 9_000,
            from: Day(0),
            before: day("2030-01-01"),
            types: PropertyTypes::RESIDENTIAL,
            limit: 1_000,
            order,
            standard_only: false,
            with_floor_area: false,
            exclude_uprn: None,
        };
        let rest = |mut work| {
            let found = snapshot
                .find_nearby_sales(&query, &mut work, &|| false)
                .unwrap();
            found.is_some().then_some(work)
        };
        let ends = |work| rest(work).is_none();
        let whole = (0..40)
            .map(|bits| 1_u64 << bits)
            .find(|&work| !ends(work))
            .unwrap();
        let (mut too_little, mut enough) = (whole / 2, whole);
        while enough - too_little > 1 {
            let middle = (too_little + enough) / 2;
            match ends(middle) {
                true => too_little = middle,
                false => enough = middle,
            }
        }
        // Twice over, since the second search reads the cache.
        for _ in 0..2 {
            assert!(ends(enough - 1) && !ends(enough), "{order:?}");
            assert_eq!(rest(enough + 5), Some(5), "{order:?}");
        }
        let blocks = (enough - known.len() as u64) / CELL_WORK;
        let most = if order == Order::Nearest { 60 } else { 60 * 61 };
        assert!((1..=most).contains(&blocks), "{order:?} {enough}");
        let none = NearbyQuery {
            types: PropertyTypes::NONE,
            ..query
        };
        assert!(
            snapshot
                .find_nearby_sales(&none, &mut 0, &|| false)
                .unwrap()
                .unwrap()
                .is_empty()
        );
    }
}

/// A search whose time ended after some looks at it.
struct TimedSearch {
    found: Result<Option<FoundSales>, SnapshotError>,
    work: u64,
    looks: u64,
}

/// Searches with time for this number of looks.
fn search_with_looks(snapshot: &Snapshot, query: &NearbyQuery, most: u64) -> TimedSearch {
    let looks = Cell::new(0);
    let is_late = || {
        looks.set(looks.get() + 1);
        looks.get() > most
    };
    let mut rest = u64::MAX;
    let found = snapshot.find_nearby_sales(query, &mut rest, &is_late);
    TimedSearch {
        found,
        work: u64::MAX - rest,
        looks: looks.get(),
    }
}

#[track_caller]
fn assert_ends_after(snapshot: &Snapshot, query: &NearbyQuery, most: u64) {
    let late = search_with_looks(snapshot, query, most);
    assert!(
        matches!(late.found, Err(SnapshotError::OutOfTime)),
        "{most}"
    );
    assert_eq!(late.looks, most + 1, "nothing is read once it is late");
}

#[test]
fn a_search_looks_at_its_time_before_each_cell_and_ends_there() {
    let (known, snapshot) = world();
    for order in [Order::Nearest, Order::Newest] {
        let query = NearbyQuery {
            radius_m: 9_000,
            from: Day(0),
            limit: 1_000,
            standard_only: false,
            order,
            ..around(day("2030-01-01"))
        };
        // The first reads the file, and the second only the cache.
        search_with_looks(snapshot, &query, u64::MAX);
        let whole = search_with_looks(snapshot, &query, u64::MAX);
        let expected = whole.found.unwrap().unwrap().len();
        let sales = whole.work - whole.looks * CELL_WORK;
        assert!((1..=known.len() as u64).contains(&sales), "{order:?}");
        for most in [0, 1, whole.looks / 2, whole.looks - 1] {
            assert_ends_after(snapshot, &query, most);
        }
        let just = search_with_looks(snapshot, &query, whole.looks);
        assert_eq!(just.found.unwrap().unwrap().len(), expected, "{order:?}");
    }
}

#[test]
fn a_search_looks_at_its_time_before_each_block_of_the_file_and_keeps_no_part_of_a_cell() {
    let sold = |(id, day)| SoldRow {
        id,
        day,
        ..SoldRow::default()
    };
    let sales = (1..).zip(["2018-03-01", "2019-03-01", "2020-03-01"]);
    let built = World::with_sales(&sales.map(sold).collect::<Vec<_>>()).build();
    let snapshot = built.open();
    let query = around(day("2021-01-01"));
    // One look before the cell, and one before each of its three years.
    for most in 0..4 {
        assert_ends_after(&snapshot, &query, most);
    }
    for looks in [4, 1] {
        let whole = search_with_looks(&snapshot, &query, 4);
        assert_eq!(whole.found.unwrap().unwrap().len(), 3);
        assert_eq!(whole.looks, looks, "the second search reads the cache");
    }
}
