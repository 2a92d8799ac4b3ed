//! Figures computed by hand, and properties of any rows.

use super::comparison::Comparison;
use super::paired::{ComparedOutcome, PairedRow, Side, Status};
use super::sides::Sides;
use super::status::{Flips, Transition};
use super::testing::{comparison, in_band, pair, paired_row, referral, valued_outcome};
use domesday_registers::codes::PropertyType;
use proptest::prelude::*;

#[test]
fn changes_by_hand() {
    // Changes -20 %, 0, +2 %, +5 %, +50 %; sums 800 and 863.
    let rows = [
        pair(100.0, 80.0),
        pair(100.0, 100.0),
        pair(100.0, 102.0),
        pair(300.0, 315.0),
        pair(200.0, 300.0),
    ];
    let change = comparison(&rows).overall.change.unwrap();
    assert_eq!((change.rows, change.moved), (5, 4));
    assert_eq!((change.median, change.median_absolute), (0.02, 0.05));
    // Four gaps: a tenth of the way is 0.4 of the first, nine tenths 0.6 of the last.
    assert_eq!((change.tenth, change.ninetieth), (-0.12, 0.32));
    // Exactly 5 % is not over 5 %.
    assert_eq!(
        (change.over_1, change.over_5, change.over_10),
        (0.8, 0.4, 0.4)
    );
    assert_eq!((change.lowest, change.highest), (-0.2, 0.5));
    // 897 / 800 - 1.
    assert_eq!(change.total, 0.12125);
}

/// Forty of a hundred rows move by a fifth. The median of all is no figure of those.
#[test]
fn the_median_of_a_verdict_is_said_to_be_of_all_rows() {
    let rows: Vec<PairedRow> = (0..100_u32)
        .map(|at| pair(100.0, if at < 40 { 120.0 } else { 100.0 }))
        .collect();
    let verdict = comparison(&rows).verdict;
    let sentence = "Of 100 rows that both value, 40 move. Of all, moved or not, the median change is \
                    0.0 %, and 40.0 % move by more than 5 %; the furthest, a row, moves by +20.0 %.";
    assert_eq!(verdict[1], sentence);
}

#[test]
fn the_furthest_is_the_one_of_the_largest_ratio_either_way() {
    let rows = [
        paired_row(
            "up a half",
            None,
            valued_outcome(100.0),
            valued_outcome(150.0),
        ),
        paired_row(
            "down a half",
            None,
            valued_outcome(100.0),
            valued_outcome(50.0),
        ),
        paired_row("still", None, valued_outcome(100.0), valued_outcome(100.0)),
    ];
    let movers = comparison(&rows).movers;
    let names: Vec<&str> = movers.iter().map(|row| row.row.as_str()).collect();
    assert_eq!(names, ["down a half", "up a half"]);
}

#[test]
fn nothing_changed_is_in_the_middle_of_the_finest_bins() {
    let still = comparison(&[pair(100.0, 100.0), pair(5.0, 5.0)]).changes;
    assert_eq!(still.step, 0.0005);
    assert_eq!((still.counts.len(), still.counts[20]), (41, 2));
    // One of two is outside of all but the widest.
    let wide = comparison(&[pair(100.0, 100.0), pair(100.0, 190.0)]).changes;
    assert_eq!((wide.step, wide.counts[20]), (0.05, 1));
    assert_eq!((wide.counts[38], wide.above), (1, 0));
}

#[test]
fn flips_are_counted_by_kind_and_named() {
    let failed = ComparedOutcome::Failed {
        reason: "trapped".to_owned(),
    };
    let rows = [
        paired_row("one", None, valued_outcome(1.0), referral("unusual_size")),
        paired_row("two", None, valued_outcome(1.0), referral("unusual_size")),
        paired_row("three", None, referral("short_lease"), valued_outcome(1.0)),
        paired_row("four", None, valued_outcome(1.0), failed),
        paired_row("five", None, valued_outcome(1.0), valued_outcome(2.0)),
        // Another reason is no other status.
        paired_row(
            "six",
            None,
            referral("short_lease"),
            referral("missing_input"),
        ),
    ];
    let flips = Flips::of(&rows.iter().collect::<Vec<_>>());
    assert_eq!(
        (flips.rows, flips.named.len(), flips.kinds.len()),
        (4, 4, 3)
    );
    let first = &flips.kinds[0];
    assert_eq!(
        (first.a, first.b, first.rows),
        (Status::Valued, Status::Referred, 2)
    );
    assert_eq!(first.reason_b.as_deref(), Some("unusual_size"));
    let found = comparison(&rows);
    let crossing = |a, b| {
        let mut statuses = found.statuses.iter();
        let cell = statuses.find(|crossing| (crossing.a, crossing.b) == (a, b));
        cell.map_or(0, |crossing| crossing.rows)
    };
    assert_eq!(crossing(Status::Valued, Status::Referred), 2);
    assert_eq!(crossing(Status::Valued, Status::Failed), 1);
    assert_eq!(crossing(Status::Referred, Status::Referred), 1);
    assert_eq!(found.identical, 0);
    assert!(
        found.verdict.iter().any(|line| line
            .starts_with("4 rows change status: 2 from valued to referred (unusual size)")),
        "{:?}",
        found.verdict
    );
}

