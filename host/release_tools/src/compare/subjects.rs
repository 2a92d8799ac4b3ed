//! The same home as each release would see it.

use super::CompareError;
use crate::backtest::{SaleError, subject as sold_subject};
use domesday_engine::fixture::Fixture;
use domesday_engine::subject::Subject;
use domesday_evaluation::compare::sides::Sides;
use domesday_property::ExportedSale;
use domesday_registers::Day;
use domesday_valuation::release_store::OpenRelease;
use std::sync::Arc;

/// One row to be valued.
pub struct ComparisonSubject {
    /// The name.
    pub name: String,
    /// The home, as each release's snapshot describes it.
    pub subjects: Sides<Arc<Subject>>,
    /// The price paid, pounds.
    pub price: Option<f64>,
    /// The postcode of a sale.
    pub postcode: Option<String>,
}

/// Returns the home of a sale as at its own day, from the earlier records of each snapshot. The
/// newest `lag` days of evidence are hidden.
///
/// # Errors
/// [`CompareError::Sale`] if a snapshot cannot be read.
pub fn of_sale(
    sold: &ExportedSale,
    releases: &Sides<OpenRelease>,
    lag: i32,
) -> Result<ComparisonSubject, CompareError> {
    let sale = &sold.sale;
    let failed = |source| CompareError::Sale {
        id: sale.id,
        day: sale.day,
        source,
    };
    let of = |release: &OpenRelease| {
        let subject = sold_subject(sold, sale.day, &release.snapshot, lag)?;
        let mut subject = Arc::unwrap_or_clone(subject);
        subject.evidence_through = evidence_through(release, Day(sale.day.0 - lag));
        Ok::<_, SaleError>(Arc::new(subject))
    };
    Ok(ComparisonSubject {
        name: format!("sale {:016x} of {}", sale.id, sale.day),
        price: Some(sale.price_gbp as f64),
        postcode: Some(sale.postcode.to_string()),
        subjects: Sides {
            a: of(&releases.a).map_err(failed)?,
            b: of(&releases.b).map_err(failed)?,
        },
    })
}

/// Returns a recorded subject, without its recorded evidence.
pub fn of_fixture(fixture: Fixture, releases: &Sides<OpenRelease>) -> ComparisonSubject {
    let Fixture { row, subject, .. } = fixture;
    ComparisonSubject {
        name: row,
        price: None,
        postcode: None,
        subjects: releases.each().map(|release| {
            let mut subject = subject.clone();
            subject.evidence_through = evidence_through(release, subject.valuation_day);
            Arc::new(subject)
        }),
    }
}

/// Returns the last day before another whose sales a release's snapshot can hold.
fn evidence_through(release: &OpenRelease, end: Day) -> Option<Day> {
    let latest = release.latest_sale?;
    Some(latest.min(Day(end.0 - 1)))
}
