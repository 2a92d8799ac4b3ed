//! The entries of a tenant's month, read up to a limit.

use crate::number::whole;
use domesday_state::{Month, State, StateError, TenantId, UsageEntry, UsagePosition, UsageQuery};

/// Entries that are read at once.
const PAGE_SIZE: usize = 10_000;
/// The most entries of a sum or a file. An operator's export has no bound.
pub const MOST_ENTRIES: usize = 500_000;

/// The entries of a month that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthEntries {
    /// Their number.
    pub count: usize,
    /// False if the month has more.
    pub is_whole: bool,
}

/// Returns what to do where a month has more than [`MOST_ENTRIES`].
pub fn advice(month: Month) -> String {
    format!(
        "The console reads {} entries of a month at most, and {month} has more. An operator's \
         `domesday usage export --month {month}` writes all of them.",
        whole(MOST_ENTRIES)
    )
}

/// Reads the entries of a month, in pages, up to `most`.
///
/// # Errors
/// The state cannot be read.
pub async fn read_month(
    state: &dyn State,
    tenant: &TenantId,
    month: Month,
    most: usize,
    mut each: impl FnMut(&[UsageEntry]),
) -> Result<MonthEntries, StateError> {
    let query = |after: Option<UsagePosition>, limit: usize| UsageQuery {
        month,
        tenant: Some(tenant.clone()),
        after,
        limit,
    };
    let (mut count, mut after) = (0, None);
    loop {
        let page_size = PAGE_SIZE.min(most);
        let page = state.usage_entries(query(after, page_size)).await?;
        each(&page.entries);
        count += page.entries.len();
        // A full page names its last entry, whether another follows or not.
        let is_whole = match page.next {
            None => true,
            Some(next) if count < most => {
                after = Some(next);
                continue;
            }
            next => {
                let rest = state.usage_entries(query(next, 1)).await?;
                rest.entries.is_empty()
            }
        };
        return Ok(MonthEntries { count, is_whole });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_state::{Charge, EmbeddedState, UnixMillis, Usage as _, UsageKind, UsageSource};

    #[tokio::test]
    async fn a_month_that_is_not_read_to_its_end_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        let state = EmbeddedState::open(&folder.path().join("state.redb")).unwrap();
        let tenant: TenantId = "lender".parse().unwrap();
        let at = UnixMillis(1_795_000_000_000);
        let month = Month::of(at);
        for _ in 0..3 {
            let charge = Charge {
                tenant: tenant.clone(),
                month,
                units: 1,
                allowance: 10,
                source: UsageSource {
                    kind: UsageKind::Value,
                    id: Default::default(),
                    at,
                },
            };
            state.charge(charge).await.unwrap();
        }
        for (most, count, is_whole) in [(2, 2, false), (3, 3, true), (4, 3, true)] {
            let mut seen = 0;
            let each = |page: &[UsageEntry]| seen += page.len();
            let read = read_month(&state, &tenant, month, most, each).await;
            assert_eq!(read.unwrap(), MonthEntries { count, is_whole });
            assert_eq!(seen, count);
        }
        let text = advice("2026-11".parse().unwrap());
        assert!(
            text.contains("500,000") && text.contains("--month 2026-11"),
            "{text}"
        );
    }
}
