//! An open snapshot.

use crate::SnapshotError;
use crate::model::{Authority, GssCode, Identity, SourceFile};
use crate::query::index_cache::IndexCache;
use crate::query::sales_cache::SalesCache;
use crate::query::service_area::ServiceArea;
use crate::store::cell::OccupiedCells;
use crate::store::tables::{self, Facts, Origin};
use domesday_registers::Day;
use redb::{ReadOnlyDatabase, ReadOnlyTable, ReadableDatabase};
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::OnceLock;

pub(crate) type U64Table = ReadOnlyTable<u64, &'static [u8]>;

/// The largest page cache of an open snapshot. The system's own cache is behind it.
const CACHE_BYTES: usize = 512 << 20;

/// A snapshot opened for reading. Any number of threads may query it, and any number of processes
/// may have the file open.
///
/// The tables are opened once: the file never changes, so one read transaction lasts for the
/// snapshot's life.
pub struct Snapshot {
    pub(crate) addresses: U64Table,
    pub(crate) postcodes: U64Table,
    pub(crate) properties: U64Table,
    pub(crate) sales: U64Table,
    pub(crate) postcode_sales: U64Table,
    pub(crate) price_index: U64Table,
    pub(crate) figures: U64Table,
    pub(crate) occupied: OccupiedCells,
    pub(crate) authorities: FxHashMap<GssCode, Authority>,
    pub(crate) facts: Facts,
    pub(crate) sales_cache: SalesCache,
    pub(crate) index_cache: IndexCache,
    /// Computed on first use.
    pub(crate) service_area: OnceLock<ServiceArea>,
    pub(crate) origin: Origin,
    /// Absent in a snapshot that cannot be updated.
    pub(crate) unmatched: Option<U64Table>,
    _database: ReadOnlyDatabase,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("origin", &self.origin)
            .field("facts", &self.facts)
            .finish()
    }
}

impl Snapshot {
    /// Opens a snapshot file; nothing is ever written to it.
    ///
    /// The content digest is the one noted at build. To verify the bytes, compare the file's own
    /// digest with a signed manifest, or call [`crate::store::content_digest`].
    ///
    /// # Errors
    /// The file is absent, no redb file, no snapshot, or of another schema.
    pub fn open(path: &Path) -> Result<Snapshot, SnapshotError> {
        let database = redb::Builder::new()
            .set_cache_size(CACHE_BYTES)
            .open_read_only(path)?;
        let transaction = database.begin_read()?;
        let lacking = |what| SnapshotError::NotASnapshot {
            path: path.to_owned(),
            what,
        };

        let facts_table = transaction
            .open_table(tables::FACTS)
            .map_err(|_| lacking("it has no facts"))?;
        let facts: Facts = match facts_table.get(tables::ONLY)? {
            Some(row) => {
                serde_json::from_slice(row.value()).map_err(|_| lacking("its facts are invalid"))?
            }
            None => return Err(lacking("its facts are empty")),
        };
        if facts.schema != tables::SCHEMA {
            let (found, expected) = (facts.schema, tables::SCHEMA);
            return Err(SnapshotError::OtherSchema {
                path: path.to_owned(),
                found,
                expected,
            });
        }
        let origin: Origin = match transaction.open_table(tables::ORIGIN)?.get(tables::ONLY)? {
            Some(row) => {
                serde_json::from_slice(row.value()).map_err(|_| lacking("its origin is invalid"))?
            }
            None => return Err(lacking("it has no origin")),
        };

        let mut occupied = OccupiedCells::default();
        for row in transaction.open_table(tables::CELLS)?.range::<u64>(..)? {
            let (row, bits) = row?;
            occupied
                .set_row(row.value(), bits.value())
                .ok_or(SnapshotError::Damaged { table: "cells" })?;
        }
        let mut authorities = FxHashMap::default();
        for row in transaction
            .open_table(tables::AUTHORITIES)?
            .range::<u64>(..)?
        {
            let authority: Authority =
                postcard::from_bytes(row?.1.value()).map_err(|_| SnapshotError::Damaged {
                    table: "authorities",
                })?;
            authorities.insert(authority.code, authority);
        }
        let unmatched = match transaction.open_table(tables::UNMATCHED) {
            Ok(table) => Some(table),
            Err(redb::TableError::TableDoesNotExist(_)) => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Snapshot {
            addresses: transaction.open_table(tables::ADDRESSES)?,
            postcodes: transaction.open_table(tables::POSTCODES)?,
            properties: transaction.open_table(tables::PROPERTIES)?,
            sales: transaction.open_table(tables::SALES)?,
            postcode_sales: transaction.open_table(tables::POSTCODE_SALES)?,
            price_index: transaction.open_table(tables::PRICE_INDEX)?,
            figures: transaction.open_table(tables::FIGURES)?,
            occupied,
            authorities,
            facts,
            sales_cache: SalesCache::default(),
            index_cache: IndexCache::default(),
            service_area: OnceLock::new(),
            origin,
            unmatched,
            _database: database,
        })
    }

    /// Returns the identity of the snapshot.
    pub fn identity(&self) -> Identity {
        let latest_sale = self.facts.latest_sale.map(Day);
        Identity {
            snapshot_id: self.origin.snapshot_id.clone(),
            content_digest: self.origin.content_digest.clone(),
            latest_sale,
            last_whole_month: latest_sale.map(last_whole_month),
            rows: self.facts.rows,
        }
    }

    /// Returns the files that it was built from.
    pub fn sources(&self) -> &[SourceFile] {
        &self.origin.sources
    }

    /// Returns a local authority district in force, by its code.
    pub fn authority(&self, code: GssCode) -> Option<&Authority> {
        self.authorities.get(&code)
    }

    /// Returns every local authority district in force, ordered by code.
    pub fn authorities(&self) -> Vec<&Authority> {
        let mut all: Vec<_> = self.authorities.values().collect();
        all.sort_unstable_by_key(|authority| authority.code);
        all
    }
}

/// Returns the latest month that ended on or before a day.
pub(crate) fn last_whole_month(day: Day) -> i32 {
    Day(day.0.saturating_add(1)).month() - 1
}
