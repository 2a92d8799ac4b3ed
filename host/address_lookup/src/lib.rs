//! Address lookup over HTTP, in the shape of the OS Places API. The provider may have a fuller or
//! newer list of addresses than the snapshot.
//!
//! A lookup fetches all addresses of a postcode, because an address is exact only among its
//! neighbours. The snapshot's own rules ([`domesday_property::AddressList`]) decide which property
//! an address means.
//!
//! The provider is an external system: every request is bounded in time and size, and every
//! response is validated.
//!
//! - `http_client` sends one request, bounded in time and size. `os_places` parses the response.
//! - [`Provider`] combines attempts, pages, retries and the cache.
//! - [`breaker`] stops requests to a provider that keeps failing.
//! - [`LookupObserver`] receives each outcome, for metrics.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod address;
pub mod breaker;
mod cache;
mod endpoint;
mod failure;
mod http_client;
mod lookup_result;
mod os_places;
mod provider;
mod shared_breaker;

pub use breaker::State;
pub use endpoint::{Endpoint, EndpointError, Key, KeyError};
pub use failure::{Failure, Unavailable};
pub use lookup_result::{Location, LookupResult};
pub use provider::{Limits, Provider, ProviderError};

use std::time::Duration;

/// An observer of lookups, for metrics. It ignores what it does not override.
pub trait LookupObserver: Send + Sync {
    /// Records the end of a request after `took`: [`Failure::label`] or `answered`.
    fn request_finished(&self, _outcome: &'static str, _took: Duration) {}
    /// Records a retry of a request.
    fn request_retried(&self) {}
    /// Records the end of a lookup of a postcode: `remembered`, `answered` or `unavailable`.
    fn lookup_finished(&self, _result: &'static str) {}
    /// Records a change of the circuit breaker's state.
    fn breaker_changed(&self, _state: State) {}
}
