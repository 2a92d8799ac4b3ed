//! The state in a PostgreSQL database that several hosts share.
//!
//! **Its own runtime.** One thread drives the client. So an operation begins when it is called, on
//! any thread, and operators' operations may block.
//!
//! **Memory.** Notifications and two polls a second keep [`directory`] fresh. So a change by
//! another host is seen within a second. A host that lost the database goes on authenticating for a
//! minute. One whose process stood still authenticates nobody before it has read the database
//! again. It reads in [`pages`].
//!
//! **Units** ([`usage`]) of all requests that wait in one host are charged by one statement. It
//! charges the host's shard (`8_usage_shards.sql`), so that no host waits for another's commit. A
//! charge that ended in an error is undone, whatever became of its statement ([`charger`]).
//!
//! **Writes that hang** while reads work, as where a synchronous standby is gone, are a degradation
//! after three seconds. Only the poll writes then, and its success ends the degradation.
//!
//! **Connections.** Requests have their own connections, and so have the leases of jobs. Rows and
//! results go over others, so that no transaction of theirs keeps a charge waiting.
//!
//! **Jobs** ([`jobs`]): advisory locks that end with a transaction serialise the data that it must
//! see alone. Submissions have one lock a tenant, and claims have one. Every write of a worker
//! locks the job's row and compares its fence first, so a host that only slept changes nothing.
//!
//! **Time** is the caller's, here as everywhere. Where the host's clock is far from the database's,
//! jobs alone go by that one ([`clock`]). So such a host neither keeps jobs from others nor takes
//! theirs.

mod accounts;
mod backup;
mod changes;
mod charger;
mod clock;
mod connect;
mod cursors;
mod directory;
mod driver;
mod error;
mod jobs;
mod pages;
mod progress;
mod promotions;
mod receipt_keys;
mod records;
mod silence;
mod switches;
mod usage;
mod usage_entries;

use std::fmt;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

use crate::damaged_jobs::DamagedJobs;
use crate::{State, StateError};
use charger::Charger;
use connect::JobPools;
use directory::WatchedDatabase;
use driver::Driver;
use jobs::{RefusedJobs, TenantTurns, UndeliveredClaims};
use progress::{OPENING, REPORT_INTERVAL, catch_up};
use silence::Silence;

/// The state in a PostgreSQL database.
pub struct PostgresState {
    driver: Driver,
    watched: Arc<WatchedDatabase>,
    job_pools: JobPools,
    /// The submissions of this host, one at a time for each tenant.
    submissions: Arc<TenantTurns>,
    /// Held by a claim of this host. The database lets one at a time go on, and those that wait
    /// there would each occupy a connection.
    claim: Arc<Mutex<()>>,
    undelivered: Arc<UndeliveredClaims>,
    damaged_jobs: Arc<DamagedJobs>,
    /// The expired jobs that this process could not remove.
    refused_jobs: Arc<RefusedJobs>,
    /// Charges on their way to the next statement; closed before the driver.
    charges: Option<mpsc::UnboundedSender<changes::PendingChange>>,
}

impl PostgresState {
    /// Connects to the database at `address` (`postgres://user@host/name`), creates a missing
    /// schema, and brings an older one up to this version. Blocks.
    ///
    /// # Errors
    /// [`StateError::MalformedAddress`] if the address is none, [`StateError::NewerSchema`] if a
    /// later version made the schema. [`StateError::Storage`] if the database refuses, or does not
    /// answer in time.
    pub fn open(address: &str) -> Result<Self, StateError> {
        let silence = Arc::new(Silence::default());
        let driver = Driver::start(Arc::clone(&silence))?;
        let address = address.to_owned();
        let noticed = Arc::clone(&silence);
        let (pool, job_pools) = driver.wait(async move {
            let pool = connect::connect(&address, &noticed).await?;
            Ok((pool, JobPools::new(&address, &noticed)?))
        })?;
        let watched = Arc::new(WatchedDatabase::new(pool, silence));
        // Each page has its own time. All of them take as long as there are tenants.
        catch_up(OPENING, REPORT_INTERVAL, || {
            let watched = Arc::clone(&watched);
            driver.wait(async move { watched.advance().await })
        })?;
        let charger = Charger::open(Arc::clone(&watched));
        let charger = driver.wait(charger)?;
        driver.watch(directory::poll(Arc::clone(&watched)));
        driver.watch(directory::listen(Arc::clone(&watched)));
        let (charges, waiting) = mpsc::unbounded_channel();
        driver.work(charger.run(waiting));
        Ok(PostgresState {
            driver,
            watched,
            job_pools,
            submissions: Arc::default(),
            claim: Arc::default(),
            undelivered: Arc::default(),
            damaged_jobs: Arc::default(),
            refused_jobs: Arc::default(),
            charges: Some(charges),
        })
    }
}

/// Opens the state in the PostgreSQL database at `address`, as [`PostgresState::open`]. Blocks.
///
/// # Errors
/// [`StateError::NoPostgres`] in a build without the feature `postgres`.
pub fn open_postgres(address: &str) -> Result<Arc<dyn State>, StateError> {
    Ok(Arc::new(PostgresState::open(address)?))
}

impl Drop for PostgresState {
    fn drop(&mut self) {
        drop(self.charges.take());
        let JobPools { leases, bulk } = self.job_pools.clone();
        self.driver.stop([self.watched.pool.clone(), leases, bulk]);
    }
}

impl fmt::Debug for PostgresState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresState(..)")
    }
}
