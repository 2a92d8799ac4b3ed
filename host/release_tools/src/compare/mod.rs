//! Two releases on the same homes, each by its own snapshot.
//!
//! `domesday_evaluation::compare` makes the figures. It knows the rows and not their origin. Both
//! releases value every row twice, in turn and on one thread. The first time warms the caches, and
//! the second is timed. Both times must give the same answer to the bit.

mod error;
mod subjects;
mod value;

pub use error::CompareError;

use crate::backtest::lagged_evidence::LaggedEvidence;
use crate::backtest::sales::Window;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::fixture::Fixture;
use domesday_evaluation::compare::comparison::Comparison;
use domesday_evaluation::compare::header::Source;
use domesday_evaluation::compare::paired::PairedRow;
use domesday_evaluation::compare::sides::Sides;
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_valuation::comparison_header::{authority_name, header};
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// Days of sales where neither release names its training data.
const YEAR: i32 = 365;

/// The rows to compare.
pub enum Rows {
    /// Homes of A's snapshot that were sold.
    Sales {
        /// First day of sale; by default the first after the training data of both.
        from: Option<Day>,
        /// Last day of sale; by default the last that both snapshots reach.
        to: Option<Day>,
        /// Sales at most, evenly taken.
        sample: usize,
        /// Days before the valuation day that are hidden besides.
        evidence_lag_days: u16,
        /// True if every household in A's snapshot is invented.
        synthetic: bool,
    },
    /// The subjects of fixtures.
    Fixtures {
        /// The file's name.
        file: String,
        /// The fixtures.
        fixtures: Vec<Fixture>,
    },
}

/// Values the rows by both releases and makes the comparison.
///
/// # Errors
/// [`CompareError::NoSales`] or another of no rows, [`CompareError::Unsteady`] if a release gives
/// two results for a row. Others if a snapshot cannot be read or the host fails on a row.
pub fn run(
    releases: &Sides<OpenRelease>,
    rows: Rows,
    progress: &mut Progress<'_>,
) -> Result<Comparison, CompareError> {
    let (source, first, paired) = match rows {
        Rows::Sales {
            from,
            to,
            sample,
            evidence_lag_days: lag,
            synthetic,
        } => {
            let days = window(releases, from, to)?;
            progress("listing sales", 0, 1);
            let window = Window::count(&releases.a.snapshot, days, Some(sample))?;
            let source = Source::Sales {
                first: days.0.to_string(),
                last: days.1.to_string(),
                in_window: window.sales,
                not_askable: window.not_askable,
                taken_every: window.every,
                evidence_lag_days: u32::from(lag),
                synthetic,
            };
            let evidence = releases.each().map(|release| -> Arc<dyn EvidenceSource> {
                Arc::new(LaggedEvidence::new(release.snapshot.clone(), lag))
            });
            let all = window.sample_size();
            let mut paired = Vec::with_capacity(all);
            for sold in window.sales()? {
                let row = subjects::of_sale(&sold?, releases, i32::from(lag))?;
                paired.push(value::pair(row, releases, &evidence, paired.len())?);
                progress("valuing", paired.len() as u64, all as u64);
            }
            (source, Some(days.0), paired)
        }
        Rows::Fixtures { file, fixtures } => {
            let evidence = releases
                .each()
                .map(|release| -> Arc<dyn EvidenceSource> { release.evidence.clone() });
            let all = fixtures.len();
            let mut paired: Vec<PairedRow> = Vec::with_capacity(all);
            for fixture in fixtures {
                let row = subjects::of_fixture(fixture, releases);
                paired.push(value::pair(row, releases, &evidence, paired.len())?);
                progress("valuing", paired.len() as u64, all as u64);
            }
            (Source::Fixtures { file }, None, paired)
        }
    };
    if paired.is_empty() {
        return Err(CompareError::NoSales {
            release: releases.a.id.clone(),
            latest: releases.a.latest_sale,
        });
    }
    let header = header(releases.each(), source, first);
    Ok(Comparison::of(header, &paired, &|code| {
        authority_name(releases.each(), code)
    }))
}

/// Returns the window of sales. By default it begins after the training data of both releases, and
/// ends with the last sale that both snapshots hold.
fn window(
    releases: &Sides<OpenRelease>,
    from: Option<Day>,
    to: Option<Day>,
) -> Result<(Day, Day), CompareError> {
    let both = [&releases.a, &releases.b];
    let latest = both.iter().filter_map(|release| release.latest_sale).min();
    let Some(latest) = latest else {
        return Err(CompareError::NoSale);
    };
    if let Some(from) = from
        && from > to.unwrap_or(latest)
    {
        let known = both.map(|release| match release.latest_sale {
            Some(day) => format!("{}'s snapshot has sales up to {day}", release.id),
            None => format!("{}'s snapshot has no sale", release.id),
        });
        let known = known.join(", ");
        return Err(CompareError::TooLate { from, known });
    }
    let to = to.unwrap_or(latest);
    let trained = both.iter().filter_map(|release| {
        let window = release.manifest.model.training_window.as_ref()?;
        Some(Day::from(
            window.fitted_through.max(window.calibrated_through),
        ))
    });
    let from = match (from, trained.max()) {
        (Some(from), _) => from,
        (None, Some(last)) => Day(last.0 + 1),
        (None, None) => Day(to.0 - YEAR + 1),
    };
    if from > to {
        return Err(CompareError::NothingUnseen { from, to });
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::demo;

    #[test]
    fn both_releases_see_the_evidence_that_a_service_had_then() {
        let releases = Sides {
            a: demo(),
            b: demo(),
        };
        let compare = |evidence_lag_days| {
            let rows = Rows::Sales {
                from: None,
                to: None,
                sample: 20,
                evidence_lag_days,
                synthetic: true,
            };
            run(&releases, rows, &mut |_, _, _| {}).unwrap()
        };
        let (now, late) = (compare(0), compare(60));
        assert_eq!(late.identical, late.overall.rows, "one side sees more");
        assert_ne!(now.points, late.points);
        let snapshot = &releases.a.snapshot;
        let latest = snapshot.identity().latest_sale.unwrap();
        let window = Window::count(snapshot, (Day(latest.0 - 30), latest), None).unwrap();
        for sold in window.sales().unwrap() {
            let sold = sold.unwrap();
            let row = subjects::of_sale(&sold, &releases, 60).unwrap();
            let through = Some(Day(sold.sale.day.0 - 61));
            assert_eq!(row.subjects.a.evidence_through, through);
            assert_eq!(row.subjects.b.evidence_through, through);
        }
    }
}
