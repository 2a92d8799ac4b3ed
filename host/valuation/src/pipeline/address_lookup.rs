//! Looks up, at the address provider, the postcodes that the snapshot does not resolve.
//!
//! No worker thread waits for the provider. The workers find the postcodes, asynchronous tasks look
//! them up, and the rows then run with the results.

use domesday_address_lookup::{Failure, LookupResult, Provider, Unavailable};
use domesday_registers::Postcode;
use futures_util::stream;
use futures_util::stream::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// Lookups that one request has in flight. The limit over all requests is higher, so that a single
/// value need not wait for a batch.
const AT_ONCE: usize = 24;

type Slot = OnceCell<Result<Arc<LookupResult>, Unavailable>>;

/// The address lookups of one request.
pub struct AddressLookups {
    provider: Option<Arc<Provider>>,
    slots: BTreeMap<Postcode, Slot>,
    in_flight: Semaphore,
}

/// The state of one postcode's lookup.
pub enum LookupState<'a> {
    /// No provider is configured.
    NoProvider,
    /// The addresses of the postcode.
    Addresses(&'a LookupResult),
    /// The provider did not answer.
    Unavailable(Unavailable),
}

impl AddressLookups {
    /// Returns lookups without a provider.
    pub fn none() -> AddressLookups {
        AddressLookups::new(None, BTreeSet::new())
    }

    /// Returns lookups of these postcodes, none of them started.
    pub fn new(provider: Option<Arc<Provider>>, postcodes: BTreeSet<Postcode>) -> AddressLookups {
        AddressLookups {
            provider,
            slots: postcodes
                .into_iter()
                .map(|postcode| (postcode, OnceCell::new()))
                .collect(),
            in_flight: Semaphore::new(AT_ONCE),
        }
    }

    /// Looks up the given postcodes, at most once each per request. A failure is not retried.
    pub async fn look_up(self: Arc<Self>, postcodes: Vec<Postcode>) {
        stream::iter(postcodes)
            .map(|postcode| self.clone().look_up_one(postcode))
            .buffer_unordered(AT_ONCE)
            .for_each(|()| async {})
            .await;
    }

    /// Looks up all postcodes.
    pub async fn look_up_all(self: Arc<Self>) {
        let all = self.slots.keys().cloned().collect();
        self.look_up(all).await;
    }

    async fn look_up_one(self: Arc<Self>, postcode: Postcode) {
        let (Some(provider), Some(slot)) = (&self.provider, self.slots.get(&postcode)) else {
            return;
        };
        let look_up = || async {
            let _permit = self.in_flight.acquire().await;
            provider.addresses(&postcode).await
        };
        slot.get_or_init(look_up).await;
    }

    /// Returns the state of a postcode's lookup.
    pub fn of(&self, postcode: &Postcode) -> LookupState<'_> {
        if self.provider.is_none() {
            return LookupState::NoProvider;
        }
        match self.slots.get(postcode).and_then(OnceCell::get) {
            Some(Ok(answer)) => LookupState::Addresses(answer),
            Some(Err(unavailable)) => LookupState::Unavailable(unavailable.clone()),
            // No lookup ran. Report `Unavailable`, not `NotFound`.
            None => LookupState::Unavailable(Failure::TimedOut.into()),
        }
    }

    /// Returns the longest wait that a failed lookup asks for.
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