/// Forty sales at 100: A estimates 110 and B 105, with ranges of a tenth either way.
#[test]
fn against_prices_by_hand() {
    let rows: Vec<PairedRow> = (0..40)
        .map(|at| {
            paired_row(
                &at.to_string(),
                Some(100.0),
                valued_outcome(110.0),
                valued_outcome(105.0),
            )
        })
        .collect();
    let all = comparison(&rows).overall;
    let both = all.accuracy.unwrap();
    assert_eq!((both.accuracy.a.mdape, both.accuracy.b.mdape), (0.1, 0.05));
    assert_eq!((both.b_nearer, both.b_wins()), (1.0, Some(true)));
    // 99 to 121 and 94.5 to 115.5 both hold 100.
    let ranges = all.ranges.unwrap();
    assert_eq!((ranges.a.coverage, ranges.b.coverage), (1.0, 1.0));
    assert_eq!(all.width.unwrap(), Sides { a: 0.2, b: 0.2 });
    // One row fewer than are figured.
    let few = comparison(&rows[..29]).overall;
    assert!(few.accuracy.is_none() && few.ranges.is_none());
    assert_eq!(few.width, Some(Sides { a: 0.2, b: 0.2 }));
}

/// B is nearer on 60 of 80 sales, and on all of a block or none.
#[test]
fn sales_of_one_postcode_count_as_fewer() {
    let rows = |block_rows: usize| -> Vec<PairedRow> {
        let row = |at: usize| {
            let (a, b) = if at < 60 {
                (130.0, 105.0)
            } else {
                (105.0, 130.0)
            };
            let name = at.to_string();
            PairedRow {
                postcode: Some(format!("ZZ1 {}", at / block_rows)),
                ..paired_row(&name, Some(100.0), valued_outcome(a), valued_outcome(b))
            }
        };
        (0..80).map(row).collect()
    };
    let (apart, blocks) = (comparison(&rows(1)), comparison(&rows(10)));
    let b_wins = |found: &Comparison| found.overall.accuracy.as_ref().unwrap().b_wins();
    assert_eq!((b_wins(&apart), b_wins(&blocks)), (Some(true), None));
    let effective = |found: &Comparison| found.overall.ranges.as_ref().unwrap().b.effective_rows;
    assert_eq!((effective(&apart), effective(&blocks)), (79, 7));
}

#[test]
fn ratios_of_cost_are_by_row() {
    let costing = |a: u64, b: u64| {
        let mut row = pair(1.0, 1.0);
        (row.sides.a.fuel, row.sides.b.fuel) = (a, b);
        (row.sides.a.micros, row.sides.b.micros) = (10.0, 5.0);
        row
    };
    // Ratios 2, 3 and 0.5, with median 2. A row without fuel has no ratio.
    let rows = [
        costing(10, 20),
        costing(10, 30),
        costing(100, 50),
        costing(0, 7),
    ];
    let cost = comparison(&rows).cost.unwrap();
    assert_eq!((cost.fuel.ratio, cost.micros.ratio), (Some(2.0), Some(0.5)));
    assert_eq!(cost.fuel.spread.a.median, 10.0);
    assert_eq!(
        (cost.fuel.spread.a.most, cost.fuel.spread.b.mean),
        (100.0, 26.75)
    );
}

#[test]
fn bands_go_from_one_to_the_other() {
    let rows = [
        paired_row("1", None, in_band(1.0, "high"), in_band(1.0, "low")),
        paired_row("2", None, in_band(1.0, "high"), in_band(1.0, "low")),
        paired_row("3", None, in_band(1.0, "low"), in_band(1.0, "low")),
        paired_row("4", None, in_band(1.0, "low"), referral("other")),
    ];
    let crossing = |a: &str, b: &str, rows| Transition {
        a: a.to_owned(),
        b: b.to_owned(),
        rows,
    };
    let found = comparison(&rows).bands;
    assert_eq!(
        found,
        [crossing("high", "low", 2), crossing("low", "low", 1)]
    );
}

/// Swaps the sides of every row.
fn mirror(rows: &[PairedRow]) -> Vec<PairedRow> {
    let mirrored = |row: &PairedRow| PairedRow {
        sides: Sides {
            a: row.sides.b.clone(),
            b: row.sides.a.clone(),
        },
        ..row.clone()
    };
    rows.iter().map(mirrored).collect()
}

fn some_outcome() -> impl Strategy<Value = ComparedOutcome> {
    let band = prop_oneof![Just("high"), Just("medium"), Just("low")];
    prop_oneof![
        6 => (50_000.0..900_000.0_f64, any::<bool>(), band).prop_map(|(estimate, ranged, band)| {
            let range = ranged.then_some([estimate * 0.8, estimate * 1.3]);
            ComparedOutcome::Valued { estimate, range, confidence: 0.4, band: band.to_owned() }
        }),
        1 => prop_oneof![Just("short_lease"), Just("missing_input")].prop_map(referral),
        1 => Just(ComparedOutcome::Failed { reason: "trapped".to_owned() }),
    ]
}

