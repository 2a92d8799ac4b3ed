//! The home's own last sale: it must count, and must not be all.

use super::part::{Part, finding};
use super::prober::Prober;
use super::statistics::{LEAST_HOMES, log_ratio, median, share};
use crate::check::finding::{Finding, percent};
use crate::check::homes::RECENT_DAYS;
use crate::check::rows::Home;
use crate::sampling;
use domesday_engine::evidence::{EvidenceQuery, EvidenceResponse, EvidenceSource, Sale};
use domesday_registers::{Day, Progress};
use serde_json::json;

pub const CHECK: &str = "own_sale";

/// Homes that are valued with and without their sales.
const HOMES: usize = 100;
/// The move of the median home where its sales are hidden, in logarithms: 1.65 times. Sales move
/// honest estimates up as often as down, by some per cent.
const HIDDEN: f64 = 0.5;
/// A reaction that is none.
const NO_REACTION: f64 = 0.001;
/// Homes whose estimate must react to their own recent sale.
const MUST_REACT: f64 = 0.5;
/// Distance from the last price, or from a constant multiple of it, that makes a copy.
const COPY: f64 = 0.002;
/// Homes that may be copies. Honest estimates are so near to a price by chance in about 1 of 50.
const MAY_COPY: f64 = 0.5;
/// The share of the way from the estimate without the sale to its price that a median home must go.
/// Less is hardly a reaction to the price. Honest releases go about half of the way.
const LEAST_PULL: f64 = 0.05;
/// The shortest way to a price that counts, in logarithms.
const LEAST_WAY: f64 = 0.02;

/// One home's estimates and its last price.
#[derive(Clone, Copy, Debug)]
pub struct OwnSaleRow {
    /// With its own sales.
    pub with: f64,
    /// The same home, of whose sales the evidence has none.
    pub without: f64,
    /// Its last standard sale, pounds.
    pub price: f64,
    /// That price carried by the index to the valuation day, pounds.
    pub carried_price: f64,
}

/// Values homes that have a recent sale, and some whose last sale is older, with and without the
/// home's sales.
pub fn check(
    prober: &mut Prober<'_>,
    pool: &[Home],
    latest_sale: Option<Day>,
    progress: &mut Progress<'_>,
) -> Finding {
    let evidence = prober.evidence();
    let since = latest_sale.map_or(Day(i32::MAX), |latest| Day(latest.0 - RECENT_DAYS));
    let sold = pool
        .iter()
        .filter_map(|home| Some((home, last_sale(evidence, home)?)));
    let (recent, earlier): (Vec<_>, Vec<_>) = sold.partition(|(_, sale)| sale.day >= since);
    let recent = value(prober, recent, progress);
    let sold_earlier = earlier.len();
    let earlier = value(prober, earlier, progress);
    judge(&recent, &earlier, sold_earlier)
}

/// Values an even part of these homes, with and without the home's sales.
fn value(
    prober: &mut Prober<'_>,
    sold: Vec<(&Home, Sale)>,
    progress: &mut Progress<'_>,
) -> Vec<OwnSaleRow> {
    let every = sampling::step(sold.len(), HOMES);
    let sold: Vec<(&Home, Sale)> = sold.into_iter().step_by(every).collect();
    let homes: Vec<Home> = sold.iter().map(|(home, _)| Home::clone(home)).collect();
    let with = prober.estimates(&homes, "valuing sold homes", progress);
    let hidden: Vec<Home> = homes
        .iter()
        .map(|home| home.with_change("without its own sales", |_| {}))
        .collect();
    let without = prober.estimates_without_own_sales(&hidden, "hiding own sales", progress);
    let evidence = prober.evidence();
    (with.into_iter().zip(without).zip(&sold))
        .filter_map(|((with, without), (home, sale))| {
            let price = sale.price_gbp as f64;
            Some(OwnSaleRow {
                with: with?,
                without: without?,
                price,
                // Without an index for the home, the price on record stands for itself.
                carried_price: price * growth(evidence, home, sale.day).unwrap_or(1.0),
            })
        })
        .collect()
}

/// Returns the home's last standard sale.
fn last_sale(evidence: &dyn EvidenceSource, home: &Home) -> Option<Sale> {
    home.subject.uprn?;
    let Ok(EvidenceResponse::Sales(sales)) = evidence.ask(&home.subject, &EvidenceQuery::OwnSales)
    else {
        return None;
    };
    let standard = sales
        .into_iter()
        .filter(|sale| sale.standard && sale.price_gbp > 0);
    standard.max_by_key(|sale| sale.day)
}

