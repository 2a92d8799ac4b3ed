//! The units of the state: a charge or a refund waits for the next batch of [`charger`].
//!
//! [`charger`]: super::charger

use std::sync::Arc;

use tokio::sync::oneshot;

use super::PostgresState;
use super::changes::{Change, PendingChange, read_used_units};
use super::error::{DatabaseFailure, reading, storage};
use super::usage_entries::{read_entries, remove_entries};
use crate::{
    Charge, ChargeOutcome, Month, RemovedEntries, Reply, TenantId, Usage, UsagePage, UsageQuery,
    UsageSource,
};

impl PostgresState {
    fn change(&self, change: Change) -> Reply<ChargeOutcome> {
        let (answer, reply) = oneshot::channel();
        if let Some(charges) = &self.charges {
            // If nobody takes it, the reply reports that nobody answers.
            let _ = charges.send(PendingChange { change, answer });
        }
        Box::pin(async move {
            match reply.await {
                Ok(answer) => answer,
                Err(_) => Err(storage("written", DatabaseFailure::Closed)),
            }
        })
    }
}

impl Usage for PostgresState {
    fn charge(&self, charge: Charge) -> Reply<ChargeOutcome> {
        if charge.units == 0 {
            let used = self.used_units(charge.tenant, charge.month);
            return Box::pin(async move { Ok(ChargeOutcome::Granted { used: used.await? }) });
        }
        let units = u64::from(charge.units);
        self.change(Change::charge(
            &charge.tenant,
            charge.month,
            units,
            charge.allowance,
            charge.source,
        ))
    }

    fn refund(&self, tenant: TenantId, month: Month, units: u32, source: UsageSource) -> Reply<()> {
        if units == 0 {
            return Box::pin(async { Ok(()) });
        }
        let refund = self.change(Change::refund(&tenant, month, u64::from(units), source));
        Box::pin(async move { refund.await.map(drop) })
    }

    fn usage_months(&self, limit: usize) -> Reply<Vec<Month>> {
        self.read_jobs(&self.job_pools.bulk, move |pool| {
            super::usage_entries::read_months(pool, limit)
        })
    }

    fn used_units(&self, tenant: TenantId, at: Month) -> Reply<u64> {
        let watched = Arc::clone(&self.watched);
        self.driver.begin(async move {
            watched.check_reachable("read")?;
            let read = async {
                let mut connection = watched.pool.acquire().await.map_err(reading)?;
                read_used_units(&mut connection, &tenant, at).await
            };
            watched.record_outcome(read.await)
        })
    }

    fn usage_entries(&self, query: UsageQuery) -> Reply<UsagePage> {
        self.read_jobs(&self.job_pools.bulk, move |pool| read_entries(pool, query))
    }

    fn remove_usage_entries(&self, before: Month) -> Reply<RemovedEntries> {
        self.write_jobs(&self.job_pools.bulk, move |pool| {
            remove_entries(pool, before)
        })
    }
}
