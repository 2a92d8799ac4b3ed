//! What the old snapshot holds of the months' transactions.

use crate::build::homes::OrderedCode;
use crate::build::join::JoinedSale;
use crate::build::places::Whereabouts;
use crate::build::{BuildError, Watch};
use crate::store::place::{self, Place};
use crate::store::unmatched::{self, Unmatched};
use crate::store::{postcode, sale};
use crate::{Snapshot, SnapshotError};
use rustc_hash::{FxHashMap, FxHashSet};

/// The old snapshot's part.
pub(super) struct Before {
    /// Its transactions among the months', by id.
    pub(super) sales: FxHashMap<u64, JoinedSale>,
    /// What it remembers of those that met no property by their own address, by id, with the postcode
    /// that they name.
    pub(super) unmatched: FxHashMap<u64, (u64, Unmatched)>,
    /// The latest day of all its other transactions.
    pub(super) latest_of_others: Option<u16>,
}

const DAMAGED: SnapshotError = SnapshotError::Damaged { table: "sales" };

const DAMAGED_UNMATCHED: SnapshotError = SnapshotError::Damaged {
    table: "unmatched_sales",
};

/// Blocks between two words to the watcher.
const BLOCKS_BETWEEN_REPORTS: u64 = 20_000;

/// Goes through all sales once: their ids stand in no other order.
pub(super) fn find(
    old: &Snapshot,
    ids: &FxHashSet<u64>,
    watch: &mut Watch<'_>,
) -> Result<Before, BuildError> {
    let mut sales = FxHashMap::default();
    let mut latest_of_others = None;
    let total = old.facts.rows.placed_sales + old.facts.rows.unplaced_sales;
    let (mut blocks, mut done) = (0_u64, 0);
    watch("find", 0, total);
    let all = old.sales.range::<u64>(..).map_err(SnapshotError::from)?;
    for block in all {
        let (key, bytes) = block.map_err(SnapshotError::from)?;
        for packed in sale::block(bytes.value()).ok_or(DAMAGED)? {
            done += 1;
            if ids.contains(&packed.id()) {
                let row = packed.row().ok_or(DAMAGED)?;
                let authority = match row.uprn {
                    0 => old.place(row.postcode)?.and_then(|place| place.authority),
                    uprn => old.packed_property(uprn)?.and_then(|home| home.authority),
                };
                let joined = JoinedSale {
                    block: key.value(),
                    authority: OrderedCode::new(authority),
                    row,
                };
                sales.insert(row.id, joined);
            } else {
                let day = u16::try_from(packed.day().0).unwrap_or(u16::MAX);
                latest_of_others = latest_of_others.max(Some(day));
            }
        }
        blocks += 1;
        if blocks.is_multiple_of(BLOCKS_BETWEEN_REPORTS) {
            watch("find", done, total.max(done));
        }
    }
    watch("find", total, total);
    Ok(Before {
        sales,
        unmatched: unmatched_among(old, ids)?,
        latest_of_others,
    })
}

/// The remembered sales among some ids. All are gone through, since one that met its home by a rule
/// has that home's postcode in its row.
fn unmatched_among(
    old: &Snapshot,
    ids: &FxHashSet<u64>,
) -> Result<FxHashMap<u64, (u64, Unmatched)>, BuildError> {
    let mut among = FxHashMap::default();
    let Some(table) = &old.unmatched else {
        return Ok(among);
    };
    for row in table.range::<u64>(..).map_err(SnapshotError::from)? {
        let (postcode, bytes) = row.map_err(SnapshotError::from)?;
        let sales = unmatched::decode(bytes.value()).ok_or(DAMAGED_UNMATCHED)?;
        let wanted = sales.into_iter().filter(|sale| ids.contains(&sale.id));
        among.extend(wanted.map(|sale| (sale.id, (postcode.value(), sale))));
    }
    Ok(among)
}

/// The sales of a postcode that met no property by their own address.
pub(super) fn unmatched_of(old: &Snapshot, postcode: u64) -> Result<Vec<Unmatched>, BuildError> {
    let Some(table) = &old.unmatched else {
        return Ok(Vec::new());
    };
    let row = table.get(postcode).map_err(SnapshotError::from)?;
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    Ok(unmatched::decode(row.value()).ok_or(DAMAGED_UNMATCHED)?)
}

impl Whereabouts for Snapshot {
    fn place(&self, packed: u64) -> Result<Option<Place>, BuildError> {
        let (key, unit) = postcode::row(packed);
        let Some(row) = self.postcodes.get(key).map_err(SnapshotError::from)? else {
            return Ok(None);
        };
        let damaged = SnapshotError::Damaged { table: "postcodes" };
        Ok(place::find(row.value(), unit).ok_or(damaged)?)
    }
}
