//! The task that makes the charges of this host, in numbered batches.
//!
//! One statement, which is one transaction, makes all charges that wait. Where its answer does not
//! arrive, nobody knows whether it ran, or will run once the database goes on. Its charges are
//! answered with the error. Before the next batch the charger reads the number from the database.
//! Either the batch was made, and its charges are given back, or it never will be. A refund that
//! could not be made is made later.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgDatabaseError, PgSeverity};
use sqlx::{PgConnection, Postgres};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::changes::{
    Change, ChangeEntry, PendingChange, Run, answer, bind_changes, fetch_outcomes, runs,
};
use super::connect::RESTED;
use super::directory::WatchedDatabase;
use super::driver::LONGEST;
use super::error::{DatabaseFailure, SharedError, reading, refuses_rows, storage, writing};
use crate::{ChargeOutcome, StateError};

/// The most charges of one statement.
const GROUP: usize = 4_096;
/// The time between two attempts to settle a batch or to give units back.
const SETTLE_INTERVAL: Duration = Duration::from_millis(500);
/// Time limit of the database to settle a batch. The charges that arrived meanwhile wait.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);

const NEW_HOST: &str = "SELECT gen_random_uuid()";
/// A host that was silent for longer makes its row anew.
const FORGET: &str = "DELETE FROM domesday.charge_batches WHERE made < now() - '30 days'::interval";
const CHARGE: &str = "SELECT granted, total FROM domesday.charge_batch_with_entries(\
     $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
const SETTLE: &str = "SELECT domesday.settle_batch($1, $2)";

/// Makes the charges of this host, one batch after the other.
pub(super) struct Charger {
    watched: Arc<WatchedDatabase>,
    /// This host's name among the batches.
    host: Uuid,
    /// The number of the last batch.
    number: i64,
    /// The changes of the last batch, while its outcome is unknown.
    unsettled: Option<Vec<Change>>,
    /// The entries, negative, of units to be given back, by tenant and month.
    owed: BTreeMap<(String, i32), Vec<ChangeEntry>>,
    /// The time at which the database refused some of them for their rows.
    refused_at: Option<Instant>,
    /// The connection of the last batch, and when that ended. The pool would ask it for a sign of
    /// life after each batch, at the cost of a round trip.
    kept: Option<(PoolConnection<Postgres>, Instant)>,
}

impl Charger {
    /// Names this host, and removes what hosts of long ago left.
    pub(super) async fn open(watched: Arc<WatchedDatabase>) -> Result<Charger, StateError> {
        let mut connection = watched.pool.acquire().await.map_err(reading)?;
        let host = sqlx::query_scalar(NEW_HOST);
        let host = host.fetch_one(&mut *connection).await.map_err(reading)?;
        if let Err(error) = sqlx::query(FORGET).execute(&mut *connection).await {
            tracing::warn!(%error, "rows of hosts that ended are not removed");
        }
        drop(connection);
        Ok(Charger {
            watched,
            host,
            number: 0,
            unsettled: None,
            owed: BTreeMap::new(),
            refused_at: None,
            kept: None,
        })
    }

    /// Makes the changes that arrive, until every sender is gone and none waits.
    pub(super) async fn run(mut self, mut waiting: mpsc::UnboundedReceiver<PendingChange>) {
        loop {
            let mut batch = Vec::new();
            let receiving = waiting.recv_many(&mut batch, GROUP);
            match self.longest_wait() {
                None => {
                    if receiving.await == 0 {
                        return;
                    }
                }
                Some(limit) => match timeout(limit, receiving).await {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(_) => self.kept = None,
                },
            }
            let retries = self.charge(runs(batch)).await;
            // Charges that did not fit together may fit in part.
            let one_by_one = retries.into_iter().map(|pending| Run {
                merged: pending.change.clone(),
                members: vec![pending],
            });
            self.charge(one_by_one.collect()).await;
        }
        let error = self.settle().await.err().map(tracing::field::display);
        if !self.is_settled() {
            let owed = self.owed.values().flatten();
            let owed: i64 = owed.map(|(_, units)| -units).sum();
            let unsettled = self.unsettled.map_or(0, |changes| changes.len());
            tracing::error!(
                error,
                owed,
                unsettled,
                "closed with units that were not given back"
            );
        }
    }

