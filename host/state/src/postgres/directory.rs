//! Tenants, keys and switches in memory, and how they are kept fresh.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgListener;
use sqlx::{Connection, PgPool, Postgres, Row};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, timeout};

use super::connect::CONNECTIONS;
use super::error::{Failed, cannot_write, locked_or_writing, reading, storage, writing};
use super::records;
use crate::directory::Directory;
use crate::switches::PromotedReleases;
use crate::{Access, CursorSecrets, ReleaseKind, StateError, UnixMillis};

/// The channel on which hosts tell each other of changes.
pub(super) const CHANNEL: &str = "domesday";
/// How often the database is asked, whether or not it told of a change.
const EVERY: Duration = Duration::from_millis(500);
/// How long it may take to answer, twice in a row, before it counts as unreachable.
const SILENT: Duration = Duration::from_millis(1_400);
/// How long a change waits for others that hold what it changes.
const LOCKED: &str = "SET LOCAL lock_timeout = '1s'";
/// How long keys are believed while the database is known to be out of reach.
const BELIEVED: Duration = Duration::from_secs(60);
/// How long they are believed by a host that does not know why it has not asked: it slept.
const ASLEEP: Duration = Duration::from_secs(5);

/// Why changes cannot be made durable.
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

/// What was read from the database.
struct View {
    directory: Directory,
    jobs_paused: bool,
    promoted: PromotedReleases,
    cursors: CursorSecrets,
    /// The last change in it.
    version: i64,
    /// When it was certainly so.
    fresh: Instant,
    trouble: Option<Degraded>,
}

