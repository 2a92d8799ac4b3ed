//! Reaching the database: its address, the settings of a connection, the schema.

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgPool, SqlSafeStr};
use tokio::time::timeout;

use super::error::{DatabaseFailure, opening, storage};
use super::silence::Silence;
use crate::StateError;

/// Connections for charges, units, keys, switches and commands. One of them listens.
pub(super) const REQUEST_CONNECTIONS: u32 = 4;
/// Connections for the short transactions of jobs: their documents, claims and leases.
const LEASE_CONNECTIONS: u32 = 2;
/// Connections for rows and results of jobs. However long their transactions take, they hold up
/// nothing else.
const BULK_CONNECTIONS: u32 = 3;
/// Time limit of an operation that waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);
/// A connection that was not used for so long may be gone.
pub(super) const RESTED: Duration = Duration::from_secs(1);
/// The server ends the transactions of a host that sleeps or hangs, so that its locks stop nobody.
/// The statements of a transaction must see what others committed while it waited for a lock.
const SETTINGS: [(&str, &str); 5] = [
    ("default_transaction_isolation", "read committed"),
    ("statement_timeout", "8s"),
    ("lock_timeout", "8s"),
    ("idle_in_transaction_session_timeout", "5s"),
    ("search_path", "pg_catalog"),
];
/// A commit must survive a crash of the server. A stricter setting of the server stays.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') IN ('off', 'local')";
/// Time limit of a connection for its answer to the test after a silence of the database.
const RELEASE: Duration = Duration::from_secs(1);
/// Known parameters of an address. Others would be logged with their values.
const PARAMETERS: [&str; 12] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "statement-cache-capacity",
];

/// Reads an address. No error repeats it, since it may hold a password.
fn options(address: &str) -> Result<PgConnectOptions, StateError> {
    let known = |name: &str| PARAMETERS.contains(&name);
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let names = query.split('&').filter(|pair| !pair.is_empty());
    if !names
        .map(|pair| pair.split('=').next().unwrap_or(""))
        .all(known)
    {
        return Err(StateError::MalformedAddress);
    }
    if !(address.starts_with("postgres://") || address.starts_with("postgresql://")) {
        return Err(StateError::MalformedAddress);
    }
    let options = PgConnectOptions::from_str(address).map_err(|_| StateError::MalformedAddress)?;
    Ok(options
        .application_name("domesday")
        .options(SETTINGS)
        .disable_statement_logging())
}

/// The connections for jobs. They are made when they are first needed.
#[derive(Clone)]
pub(super) struct JobPools {
    pub(super) leases: PgPool,
    pub(super) bulk: PgPool,
}

impl JobPools {
    /// Makes the pools of a database, on a thread of a runtime.
    pub(super) fn new(address: &str, silence: &Arc<Silence>) -> Result<JobPools, StateError> {
        let options = options(address)?;
        let lazy = |connections| pool(connections, silence).connect_lazy_with(options.clone());
        Ok(JobPools {
            leases: lazy(LEASE_CONNECTIONS),
            bulk: lazy(BULK_CONNECTIONS),
        })
    }
}

/// Returns the settings of a pool. Callers that wait for a connection wait in order. The pool
/// closes a connection that does not answer after a silence. Where the path to the database failed,
/// it may never answer again, and the pool would wait for it.
fn pool(connections: u32, silence: &Arc<Silence>) -> PgPoolOptions {
    let silence = Arc::clone(silence);
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        // Only an idle connection is tested before its use. A test each time would cost every
        // operation a round trip.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > RESTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| {
            Box::pin(async move { connection.execute(DURABLE).await.map(drop) })
        })
        .after_release(move |connection, _| {
            let suspect = silence.is_recent();
            Box::pin(async move {
                if suspect {
                    let ping = timeout(RELEASE, connection.ping()).await;
                    ping.map_err(|_| io::Error::other(DatabaseFailure::Silent))??;
                }
                Ok(true)
            })
        })
}

/// Connects for requests, and brings the schema up to this version.
pub(super) async fn connect(address: &str, silence: &Arc<Silence>) -> Result<PgPool, StateError> {
    let pool = pool(REQUEST_CONNECTIONS, silence)
        .connect_with(options(address)?)
        .await
        .map_err(opening)?;
    migrate(&pool).await?;
    let fsync: String = sqlx::query_scalar("SHOW fsync")
        .fetch_one(&pool)
        .await
        .map_err(opening)?;
    if fsync != "on" {
        tracing::warn!("the database runs with fsync off: a power failure loses what was answered");
    }
    Ok(pool)
}

