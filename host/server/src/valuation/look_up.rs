//! What the identity provider says of the postcodes that the snapshot leaves open.
//!
//! A worker's thread never waits for somebody else's machine: which postcodes are to be asked for is
//! found on the workers, the asking is done on the asynchronous threads, and the rows are then valued
//! with what was said.

use domesday_identity::{Answer, Failure, Provider, Unavailable};
use domesday_registers::Postcode;
use futures_util::stream::{self, StreamExt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// Postcodes that one request asks for at the same time: less than the provider is asked for over all
/// requests, so that a single value finds room beside a batch.
const AT_ONCE: usize = 24;

type Slot = OnceCell<Result<Arc<Answer>, Unavailable>>;

/// What was said for one request.
pub struct Answers {
    provider: Option<Arc<Provider>>,
    slots: BTreeMap<Postcode, Slot>,
    room: Semaphore,
}

/// What was said of one postcode.
pub enum Said<'a> {
    /// There is nobody to ask.
    Nothing,
    /// These addresses.
    Addresses(&'a Answer),
    /// There was no answer.
    Unavailable(Unavailable),
}

impl Answers {
    /// Nobody is asked.
    pub fn none() -> Answers {
        Answers::wanted(None, BTreeSet::new())
    }

    /// The provider, if there is one, will be asked for these.
    pub fn wanted(provider: Option<Arc<Provider>>, postcodes: BTreeSet<Postcode>) -> Answers {
        Answers {
            provider,
            slots: postcodes
                .into_iter()
                .map(|postcode| (postcode, OnceCell::new()))
                .collect(),
            room: Semaphore::new(AT_ONCE),
        }
    }

    /// Asks for some of those that are wanted, each once for the request however often it is wished;
    /// a failure is an answer too.
    pub async fn ask(self: Arc<Self>, postcodes: Vec<Postcode>) {
        stream::iter(postcodes)
            .map(|postcode| self.clone().ask_one(postcode))
            .buffer_unordered(AT_ONCE)
            .for_each(|()| async {})
            .await;
    }

    /// Asks for all of them.
    pub async fn ask_all(self: Arc<Self>) {
        let all = self.slots.keys().cloned().collect();
        self.ask(all).await;
    }

    async fn ask_one(self: Arc<Self>, postcode: Postcode) {
        let (Some(provider), Some(slot)) = (&self.provider, self.slots.get(&postcode)) else {
            return;
        };
        let said = || async {
            let _room = self.room.acquire().await;
            provider.addresses(&postcode).await
        };
        slot.get_or_init(said).await;
    }

    /// What was said of a postcode.
    pub fn of(&self, postcode: &Postcode) -> Said<'_> {
        if self.provider.is_none() {
            return Said::Nothing;
        }
        match self.slots.get(postcode).and_then(OnceCell::get) {
            Some(Ok(answer)) => Said::Addresses(answer),
            Some(Err(unavailable)) => Said::Unavailable(unavailable.clone()),
            // Nobody came to ask, which must not read as if nobody knew the address.
            None => Said::Unavailable(Failure::TimedOut.into()),
        }
    }

    /// After which time those who gave no answer are worth asking again, where any of them says so.
    pub fn retry_after(&self) -> Option<Duration> {
        let failed = self
            .slots
            .values()
            .filter_map(|slot| slot.get()?.as_ref().err());
        failed
            .filter_map(|unavailable| unavailable.retry_after)
            .max()
    }
}
