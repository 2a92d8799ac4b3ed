//! Changes of the count of a tenant's month, and the runs of them that are made as one.

use std::collections::BTreeMap;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};
use tokio::sync::oneshot;

use super::error::{reading, writing};
use super::records::to_signed;
use crate::{ChargeOutcome, Month, StateError, TenantId, UsageSource};

const USED: &str = "SELECT used FROM domesday.used_units WHERE tenant = $1 AND month = $2";
const CHARGE: &str = "SELECT granted, total FROM \
     domesday.charge_with_entries($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// Units to be charged or, negative, given back.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) tenant: String,
    pub(super) month: i32,
    pub(super) units: i64,
    /// The most that may be used before it; of no meaning where units are given back.
    pub(super) max_used_before: i64,
    /// Its entries in the ledger, which add up to the units.
    pub(super) entries: Vec<ChangeEntry>,
}

/// An entry of the ledger: its source and units.
pub(super) type ChangeEntry = (UsageSource, i64);

impl Change {
    pub(super) fn charge(
        tenant: &TenantId,
        month: Month,
        units: u64,
        allowance: u64,
        source: UsageSource,
    ) -> Change {
        let units = to_signed(units);
        Change {
            tenant: tenant.as_str().to_owned(),
            month: month.number(),
            units,
            // Negative where it fits into no month.
            max_used_before: to_signed(allowance).saturating_sub(units),
            entries: vec![(source, units)],
        }
    }

    pub(super) fn refund(
        tenant: &TenantId,
        month: Month,
        units: u64,
        source: UsageSource,
    ) -> Change {
        let entries = vec![(source, -to_signed(units))];
        Change::refund_of(tenant.as_str().to_owned(), month.number(), entries)
    }

    /// Returns the change that gives back the units of these entries, which are negative.
    pub(super) fn refund_of(tenant: String, month: i32, entries: Vec<ChangeEntry>) -> Change {
        let units = entries.iter().map(|(_, units)| *units);
        Change {
            tenant,
            month,
            units: units.fold(0, i64::saturating_add),
            max_used_before: 0,
            entries,
        }
    }

    /// Merges this change and `next`, if one statement can stand for both. The merged change is
    /// granted exactly where both are. Its entries are those of the members of its run.
    fn merge(&self, next: &Change) -> Option<Change> {
        let same = self.tenant == next.tenant && self.month == next.month;
        if !same || (self.units < 0) != (next.units < 0) {
            return None;
        }
        Some(Change {
            units: self.units.checked_add(next.units)?,
            max_used_before: self
                .max_used_before
                .min(next.max_used_before.saturating_sub(self.units)),
            tenant: self.tenant.clone(),
            month: self.month,
            entries: Vec::new(),
        })
    }
}

/// A change that somebody waits for.
pub(super) struct PendingChange {
    pub(super) change: Change,
    pub(super) answer: oneshot::Sender<Result<ChargeOutcome, StateError>>,
}

/// Makes changes on a connection, in order; sorted by tenant and month, or they could deadlock.
pub(super) async fn apply_changes(
    connection: &mut PgConnection,
    changes: &[Change],
) -> Result<Vec<ChargeOutcome>, StateError> {
    let query = bind_changes(sqlx::query(CHARGE), changes);
    fetch_outcomes(connection, query, changes).await
}

/// Binds changes as the next nine arguments of a query.
pub(super) fn bind_changes<'q>(
    query: Query<'q, Postgres, PgArguments>,
    changes: &'q [Change],
) -> Query<'q, Postgres, PgArguments> {
    let column = |of: fn(&Change) -> i64| changes.iter().map(of).collect::<Vec<_>>();
    let tenants: Vec<_> = changes.iter().map(|it| it.tenant.as_str()).collect();
    let months: Vec<_> = changes.iter().map(|it| it.month).collect();
    let counts = changes.iter().map(|it| i32::try_from(it.entries.len()));
    let counts: Vec<_> = counts.map(|count| count.unwrap_or(i32::MAX)).collect();
    let entries = || changes.iter().flat_map(|it| &it.entries);
    let sources = || entries().map(|(source, _)| source);
    query
        .bind(tenants)
        .bind(months)
        .bind(column(|it| it.units))
        .bind(column(|it| it.max_used_before))
        .bind(counts)
        .bind(sources().map(|it| it.at.0).collect::<Vec<_>>())
        .bind(
            sources()
                .map(|it| i16::from(it.kind.code()))
                .collect::<Vec<_>>(),
        )
        .bind(sources().map(|it| it.id).collect::<Vec<_>>())
        .bind(entries().map(|(_, units)| *units).collect::<Vec<_>>())
}

/// Runs a query of these changes, and returns the outcome of each.
pub(super) async fn fetch_outcomes(
    connection: &mut PgConnection,
    query: Query<'_, Postgres, PgArguments>,
    changes: &[Change],
) -> Result<Vec<ChargeOutcome>, StateError> {
    let rows = query.fetch_all(connection).await.map_err(writing)?;
    let outcomes = rows.iter().zip(changes).map(|(row, change)| {
        let total: i64 = row.try_get("total").map_err(reading)?;
        let used = clamp_used(&change.tenant, change.month, total);
        Ok(match row.try_get("granted").map_err(reading)? {
            true => ChargeOutcome::Granted { used },
            false => ChargeOutcome::Exhausted { used },
        })
    });
    outcomes.collect()
}

