//! Pages of tenants and keys. A statement reads one page, however many tenants there are.

use sqlx::postgres::PgRow;
use sqlx::{Decode, Encode, PgConnection, Postgres, Row, Type};
use tokio::time::Instant;

use super::error::reading;
use super::records;
use crate::directory::Directory;
use crate::key::KeyDigest;
use crate::switches::PromotedReleases;
use crate::{CursorSecrets, KeyId, KeyRecord, Plan, StateError, Tenant, UnixMillis};

/// Rows of a page.
const PAGE: u16 = 1_000;

/// The columns of a key. A statement that reads all columns fails on a host of the version before
/// once a step of the schema adds one.
macro_rules! key_columns {
    () => {
        "id, tenant, label, scopes, requires_metric_selection, created_at, expires_at, revoked_at, \
         digest, version"
    };
}
pub(super) use key_columns;

const SERVICE: &str = "SELECT version, jobs_paused, promoted, promoted_markets, promoted_rates, \
     cursor_secret, cursor_secret_before, \
     (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock FROM domesday.service";
pub(super) const TENANTS: &str = "SELECT id, plan::text AS plan, enabled, created_at, version \
     FROM domesday.tenants WHERE id > $1 ORDER BY id LIMIT $2";
pub(super) const KEYS: &str = concat!(
    "SELECT ",
    key_columns!(),
    " FROM domesday.keys WHERE id > $1 ORDER BY id LIMIT $2"
);
/// In the order of changes. A row that changes during the read has a higher number then, and
/// comes again.
const CHANGED_TENANTS: &str = "SELECT id, plan::text AS plan, enabled, created_at, version \
     FROM domesday.tenants WHERE (version, id) > ($1, $2) ORDER BY version, id LIMIT $3";
const CHANGED_KEYS: &str = concat!(
    "SELECT ",
    key_columns!(),
    " FROM domesday.keys WHERE (version, id) > ($1, $2) ORDER BY version, id LIMIT $3"
);

/// The service's row.
pub(super) struct ServiceRow {
    pub(super) jobs_paused: bool,
    pub(super) promoted: PromotedReleases,
    pub(super) cursors: CursorSecrets,
    /// The last change to it, to a tenant or to a key.
    pub(super) version: i64,
    /// Milliseconds since 1970 by the database's clock.
    pub(super) clock: i64,
}

impl ServiceRow {
    pub(super) async fn read(connection: &mut PgConnection) -> Result<ServiceRow, StateError> {
        let row = sqlx::query(SERVICE).fetch_one(connection).await;
        let row = row.map_err(reading)?;
        Ok(ServiceRow {
            jobs_paused: row.try_get("jobs_paused").map_err(reading)?,
            promoted: records::read_promoted_releases(&row)?,
            cursors: records::cursor_secrets(&row)?,
            version: row.try_get("version").map_err(reading)?,
            clock: row.try_get("clock").map_err(reading)?,
        })
    }
}

