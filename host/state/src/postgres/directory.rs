//! Tenants, keys and switches in memory, and how they are kept fresh.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgListener;
use sqlx::{Connection, PgPool, Postgres, Row};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, timeout};

use super::connect::REQUEST_CONNECTIONS;
use super::error::{DatabaseFailure, cannot_write, locked_or_writing, reading, storage, writing};
use super::records;
use crate::directory::Directory;
use crate::switches::PromotedReleases;
use crate::{Access, CursorSecrets, ReleaseKind, StateError, UnixMillis};

/// The channel on which hosts tell each other of changes.
pub(super) const CHANNEL: &str = "domesday";
/// The time between two polls of the database, with or without a notification.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Time limit of the database. After two late responses in a row it counts as unreachable.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1_400);
/// Time limit of a change that waits for the locks of others.
const SET_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '1s'";
/// Longest time for which keys are believed while the database is known to be out of reach.
const MAX_AGE_UNREACHABLE: Duration = Duration::from_secs(60);
/// Longest time for which keys are believed after a gap in the polling, as when the host slept.
const MAX_AGE_UNCHECKED: Duration = Duration::from_secs(5);

/// The reason why changes cannot be made durable.
#[derive(Debug, Clone)]
enum Degraded {
    /// The database is out of reach.
    Unreachable(String),
    /// It answers, and does not write.
    Unwritable(String),
}

impl Degraded {
    fn text(&self) -> &String {
        match self {
            Degraded::Unreachable(text) | Degraded::Unwritable(text) => text,
        }
    }
}

/// The data last read from the database.
struct View {
    directory: Directory,
    jobs_paused: bool,
    promoted: PromotedReleases,
    cursors: CursorSecrets,
    /// The last change in it.
    version: i64,
    /// Time at which it was certainly so.
    fresh: Instant,
    degradation: Option<Degraded>,
}

/// The database, and its facts in memory.
pub(super) struct WatchedDatabase {
    pub(super) pool: PgPool,
    view: RwLock<View>,
    /// Held from reading or changing the database until the result is applied, so that no older
    /// state replaces a newer one.
    order: Mutex<()>,
    /// Signals that there may be something to read.
    news: Notify,
}

impl WatchedDatabase {
    pub(super) fn new(pool: PgPool) -> WatchedDatabase {
        let view = View {
            directory: Directory::default(),
            jobs_paused: false,
            promoted: PromotedReleases::default(),
            cursors: CursorSecrets::default(),
            version: -1,
            fresh: Instant::now(),
            degradation: None,
        };
        WatchedDatabase {
            pool,
            view: RwLock::new(view),
            order: Mutex::default(),
            news: Notify::new(),
        }
    }

