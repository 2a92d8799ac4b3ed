//! The tables, in one transaction, each in key order.

use super::addresses::Addresses;
use super::figures::Figures;
use super::homes::Homes;
use super::indices::Indices;
use super::join::Joined;
use super::places::Places;
use super::sort::groups;
use super::{BuildError, Watch};
use crate::SnapshotError;
use crate::model::{Identity, RowCounts, SourceFile};
use crate::snapshot::last_whole_month;
use crate::store::cell::{Cell, Occupied};
use crate::store::tables::{self, Facts, Named, Numbered, Origin};
use crate::store::{content_digest, index, place, postcode, sale};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use domesday_registers::sources::FileReport;
use redb::{Database, WriteTransaction};
use std::collections::BTreeMap;
use std::path::Path;

/// Everything that the tables hold.
pub(crate) struct Contents<'a> {
    pub(crate) places: &'a Places,
    pub(crate) homes: &'a Homes,
    pub(crate) addresses: &'a Addresses,
    pub(crate) sales: &'a Joined,
    pub(crate) figures: &'a Figures,
    pub(crate) indices: &'a Indices,
}

/// Most memory that pages take while writing; the rest waits on disk.
const CACHE_BYTES: usize = 256 << 20;

/// Tables written, for the watcher.
const STEPS: u64 = 10;

/// Writes the file and works out its content digest.
pub(crate) fn write(
    path: &Path,
    snapshot_id: &str,
    files: &[FileReport],
    contents: &Contents<'_>,
    watch: &mut Watch<'_>,
) -> Result<Identity, BuildError> {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    let mut database = builder.create(path).map_err(SnapshotError::from)?;
    let facts = facts(contents);
    let transaction = database.begin_write().map_err(SnapshotError::from)?;
    tables(&transaction, &facts, contents, watch)?;
    transaction.commit().map_err(SnapshotError::from)?;
    drop(database);

    watch("digest", 0, 1);
    let origin = Origin {
        snapshot_id: snapshot_id.to_owned(),
        content_digest: content_digest(path)?,
        sources: files.iter().map(source).collect(),
    };
    watch("digest", 1, 1);
    database = builder.open(path).map_err(SnapshotError::from)?;
    let transaction = database.begin_write().map_err(SnapshotError::from)?;
    named(
        &transaction,
        tables::ORIGIN,
        [(tables::ONLY, json(&origin)?)],
    )?;
    transaction.commit().map_err(SnapshotError::from)?;
    // Moves the pages to the front of the file and gives back what the growing file left over.
    database
        .compact()
        .map_err(|error| SnapshotError::Storage(Box::new(error.into())))?;
    let latest_sale = facts.latest_sale.map(Day);
    Ok(Identity {
        snapshot_id: origin.snapshot_id,
        content_digest: origin.content_digest,
        latest_sale,
        last_whole_month: latest_sale.map(last_whole_month),
        rows: facts.rows,
    })
}

fn source(file: &FileReport) -> SourceFile {
    SourceFile {
        register: file.register.to_owned(),
        file: file.file.clone(),
        sha256: file.sha256.clone(),
        rows: file.rows_read,
    }
}

fn facts(contents: &Contents<'_>) -> Facts {
    let sales = &contents.sales.sales;
    let placed = sales
        .iter()
        .filter(|sale| matches!(Cell::of_key(sale.block).0, Cell::Grid(..)))
        .count() as u64;
    Facts {
        schema: tables::SCHEMA,
        latest_sale: contents.sales.latest_day.map(i32::from),
        rows: RowCounts {
            postcodes: contents.places.postcodes.len() as u64,
            address_keys: contents.addresses.keys,
            properties: contents.homes.uprns.len() as u64,
            certificates: contents.homes.report.certificates,
            placed_sales: placed,
            unplaced_sales: sales.len() as u64 - placed,
            matched_sales: sales.iter().filter(|sale| sale.row.uprn != 0).count() as u64,
        },
    }
}

