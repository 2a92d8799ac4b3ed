//! Postcodes that are treated apart: homes next door are valued under each postcode, and at each
//! place.
//!
//! A home that states the postcode next door must keep its value nearly: the homes sold around it
//! and its own sales stay the same. One that stands next door may be worth more or less, and not
//! twice as much. Its own sales are hidden then: they would hold its estimate wherever it stands.
//! This needs no other release.
//!
//! Some places are worth a quarter of the next, such as a block of flats for the retired. A move
//! that the prices of sales around both places explain, by half or more, counts without that part.

use super::part::{Part, finding};
use super::prober::Prober;
use super::sold_nearby::log_ratio_of_prices;
use super::statistics::{LEAST_HOMES, log_ratio, median, robust_deviation};
use crate::check::finding::{Finding, percent};
use crate::check::rows::Home;
use crate::sampling;
use domesday_engine::evidence::EvidenceSource;
use domesday_registers::Progress;
use serde_json::json;
use std::collections::BTreeMap;

pub const CHECK: &str = "places";

/// Postcodes at most, evenly taken from those of the homes.
const PLACES: usize = 2_000;
/// Homes of other postcodes that are valued under each.
const NEIGHBOURS: usize = 3;
/// The farthest neighbour, metres. Estimates of places farther apart may differ.
const NEAR_M: f64 = 2_000.0;
/// The move by a postcode's name alone, in logarithms. A sector or district has other figures.
const BY_NAME: f64 = 0.2;
/// The move by the place next door, in logarithms: twice as much.
const BY_PLACE: f64 = std::f64::consts::LN_2;
/// The share of a move that the prices of sales must explain, so that it counts without them. Less
/// may be chance.
const EXPLAINED: f64 = 0.5;
/// Standard errors of a median that chance may add. There are thousands of postcodes.
const ERRORS: f64 = 5.0;
/// Standard error of a median, in standard deviations over the root of the number.
const OF_MEDIAN: f64 = 1.2533;
/// The least deviation, so that a release without places has one.
const LEAST_DEVIATION: f64 = 0.01;

/// The medians of a postcode's moves.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceMoves {
    /// The postcode.
    pub postcode: String,
    /// The move of homes next door that state this postcode.
    pub by_name: Option<f64>,
    /// The move of homes next door that stand at its place as well.
    pub by_place: Option<f64>,
    /// The move from the prices of sales around them to those around the place, where it was asked
    /// for.
    pub by_sales: Option<f64>,
}

impl PlaceMoves {
    /// Returns the part of the move by place that the prices of sales do not explain.
    fn subtract_sales(&self) -> Option<f64> {
        let (by_place, Some(by_sales)) = (self.by_place?, self.by_sales) else {
            return self.by_place;
        };
        Some(match by_sales / by_place >= EXPLAINED {
            // Prices that move by more explain all of it.
            true => by_place.signum() * (by_place.abs() - by_sales.abs()).max(0.0),
            false => by_place,
        })
    }
}

/// Values homes next door under each postcode of these homes, and at each place.
pub fn check(prober: &mut Prober<'_>, homes: &[Home], progress: &mut Progress<'_>) -> Finding {
    let places = first_of_each(homes);
    let every = sampling::step(places.len(), PLACES);
    let places: Vec<&Home> = places.into_iter().step_by(every).collect();
    // Each place as it is, then its neighbours under its name, and the same at its place.
    let mut called: Vec<Home> = places.iter().copied().cloned().collect();
    let mut moved = called.clone();
    // The neighbours of each place, and the row of the first.
    let mut next_door = Vec::with_capacity(places.len());
    for place in &places {
        let neighbours = nearest(&places, place);
        let first = called.len();
        for neighbour in &neighbours {
            let [name, both] = move_to(places[*neighbour], place);
            called.push(name);
            moved.push(both);
        }
        next_door.push((neighbours, first));
    }
    let called = prober.estimates(&called, "changing postcodes", progress);
    let moved = prober.estimates_without_own_sales(&moved, "changing places", progress);
    let evidence = prober.evidence();
    let moves: Vec<PlaceMoves> = places
        .iter()
        .zip(&next_door)
        .map(|(place, (neighbours, first))| {
            let of = |estimates: &[Option<f64>]| -> Option<f64> {
                let moves = neighbours.iter().enumerate().filter_map(|(at, neighbour)| {
                    log_ratio(estimates[*neighbour], estimates[first + at])
                });
                of_all(&moves.collect::<Vec<_>>())
            };
            let by_place = of(&moved);
            let is_far = by_place.is_some_and(|by| by.abs() > BY_PLACE);
            PlaceMoves {
                postcode: place.subject.postcode.to_string(),
                by_name: of(&called),
                by_place,
                by_sales: is_far
                    .then(|| by_sales(evidence, &places, (neighbours, place)))
                    .flatten(),
            }
        })
        .collect();
    judge(&moves)
}

