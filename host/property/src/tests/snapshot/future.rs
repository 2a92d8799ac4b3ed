//! A copy with another future answers about the past as the original does.

use super::figures;
use super::world::{Built, around, day};
use domesday_property::leakage_test_data::shuffle;
use domesday_property::{AreaLevel, GssCode, NearbyQuery, Order, Snapshot};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

/// Describes in one text everything that a snapshot knows before a day.
fn describe(snapshot: &Snapshot, before: Day) -> String {
    let query = NearbyQuery {
        easting: 450_100,
        northing: 300_100,
        radius_m: 5_000,
        limit: 1_000,
        order: Order::Newest,
        standard_only: false,
        ..around(before)
    };
    let mut known = format!("{:?}\n", snapshot.nearby_sales(&query).unwrap());
    for uprn in 1_000..1_052 {
        let property = snapshot.property(uprn).unwrap();
        let attributes = property.and_then(|property| property.attributes_before(before));
        let own = snapshot.own_sales(uprn, before, 1_000).unwrap();
        known += &format!("{uprn}: {attributes:?} {own:?}\n");
    }
    let authority = GssCode::parse("E07000900").unwrap();
    for kind in [
        None,
        Some(PropertyType::Detached),
        Some(PropertyType::SemiDetached),
    ] {
        let index = snapshot
            .price_index(authority, kind, before, i32::MIN, usize::MAX)
            .unwrap();
        let area = snapshot.area_figures(AreaLevel::LocalAuthority, "E07000900", kind, before);
        known += &format!("{kind:?}: {index:?} {:?}\n", area.unwrap());
    }
    known
}

fn other(
    built: &Built,
    cut: Day,
    seed: u64,
) -> (
    Snapshot,
    domesday_property::leakage_test_data::ShuffleCounts,
) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.redb");
    let shuffled = shuffle(&built.file(), &copy, cut, seed).unwrap();
    (Snapshot::open(&copy).unwrap(), shuffled)
}

#[test]
fn the_past_of_another_future_is_the_same() {
    let (_, _, world) = figures::world();
    let built = world.build();
    let original = built.open();
    for cut in ["2019-03-13", "2019-09-15", "2020-01-01"].map(day) {
        for seed in [1, 2] {
            let (copy, shuffled) = other(&built, cut, seed);
            assert!(shuffled.sales > 0, "{shuffled:?}");
            for before in [Day(cut.0 - 200), Day(cut.0 - 1), cut] {
                assert_eq!(
                    describe(&copy, before),
                    describe(&original, before),
                    "{cut} {before}"
                );
            }
            let later = Day(cut.0 + 120);
            assert_ne!(describe(&copy, later), describe(&original, later), "{cut}");
        }
    }
}

#[test]
fn the_original_is_untouched_and_the_same_seed_deals_the_same_way() {
    let (_, _, world) = figures::world();
    let built = world.build();
    let bytes = std::fs::read(built.file()).unwrap();
    let cut = day("2019-01-01");
    let far = day("2030-01-01");
    let dealt = |seed| describe(&other(&built, cut, seed).0, far);
    assert_eq!(dealt(1), dealt(1));
    assert_ne!(dealt(1), dealt(2));
    assert!(std::fs::read(built.file()).unwrap() == bytes);
}
