//! Tenants, keys and switches in memory, and how they are kept fresh.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::PgListener;
use sqlx::{Connection, PgPool, Postgres};
use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep, timeout};

use super::clock::{HostClock, machine_time};
use super::connect::REQUEST_CONNECTIONS;
use super::error::{DatabaseFailure, cannot_write, locked_or_writing, reading, storage, writing};
use super::pages::{DirectoryRead, ServiceRow};
use super::progress::{CatchUp, OPENING, POLL_INTERVAL, ViewState};
use super::silence::Silence;
use crate::directory::Directory;
use crate::switches::PromotedReleases;
use crate::write_timer::WriteTimer;
use crate::{Access, CursorSecrets, ReleaseKind, StateError, UnixMillis};

/// The channel on which hosts tell each other of changes.
pub(super) const CHANNEL: &str = "domesday";
/// Time limit of the database. After two late responses in a row it counts as unreachable.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1_400);
/// Time limit of a change that waits for the locks of others.
const SET_LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '1s'";
/// Longest time for which keys are trusted while the database is being read page by page. It is the
/// time that such a read has at a start.
const MAX_AGE_READ: Duration = OPENING;
/// Longest time for which keys are trusted while the host knows that the database is out of reach.
const MAX_AGE_EXPLAINED: Duration = Duration::from_secs(60);
/// Interval of writes to a database that may have nothing else to write. With two answers that are
/// late, a host notices within five seconds that the database reads and does not write.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Longest time for which keys are trusted after a gap in the polling, as when the host slept.
const MAX_AGE_UNCHECKED: Duration = Duration::from_secs(5);

/// The reason why changes cannot be made durable.
#[derive(Debug, Clone)]
enum Degradation {
    /// The database is out of reach.
    Unreachable(String),
    /// It answers, and does not write.
    Unwritable(String),
}