fn tables(
    transaction: &WriteTransaction,
    facts: &Facts,
    contents: &Contents<'_>,
    watch: &mut Watch<'_>,
) -> Result<(), BuildError> {
    let Contents {
        places,
        homes,
        addresses,
        sales,
        figures,
        indices,
    } = contents;
    let mut done = 0;
    let mut step = || {
        watch("write", done, STEPS);
        done += 1;
    };
    step();
    named(transaction, tables::FACTS, [(tables::ONLY, json(facts)?)])?;
    step();
    let authorities = places.authorities.iter().map(|authority| {
        let row = postcard::to_stdvec(authority).unwrap_or_default();
        (u64::from(authority.code.packed()), row)
    });
    numbered(transaction, tables::AUTHORITIES, authorities)?;
    step();
    let units = groups(&places.postcodes, |(packed, _)| postcode::row(*packed).0).map(|units| {
        let mut row = Vec::new();
        for (packed, place) in units {
            place::encode(postcode::row(*packed).1, place, &mut row);
        }
        (postcode::row(units[0].0).0, row)
    });
    numbered(transaction, tables::POSTCODES, units)?;
    step();
    numbered(transaction, tables::ADDRESSES, addresses.rows(homes, sales))?;
    step();
    let properties = homes
        .uprns
        .iter()
        .zip(&homes.properties)
        .map(|(uprn, property)| {
            let mut row = Vec::new();
            property.encode(&mut row);
            (*uprn, row)
        });
    numbered(transaction, tables::PROPERTIES, properties)?;
    step();
    let blocks = groups(&sales.sales, |sale| sale.block).map(|block| {
        let mut row = Vec::with_capacity(block.len() * sale::WIDTH);
        block
            .iter()
            .for_each(|sale| sale::encode(&sale.row, &mut row));
        (block[0].block, row)
    });
    numbered(transaction, tables::SALES, blocks)?;
    step();
    numbered(transaction, tables::CELLS, occupied(sales))?;
    step();
    numbered(transaction, tables::POSTCODE_SALES, postcode_sales(sales))?;
    step();
    numbered(transaction, tables::FIGURES, figures.iter().cloned())?;
    step();
    let series = indices
        .iter()
        .map(|(key, points)| (*key, index::encode(points)));
    numbered(transaction, tables::PRICE_INDEX, series)?;
    step();
    Ok(())
}

/// Bits of the cells that hold sales, by row of cells.
fn occupied(sales: &Joined) -> BTreeMap<u64, Vec<u8>> {
    let mut rows = BTreeMap::new();
    for block in groups(&sales.sales, |sale| sale.block >> 16) {
        if let (Cell::Grid(column, row), _) = Cell::of_key(block[0].block) {
            let bits: &mut Vec<u8> = rows
                .entry(row as u64)
                .or_insert_with(|| vec![0; Occupied::ROW_BYTES]);
            bits[column as usize / 8] |= 1 << (column % 8);
        }
    }
    rows
}

/// Days of category A sales of dwellings, by postcode.
fn postcode_sales(sales: &Joined) -> BTreeMap<u64, Vec<u8>> {
    let standard = sales
        .sales
        .iter()
        .filter(|sale| sale.row.standard && sale.row.property_type != PropertyType::Other);
    let mut days: Vec<(u64, u64)> = standard
        .map(|sale| (sale.row.postcode, sale.row.day))
        .collect();
    days.sort_unstable();
    groups(&days, |(postcode, _)| *postcode)
        .map(|group| {
            let mut row = Vec::with_capacity(group.len() * 2);
            group
                .iter()
                .for_each(|(_, day)| crate::store::bytes::put::<2>(&mut row, *day));
            (group[0].0, row)
        })
        .collect()
}

fn numbered(
    transaction: &WriteTransaction,
    definition: Numbered,
    rows: impl IntoIterator<Item = (u64, Vec<u8>)>,
) -> Result<(), SnapshotError> {
    let mut table = transaction.open_table(definition)?;
    for (key, row) in rows {
        table.insert(key, row.as_slice())?;
    }
    Ok(())
}

fn named<'k>(
    transaction: &WriteTransaction,
    definition: Named,
    rows: impl IntoIterator<Item = (&'k str, Vec<u8>)>,
) -> Result<(), SnapshotError> {
    let mut table = transaction.open_table(definition)?;
    for (key, row) in rows {
        table.insert(key, row.as_slice())?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, BuildError> {
    serde_json::to_vec(value)
        .map_err(|error| BuildError::io(Path::new(super::SNAPSHOT_FILE))(error.into()))
}
