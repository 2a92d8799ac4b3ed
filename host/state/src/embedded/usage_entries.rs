//! The rows of the ledger: a tenant's entries of a month and an epoch of the log.

use std::collections::BTreeMap;

use redb::{ReadableDatabase, ReadableTable};

use super::counts::{Counts, MonthRows, StoredEntry, difference};
use super::error::{reading, writing};
use super::records::{decode_entries, decode_tenant_id, encode_entries};
use super::store::OpenFiles;
use super::tables::{Tables, USAGE_ENTRIES};
use crate::usage_ledger::PageBuilder;
use crate::{Month, StateError, UsagePage, UsageQuery, UsageSource};

/// Writes counts into the file, and their entries as rows of this epoch.
///
/// The entries of a month add up to its count whatever the log held: a difference is an entry that
/// names no request. A log of an earlier version held no entries at all.
pub(super) fn put_counts(
    tables: &mut Tables<'_>,
    counts: &Counts,
    epoch: u64,
) -> Result<(), StateError> {
    for ((tenant, month), units) in counts {
        let before = tables.put_used(tenant, *month, units.used)?;
        let known = units.entries.iter().map(|entry| entry.units);
        let known = known.fold(0, i64::saturating_add);
        let rest = difference(units.used, before).saturating_sub(known);
        let rest = StoredEntry::new(UsageSource::without_request(*month), rest);
        let rest = Some(&rest).filter(|rest| rest.units != 0);
        let entries: Vec<_> = units.entries.iter().chain(rest).collect();
        if entries.is_empty() {
            continue;
        }
        let bytes = encode_entries(&entries)?;
        let row_key = (month.number(), tenant.as_str(), epoch);
        let rows = tables.usage_entries.edit()?;
        rows.insert(row_key, bytes.as_slice()).map_err(writing)?;
    }
    Ok(())
}

/// Removes rows of the months before this one, at most `limit` of them, and returns their number.
pub(super) fn remove_entries(
    tables: &mut Tables<'_>,
    before: Month,
    limit: usize,
) -> Result<u64, StateError> {
    let mut over = Vec::new();
    let rows = tables.usage_entries.read()?;
    let until = (before.number(), "", 0);
    for row in rows.range(..until).map_err(reading)?.take(limit) {
        let (key, _) = row.map_err(reading)?;
        let (month, tenant, epoch) = key.value();
        over.push((month, tenant.to_owned(), epoch));
    }
    for (month, tenant, epoch) in &over {
        let rows = tables.usage_entries.edit()?;
        let row_key = (*month, tenant.as_str(), *epoch);
        rows.remove(row_key).map_err(writing)?;
    }
    Ok(over.len() as u64)
}

/// Returns the latest months that hold rows of the file, latest first and at most `limit` of them.
pub(super) fn read_months(files: &OpenFiles, limit: usize) -> Result<Vec<Month>, StateError> {
    let transaction = files.database.begin_read().map_err(reading)?;
    let table = transaction.open_table(USAGE_ENTRIES).map_err(reading)?;
    let (mut months, mut before) = (Vec::new(), i32::MAX);
    while months.len() < limit {
        let mut earlier = table.range(..(before, "", 0)).map_err(reading)?;
        let Some(row) = earlier.next_back() else {
            break;
        };
        let (key, _) = row.map_err(reading)?;
        before = key.value().0;
        months.extend(Month::from_number(before));
    }
    Ok(months)
}

/// Reads a page of the ledger: the rows of the file, and those that the log will become.
///
/// It reads the log first and begins a transaction later. A take-over writes the file before it
/// empties the log, so a row that is in both is the same one.
pub(super) fn read_entries(files: &OpenFiles, query: UsageQuery) -> Result<UsagePage, StateError> {
    let mut log_rows = files.log_entries(&query)?;
    let month = query.month.number();
    let from = match (&query.after, &query.tenant) {
        (Some(after), _) => (after.tenant.as_str(), after.row),
        (None, Some(tenant)) => (tenant.as_str(), 0),
        (None, None) => ("", 0),
    };
    let (from, until) = ((month, from.0, from.1), (month.saturating_add(1), "", 0));
    let transaction = files.database.begin_read().map_err(reading)?;
    let table = transaction.open_table(USAGE_ENTRIES).map_err(reading)?;
    let mut page = PageBuilder::new(query.clone());
    for row in table.range(from..until).map_err(reading)? {
        let (key, value) = row.map_err(reading)?;
        let (_, tenant, epoch) = key.value();
        let row_key = (decode_tenant_id(tenant)?, epoch);
        if query
            .tenant
            .as_ref()
            .is_some_and(|asked| *asked != row_key.0)
        {
            break;
        }
        if log_rows
            .first_key_value()
            .is_some_and(|(first, _)| *first <= row_key)
        {
            let rest = log_rows.split_off(&row_key);
            let earlier = std::mem::replace(&mut log_rows, rest);
            log_rows.remove(&row_key);
            if add_rows(&mut page, earlier) {
                return Ok(page.finish());
            }
        }
        let entries = decode_entries(tenant, value.value())?;
        if add_rows(&mut page, BTreeMap::from([(row_key, entries)])) {
            return Ok(page.finish());
        }
    }
    add_rows(&mut page, log_rows);
    Ok(page.finish())
}

/// Adds rows to a page, and reports whether it is full.
fn add_rows(page: &mut PageBuilder, rows: MonthRows) -> bool {
    rows.iter().any(|((tenant, epoch), entries)| {
        page.add(tenant, *epoch, entries.iter().map(StoredEntry::read))
    })
}