impl Degradation {
    fn text(&self) -> &String {
        match self {
            Degradation::Unreachable(text) | Degradation::Unwritable(text) => text,
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
    /// Time at which the last page arrived of a read that no check has confirmed yet.
    page_at: Option<Instant>,
    degradation: Option<Degradation>,
}

impl View {
    /// Reports whether tenants and keys are too old to be trusted.
    fn is_stale(&self) -> bool {
        let is_being_read = self
            .page_at
            .is_some_and(|at| at.elapsed() <= MAX_AGE_UNCHECKED);
        let max_age = match (is_being_read, &self.degradation) {
            (true, _) => MAX_AGE_READ,
            (false, Some(_)) => MAX_AGE_EXPLAINED,
            (false, None) => MAX_AGE_UNCHECKED,
        };
        self.fresh.elapsed() > max_age
    }
}

/// The database, and its facts in memory.
pub(super) struct WatchedDatabase {
    pub(super) pool: PgPool,
    view: RwLock<View>,
    /// The read under way. It is held from a page's statement until the page is applied, so that no
    /// older state replaces a newer one. A read that is broken off resumes at the next page.
    read: Mutex<Option<DirectoryRead>>,
    /// Held by a command, so that commands occupy one connection.
    command: Mutex<()>,
    /// Signals that there may be something to read.
    news: Notify,
    pub(super) silence: Arc<Silence>,
    pub(super) clock: HostClock,
    /// The write of units that is under way.
    pub(super) units_write: WriteTimer,
}

impl WatchedDatabase {
    pub(super) fn new(pool: PgPool, silence: Arc<Silence>) -> WatchedDatabase {
        let view = View {
            directory: Directory::default(),
            jobs_paused: false,
            promoted: PromotedReleases::default(),
            cursors: CursorSecrets::default(),
            version: -1,
            fresh: Instant::now(),
            page_at: None,
            degradation: None,
        };
        WatchedDatabase {
            pool,
            view: RwLock::new(view),
            read: Mutex::default(),
            command: Mutex::default(),
            news: Notify::new(),
            silence,
            clock: HostClock::default(),
            units_write: WriteTimer::default(),
        }
    }

    fn with_view<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut View) -> T) -> T {
        change(&mut self.view.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn authenticate(
        &self,
        presented: &str,
        now: UnixMillis,
    ) -> Result<Access, StateError> {
        self.with_view(|view| {
            if view.is_stale() {
                return Err(storage("read", DatabaseFailure::Stale));
            }
            Ok(view.directory.authenticate(presented, now))
        })
    }

    pub(super) fn jobs_paused(&self) -> bool {
        self.with_view(|view| view.jobs_paused)
    }

    pub(super) fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.with_view(|view| view.promoted.of(what))
    }

    pub(super) fn cursor_secrets(&self) -> CursorSecrets {
        self.with_view(|view| view.cursors)
    }

    pub(super) fn degradation(&self) -> Option<String> {
        self.with_view(|view| match &view.degradation {
            Some(degraded) => Some(degraded.text().clone()),
            None => self.stall_reason().or_else(|| {
                // Who looks at the database has stopped looking.
                view.is_stale().then(|| DatabaseFailure::Stale.to_string())
            }),
        })
    }

    /// Returns the degradation of a database that reads, and has confirmed no write for too long.
    fn stall_reason(&self) -> Option<String> {
        let seconds = self.units_write.stalled_seconds()?;
        Some(DatabaseFailure::Stalled(seconds).to_string())
    }

    /// Refuses at once an operation that would time out.
    pub(super) fn check_reachable(&self, doing: &'static str) -> Result<(), StateError> {
        self.with_view(|view| match &view.degradation {
            Some(Degradation::Unreachable(text)) => {
                Err(storage(doing, DatabaseFailure::Unavailable(text.clone())))
            }
            _ => Ok(()),
        })
    }

    /// Refuses at once a write that would time out. Until the database writes again, the
    /// poll alone writes.
    pub(super) fn check_writable(&self) -> Result<(), StateError> {
        let degraded = self.with_view(|view| view.degradation.as_ref().map(|it| it.text().clone()));
        match degraded.or_else(|| self.stall_reason()) {
            Some(text) => Err(storage("written", DatabaseFailure::Unavailable(text))),
            None => Ok(()),
        }
    }

    /// Records how an operation went.
    pub(super) fn record_outcome<T>(&self, answer: Result<T, StateError>) -> Result<T, StateError> {
        if let Err(error) = &answer {
            if cannot_write(error) {
                self.degrade(error);
            }
            if matches!(error, StateError::Storage { .. }) {
                self.news.notify_one();
            }
        }
        answer
    }

    /// Records how a write of units went. One that failed after a stall may have met a lock of a
    /// commit that hangs.
    pub(super) fn record_units_write<T>(
        &self,
        answer: Result<T, StateError>,
    ) -> Result<T, StateError> {
        if let Err(error) = &answer
            && self.units_write.stalled_seconds().is_some()
        {
            self.degrade(error);
        }
        self.record_outcome(answer)
    }

    /// Records that the database does not write, until the poll writes or finds it out of reach.
    fn degrade(&self, error: &StateError) {
        let was_usable = self.change(|view| {
            let before = view.degradation.clone();
            if !matches!(before, Some(Degradation::Unreachable(_))) {
                view.degradation = Some(Degradation::Unwritable(error.to_string()));
            }
            before.is_none()
        });
        if was_usable {
            tracing::warn!(reason = %error, "state degraded");
        }
    }

    /// Makes one change to tenants, keys or switches, and sees it before it answers.
    pub(super) async fn alter<T>(
        &self,
        change: impl AsyncFnOnce(&mut sqlx::PgConnection, i64) -> Result<T, StateError>,
    ) -> Result<T, StateError> {
        self.check_reachable("written")?;
        let answer = async {
            let _command = self.command.lock().await;
            let mut transaction = self.pool.begin().await.map_err(writing)?;
            // Another holder of a lock must not hang a command.
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
            let committed = Instant::now();
            let is_seen = |at| at >= committed;
            while !self.advance().await?.fresh().is_some_and(is_seen) {}
            Ok(output)
        };
        self.record_outcome(answer.await)
    }

    /// Advances the read of what changed by one page, or begins one.
    pub(super) async fn advance(&self) -> Result<ViewState, StateError> {
        let mut under_way = self.read.lock().await;
        let now = Instant::now();
        let mut connection = self.healthy_connection().await?;
        let read = match &mut *under_way {
            Some(read) => read,
            none => {
                let asked = machine_time();
                let service = ServiceRow::read(&mut connection).await?;
                self.clock.compare(asked, service.clock, machine_time());
                let known = self.with_view(|view| view.version);
                if service.version == known {
                    self.change(|view| {
                        view.fresh = now;
                        view.page_at = None;
                    });
                    return Ok(ViewState::Unchanged(now));
                }
                // A database that was put back to an earlier day is read anew.
                let since = (0..service.version).contains(&known).then_some(known);
                none.insert(DirectoryRead::new(service, now, since))
            }
        };
        let page = match read.page(&mut connection).await {
            Ok(page) => page,
            // The database may have been replaced, so that pages of both would not fit together.
            Err(error) => {
                *under_way = None;
                return Err(error);
            }
        };
        if let Some(directory) = &mut read.whole {
            page.put_into(directory);
            self.change(|view| view.page_at = Some(Instant::now()));
        } else {
            self.change(|view| {
                page.put_into(&mut view.directory);
                view.page_at = Some(Instant::now());
            });
        }
        let Some(complete) = under_way.take_if(|read| read.is_complete()) else {
            return Ok(ViewState::Partial);
        };
        Ok(ViewState::Complete(self.apply(complete)))
    }

    /// Makes a complete read the view, and returns the moment at which it was certainly so.
    fn apply(&self, read: DirectoryRead) -> Instant {
        let replaced = self.change(|view| {
            view.jobs_paused = read.service.jobs_paused;
            view.promoted = read.service.promoted;
            view.cursors = read.service.cursors;
            view.version = read.service.version;
            view.fresh = read.began;
            read.whole
                .map(|directory| std::mem::replace(&mut view.directory, directory))
        });
        // It may be large, and nobody waits for its end.
        drop(replaced);
        read.began
    }

    /// Reads until the view is as the database was a moment ago. The read may take as many pages as
    /// there are, and each has [`ANSWER_TIMEOUT`].
    async fn catch_up_in_time(&self) -> Result<(), StateError> {
        let mut looks = CatchUp::default();
        loop {
            let page = self.silence.bound(ANSWER_TIMEOUT, "read", self.advance());
            if looks.is_over(page.await?) {
                return Ok(());
            }
        }
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

    /// Checks the database, and records its health in the view.
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
        // Reads that work do not explain it: the database may read and not write.
        let silent = self.silence.take();
        let after = match (outcome, &before) {
            (Err(error), _) => Some(Degradation::Unreachable(error.to_string())),
            (Ok(()), None) if !silent => return,
            // A host that could not write may be able to by now. Only an attempt shows it.
            (Ok(()), _) => match self.probe().await {
                Ok(()) => None,
                Err(error) => Some(Degradation::Unwritable(error.to_string())),
            },
        };
        let before = self.change(|view| std::mem::replace(&mut view.degradation, after.clone()));
        match (before, after) {
            (None, Some(degraded)) => tracing::warn!(reason = degraded.text(), "state degraded"),
            (Some(_), None) => tracing::info!("state usable again"),
            _ => {}
        }
    }

    /// Writes to the database, and records that it does not write where two attempts fail.
    async fn check_writes(&self) {
        if self.with_view(|view| view.degradation.is_some()) || self.probe().await.is_ok() {
            return;
        }
        if let Err(error) = self.probe().await {
            self.degrade(&error);
        }
    }

    async fn probe(&self) -> Result<(), StateError> {
        let probe = async {
            sqlx::query("UPDATE domesday.probe SET probed = probed + 1")
                .execute(&self.pool)
                .await
                .map(drop)
                .map_err(writing)
        };
        self.silence.bound(ANSWER_TIMEOUT, "written", probe).await
    }
}

/// Checks the database twice a second, and whenever there is news. Writes to it at intervals.
pub(super) async fn poll(watched: Arc<WatchedDatabase>) {
    let mut probed = Instant::now();
    loop {
        // A failing source of notifications must not make this spin.
        let _ = timeout(POLL_INTERVAL, watched.news.notified()).await;
        watched.check_database().await;
        if probed.elapsed() >= PROBE_INTERVAL {
            watched.check_writes().await;
            probed = Instant::now();
        }
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
#[path = "directory_tests.rs"]
mod tests;