/// Returns the steps that bring a database up to this version, in their order.
fn migrations() -> Vec<Migration> {
    let step = |version, name: &'static str, statements: &'static str| {
        Migration::new(
            version,
            name.into(),
            MigrationType::Simple,
            statements.into_sql_str(),
            false,
        )
    };
    let state = step(1, "state", include_str!("../../migrations/1_state.sql"));
    let series = step(2, "series", include_str!("../../migrations/2_series.sql"));
    let receipts = step(
        3,
        "receipts",
        include_str!("../../migrations/3_receipts.sql"),
    );
    let charge = step(4, "charge", include_str!("../../migrations/4_charge.sql"));
    let batches = step(
        5,
        "charge_batches",
        include_str!("../../migrations/5_charge_batches.sql"),
    );
    let promotions = step(
        6,
        "promotions",
        include_str!("../../migrations/6_promotions.sql"),
    );
    let entries = step(
        7,
        "usage_entries",
        include_str!("../../migrations/7_usage_entries.sql"),
    );
    let shards = step(
        8,
        "usage_shards",
        include_str!("../../migrations/8_usage_shards.sql"),
    );
    vec![
        state, series, receipts, charge, batches, promotions, entries, shards,
    ]
}

/// Returns the schema that this version knows and writes.
pub(super) fn latest_schema() -> u32 {
    let latest = migrations().iter().map(|step| step.version).max();
    schema(latest.unwrap_or(0))
}

/// Converts the number of a step to that of a schema.
fn schema(version: i64) -> u32 {
    u32::try_from(version).unwrap_or(u32::MAX)
}

async fn migrate(pool: &PgPool) -> Result<(), StateError> {
    let mut migrator = Migrator::with_migrations(migrations());
    // Several hosts that start at once take turns here.
    migrator.create_schema("domesday");
    migrator.dangerous_set_table_name("domesday.migrations");
    match migrator.run(pool).await {
        Ok(()) => Ok(()),
        // The error names the first step that is not known here, and not the last.
        Err(MigrateError::VersionMissing(_)) => {
            let found: Option<i64> =
                sqlx::query_scalar("SELECT max(version) FROM domesday.migrations")
                    .fetch_one(pool)
                    .await
                    .map_err(opening)?;
            Err(StateError::NewerSchema {
                found: schema(found.unwrap_or(0)),
                known: latest_schema(),
            })
        }
        Err(other) => Err(storage("opened", other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{block_on, capture_log};

    /// The server of the tests does not sync.
    #[test]
    fn a_server_that_does_not_sync_is_warned_of() {
        let address = domesday_test_postgres::shared().database();
        let messages = capture_log(|| {
            block_on(async { drop(connect(&address, &Arc::default()).await.unwrap()) })
        });
        let mut messages = messages.iter();
        assert!(messages.any(|message| message.contains("fsync off")));
    }

    /// Returns a setting of a connection to a database that is set to something else.
    fn setting_in_spite_of(set: &str, setting: &str) -> String {
        let address = domesday_test_postgres::shared().database();
        let name = address.split(['/', '?']).nth(3).unwrap();
        domesday_test_postgres::sql(&address, &format!("ALTER DATABASE {name} SET {set}"));
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            let shown = sqlx::query_scalar("SELECT current_setting($1)").bind(setting);
            shown.fetch_one(&pool).await.unwrap()
        })
    }

    /// Commits wait for the disk even on a server that is set to answer before it.
    #[test]
    fn commits_wait_for_the_disk_whatever_the_server_is_set_to() {
        let found = setting_in_spite_of("synchronous_commit = off", "synchronous_commit");
        assert_eq!(found, "on");
    }

    /// A statement that waited for a lock sees what others committed meanwhile.
    #[test]
    fn statements_see_what_others_committed_whatever_the_server_is_set_to() {
        let set = "default_transaction_isolation = 'serializable'";
        let found = setting_in_spite_of(set, "transaction_isolation");
        assert_eq!(found, "read committed");
    }

    /// Each file of the folder is a step, in the order of the numbers that their names begin with.
    #[test]
    fn every_file_of_migrations_is_a_step() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<_> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let steps = migrations().into_iter();
        let steps: Vec<_> = steps
            .map(|step| format!("{}_{}.sql", step.version, step.description))
            .collect();
        assert_eq!(steps, files);
    }

    /// A mistyped parameter could be a password; it is neither logged nor repeated.
    #[test]
    fn a_malformed_address_is_refused_without_repeating_it() {
        for address in [
            "",
            "mysql://user:sesame@host/db",
            "postgres://user:sesame@host:x/db",
            "postgres://user@host/db?passwrod=sesame",
            "postgres://user@host/db?sslmode=sesame",
        ] {
            let error = options(address).unwrap_err();
            assert!(matches!(error, StateError::MalformedAddress), "{address}");
            assert!(!format!("{error} {error:?}").contains("sesame"));
        }
        assert!(options("postgres://user:sesame@host:5433/db?sslmode=require").is_ok());
    }
}