/// The database, and what is known of it.
pub(super) struct WatchedDatabase {
    pub(super) pool: PgPool,
    view: RwLock<View>,
    /// Held from reading or changing the database to applying what was found, so that nothing older
    /// is applied over something newer.
    order: Mutex<()>,
    /// Somebody learnt that there may be something to read.
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
            trouble: None,
        };
        WatchedDatabase {
            pool,
            view: RwLock::new(view),
            order: Mutex::default(),
            news: Notify::new(),
        }
    }

    fn see<T>(&self, see: impl FnOnce(&View) -> T) -> T {
        see(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        change(&mut self.view.write().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn authenticate(
        &self,
        presented: &str,
        now: UnixMillis,
    ) -> Result<Access, StateError> {
        self.see(|view| {
            let believed = match view.trouble {
                Some(_) => BELIEVED,
                None => ASLEEP,
            };
            if view.fresh.elapsed() > believed {
                return Err(storage("read", Failed::Stale));
            }
            Ok(view.directory.authenticate(presented, now))
        })
    }

    pub(super) fn jobs_paused(&self) -> bool {
        self.see(|view| view.jobs_paused)
    }

    pub(super) fn promoted(&self, what: ReleaseKind) -> Option<String> {
        self.see(|view| view.promoted.of(what))
    }

    pub(super) fn cursor_secrets(&self) -> CursorSecrets {
        self.see(|view| view.cursors)
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.see(|view| match &view.trouble {
            Some(trouble) => Some(trouble.text().clone()),
            // Who looks at the database has stopped looking.
            None => (view.fresh.elapsed() > ASLEEP).then(|| Failed::Stale.to_string()),
        })
    }

    /// Refuses at once what could only wait in vain.
    pub(super) fn usable(&self, doing: &'static str) -> Result<(), StateError> {
        self.see(|view| match &view.trouble {
            Some(Degraded::Unreachable(text)) => {
                Err(storage(doing, Failed::Troubled(text.clone())))
            }
            _ => Ok(()),
        })
    }

    /// Takes note of how an operation went.
    pub(super) fn learn<T>(&self, answer: Result<T, StateError>) -> Result<T, StateError> {
        if let Err(error) = &answer {
            if cannot_write(error) {
                let trouble = Degraded::Unwritable(error.to_string());
                self.change(|view| view.trouble = Some(trouble));
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
        self.usable("written")?;
        let answer = async {
            let _order = self.order.lock().await;
            let mut transaction = self.pool.begin().await.map_err(writing)?;
            // Whoever holds a lock for long must neither hang a command nor, by way of the order,
            // keep this host from looking at the database.
            sqlx::query(LOCKED)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
            let version = sqlx::query_scalar(
                "UPDATE domesday.service SET version = version + 1 RETURNING version",
            )
            .fetch_one(&mut *transaction)
            .await
            .map_err(locked_or_writing)?;
            let done = change(&mut transaction, version).await?;
            sqlx::query("SELECT pg_notify($1, '')")
                .bind(CHANNEL)
                .execute(&mut *transaction)
                .await
                .map_err(writing)?;
            transaction.commit().await.map_err(writing)?;
            self.read().await?;
            Ok(done)
        };
        self.learn(answer.await)
    }

    /// Reads what changed since the last time.
    pub(super) async fn catch_up(&self) -> Result<(), StateError> {
        let _order = self.order.lock().await;
        self.read().await
    }

    /// The same, by whoever holds the order.
    async fn read(&self) -> Result<(), StateError> {
        let asked = Instant::now();
        let known = self.see(|view| view.version);
        let mut connection = self.sound().await?;
        let service = sqlx::query("SELECT * FROM domesday.service")
            .fetch_one(&mut *connection)
            .await
            .map_err(reading)?;
        let version: i64 = service.try_get("version").map_err(reading)?;
        if version == known {
            self.change(|view| view.fresh = asked);
            return Ok(());
        }
        // A database that was put back to an earlier day is read anew.
        let since = if version < known { -1 } else { known };
        // What changes while this is read has a higher number than `version`, and is read again.
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
            view.fresh = asked;
        });
        Ok(())
    }

    /// A connection that stands. Where one was ended, those that rest beside it were more often
    /// than not, so they are passed over; that the database is out of reach is known by a new one.
    async fn sound(&self) -> Result<PoolConnection<Postgres>, StateError> {
        for _ in 0..CONNECTIONS {
            let mut connection = self.pool.acquire().await.map_err(reading)?;
            if connection.ping().await.is_ok() {
                return Ok(connection);
            }
        }
        self.pool.acquire().await.map_err(reading)
    }

    async fn seen(&self) -> Result<(), StateError> {
        match timeout(SILENT, self.catch_up()).await {
            Ok(seen) => seen,
            Err(_) => Err(storage("read", Failed::Silent)),
        }
    }

    /// Looks at the database, and says in the view how it is.
    async fn look(&self) {
        let before = self.see(|view| view.trouble.clone());
        let mut seen = self.seen().await;
        // What failed once may have been one connection or one slow moment, for which nobody's
        // requests are to be refused.
        if let (Err(error), None) = (&seen, &before) {
            tracing::info!(%error, "the state is looked at again");
            seen = self.seen().await;
        }
        // An operation may have learnt of trouble meanwhile.
        let before = self.see(|view| view.trouble.clone()).or(before);
        let after = match (seen, &before) {
            (Err(error), _) => Some(Degraded::Unreachable(error.to_string())),
            // Whoever could not write may be able to by now; that takes a try.
            (Ok(()), Some(_)) => match timeout(SILENT, self.probe()).await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(Degraded::Unwritable(error.to_string())),
                Err(_) => Some(Degraded::Unwritable(Failed::Silent.to_string())),
            },
            (Ok(()), None) => return,
        };
        match (&before, &after) {
            (None, Some(trouble)) => tracing::warn!(reason = trouble.text(), "state in trouble"),
            (Some(_), None) => tracing::info!("state usable again"),
            _ => {}
        }
        self.change(|view| view.trouble = after);
    }

    async fn probe(&self) -> Result<(), StateError> {
        sqlx::query("UPDATE domesday.probe SET probed = probed + 1")
            .execute(&self.pool)
            .await
            .map(drop)
            .map_err(writing)
    }
}

/// Looks twice a second, and whenever there are news.
pub(super) async fn poll(watched: Arc<WatchedDatabase>) {
    loop {
        // A news-giver that is in trouble itself must not make this spin.
        let _ = timeout(EVERY, watched.news.notified()).await;
        watched.look().await;
        if watched.see(|view| view.trouble.is_some()) {
            sleep(EVERY).await;
        }
    }
}

/// Hears of other hosts' changes; what it misses, [`poll`] finds.
pub(super) async fn listen(watched: Arc<WatchedDatabase>) {
    loop {
        if let Ok(mut listener) = PgListener::connect_with(&watched.pool).await
            && listener.listen(CHANNEL).await.is_ok()
        {
            while listener.recv().await.is_ok() {
                watched.news.notify_one();
            }
        }
        sleep(EVERY).await;
    }
}