    fn with_view<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        change(&mut self.view.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn authenticate(
        &self,
        presented: &str,
        now: UnixMillis,
    ) -> Result<Access, StateError> {
        self.with_view(|view| {
            let max_age = match view.degradation {
                Some(_) => MAX_AGE_UNREACHABLE,
                None => MAX_AGE_UNCHECKED,
            };
            if view.fresh.elapsed() > max_age {
                return Err(storage("read", DatabaseFailure::Stale));
            }
            Ok(view.directory.authenticate(presented, now))
        })
    }

    pub(super) fn jobs_paused(&self) -> bool {
        self.with_view(|view| view.jobs_paused)
    }

    pub(super) fn promoted(&self, what: ReleaseKind) -> Option<String> {
        self.with_view(|view| view.promoted.of(what))
    }

    pub(super) fn cursor_secrets(&self) -> CursorSecrets {
        self.with_view(|view| view.cursors)
    }

    pub(super) fn degradation(&self) -> Option<String> {
        self.with_view(|view| match &view.degradation {
            Some(degraded) => Some(degraded.text().clone()),
            // Who looks at the database has stopped looking.
            None => (view.fresh.elapsed() > MAX_AGE_UNCHECKED)
                .then(|| DatabaseFailure::Stale.to_string()),
        })
    }

    /// Refuses at once an operation that could only wait in vain.
    pub(super) fn check_reachable(&self, doing: &'static str) -> Result<(), StateError> {
        self.with_view(|view| match &view.degradation {
            Some(Degraded::Unreachable(text)) => {
                Err(storage(doing, DatabaseFailure::Unavailable(text.clone())))
            }
            _ => Ok(()),
        })
    }

    /// Records how an operation went.
    pub(super) fn record_outcome<T>(&self, answer: Result<T, StateError>) -> Result<T, StateError> {
        if let Err(error) = &answer {
            if cannot_write(error) {
                let degraded = Degraded::Unwritable(error.to_string());
                self.change(|view| view.degradation = Some(degraded));
            }
            if matches!(error, StateError::Storage { .. }) {
                self.news.notify_one();
            }
        }
        answer
    }

    /// Makes one change to tenants, keys or switches, and sees it before it answers.
    pub(super) async fn alter<T>(
        &self,
        change: impl AsyncFnOnce(&mut sqlx::PgConnection, i64) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        self.check_reachable("written")?;
        let answer = async {
            let _order = self.order.lock().await;
            let mut transaction = self.pool.begin().await.map_err(writing)?;
            // Another holder of a lock must not hang a command. Nor may it keep this host from
            // reading the database, which waits for the same order.
            sqlx::query(SET_LOCK_TIMEOUT)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
            let version = sqlx::query_scalar(
                "UPDATE domesday.service SET version = version + 1 RETURNING version",
            )
            .fetch_one(&mut *transaction)
            .await
            .map_err(locked_or_writing)?;
            let output = change(&mut transaction, version).await?;
            sqlx::query("SELECT pg_notify($1, '')")
                .bind(CHANNEL)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
            transaction.commit().await.map_err(writing)?;
            self.read().await?;
            Ok(output)
        };
        self.record_outcome(answer.await)
    }

    /// Reads what changed since the last time.
    pub(super) async fn catch_up(&self) -> Result<(), StateError> {
        let _order = self.order.lock().await;
        self.read().await
    }

    /// Reads what changed since the last time. The caller holds the order.
    async fn read(&self) -> Result<(), StateError> {
        let read_at = Instant::now();
        let known = self.with_view(|view| view.version);
        let mut connection = self.healthy_connection().await?;
        let service = sqlx::query("SELECT * FROM domesday.service")
            .fetch_one(&mut *connection)
            .await
            .map_err(reading)?;
        let version: i64 = service.try_get("version").map_err(reading)?;
        if version == known {
            self.change(|view| view.fresh = read_at);
            return Ok(());
        }
        // A database that was put back to an earlier day is read anew.
        let since = if version < known { -1 } else { known };
        // A change during this read has a higher number than `version`, and is read again.
        let tenants = sqlx::query(
            "SELECT id, plan::text AS plan, enabled, created_at FROM domesday.tenants \
             WHERE version > $1",
        )
        .bind(since)
        .fetch_all(&mut *connection)
        .await
        .map_err(reading)?;
        let keys = sqlx::query("SELECT * FROM domesday.keys WHERE version > $1")
            .bind(since)
            .fetch_all(&mut *connection)
            .await
            .map_err(reading)?;
        let tenants = tenants.iter().map(records::tenant);
        let tenants = tenants.collect::<Result<Vec<_>, _>>()?;
        let keys = keys.iter().map(records::key);
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let jobs_paused = service.try_get("jobs_paused").map_err(reading)?;
        let promoted = records::promoted(&service)?;
        let cursors = records::cursor_secrets(&service)?;
        self.change(|view| {
            if since < 0 {
                view.directory = Directory::default();
            }
            for tenant in tenants {
                view.directory.put_tenant(tenant);
            }
            for (key, digest) in &keys {
                view.directory.put_key(key, *digest);
            }
            view.jobs_paused = jobs_paused;
            view.promoted = promoted;
            view.cursors = cursors;
            view.version = version;
            view.fresh = read_at;
        });
        Ok(())
    }

    /// Acquires a connection that works. When the server ended one idle connection, it mostly ended
    /// the others too, so these are skipped. A new connection shows whether the database is out of
    /// reach.
    async fn healthy_connection(&self) -> Result<PoolConnection<Postgres>, StateError> {
        for _ in 0..REQUEST_CONNECTIONS {
            let mut connection = self.pool.acquire().await.map_err(reading)?;
            if connection.ping().await.is_ok() {
                return Ok(connection);
            }
        }
        self.pool.acquire().await.map_err(reading)
    }

    async fn catch_up_in_time(&self) -> Result<(), StateError> {
        match timeout(ANSWER_TIMEOUT, self.catch_up()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(storage("read", DatabaseFailure::Silent)),
        }
    }

    /// Checks the database, and records in the view how it is.
    async fn check_database(&self) {
        let before = self.with_view(|view| view.degradation.clone());
        let mut outcome = self.catch_up_in_time().await;
        // One failure may be one connection or one slow moment. No request should be refused for
        // that.
        if let (Err(error), None) = (&outcome, &before) {
            tracing::info!(%error, "the state is looked at again");
            outcome = self.catch_up_in_time().await;
        }
        // An operation may have recorded a failure meanwhile.
        let before = self.with_view(|view| view.degradation.clone()).or(before);
        let after = match (outcome, &before) {
            (Err(error), _) => Some(Degraded::Unreachable(error.to_string())),
            // A host that could not write may be able to by now. Only an attempt shows it.
            (Ok(()), Some(_)) => match timeout(ANSWER_TIMEOUT, self.probe()).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(Degraded::Unwritable(error.to_string())),
                Err(_) => Some(Degraded::Unwritable(DatabaseFailure::Silent.to_string())),
            },
            (Ok(()), None) => return,
        };
        match (&before, &after) {
            (None, Some(degraded)) => tracing::warn!(reason = degraded.text(), "state degraded"),
            (Some(_), None) => tracing::info!("state usable again"),
            _ => {}
        }
        self.change(|view| view.degradation = after);
    }

