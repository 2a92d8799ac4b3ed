//! The old snapshot's data on the months' transactions.

use super::months::Months;
use crate::build::BuildError;
use crate::build::home_seeds::OrderedCode;
use crate::build::join::JoinedSale;
use crate::build::postcodes::PostcodeLookup;
use crate::store::stored_postcode::{self, StoredPostcode};
use crate::store::unmatched::{self, UnmatchedSale};
use crate::store::{postcode, sale};
use crate::{Snapshot, SnapshotError};
use domesday_registers::Progress;
use rustc_hash::FxHashMap;

/// The old snapshot's part.
pub(super) struct OldSales {
    /// Its transactions among the months', by id.
    pub(super) sales: FxHashMap<u64, JoinedSale>,
    /// Its stored sales without a property by their own address, by id, with the postcode that they
    /// name.
    pub(super) unmatched: FxHashMap<u64, (u64, UnmatchedSale)>,
    /// Other transactions in the postcodes of the months, by packed postcode. The months may make
    /// the home that they match by a rule ambiguous, or unambiguous again.
    pub(super) rivals: FxHashMap<u64, Vec<Rival>>,
    /// The latest day of all its other transactions.
    pub(super) latest_of_others: Option<u16>,
}

/// A sale that matched a home by a rule of one address, ambiguous or not.
pub(super) struct Rival {
    pub(super) sale: JoinedSale,
    /// Its address, by the first fingerprint, and that home.
    pub(super) met: (u64, u64),
}

const DAMAGED: SnapshotError = SnapshotError::Damaged { table: "sales" };

const DAMAGED_UNMATCHED: SnapshotError = SnapshotError::Damaged {
    table: "unmatched_sales",
};

/// Blocks between two reports of progress.
const BLOCKS_BETWEEN_REPORTS: u64 = 20_000;

/// Reads all sales once, since they are not ordered by id.
pub(super) fn find(
    old: &Snapshot,
    months: &Months,
    progress: &mut Progress<'_>,
) -> Result<OldSales, BuildError> {
    let ids = &months.ids;
    let (unmatched, alone) = unmatched_among(old, months)?;
    let mut rivals: FxHashMap<u64, Vec<Rival>> = FxHashMap::default();
    let mut sales = FxHashMap::default();
    let mut latest_of_others = None;
    let total = old.facts.rows.placed_sales + old.facts.rows.unplaced_sales;
    let (mut blocks, mut processed) = (0_u64, 0);
    progress("find", 0, total);
    let all = old.sales.range::<u64>(..).map_err(SnapshotError::from)?;
    for block in all {
        let (key, bytes) = block.map_err(SnapshotError::from)?;
        for packed in sale::block(bytes.value()).ok_or(DAMAGED)? {
            processed += 1;
            let named = ids.contains(&packed.id());
            let rival = alone.get(&packed.id());
            if named || rival.is_some() {
                let row = packed.row().ok_or(DAMAGED)?;
                let authority = match row.uprn {
                    0 => old.location(row.postcode)?.and_then(|it| it.authority),
                    uprn => old.packed_property(uprn)?.and_then(|home| home.authority),
                };
                let joined = JoinedSale {
                    block: key.value(),
                    authority: OrderedCode::new(authority),
                    row,
                };
                match rival {
                    Some(&(postcode, met)) => {
                        let of_postcode = rivals.entry(postcode).or_default();
                        of_postcode.push(Rival { sale: joined, met });
                    }
                    None => drop(sales.insert(row.id, joined)),
                }
            }
            if !named {
                let day = u16::try_from(packed.day().0).unwrap_or(u16::MAX);
                latest_of_others = latest_of_others.max(Some(day));
            }
        }
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_BETWEEN_REPORTS) {
            progress("find", processed, total.max(processed));
        }
    }
    progress("find", total, total);
    Ok(OldSales {
        sales,
        unmatched,
        rivals,
        latest_of_others,
    })
}

/// Stored sales by id, with the packed postcode that they name.
type ById<T> = FxHashMap<u64, (u64, T)>;

/// Remembered sales, and of others their address and the home that it meets by a rule of one
/// address.
type UnmatchedById = (ById<UnmatchedSale>, ById<(u64, u64)>);

/// Returns the stored sales that the months name, and the others of their postcodes that matched a
/// home by a rule of one address. It reads all of them, since a sale that matched by a rule is in
/// that home's block.
fn unmatched_among(old: &Snapshot, months: &Months) -> Result<UnmatchedById, BuildError> {
    let (mut named, mut alone) = (FxHashMap::default(), FxHashMap::default());
    let Some(table) = &old.unmatched else {
        return Ok((named, alone));
    };
    for row in table.range::<u64>(..).map_err(SnapshotError::from)? {
        let (postcode, bytes) = row.map_err(SnapshotError::from)?;
        let postcode = postcode.value();
        let sales = unmatched::decode(bytes.value()).ok_or(DAMAGED_UNMATCHED)?;
        let (of_months, others): (Vec<_>, Vec<_>) = sales
            .into_iter()
            .partition(|sale| months.ids.contains(&sale.id));
        if months.postcodes.contains(&postcode) || !of_months.is_empty() {
            let others = others
                .iter()
                .filter_map(|sale| Some((sale.id, (postcode, sale.met_alone()?))));
            alone.extend(others);
        }
        named.extend(
            of_months
                .into_iter()
                .map(|sale| (sale.id, (postcode, sale))),
        );
    }
    Ok((named, alone))
}

/// Returns the sales of a postcode that matched no property by their own address.
pub(super) fn unmatched_of(
    old: &Snapshot,
    postcode: u64,
) -> Result<Vec<UnmatchedSale>, BuildError> {
    let Some(table) = &old.unmatched else {
        return Ok(Vec::new());
    };
    let row = table.get(postcode).map_err(SnapshotError::from)?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    Ok(unmatched::decode(row.value()).ok_or(DAMAGED_UNMATCHED)?)
}

impl PostcodeLookup for Snapshot {
    fn location(&self, packed: u64) -> Result<Option<StoredPostcode>, BuildError> {
        let (key, unit) = postcode::row(packed);
        let Some(row) = self.postcodes.get(key).map_err(SnapshotError::from)? else {
            return Ok(None);
        };
        let damaged = SnapshotError::Damaged { table: "postcodes" };
        Ok(stored_postcode::find(row.value(), unit).ok_or(damaged)?)
    }
}