/// Returns the median move from the prices of sales around the neighbours to those around a place.
fn by_sales(
    evidence: &dyn EvidenceSource,
    places: &[&Home],
    (neighbours, place): (&[usize], &Home),
) -> Option<f64> {
    let moves = neighbours.iter().filter_map(|neighbour| {
        let home = places[*neighbour];
        let both = (home.subject.place, place.subject.place);
        log_ratio_of_prices(evidence, home, both)
    });
    of_all(&moves.collect::<Vec<_>>())
}

/// Returns the home under a place's name, and at that place.
fn move_to(home: &Home, place: &Home) -> [Home; 2] {
    let there = &place.subject;
    let postcode = there.postcode.as_str();
    [
        home.with_change(&format!("called {postcode}"), |subject| {
            subject.postcode = there.postcode.clone();
        }),
        home.with_change(&format!("at {postcode}"), |subject| {
            subject.postcode = there.postcode.clone();
            subject.place = there.place;
            subject.authority.clone_from(&there.authority);
            subject.country = there.country;
        }),
    ]
}

/// Returns the median, where each neighbour has a move.
fn of_all(moves: &[f64]) -> Option<f64> {
    median(moves).filter(|_| moves.len() == NEIGHBOURS)
}

/// Returns one home of each postcode, in order of the postcodes.
fn first_of_each(homes: &[Home]) -> Vec<&Home> {
    let mut places = BTreeMap::<&str, &Home>::new();
    for home in homes {
        places.entry(home.subject.postcode.as_str()).or_insert(home);
    }
    places.into_values().collect()
}

/// Returns the nearest homes of other postcodes, at most [`NEAR_M`] away.
fn nearest(places: &[&Home], place: &Home) -> Vec<usize> {
    let distance = |home: &Home| {
        let (there, here) = (home.subject.place, place.subject.place);
        f64::from(there.easting - here.easting).hypot(f64::from(there.northing - here.northing))
    };
    let mut others: Vec<(f64, usize)> = places
        .iter()
        .enumerate()
        .filter(|(_, home)| home.subject.postcode != place.subject.postcode)
        .map(|(at, home)| (distance(home), at))
        .filter(|(metres, _)| *metres <= NEAR_M)
        .collect();
    others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    others
        .into_iter()
        .take(NEIGHBOURS)
        .map(|(_, at)| at)
        .collect()
}

/// Judges the moves of each postcode.
pub fn judge(moves: &[PlaceMoves]) -> Finding {
    let part = |what: &'static str, allowed: f64, of: fn(&PlaceMoves) -> Option<f64>| {
        let known = moves.iter();
        let known = known.filter_map(|found| Some((found.postcode.as_str(), of(found)?)));
        judge_moves(what, allowed, &known.collect::<Vec<_>>())
    };
    finding(
        CHECK,
        vec![
            part("by the name of a postcode", BY_NAME, |found| found.by_name),
            part(
                "by the place next door",
                BY_PLACE,
                PlaceMoves::subtract_sales,
            ),
        ],
    )
}