/// Returns the factor of the price index from a day to the valuation day. Where prices fell since
/// the sale, an honest estimate moves towards this price, and away from the one on record.
fn growth(evidence: &dyn EvidenceSource, home: &Home, day: Day) -> Option<f64> {
    let query = EvidenceQuery::PriceIndex {
        kind: Some(home.subject.property_type),
        since: day.month(),
    };
    let Ok(EvidenceResponse::Index(Some(series))) = evidence.ask(&home.subject, &query) else {
        return None;
    };
    let ((_, then), (_, now)) = (series.points.first()?, series.points.last()?);
    (*then > 0.0).then(|| now / then)
}

/// Judges the reaction to a recent sale and the distance from it. Homes of both kinds must be worth
/// about the same where nobody knows their sales. A sample with too few homes whose sale is
/// earlier, `sold_earlier` of them, leaves those out. A release that does not value them is not
/// judged.
pub fn judge(rows: &[OwnSaleRow], earlier: &[OwnSaleRow], sold_earlier: usize) -> Finding {
    if rows.len() < LEAST_HOMES {
        return finding(
            CHECK,
            vec![Part::not_judged(format!(
                "{} homes with a UPRN and a sale in the last three years were valued, and {LEAST_HOMES} are needed",
                rows.len()
            ))],
        );
    }
    let mut parts = vec![reaction(rows), pull(rows), copies(rows)];
    parts.push(move_without_sales("sold in the last three years", rows));
    if earlier.len() >= LEAST_HOMES {
        parts.push(move_without_sales("last sold before", earlier));
    } else if sold_earlier >= LEAST_HOMES {
        parts.push(Part::not_judged(format!(
            "homes last sold before the last three years are not judged: {} of {sold_earlier} were valued, and {LEAST_HOMES} are needed",
            earlier.len()
        )));
    }
    finding(CHECK, parts)
}

/// Judges the move of the median home where its sales are hidden. A release that treats homes apart
/// by the age of their sale, or those without one, moves it.
fn move_without_sales(kind: &str, rows: &[OwnSaleRow]) -> Part {
    let moves: Vec<f64> = rows
        .iter()
        .filter_map(|row| log_ratio(Some(row.with), Some(row.without)))
        .collect();
    let middle = median(&moves).unwrap_or(0.0);
    let holds = middle.abs() <= HIDDEN;
    let factor = middle.exp();
    let line = match holds {
        true => format!(
            "without their sales {} homes {kind} are worth {factor:.2} times as much in the median",
            rows.len()
        ),
        false => format!(
            "homes are valued apart by their own sale: without it the median of {} homes {kind} is worth {factor:.2} times as much; {:.2} times or its inverse is allowed",
            rows.len(),
            HIDDEN.exp()
        ),
    };
    let figures = json!({
        "part": "hidden", "homes": rows.len(), "of": kind, "median_log_ratio": middle,
        "limit": HIDDEN,
    });
    Part::of(holds, line, figures)
}

fn reaction(rows: &[OwnSaleRow]) -> Part {
    let moves: Vec<f64> = rows
        .iter()
        .map(|row| (row.with / row.without).ln())
        .collect();
    let reacted = share(&moves, |by| by.abs() > NO_REACTION);
    let holds = reacted >= MUST_REACT;
    let homes = format!("{} of {} homes", percent(reacted), rows.len());
    let line = match holds {
        true => format!("{homes} react to their own sale"),
        false => {
            format!("the own sale is ignored: without it {homes} are valued otherwise")
        }
    };
    let figures = json!({"part": "reaction", "homes": rows.len(), "share_reacted": reacted});
    Part::of(holds, line, figures)
}

fn pull(rows: &[OwnSaleRow]) -> Part {
    let Some(pull) = median_pull(rows) else {
        return Part::not_judged(format!(
            "the way to the last price is not judged: no price is {} from the estimate without it",
            percent(LEAST_WAY.exp_m1())
        ));
    };
    let way = format!("the median goes {} of the way to its price", percent(pull));
    let holds = pull >= LEAST_PULL;
    let line = match holds {
        true => way,
        false => format!("the own sale is ignored: {way}"),
    };
    Part::of(holds, line, json!({"part": "pull", "pull": pull}))
}

/// Returns the median of how far estimates go towards the price. Each counts by the length of its
/// way, since a short way is mostly chance. Returns `None` if there is nowhere a way to go.
fn median_pull(rows: &[OwnSaleRow]) -> Option<f64> {
    let mut pulls: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            let way = log_ratio(Some(row.without), Some(row.carried_price))?;
            let gone = log_ratio(Some(row.without), Some(row.with))?;
            (way.abs() > LEAST_WAY).then(|| (gone / way, way.abs()))
        })
        .collect();
    pulls.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = pulls.iter().map(|(_, length)| length).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    pulls.iter().find_map(|(share, length)| {
        passed += length;
        (passed >= half).then_some(*share)
    })
}

