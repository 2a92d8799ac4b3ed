//! The work of the console's sessions, in memory: forms that were sent, forms that wait for a
//! login, and files of homes with their jobs.

use domesday_console::recent::Recent;
use domesday_console::rejections::CommonestRejection;
use domesday_state::{TenantId, UnixMillis};
use quick_cache::sync::Cache;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Forms of a tenant whose outcome is known. The oldest goes first.
const MOST_FORMS: usize = 200;
/// Forms that wait for a login. The oldest goes first.
const MOST_DRAFTS: usize = 50;
/// The largest form that waits for a login, bytes.
pub const MOST_DRAFT_BYTES: usize = 64 << 10;
/// The time for which a form waits for a login.
const DRAFT_MILLIS: i64 = 10 * 60 * 1000;
/// Files of homes of a tenant that became jobs. The oldest goes first.
const MOST_FILES: usize = 20;
/// Bytes of the files that are kept for all tenants.
const MOST_FILE_BYTES: usize = 64 << 20;

/// Completed jobs whose commonest rejection is kept.
const MOST_REJECTIONS: usize = 1_000;

/// The valuation that a form made, and none before. Who holds the lock makes it.
pub type FormOutcome = Arc<tokio::sync::Mutex<Option<String>>>;

/// A file of homes that became jobs.
#[derive(Clone, Debug)]
pub struct FileOfHomes {
    /// The jobs, in the order of its rows.
    pub jobs: Vec<Uuid>,
    /// Its homes.
    pub rows: usize,
    /// The time at which the last job was taken.
    pub taken: UnixMillis,
    /// The file itself, unless others took its place.
    pub text: Option<Arc<str>>,
}

impl FileOfHomes {
    /// Returns the ids of its jobs, as written in the path of their page.
    pub fn path(&self) -> String {
        let ids: Vec<String> = self.jobs.iter().map(Uuid::to_string).collect();
        ids.join(",")
    }
}

/// The work of one host's sessions.
pub struct ConsoleWork {
    open: Mutex<OpenWork>,
    /// The reason of most rejected rows by the id of a completed job. None of it changes any more,
    /// and to find it takes all results of the job.
    pub rejections: Cache<Uuid, Option<CommonestRejection>>,
}

impl Default for ConsoleWork {
    fn default() -> Self {
        ConsoleWork {
            open: Mutex::default(),
            rejections: Cache::new(MOST_REJECTIONS),
        }
    }
}

#[derive(Default)]
struct OpenWork {
    forms: BTreeMap<TenantId, Recent<String, FormOutcome>>,
    drafts: Recent<String, (String, UnixMillis)>,
    files: BTreeMap<TenantId, Recent<Uuid, FileOfHomes>>,
}

impl ConsoleWork {
    /// Returns the outcome of a form of a tenant, by the form's id and the digest of its content.
    pub fn outcome(&self, tenant: &TenantId, form: String) -> FormOutcome {
        let mut open = self.open();
        let forms = open.forms.entry(tenant.clone()).or_default();
        if let Some(known) = forms.get(&form) {
            return known.clone();
        }
        let outcome = FormOutcome::default();
        forms.add(form, outcome.clone(), MOST_FORMS);
        outcome
    }

    /// Keeps the query of a form until its sender has logged in, under an id that nobody guesses.
    pub fn keep_draft(&self, id: [u8; 16], query: String, now: UnixMillis) -> String {
        let id = hex::encode(id);
        let until = UnixMillis(now.0 + DRAFT_MILLIS);
        self.open()
            .drafts
            .add(id.clone(), (query, until), MOST_DRAFTS);
        id
    }

    /// Returns the query of a form that waited for a login.
    pub fn draft(&self, id: &str, now: UnixMillis) -> Option<String> {
        let open = self.open();
        let (query, until) = open.drafts.get(&id.to_owned())?;
        (now < *until).then(|| query.clone())
    }

    /// Keeps a file of a tenant under its first job.
    pub fn keep_file(&self, tenant: &TenantId, file: FileOfHomes) {
        let Some(first) = file.jobs.first().copied() else {
            return;
        };
        let mut open = self.open();
        let files = open.files.entry(tenant.clone()).or_default();
        files.add(first, file, MOST_FILES);
        open.forget_texts();
    }

    /// Returns the file of a first job of a tenant.
    pub fn file(&self, tenant: &TenantId, first: Uuid) -> Option<FileOfHomes> {
        self.open().files.get(tenant)?.get(&first).cloned()
    }

    /// Returns the files of a tenant, the newest first.
    pub fn files(&self, tenant: &TenantId) -> Vec<FileOfHomes> {
        let open = self.open();
        let files = open.files.get(tenant);
        files
            .into_iter()
            .flat_map(|files| files.newest().map(|(_, file)| file.clone()))
            .collect()
    }

    fn open(&self) -> MutexGuard<'_, OpenWork> {
        // Every change is whole before anything can panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenWork {
    /// Forgets the texts of the oldest files until the rest fits.
    fn forget_texts(&mut self) {
        let mut texts: Vec<&mut FileOfHomes> = self
            .files
            .values_mut()
            .flat_map(Recent::values_mut)
            .filter(|file| file.text.is_some())
            .collect();
        texts.sort_by_key(|file| std::cmp::Reverse(file.taken));
        let mut bytes = 0;
        for file in texts {
            bytes += file.text.as_ref().map_or(0, |text| text.len());
            if bytes > MOST_FILE_BYTES {
                file.text = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_texts_make_room() {
        let work = ConsoleWork::default();
        let tenant = "a".parse().unwrap();
        let text: Arc<str> = "x".repeat(25 << 20).into();
        for at in 1..=3 {
            work.keep_file(
                &tenant,
                FileOfHomes {
                    jobs: vec![Uuid::from_u128(at)],
                    rows: 1,
                    taken: UnixMillis(i64::try_from(at).unwrap()),
                    text: Some(text.clone()),
                },
            );
        }
        let kept = work.files(&tenant);
        let kept: Vec<bool> = kept.iter().map(|file| file.text.is_some()).collect();
        assert_eq!(kept, [true, true, false], "the newest first");
    }

    #[test]
    fn a_draft_waits_for_ten_minutes() {
        let work = ConsoleWork::default();
        let id = work.keep_draft([7; 16], "a=1".to_owned(), UnixMillis(0));
        let draft = |now| work.draft(&id, UnixMillis(now));
        assert_eq!(draft(DRAFT_MILLIS - 1).as_deref(), Some("a=1"));
        assert_eq!(draft(DRAFT_MILLIS), None);
        assert_eq!(work.draft("", UnixMillis(0)), None);
    }
}