    /// Returns how long to wait for a charge before there is something else to do.
    fn longest_wait(&self) -> Option<Duration> {
        match self.is_settled() {
            true => self.kept.as_ref().map(|_| RESTED),
            false => Some(SETTLE_INTERVAL),
        }
    }

    fn is_settled(&self) -> bool {
        self.unsettled.is_none() && self.owed.is_empty()
    }

    /// Makes these changes and answers them; returns the members of runs that did not fit.
    async fn charge(&mut self, runs: Vec<Run>) -> Vec<PendingChange> {
        if let Err(error) = self.settle().await {
            self.refuse(runs, error, false);
            return Vec::new();
        }
        if runs.is_empty() {
            return Vec::new();
        }
        let changes: Vec<Change> = runs.iter().map(Run::change).collect();
        let outcomes = match self.send(changes).await {
            Ok(outcomes) => outcomes,
            Err(error) => {
                let is_unsettled = self.unsettled.is_some();
                self.refuse(runs, error, is_unsettled);
                return Vec::new();
            }
        };
        let mut retries = Vec::new();
        for (run, outcome) in runs.into_iter().zip(outcomes) {
            match outcome {
                ChargeOutcome::Exhausted { .. } if run.members.len() > 1 => {
                    retries.extend(run.members);
                }
                outcome => answer(run, outcome),
            }
        }
        retries
    }

    /// Answers runs that failed. Notes the refunds among them, unless their batch is unsettled.
    fn refuse(&mut self, runs: Vec<Run>, error: StateError, is_unsettled: bool) {
        let error = SharedError(Arc::new(error));
        for run in runs {
            if run.merged.units < 0 && !is_unsettled {
                self.owe(run.change());
            }
            for pending in run.members {
                let failure = match pending.change.units < 0 {
                    true => storage("written", DatabaseFailure::Owed(error.clone())),
                    false => storage("written", error.clone()),
                };
                let _ = pending.answer.send(Err(failure));
            }
        }
    }

    /// Notes the units of a refund that was not made, or of a charge that was.
    fn owe(&mut self, change: Change) {
        let owed = self.owed.entry((change.tenant, change.month)).or_default();
        let entries = change.entries.into_iter();
        owed.extend(entries.map(|(source, units)| (source, -units.saturating_abs())));
    }

    /// Learns the outcome of an unsettled batch, and gives back the units that are owed.
    async fn settle(&mut self) -> Result<(), StateError> {
        if let Some(charges) = self.unsettled.as_ref().map(Vec::len) {
            let outcomes = self.settled_outcomes().await?;
            tracing::info!(
                batch = self.number,
                charges,
                made = outcomes.is_some(),
                "charges of unknown outcome are settled"
            );
            for (at, change) in self
                .unsettled
                .take()
                .unwrap_or_default()
                .into_iter()
                .enumerate()
            {
                let is_made = outcomes
                    .as_ref()
                    .map(|granted| granted.get(at) == Some(&true));
                // A charge that was made was answered with an error, and a refund that was not is
                // still due.
                let is_due = match change.units > 0 {
                    true => is_made == Some(true),
                    false => is_made.is_none(),
                };
                if is_due {
                    self.owe(change);
                }
            }
        }
        let refused = |at: Instant| at.elapsed() < SETTLE_INTERVAL;
        if self.owed.is_empty() || self.refused_at.is_some_and(refused) {
            return Ok(());
        }
        let changes = self.owed.iter().map(|(of, owed)| refund(of, owed));
        let sent = self.send(changes.collect()).await;
        match sent {
            Err(error) if self.unsettled.is_none() && refuses_rows(&error) => {
                self.give_back_apart().await
            }
            sent => {
                if sent.is_ok() || self.unsettled.is_some() {
                    self.owed.clear();
                    self.refused_at = None;
                }
                sent.map(drop)
            }
        }
    }