/// Returns the units used in a month.
pub(super) async fn read_used_units(
    connection: &mut PgConnection,
    tenant: &TenantId,
    at: Month,
) -> Result<u64, StateError> {
    let used: Option<i64> = sqlx::query_scalar(USED)
        .bind(tenant.as_str())
        .bind(at.number())
        .fetch_optional(connection)
        .await
        .map_err(reading)?;
    Ok(clamp_used(tenant.as_str(), at.number(), used.unwrap_or(0)))
}

/// Converts the units used in a month, and clamps them at zero.
///
/// They are below zero after a correction by hand that left `usage.used` below the free units of
/// its shards. The number only informs. An error would refuse the changes of other tenants in the
/// same statement, which may be committed.
fn clamp_used(tenant: &str, month: i32, used: i64) -> u64 {
    u64::try_from(used).unwrap_or_else(|_| {
        tracing::warn!(
            tenant,
            month,
            used,
            "the units used are below zero: usage.used is less than the free units of the shards"
        );
        0
    })
}

/// Several changes of a tenant's month that are made as one.
pub(super) struct Run {
    pub(super) merged: Change,
    pub(super) members: Vec<PendingChange>,
}

impl Run {
    /// Returns the change that stands for the members, with their entries.
    pub(super) fn change(&self) -> Change {
        let entries = self.members.iter().flat_map(|it| &it.change.entries);
        Change {
            entries: entries.copied().collect(),
            ..self.merged.clone()
        }
    }
}

/// Groups a batch into runs by tenant and month, and keeps the order of arrival within a month.
pub(super) fn runs(batch: Vec<PendingChange>) -> Vec<Run> {
    let mut by_row: BTreeMap<(String, i32), Vec<Run>> = BTreeMap::new();
    for pending in batch {
        let row = (pending.change.tenant.clone(), pending.change.month);
        let runs = by_row.entry(row).or_default();
        if let Some(last) = runs.last_mut()
            && let Some(merged) = last.merged.merge(&pending.change)
        {
            last.merged = merged;
            last.members.push(pending);
        } else {
            runs.push(Run {
                merged: pending.change.clone(),
                members: vec![pending],
            });
        }
    }
    by_row.into_values().flatten().collect()
}

/// Replies to each member with the units used up to and including its own.
pub(super) fn answer(run: Run, total: ChargeOutcome) {
    let mut after = 0_u64;
    for pending in run.members.into_iter().rev() {
        let outcome = match total {
            ChargeOutcome::Granted { used } => ChargeOutcome::Granted {
                used: used.saturating_sub(after),
            },
            exhausted @ ChargeOutcome::Exhausted { .. } => exhausted,
        };
        after += u64::try_from(pending.change.units).unwrap_or(0);
        let _ = pending.answer.send(Ok(outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::capture_log;

    const MAY: Month = Month {
        year: 2031,
        month: 5,
    };

    fn change(tenant: &str, month: i32, units: i64, max_used_before: i64) -> Change {
        Change {
            tenant: tenant.to_owned(),
            month,
            units,
            max_used_before,
            entries: vec![(UsageSource::without_request(MAY), units)],
        }
    }

    /// Each change is its units and the most that may be used before it.
    #[test]
    fn changes_of_a_month_are_merged_where_one_statement_can_stand_for_both() {
        for (first, next, expected) in [
            ([3, 7], [2, 8], Some([5, 5])),
            ([3, 4], [2, 100], Some([5, 4])),
            ([0, 5], [2, 5], Some([2, 5])),
            ([2, 5], [0, 5], Some([2, 3])),
            ([-3, 0], [-2, 0], Some([-5, 0])),
            ([3, 7], [-2, 0], None),
            ([-3, 0], [2, 7], None),
            ([i64::MAX, 0], [1, 0], None),
        ] {
            let next = change("acme", 7, next[0], next[1]);
            let merged = change("acme", 7, first[0], first[1]).merge(&next);
            let merged = merged.map(|it| [it.units, it.max_used_before]);
            assert_eq!(merged, expected, "{first:?} {next:?}");
        }
        let first = change("acme", 7, 3, 7);
        for other in [change("other", 7, 2, 8), change("acme", 8, 2, 8)] {
            assert!(first.merge(&other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn used_units_below_zero_are_none_and_the_log_says_so() {
        for (used, expected, lines) in [(7, 7, 0), (0, 0, 0), (-1, 0, 1)] {
            let clamped = || assert_eq!(clamp_used("acme", 7, used), expected);
            assert_eq!(capture_log(clamped).len(), lines, "{used}");
        }
    }

    #[test]
    fn each_charge_of_a_run_is_answered_with_the_units_up_to_its_own() {
        let mut members = Vec::new();
        let mut replies = Vec::new();
        for units in [3, 2, 4] {
            let (answer, reply) = oneshot::channel();
            let change = change("acme", 7, units, 100);
            members.push(PendingChange { change, answer });
            replies.push(reply);
        }
        let merged = change("acme", 7, 9, 100);
        answer(Run { merged, members }, ChargeOutcome::Granted { used: 20 });
        for (mut reply, used) in replies.into_iter().zip([14, 16, 20]) {
            let outcome = reply.try_recv().unwrap().unwrap();
            assert_eq!(outcome, ChargeOutcome::Granted { used });
        }
    }
}
