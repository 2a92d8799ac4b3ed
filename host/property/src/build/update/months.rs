//! The rows of the months.

use crate::build::BuildError;
use crate::build::external_sort::{Scratch, SortedSeeds};
use crate::build::sales::{self, SaleSeed};
use crate::build::sources::{Kind, Sources};
use crate::store::tables::Moment;
use domesday_registers::Day;
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// All rows, by transaction.
pub(super) struct Months {
    pub(super) rows: SortedSeeds<SaleSeed>,
    pub(super) ids: FxHashSet<u64>,
    /// The postcodes that rows name, packed.
    pub(super) postcodes: FxHashSet<u64>,
    /// The moment at which the rows of each file act, by the file's number.
    pub(super) moments: Vec<Moment>,
}

/// Reads the files, which must act after those that the snapshot holds. No sale is held of a later
/// day than `sales_to`.
pub(super) fn read(
    sources: &mut Sources<'_, '_>,
    stored_to: &Moment,
    sales_to: Option<Day>,
    scratch: &Rc<Scratch>,
) -> Result<Months, BuildError> {
    let read = sales::read(sources, sales_to, scratch)?;
    let (mut ids, mut postcodes) = (FxHashSet::default(), FxHashSet::default());
    let mut with_rows = vec![false; read.moments.len()];
    for row in read.rows.rows()? {
        let row = row?;
        ids.insert(row.id);
        postcodes.insert(row.sale.postcode);
        if let Some(with_rows) = with_rows.get_mut(row.at.0 as usize) {
            *with_rows = true;
        }
    }
    let files = sources.paths(Kind::PricePaid).into_iter();
    for ((moment, path), with_rows) in read.moments.iter().zip(files).zip(with_rows) {
        // A file without a counted row has no moment either.
        if with_rows && moment <= stored_to {
            return Err(BuildError::NoUpdate {
                path,
                latest: Day(i32::from(moment.latest_day)),
                stored_to: Day(i32::from(stored_to.latest_day)),
            });
        }
    }
    Ok(Months {
        rows: read.rows,
        ids,
        postcodes,
        moments: read.moments,
    })
}
