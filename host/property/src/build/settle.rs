//! From rows to transactions: additions, changes and deletions, repeated or contradictory.

use super::BuildError;
use super::report::SalesReport;
use super::sales::{LooseKey, ReadSales, SaleSeed};
use super::sort::groups;
use domesday_registers::records::Change;

/// Transactions that stand, by id.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) sales: Vec<SaleSeed>,
    /// Addresses of standing transactions that met no property.
    pub(crate) loose: Vec<LooseKey>,
    pub(crate) latest_day: Option<u16>,
    pub(crate) report: SalesReport,
}

/// Lets the rows of each transaction act one after the other: files in order of their latest
/// day, then of SHA-256, and the rows of a file in their own order.
///
/// # Errors
/// Two transaction identifiers share a sale id.
pub(crate) fn settle(read: ReadSales) -> Result<Settled, BuildError> {
    let ReadSales {
        mut seeds,
        mut loose,
        latest,
    } = read;
    let moment = |seed: &SaleSeed| (latest.get(seed.at.0 as usize).copied(), seed.at);
    seeds.sort_unstable_by_key(|seed| (seed.id, moment(seed)));

    let mut report = SalesReport::default();
    let mut sales = Vec::with_capacity(seeds.len());
    for rows in groups(&seeds, |seed| seed.id) {
        if rows.iter().any(|row| row.check != rows[0].check) {
            return Err(BuildError::Collision {
                what: "transactions",
                fingerprint: rows[0].id,
            });
        }
        sales.extend(last_word(rows, &mut report));
    }
    report.transactions = sales.len() as u64;
    loose.retain(|key| {
        let found = sales.binary_search_by_key(&key.id, |sale: &SaleSeed| sale.id);
        found.is_ok_and(|at| sales[at].at == key.at)
    });
    let latest_day = sales.iter().map(|seed| seed.sale.day).max();
    Ok(Settled {
        sales,
        loose,
        latest_day,
        report,
    })
}

/// The row that stands after all rows of one transaction, if any does.
fn last_word(rows: &[SaleSeed], report: &mut SalesReport) -> Option<SaleSeed> {
    let mut standing: Option<SaleSeed> = None;
    for row in rows {
        match (row.change, standing) {
            (Change::Addition, Some(before)) if before.sale == row.sale => {
                report.repeated += 1;
                continue;
            }
            (Change::Addition, Some(_)) => report.contradicted += 1,
            (Change::Addition, None) => {}
            (Change::Change, Some(_)) => report.changes_applied += 1,
            (Change::Change, None) => report.changes_of_unknown += 1,
            (Change::Delete, Some(_)) => report.deletions_applied += 1,
            (Change::Delete, None) => report.deletions_of_unknown += 1,
        }
        standing = (row.change != Change::Delete).then_some(*row);
    }
    standing
}
