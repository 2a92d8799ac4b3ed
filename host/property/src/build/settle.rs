//! From rows to transactions: additions, changes and deletions, repeated or contradictory.

use super::BuildError;
use super::external_sort::{Groups, Scratch, Seed, SortedSeeds, Sorter};
use super::group_kinds::OF_TRANSACTION;
use super::report::SalesReport;
use super::rules::{ByRule, WrittenAddress};
use super::sales::{ReadSales, SaleAddress, SaleFields, SaleSeed};
use crate::store::tables::Moment;
use crate::store::unmatched::UnmatchedSale;
use domesday_registers::records::Change;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// A transaction after all changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CurrentSale {
    pub(crate) id: u64,
    pub(crate) sale: SaleFields,
    pub(crate) address: SaleAddress,
    pub(crate) written: WrittenAddress,
}

impl CurrentSale {
    /// Returns the stored part of a transaction without a property by its own address.
    pub(crate) fn stranger(&self, by_rule: Option<ByRule>) -> UnmatchedSale {
        let alone = by_rule.filter(|home| home.one_address);
        UnmatchedSale {
            id: self.id,
            other_type: self.address.other_type,
            alone: alone.map(|home| home.uprn),
            prints: self.address.prints.clone(),
        }
    }
}

impl Seed for CurrentSale {
    type Key = (u64, u64);
    fn key(&self) -> Self::Key {
        (self.sale.postcode, self.id)
    }
    fn heap(&self) -> usize {
        16 + self.address.prints.capacity() * size_of::<u64>() + self.written.heap()
    }
}

/// Transactions after all changes, by postcode and id.
pub(crate) struct CurrentSales {
    pub(crate) sales: SortedSeeds<CurrentSale>,
    pub(crate) latest_day: Option<u16>,
    pub(crate) report: SalesReport,
}

/// Applies the rows of each transaction one after the other. Files act in the order of their
/// moments, and the rows of a file in their own order.
///
/// # Errors
/// Two transaction identifiers share a sale id, one has too many rows, or the disk failed.
pub(crate) fn settle(read: ReadSales, scratch: &Rc<Scratch>) -> Result<CurrentSales, BuildError> {
    let ReadSales { rows, moments } = read;
    let mut report = SalesReport::default();
    let mut sales = Sorter::new(scratch);
    let mut latest_day = None;
    let mut transactions = Groups::new(rows.drain()?, |seed: &SaleSeed| seed.id, OF_TRANSACTION)?;
    while let Some((_, rows)) = transactions.next()? {
        let rows = in_order(rows, &moments)?;
        if let Some(row) = final_row(rows, &mut report) {
            report.transactions += 1;
            latest_day = latest_day.max(Some(row.sale.day));
            sales.push(CurrentSale {
                id: row.id,
                sale: row.sale,
                address: row.address,
                written: row.written,
            })?;
        }
    }
    Ok(CurrentSales {
        sales: sales.finish()?,
        latest_day,
        report,
    })
}

/// Returns the rows of one transaction in the order in which they act.
///
/// # Errors
/// They are of two transactions.
pub(crate) fn in_order(
    mut rows: Vec<SaleSeed>,
    moments: &[Moment],
) -> Result<Vec<SaleSeed>, BuildError> {
    if let Some(other) = rows.iter().find(|row| row.check != rows[0].check) {
        return Err(BuildError::Collision {
            what: "transactions",
            fingerprint: other.id,
        });
    }
    if rows.len() > 1 {
        rows.sort_by(|a, b| {
            let moment = |seed: &SaleSeed| moments.get(seed.at.0 as usize);
            (moment(a), a.at).cmp(&(moment(b), b.at))
        });
    }
    Ok(rows)
}

/// Returns the row that remains after all rows of one transaction, if any.
fn final_row(rows: Vec<SaleSeed>, report: &mut SalesReport) -> Option<SaleSeed> {
    let mut current: Option<SaleSeed> = None;
    for row in rows {
        match (row.change, &current) {
            (Change::Change, _) if !row.stands() => report.changes_withdrawn += 1,
            (Change::Addition, Some(before))
                if before.sale == row.sale && before.address == row.address =>
            {
                report.repeated += 1;
            }
            (Change::Addition, Some(_)) => report.contradicted += 1,
            (Change::Addition, None) => {}
            (Change::Change, Some(_)) => report.changes_applied += 1,
            (Change::Change, None) => report.changes_of_unknown += 1,
            (Change::Delete, Some(_)) => report.deletions_applied += 1,
            (Change::Delete, None) => report.deletions_of_unknown += 1,
        }
        current = row.stands().then_some(row);
    }
    current
}