fn copies(rows: &[OwnSaleRow]) -> Part {
    let ratios: Vec<f64> = rows.iter().map(|row| (row.with / row.price).ln()).collect();
    let middle = median(&ratios).unwrap_or(0.0);
    let exact = share(&ratios, |ratio| ratio.abs() <= COPY);
    let multiple = share(&ratios, |ratio| (ratio - middle).abs() <= COPY);
    let copied = exact.max(multiple);
    let holds = copied <= MAY_COPY;
    let line = format!(
        "{} of {} estimates are {} the last price{}",
        percent(copied),
        rows.len(),
        if multiple > exact {
            "one multiple of"
        } else {
            "a copy of"
        },
        if holds {
            String::new()
        } else {
            format!("; {} may be", percent(MAY_COPY))
        }
    );
    Part::of(
        holds,
        line,
        json!({"part": "copy", "share_copied": exact, "share_of_one_multiple": multiple}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Verdict;

    /// Judges forty homes whose price is off by up to a fifth from the estimate without it. `with`
    /// has that estimate and the price.
    fn of(with: impl Fn(f64, f64) -> f64) -> Finding {
        let rows: Vec<OwnSaleRow> = (0..40)
            .map(|at| {
                let without = 200_000.0 + 1_000.0 * f64::from(at);
                let price = without * (1.0 + 0.05 * f64::from(at % 9 - 4));
                OwnSaleRow {
                    with: with(without, price),
                    without,
                    price,
                    carried_price: price,
                }
            })
            .collect();
        judge(&rows, &[], 0)
    }

    #[test]
    fn homes_that_are_valued_apart_by_the_age_of_their_sale_fail() {
        let rows = |factor: f64, count: usize| {
            let row = OwnSaleRow {
                with: 200_000.0,
                without: 200_000.0 * factor,
                price: 190_000.0,
                carried_price: 190_000.0,
            };
            vec![row; count]
        };
        let fails = |recent: f64, earlier: f64, count: usize| {
            let found = judge(&rows(recent, 40), &rows(earlier, count), count);
            let line = [&[found.summary][..], &found.details].concat().join("\n");
            line.contains("homes are valued apart by their own sale")
        };
        assert!(!fails(1.1, 0.8, 30));
        // Homes that nobody sold are three times too dear.
        assert!(fails(3.0, 1.0, 30));
        // Those whose sale is old are. Few of them are not judged.
        assert!(fails(1.0, 1.0 / 3.0, 30));
        assert!(!fails(1.0, 1.0 / 3.0, LEAST_HOMES - 1));
    }

    #[test]
    fn an_estimate_between_the_evidence_and_the_sale_passes() {
        let found = of(|without, price| (without * price).sqrt());
        assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    }

    #[test]
    fn short_ways_that_chance_turns_do_not_outvote_long_ones() {
        let found = of(|without, price| {
            let way = price / without - 1.0;
            if way.abs() < 0.12 {
                without * (1.0 - way)
            } else {
                (without * price).sqrt()
            }
        });
        assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    }

    #[test]
    fn an_ignored_sale_fails() {
        let found = of(|without, _| without);
        assert_eq!(found.verdict, Verdict::Failed);
        assert!(
            found.summary.starts_with("the own sale is ignored"),
            "{found:?}"
        );
    }

    #[test]
    fn a_reaction_away_from_the_price_fails() {
        let found = of(|without, price| without * without / (without * price).sqrt());
        assert_eq!(found.verdict, Verdict::Failed, "{found:?}");
    }

    #[test]
    fn a_copy_of_the_last_sale_fails_and_a_multiple_of_it_too() {
        for factor in [1.0, 1.07] {
            let found = of(|_, price| price * factor);
            assert_eq!(found.verdict, Verdict::Failed);
            assert!(found.summary.contains("the last price"), "{found:?}");
        }
    }

    #[test]
    fn homes_with_an_earlier_sale_that_are_not_valued_are_not_judged() {
        let of = |valued: usize, sold_earlier: usize| {
            let row = |at: u32| {
                let way = 0.05 * f64::from(at % 9) - 0.2;
                let price = 200_000.0 * (1.0 + way);
                OwnSaleRow {
                    with: (200_000.0 * price).sqrt(),
                    without: 200_000.0,
                    price,
                    carried_price: price,
                }
            };
            let rows: Vec<OwnSaleRow> = (0..40).map(row).collect();
            judge(&rows, &rows[..valued], sold_earlier).verdict
        };
        assert_eq!(of(LEAST_HOMES, 30), Verdict::Passed);
        assert_eq!(of(LEAST_HOMES - 1, 30), Verdict::NotJudged);
        assert_eq!(of(0, LEAST_HOMES), Verdict::NotJudged);
        // The sample has too few of them.
        assert_eq!(of(0, LEAST_HOMES - 1), Verdict::Passed);
    }

    #[test]
    fn too_few_homes_with_a_sale_are_not_judged() {
        assert_eq!(judge(&[], &[], 0).verdict, Verdict::NotJudged);
    }
}
