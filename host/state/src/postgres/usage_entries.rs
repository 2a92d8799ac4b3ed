//! The ledger of units in the database.

use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use super::error::{reading, writing};
use super::records::{count, tenant_id, to_signed};
use crate::usage_ledger::PageBuilder;
use crate::{
    Month, RemovedEntries, StateError, UnixMillis, UsageKind, UsagePage, UsageQuery, UsageSource,
};

/// Rows of one statement. A row may have thousands of entries.
const ROWS: i64 = 256;
/// Rows of the table that one call removes, in one statement.
const REMOVED_AT_ONCE: u32 = 1_024;
/// Follows the id of every tenant.
const LAST_TENANT: &str = "~";
/// Row 0 of a tenant is what its entries leave open.
const PAGE: &str = "SELECT * FROM (\
     SELECT tenant, number, ats, kinds, ids, units FROM domesday.usage_entries WHERE month = $1 \
     UNION ALL SELECT tenant, 0, '{}', '{}', '{}', ARRAY[used - entered] FROM domesday.usage \
     WHERE month = $1 AND used <> entered) AS entries \
     WHERE tenant <= $2 AND (tenant, number) >= ($3, $4) ORDER BY tenant, number LIMIT $5";
/// A lookup in the primary key for each month, since months have millions of rows.
const MONTHS: &str = "WITH RECURSIVE found AS (\
     SELECT max(month) AS month FROM domesday.usage_entries \
     UNION ALL SELECT (SELECT max(e.month) FROM domesday.usage_entries AS e \
     WHERE e.month < found.month) FROM found WHERE found.month IS NOT NULL) \
     SELECT month FROM found WHERE month IS NOT NULL ORDER BY month DESC LIMIT $1";
const REMOVE: &str = "DELETE FROM domesday.usage_entries AS e USING (\
     SELECT month, tenant, number FROM domesday.usage_entries WHERE month < $1 LIMIT $2) AS o \
     WHERE e.month = o.month AND e.tenant = o.tenant AND e.number = o.number";
/// The removal of row 0. No table has it, so its units count as entered.
const REMOVE_ROW_0: &str = "UPDATE domesday.usage SET entered = used \
     WHERE month < $1 AND used <> entered";

/// Reads a page of the ledger.
pub(super) async fn read_entries(pool: PgPool, query: UsageQuery) -> Result<UsagePage, StateError> {
    let mut page = PageBuilder::new(query.clone());
    let month = query.month;
    let last = query
        .tenant
        .as_ref()
        .map_or(LAST_TENANT, |tenant| tenant.as_str());
    let mut from = match (&query.after, &query.tenant) {
        (Some(after), _) => (after.tenant.as_str().to_owned(), to_signed(after.row)),
        (None, Some(tenant)) => (tenant.as_str().to_owned(), 0),
        (None, None) => (String::new(), 0),
    };
    loop {
        let rows = sqlx::query(PAGE)
            .bind(month.number())
            .bind(last)
            .bind(&from.0)
            .bind(from.1)
            .bind(ROWS)
            .fetch_all(&pool)
            .await
            .map_err(reading)?;
        for row in &rows {
            let tenant = tenant_id(row)?;
            let number: i64 = row.try_get("number").map_err(reading)?;
            let entries = read_row(row, number, month)?;
            if page.add(&tenant, count("usage_entries", number)?, entries) {
                return Ok(page.finish());
            }
            from = (tenant.as_str().to_owned(), number.saturating_add(1));
        }
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) < ROWS {
            return Ok(page.finish());
        }
    }
}

/// Returns the latest months that hold entries, latest first and at most `limit` of them.
pub(super) async fn read_months(pool: PgPool, limit: usize) -> Result<Vec<Month>, StateError> {
    let rows = sqlx::query(MONTHS)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&pool)
        .await
        .map_err(reading)?;
    let months = rows
        .iter()
        .map(|row| row.try_get("month").map(Month::from_number));
    let months: Result<Vec<_>, _> = months.collect();
    Ok(months.map_err(reading)?.into_iter().flatten().collect())
}

/// Reads the entries of a row. Those that a refund had no units left for are of zero units, and are
/// passed over.
fn read_row(
    row: &PgRow,
    number: i64,
    month: Month,
) -> Result<impl Iterator<Item = (UsageSource, i64)> + use<>, StateError> {
    let units: Vec<i64> = row.try_get("units").map_err(reading)?;
    let sources: Vec<UsageSource> = if number == 0 {
        vec![UsageSource::without_request(month)]
    } else {
        let ats: Vec<i64> = row.try_get("ats").map_err(reading)?;
        let kinds: Vec<i16> = row.try_get("kinds").map_err(reading)?;
        let ids: Vec<Uuid> = row.try_get("ids").map_err(reading)?;
        let rest = kinds.into_iter().zip(ids);
        let sources = ats
            .into_iter()
            .zip(rest)
            .map(|(at, (kind, id))| UsageSource {
                kind: u8::try_from(kind)
                    .ok()
                    .and_then(UsageKind::from_code)
                    .unwrap_or(UsageKind::Unattributed),
                id,
                at: UnixMillis(at),
            });
        sources.collect()
    };
    Ok(sources
        .into_iter()
        .zip(units)
        .filter(|(_, units)| *units != 0))
}

/// Removes entries of the months before this one, and row 0 with the last of them. A call removes
/// few rows, since the limit of an operation would take a long removal for a database that does not
/// answer.
pub(super) async fn remove_entries(
    pool: PgPool,
    before: Month,
) -> Result<RemovedEntries, StateError> {
    let step = sqlx::query(REMOVE)
        .bind(before.number())
        .bind(i64::from(REMOVED_AT_ONCE))
        .execute(&pool)
        .await
        .map_err(writing)?;
    let mut rows = step.rows_affected();
    let more = rows >= u64::from(REMOVED_AT_ONCE);
    if !more {
        let rest = sqlx::query(REMOVE_ROW_0)
            .bind(before.number())
            .execute(&pool)
            .await
            .map_err(writing)?;
        rows += rest.rows_affected();
    }
    Ok(RemovedEntries { rows, more })
}