    /// Gives back the units of each tenant's month alone, since the database refuses the rows of
    /// one. Those stay owed. They keep nobody else's charge waiting.
    async fn give_back_apart(&mut self) -> Result<(), StateError> {
        let is_known = self.refused_at.is_some();
        let owed: Vec<_> = self.owed.keys().cloned().collect();
        for of in owed {
            let Some(change) = self.owed.get(&of).map(|owed| refund(&of, owed)) else {
                continue;
            };
            let sent = self.send(vec![change]).await;
            match sent {
                Err(error) if self.unsettled.is_none() => {
                    if !refuses_rows(&error) {
                        return Err(error);
                    }
                    if !is_known {
                        let (tenant, month) = &of;
                        tracing::error!(%error, tenant, month, "units cannot be given back");
                    }
                }
                sent => {
                    self.owed.remove(&of);
                    sent?;
                }
            }
        }
        self.refused_at = (!self.owed.is_empty()).then(Instant::now);
        Ok(())
    }

    /// Returns which changes the unsettled batch made, or none where it was given up.
    async fn settled_outcomes(&mut self) -> Result<Option<Vec<bool>>, StateError> {
        self.watched.check_writable()?;
        let watched = Arc::clone(&self.watched);
        let _write = watched.units_write.begin();
        let mut connection = self.acquire().await?;
        let settle = async {
            let query = sqlx::query_scalar(SETTLE).bind(self.host).bind(self.number);
            query.fetch_one(&mut *connection).await.map_err(writing)
        };
        let silence = &self.watched.silence;
        let outcomes = silence.bound(SETTLE_TIMEOUT, "written", settle).await;
        if is_unknown(&outcomes) {
            connection.close_on_drop();
        }
        self.watched.record_units_write(outcomes)
    }

    /// Makes changes as one batch. After an error it is unsettled if it may have been made.
    async fn send(&mut self, changes: Vec<Change>) -> Result<Vec<ChargeOutcome>, StateError> {
        self.watched.check_writable()?;
        // It ends after its outcome is recorded, so that no moment between looks sound.
        let watched = Arc::clone(&self.watched);
        let _write = watched.units_write.begin();
        let mut connection = self.acquire().await?;
        self.number += 1;
        let batch = make_batch(&mut connection, self.host, self.number, &changes);
        let outcome = self.watched.silence.bound(LONGEST, "written", batch).await;
        if is_unknown(&outcome) {
            connection.close_on_drop();
            self.unsettled = Some(changes);
        } else if outcome.is_ok() {
            self.kept = Some((connection, Instant::now()));
        }
        self.watched.record_units_write(outcome)
    }

    /// Takes the connection of the last batch, or one of the pool where that has rested.
    async fn acquire(&mut self) -> Result<PoolConnection<Postgres>, StateError> {
        if let Some((connection, at)) = self.kept.take()
            && at.elapsed() < RESTED
        {
            return Ok(connection);
        }
        let connection = self.watched.pool.acquire().await.map_err(writing);
        self.watched.record_units_write(connection)
    }
}

/// Returns the change that gives back the units of a tenant's month.
fn refund((tenant, month): &(String, i32), owed: &[ChangeEntry]) -> Change {
    Change::refund_of(tenant.clone(), *month, owed.to_vec())
}

async fn make_batch(
    connection: &mut PgConnection,
    host: Uuid,
    number: i64,
    changes: &[Change],
) -> Result<Vec<ChargeOutcome>, StateError> {
    let query = sqlx::query(CHARGE).bind(host).bind(number);
    fetch_outcomes(connection, bind_changes(query, changes), changes).await
}

/// Reports whether a statement failed and may take effect. It does not where the database itself
/// refused it. An error that ends the session may have come after the commit.
fn is_unknown<T>(outcome: &Result<T, StateError>) -> bool {
    let Err(error) = outcome else {
        return false;
    };
    let StateError::Storage { source, .. } = error else {
        return true;
    };
    let Some(sqlx::Error::Database(error)) = source.downcast_ref::<sqlx::Error>() else {
        return true;
    };
    let error = error.try_downcast_ref::<PgDatabaseError>();
    error.is_none_or(|error| error.severity() != PgSeverity::Error)
}