/// The statement of a page of all rows, and the one of a page of changed rows.
pub(super) type Statements = [&'static str; 2];

/// A column that identifies rows.
pub(super) trait Id:
    Clone
    + Default
    + Send
    + 'static
    + for<'r> Decode<'r, Postgres>
    + for<'r> Encode<'r, Postgres>
    + Type<Postgres>
{
}

impl Id for String {}
impl Id for Vec<u8> {}

/// A place in a table, after which the next page begins.
pub(super) struct Cursor<I> {
    /// The last change that is known, where only later ones are read.
    version: Option<i64>,
    id: I,
}

impl<I: Id> Cursor<I> {
    /// Begins before the first row, or before the first change after `since`.
    pub(super) fn new(since: Option<i64>) -> Self {
        Cursor {
            version: since.map(|since| since.saturating_add(1)),
            id: I::default(),
        }
    }

    /// Reads the next page, and moves behind it. Where it fails, it stays.
    pub(super) async fn page<T>(
        &mut self,
        connection: &mut PgConnection,
        [all, changed]: Statements,
        decode: fn(&PgRow) -> Result<T, StateError>,
    ) -> Result<Vec<T>, StateError> {
        let query = match self.version {
            None => sqlx::query(all),
            Some(version) => sqlx::query(changed).bind(version),
        };
        let query = query.bind(self.id.clone()).bind(i64::from(PAGE));
        let rows = query.fetch_all(connection).await.map_err(reading)?;
        let page = rows.iter().map(decode).collect::<Result<_, _>>()?;
        if let Some(last) = rows.last() {
            let id = last.try_get("id").map_err(reading)?;
            if let Some(version) = &mut self.version {
                *version = last.try_get("version").map_err(reading)?;
            }
            self.id = id;
        }
        Ok(page)
    }
}

/// Reports whether a page of this many rows is the last.
pub(super) fn is_last(rows: usize) -> bool {
    rows < usize::from(PAGE)
}

/// A page of changes.
#[derive(Default)]
pub(super) struct Page {
    tenants: Vec<Option<Tenant>>,
    keys: Vec<KeyRow>,
}

/// The row of a key.
enum KeyRow {
    Sound(Box<KeyRecord>, KeyDigest),
    /// It cannot be read, and opens nothing.
    Damaged(Option<KeyId>),
}

/// Reads a tenant. One whose row is damaged counts as disabled until its row changes, since it must
/// not keep all others from being read. None without a sound id: it never had a key here.
fn read_tenant(row: &PgRow) -> Result<Option<Tenant>, StateError> {
    let error = match records::tenant(row) {
        Err(error @ StateError::Damaged { .. }) => error,
        tenant => return tenant.map(Some),
    };
    tracing::error!(%error, "a tenant cannot be read and counts as disabled");
    let id: &str = row.try_get("id").map_err(reading)?;
    Ok(id.parse().ok().map(|id| Tenant {
        id,
        plan: Plan::default(),
        enabled: false,
        created_at: UnixMillis(0),
    }))
}

fn read_key(row: &PgRow) -> Result<KeyRow, StateError> {
    let error = match records::key(row) {
        Err(error @ StateError::Damaged { .. }) => error,
        key => return key.map(|(key, digest)| KeyRow::Sound(Box::new(key), digest)),
    };
    tracing::error!(%error, "a key cannot be read and opens nothing");
    let id: &[u8] = row.try_get("id").map_err(reading)?;
    Ok(KeyRow::Damaged(id.try_into().ok().map(KeyId::from_bytes)))
}

impl Page {
    pub(super) fn put_into(self, directory: &mut Directory) {
        for tenant in self.tenants.into_iter().flatten() {
            directory.put_tenant(tenant);
        }
        for row in self.keys {
            match row {
                KeyRow::Sound(key, digest) => directory.put_key(&key, digest),
                KeyRow::Damaged(Some(id)) => directory.remove_key(id),
                KeyRow::Damaged(None) => {}
            }
        }
    }
}

/// A read of tenants and keys that is under way, of everything or of what changed.
///
/// It finds every change up to the version of its service row. A later change has a higher number,
/// which the next read finds. A page that does not arrive in time is read again. After an error the
/// whole read is dropped: the database may have been replaced.
pub(super) struct DirectoryRead {
    pub(super) service: ServiceRow,
    /// A moment before the service row was read.
    pub(super) began: Instant,
    /// The new directory, where everything is read.
    pub(super) whole: Option<Directory>,
    tenants: Cursor<String>,
    keys: Cursor<Vec<u8>>,
    next: Table,
}

/// The table of the next page. Tenants go first: a key without its tenant is left out.
#[derive(PartialEq, Eq)]
enum Table {
    Tenants,
    Keys,
    /// Both were read.
    None,
}

impl DirectoryRead {
    /// Begins a read of the changes after `since`, or of everything.
    pub(super) fn new(service: ServiceRow, began: Instant, since: Option<i64>) -> DirectoryRead {
        DirectoryRead {
            service,
            began,
            whole: since.is_none().then(Directory::default),
            tenants: Cursor::new(since),
            keys: Cursor::new(since),
            next: Table::Tenants,
        }
    }

    /// Reports whether the last page was read.
    pub(super) fn is_complete(&self) -> bool {
        self.next == Table::None
    }

    /// Reads the next page.
    pub(super) async fn page(&mut self, connection: &mut PgConnection) -> Result<Page, StateError> {
        let mut page = Page::default();
        match self.next {
            Table::Tenants => {
                let statements = [TENANTS, CHANGED_TENANTS];
                let rows = self.tenants.page(connection, statements, read_tenant);
                page.tenants = rows.await?;
                if is_last(page.tenants.len()) {
                    self.next = Table::Keys;
                }
            }
            Table::Keys => {
                let statements = [KEYS, CHANGED_KEYS];
                let rows = self.keys.page(connection, statements, read_key);
                page.keys = rows.await?;
                if is_last(page.keys.len()) {
                    self.next = Table::None;
                }
            }
            Table::None => {}
        }
        Ok(page)
    }
}