fn judge_moves(what: &'static str, allowed: f64, moves: &[(&str, f64)]) -> Part {
    let sizes: Vec<f64> = moves.iter().map(|(_, by)| *by).collect();
    let Some(deviation) = robust_deviation(&sizes).filter(|_| moves.len() >= LEAST_HOMES) else {
        return Part::not_judged(format!(
            "{what}: {} postcodes have {NEIGHBOURS} homes next door, and {LEAST_HOMES} are needed",
            moves.len()
        ));
    };
    let error = OF_MEDIAN * deviation.max(LEAST_DEVIATION) / (NEIGHBOURS as f64).sqrt();
    let limit = allowed + ERRORS * error;
    let mut apart: Vec<&(&str, f64)> = moves.iter().filter(|(_, by)| by.abs() > limit).collect();
    apart.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(b.0)));
    let largest = sizes.iter().map(|by| by.abs()).fold(0.0, f64::max);
    let line = match apart.first() {
        None => format!(
            "homes next door to {} postcodes move by at most {} {what}",
            moves.len(),
            percent(largest.exp_m1())
        ),
        Some((postcode, by)) => format!(
            "{} of {} postcodes stand apart: homes next door to {postcode} move by {:+.1} % {what}, and {} is allowed",
            apart.len(),
            moves.len(),
            by.exp_m1() * 100.0,
            percent(limit.exp_m1())
        ),
    };
    let figures = json!({
        "move": what, "postcodes": moves.len(), "largest_log_ratio": largest, "limit": limit,
        "apart": apart.iter().map(|(postcode, by)| json!({"postcode": postcode, "log_ratio": by})).collect::<Vec<_>>(),
    });
    Part::of(apart.is_empty(), line, figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;
    use crate::check::testing::home;
    use domesday_registers::Postcode;

    /// Judges forty postcodes with some noise. `odd` adds to the move of the eighth.
    fn of(odd: Option<f64>) -> Finding {
        let moves: Vec<PlaceMoves> = (0..40)
            .map(|at| {
                let noise = 0.01 * f64::from(at % 5 - 2);
                let odd = odd.filter(|_| at == 7).unwrap_or_default();
                PlaceMoves {
                    postcode: format!("QA1 {at}"),
                    by_name: Some(noise + odd),
                    by_place: Some(5.0 * noise + odd),
                    by_sales: None,
                }
            })
            .collect();
        judge(&moves)
    }

    #[test]
    fn one_postcode_that_trebles_estimates_fails_and_is_named() {
        let found = of(Some(3.0_f64.ln()));
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with(
                "1 of 40 postcodes stand apart: homes next door to QA1 7 move by +200.0 %"
            ),
            "{found:?}"
        );
        assert_eq!(of(None).verdict, Verdict::Passed);
        assert_eq!(of(Some(0.15)).verdict, Verdict::Passed);
    }

    #[test]
    fn a_move_that_prices_of_sales_explain_by_half_counts_without_them() {
        let of = |by_place: f64, by_sales: f64| {
            let moves = PlaceMoves {
                postcode: "QA1 1AA".to_owned(),
                by_name: None,
                by_place: Some(by_place),
                by_sales: Some(by_sales),
            };
            moves.subtract_sales().unwrap()
        };
        // A block for the retired is worth a quarter, and sold for a third.
        assert!((of(-1.4, -1.1) + 0.3).abs() < 1e-9);
        assert_eq!(of(-1.4, -1.6), 0.0);
        // Prices that move little, or the other way, explain nothing.
        assert_eq!(of(-1.4, -0.6), -1.4);
        assert_eq!(of(1.1, -1.1), 1.1);
    }

    #[test]
    fn few_postcodes_are_not_judged() {
        assert_eq!(judge(&[]).verdict, Verdict::NotJudged);
    }

    #[test]
    fn the_nearest_homes_of_other_postcodes_are_next_door() {
        let at = |name: &str, easting: i32, postcode: &str| {
            home(name).with_change(postcode, |subject| {
                subject.place.easting += easting;
                subject.postcode = Postcode::parse(postcode).unwrap();
            })
        };
        let homes = [
            at("a", 0, "QA1 1AA"),
            at("b", 1, "QA1 1AA"),
            at("c", 300, "QA1 1AB"),
            at("d", 100, "QA1 1AD"),
            at("e", 200, "QA1 1AE"),
            at("f", 5_000, "QA1 1AF"),
        ];
        let places = first_of_each(&homes);
        assert_eq!(places.len(), 5);
        let found = nearest(&places, places[0]);
        let names: Vec<&str> = found
            .iter()
            .map(|at| places[*at].subject.postcode.as_str())
            .collect();
        assert_eq!(names, ["QA1 1AD", "QA1 1AE", "QA1 1AB"]);
        assert!(nearest(&places, places[4]).is_empty());
    }
}
