//! Receipts: of the valuations that are made here, a record each in this host's journal, sealed for its tenant.
//!
//! No answer leaves before its receipts are durable. They are sealed on the threads that value, appended by the journal's
//! own, and awaited once a request or chunk, so that many become durable together.

mod keeping;
mod record;
mod share;

pub use keeping::Keeping;
pub use record::read;
pub use share::Share;

use crate::clock::{Clock, random};
use crate::settings::{ReceiptsMode, Settings};
use domesday_breaks::broken;
use domesday_journal::{Journal, JournalError, TenantKey};
use domesday_state::{State, StateError, TenantId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// How long a tenant's key is believed without asking the state; after that time no host seals under one that was erased.
const BELIEVED: Duration = Duration::from_secs(60);

/// The journal of a running service, and whose receipts go into it.
pub struct Receipts {
    journal: Arc<Journal>,
    share: Share,
    state: Arc<dyn State>,
    clock: Arc<dyn Clock>,
    keys: Mutex<HashMap<TenantId, (TenantKey, Instant)>>,
}

/// Receipts cannot be kept, so nothing can be answered for.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The tenant's key cannot be had.
    #[error(transparent)]
    Key(#[from] StateError),
    /// A record cannot be written.
    #[error("a receipt cannot be written: {0}")]
    Record(String),
    /// No randomness for a key, or the thread that asked for it is gone.
    #[error("a tenant's key cannot be had: {0}")]
    Random(String),
}

/// Where the journal of a service is.
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
    /// Where it cannot be opened: then nothing is served.
    pub fn open(
        settings: &Settings,
        state: &Arc<dyn State>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Receipts>, NotKept> {
        let share = match settings.receipts {
            ReceiptsMode::Off if !broken("receipts-off") => return Ok(None),
            ReceiptsMode::Sampled => Share::of(settings.receipts_share),
            ReceiptsMode::Off | ReceiptsMode::All => Share::all(),
        };
        let seed = random().map_err(|error| NotKept::Random(error.to_string()))?;
        let now = clock.clone();
        let journal = Journal::open(&folder(settings), seed, Arc::new(move || now.now().0))?;
        Ok(Some(Receipts {
            journal: Arc::new(journal),
            share,
            state: state.clone(),
            clock: clock.clone(),
            keys: Mutex::default(),
        }))
    }

    /// What keeps the receipts of one request or job of a tenant.
    ///
    /// # Errors
    /// Where none could be kept at present.
    pub async fn keeping(
        &self,
        tenant: &TenantId,
        execution_id: Uuid,
    ) -> Result<Arc<Keeping>, NotKept> {
        self.journal.well()?;
        let key = match self.believed(tenant) {
            Some(key) => key,
            None => self.ask(tenant).await?,
        };
        Ok(Arc::new(Keeping::new(
            self.journal.clone(),
            self.clock.clone(),
            self.share,
            tenant.to_string(),
            key,
            execution_id,
        )))
    }

    /// Believes a tenant's key no longer.
    pub fn forget(&self, tenant: &TenantId) {
        self.keys().remove(tenant);
    }

    /// The receipts in the journal, and why none can be added at present, if so.
    pub fn status(&self) -> (u64, Option<JournalError>) {
        (self.journal.sequence(), self.journal.well().err())
    }

    fn believed(&self, tenant: &TenantId) -> Option<TenantKey> {
        let keys = self.keys();
        let (key, since) = keys.get(tenant)?;
        (since.elapsed() < BELIEVED).then(|| key.clone())
    }

    async fn ask(&self, tenant: &TenantId) -> Result<TenantKey, NotKept> {
        let (state, id) = (self.state.clone(), tenant.clone());
        let fresh = random().map_err(|error| NotKept::Random(error.to_string()))?;
        let since = Instant::now();
        let kept = tokio::task::spawn_blocking(move || state.receipt_key(&id, fresh)).await;
        let kept = kept.map_err(|error| NotKept::Random(error.to_string()))??;
        let key = TenantKey::new(match broken("receipts-key") {
            true => [7; 32],
            false => kept,
        });
        self.keys().insert(tenant.clone(), (key.clone(), since));
        Ok(key)
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<TenantId, (TenantKey, Instant)>> {
        // Nothing can be left half done in it.
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
