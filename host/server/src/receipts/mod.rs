//! Receipts: one record per valuation in the journal of this host, sealed for its tenant.
//!
//! No answer leaves before its receipts are durable. The workers seal them, the thread of the
//! journal appends them, and a request or chunk waits for all of its receipts at once.

mod missing_packages;
mod recorder;

pub use domesday_journal::Head as ReceiptHead;
pub use missing_packages::{MissingPackage, MissingPackages};
pub use recorder::ReceiptRecorder;

use crate::clock::{Clock, random};
use crate::config::{ReceiptsMode, Settings};
use domesday_engine::receipt_record::Form;
use domesday_journal::{Journal, JournalError, JournalSpace, KeyCache, Retention, TenantKey};
use domesday_state::{State, StateError, TenantId};
use domesday_valuation::sample_rate::SampleRate;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use uuid::Uuid;

/// The valuations that have receipts, and the form of these.
#[derive(Debug, Clone, Copy)]
struct Selection {
    share: SampleRate,
    form: Form,
}

/// The journal of a running service, and whose receipts go into it.
pub struct Receipts {
    journal: Arc<Journal>,
    folder: PathBuf,
    selection: Selection,
    state: Arc<dyn State>,
    clock: Arc<dyn Clock>,
    keys: KeyCache,
}

/// The reason why receipts cannot be written, so that no result may be returned.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The tenant's key cannot be read.
    #[error(transparent)]
    Key(#[from] StateError),
    /// A record cannot be written.
    #[error("a receipt cannot be written: {0}")]
    Record(String),
    /// The deadline of the request passed. The receipts may still become durable.
    #[error("the receipts were not durable by the deadline")]
    Late,
    /// No randomness for a key, or the thread that asked for it is gone.
    #[error("cannot read the key of the tenant: {0}")]
    Random(String),
}

/// Returns the folder of a service's journal.
pub fn folder(settings: &Settings) -> PathBuf {
    match &settings.journal {
        Some(folder) => folder.clone(),
        None => settings.data.join("journal"),
    }
}

impl Receipts {
    /// Opens the journal, where receipts are on. Blocks.
    ///
    /// # Errors
    /// [`ReceiptError`] if it cannot be opened. The server then does not start.
    pub fn open(
        settings: &Settings,
        state: &Arc<dyn State>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Receipts>, ReceiptError> {
        let (share, form) = match settings.receipts {
            ReceiptsMode::Off => return Ok(None),
            // Samples are few, and of use without the snapshot.
            ReceiptsMode::Sampled => {
                let share = SampleRate::of(settings.receipts_share);
                (share, Form::SelfContained)
            }
            ReceiptsMode::All => (SampleRate::ALL, Form::Digests),
        };
        let form = match settings.receipts_self_contained {
            true => Form::SelfContained,
            false => form,
        };
        let seed = random().map_err(|error| ReceiptError::Random(error.to_string()))?;
        let now = clock.clone();
        let folder = folder(settings);
        let limits = settings
            .receipts_retention
            .map_or_else(Retention::default, |set| set.0);
        let now = Arc::new(move || now.now().0);
        let journal = Journal::open_retained(&folder, seed, now, limits)?;
        Ok(Some(Receipts {
            journal: Arc::new(journal),
            folder,
            selection: Selection { share, form },
            state: state.clone(),
            clock: clock.clone(),
            keys: KeyCache::default(),
        }))
    }

    /// Returns the journal alone. Dropping it closes it.
    pub fn into_journal(self) -> Arc<Journal> {
        self.journal
    }

    /// Returns the recorder of one request, or of one chunk of a job, of a tenant.
    ///
    /// # Errors
    /// The journal cannot be written, or the tenant's key cannot be read.
    pub async fn recorder(
        &self,
        tenant: &TenantId,
        execution_id: Uuid,
    ) -> Result<Arc<ReceiptRecorder>, ReceiptError> {
        self.journal.check_writable()?;
        let key = match self.keys.get(tenant.as_str()) {
            Some(key) => key,
            None => self.load_key(tenant).await?,
        };
        Ok(Arc::new(ReceiptRecorder::new(
            self.journal.clone(),
            self.clock.clone(),
            self.selection,
            tenant.to_string(),
            key,
            execution_id,
        )))
    }

    /// Removes a tenant's key from the cache. Recorders that have the key go on with it.
    pub fn forget(&self, tenant: &TenantId) {
        self.keys.remove(tenant.as_str());
    }

    /// Returns the number of the last durable receipt, and the error if none can be appended.
    pub fn status(&self) -> (u64, Option<JournalError>) {
        (self.journal.sequence(), self.journal.check_writable().err())
    }

    /// Returns the space that the journal takes and has. Reads memory alone.
    pub fn space(&self) -> JournalSpace {
        self.journal.space()
    }

    /// Reads the last head that this host signed. Blocks.
    ///
    /// # Errors
    /// The file of the heads cannot be read.
    pub fn last_head(&self) -> Result<Option<ReceiptHead>, JournalError> {
        Ok(domesday_journal::heads(&self.folder)?.pop())
    }

    async fn load_key(&self, tenant: &TenantId) -> Result<TenantKey, ReceiptError> {
        let (state, id) = (self.state.clone(), tenant.clone());
        let fresh = random().map_err(|error| ReceiptError::Random(error.to_string()))?;
        let (since, removals) = (Instant::now(), self.keys.removals());
        let loading = tokio::task::spawn_blocking(move || state.receipt_key(&id, fresh)).await;
        let secret = loading.map_err(|error| ReceiptError::Random(error.to_string()))??;
        let key = TenantKey::new(secret);
        self.keys.insert(tenant.as_str(), &key, since, removals);
        Ok(key)
    }
}