    async fn probe(&self) -> Result<(), StateError> {
        sqlx::query("UPDATE domesday.probe SET probed = probed + 1")
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(writing)
    }
}

/// Checks the database twice a second, and whenever there is news.
pub(super) async fn poll(watched: Arc<WatchedDatabase>) {
    loop {
        // A failing source of notifications must not make this spin.
        let _ = timeout(POLL_INTERVAL, watched.news.notified()).await;
        watched.check_database().await;
        if watched.with_view(|view| view.degradation.is_some()) {
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// Listens for other hosts' changes; [`poll`] finds those that it misses.
pub(super) async fn listen(watched: Arc<WatchedDatabase>) {
    loop {
        if let Ok(mut listener) = PgListener::connect_with(&watched.pool).await
            && listener.listen(CHANNEL).await.is_ok()
        {
            while listener.recv().await.is_ok() {
                watched.news.notify_one();
            }
        }
        sleep(POLL_INTERVAL).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::connect::connect;
    use crate::test_support::{block_on, logged};
    use sqlx::postgres::PgPoolOptions;

    const REASON: &str = "on purpose";

    /// Makes the view of a database that nobody can reach.
    fn out_of_reach() -> WatchedDatabase {
        let options = PgPoolOptions::new().acquire_timeout(Duration::from_millis(10));
        let pool = options.connect_lazy("postgres://127.0.0.1:1/none");
        WatchedDatabase::new(pool.unwrap())
    }

    #[track_caller]
    fn assert_holds(messages: &[String], expected: &str) {
        let is_there = messages.iter().any(|message| message == expected);
        assert!(is_there, "{expected}: {messages:?}");
    }

    /// Keys are believed for five seconds, and for a minute where the database is degraded.
    #[test]
    fn keys_that_were_read_too_long_ago_open_nothing() {
        let stale = DatabaseFailure::Stale.to_string();
        let cases = [
            (4, false, true, None),
            (6, false, false, Some(stale.as_str())),
            (6, true, true, Some(REASON)),
            (61, true, false, Some(REASON)),
        ];
        block_on(async {
            let watched = out_of_reach();
            for (age, is_degraded, is_believed, reason) in cases {
                watched.change(|view| {
                    let degraded = Degraded::Unreachable(REASON.to_owned());
                    view.degradation = is_degraded.then_some(degraded);
                    view.fresh = Instant::now() - Duration::from_secs(age);
                });
                let access = watched.authenticate("", UnixMillis(0));
                assert_eq!(access.is_ok(), is_believed, "{age} {is_degraded}");
                assert_eq!(watched.degradation().as_deref(), reason);
            }
        });
    }

    /// Only a write that succeeds ends it.
    #[test]
    fn the_log_names_the_beginning_and_the_end_of_a_degradation() {
        let messages = logged(|| {
            block_on(async {
                let watched = out_of_reach();
                watched.check_database().await;
                assert!(watched.check_reachable("read").is_err());
            });
        });
        assert_holds(&messages, "state degraded");

        let address = domesday_test_postgres::shared().database();
        let messages = logged(|| {
            block_on(async {
                let watched = WatchedDatabase::new(connect(&address).await.unwrap());
                let check_degraded = async || {
                    let degraded = Degraded::Unwritable(REASON.to_owned());
                    watched.change(|view| view.degradation = Some(degraded));
                    watched.check_database().await;
                    watched.degradation()
                };
                assert_eq!(check_degraded().await, None);
                let dropped = sqlx::query("DROP TABLE domesday.probe").execute(&watched.pool);
                dropped.await.unwrap();
                let reason = check_degraded().await.unwrap();
                assert!(reason.contains("domesday.probe"), "{reason}");
            });
        });
        assert_holds(&messages, "state usable again");
    }
}