fn some_row() -> impl Strategy<Value = PairedRow> {
    let kind = prop_oneof![
        Just(PropertyType::Detached),
        Just(PropertyType::Flat),
        Just(PropertyType::Other)
    ];
    let side = || {
        (some_outcome(), 0_u64..100_000, 1.0..500.0_f64).prop_map(|(outcome, fuel, micros)| Side {
            outcome,
            fuel,
            micros,
        })
    };
    let price = proptest::option::of(50_000.0..900_000.0_f64);
    (kind, side(), side(), price, "[A-Z]{2}").prop_map(|(property_type, a, b, price, area)| {
        PairedRow {
            row: "a row".to_owned(),
            property_type,
            authority: String::new(),
            postcode_area: area,
            postcode: None,
            price,
            sides: Sides { a, b },
        }
    })
}

/// Medians of an odd number of changes turn into their opposites exactly.
fn odd(found: &Comparison) -> bool {
    found
        .overall
        .change
        .as_ref()
        .is_some_and(|change| change.rows % 2 == 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_release_against_itself_changes_nothing(rows in proptest::collection::vec(some_row(), 1..90)) {
        let same: Vec<PairedRow> = rows
            .iter()
            .map(|row| PairedRow { sides: Sides { a: row.sides.a.clone(), b: row.sides.a.clone() }, ..row.clone() })
            .collect();
        let found = comparison(&same);
        prop_assert_eq!(found.identical, same.len());
        prop_assert_eq!(found.flips.rows, 0);
        prop_assert!(found.movers.is_empty());
        prop_assert!(found.statuses.iter().all(|crossing| crossing.a == crossing.b));
        prop_assert!(found.bands.iter().all(|crossing| crossing.a == crossing.b));
        if let Some(change) = &found.overall.change {
            prop_assert_eq!(change.moved, 0);
            prop_assert_eq!((change.median, change.lowest, change.highest, change.total), (0.0, 0.0, 0.0, 0.0));
        }
        if let Some(both) = &found.overall.accuracy {
            prop_assert_eq!(&both.accuracy.a, &both.accuracy.b);
            prop_assert_eq!(both.b_nearer, 0.5);
        }
        if let Some(cost) = &found.cost {
            prop_assert!(cost.fuel.ratio.is_none_or(|ratio| ratio == 1.0));
        }
        prop_assert!(found.verdict[0].starts_with("B says the same as A"));
    }

    #[test]
    fn turned_round_everything_is_mirrored(rows in proptest::collection::vec(some_row(), 1..90)) {
        let (there, back) = (comparison(&rows), comparison(&mirror(&rows)));
        prop_assert_eq!(there.identical, back.identical);
        prop_assert_eq!(there.flips.rows, back.flips.rows);
        prop_assert_eq!(there.overall.valued.a, back.overall.valued.b);
        let cells = |found: &Comparison, turned: bool| {
            let mut cells: Vec<_> = found.statuses.iter().map(|c| if turned { (c.b, c.a, c.rows) } else { (c.a, c.b, c.rows) }).collect();
            cells.sort();
            cells
        };
        prop_assert_eq!(cells(&there, false), cells(&back, true));
        if let (Some(one), Some(other)) = (&there.overall.change, &back.overall.change) {
            prop_assert_eq!((one.rows, one.moved), (other.rows, other.moved));
            prop_assert!(((1.0 + one.lowest) * (1.0 + other.highest) - 1.0).abs() < 1e-4);
            if odd(&there) {
                prop_assert!(((1.0 + one.median) * (1.0 + other.median) - 1.0).abs() < 1e-4);
            }
        }
        if let (Some(one), Some(other)) = (&there.overall.accuracy, &back.overall.accuracy) {
            prop_assert_eq!(&one.accuracy.a, &other.accuracy.b);
            prop_assert!((one.b_nearer + other.b_nearer - 1.0).abs() < 1e-5);
        }
        prop_assert_eq!(there.overall.ranges.as_ref().map(|r| &r.a), back.overall.ranges.as_ref().map(|r| &r.b));
        prop_assert_eq!(there.overall.width.map(|w| w.a), back.overall.width.map(|w| w.b));
        let names = |found: &Comparison| found.movers.len();
        prop_assert_eq!(names(&there), names(&back));
    }

    #[test]
    fn groups_divide_the_rows_and_json_reads_back(rows in proptest::collection::vec(some_row(), 1..60)) {
        let found = comparison(&rows);
        for by in ["type", "authority", "postcode_area"] {
            let sum: usize = found.by(by).unwrap().groups.iter().map(|group| group.rows).sum();
            prop_assert_eq!(sum, rows.len());
        }
        prop_assert_eq!(found.changes.total(), found.overall.change.as_ref().map_or(0, |c| c.rows));
        super::html::page(&found).unwrap();
    }
}
