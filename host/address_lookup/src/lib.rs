//! An identity provider over HTTP, in the shape of the OS Places API: which homes a postcode has,
//! asked of somebody who keeps a fuller or newer list than the snapshot.
//!
//! One question is asked, all addresses of a postcode, because whether an address is exact can be
//! judged only among its neighbours. What an address then means is decided by the snapshot's own
//! rules ([`domesday_property::AddressList`]).
//!
//! The provider is somebody else's machine, so that everything about it is bounded and nothing that
//! it says is believed unread:
//!
//! - `http_client` makes one request within a time and a size; `os_places` reads its answer
//!   strictly.
//! - [`Provider`] puts the tries, pages, retries and the memory of past answers together.
//! - [`breaker`] stops asking one that fails again and again.
//! - [`LookupObserver`] receives all of it, for metrics.
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

/// An observer of lookups, for metrics.
pub trait LookupObserver: Send + Sync {
    /// A request ended after `took` with this outcome: [`Failure::label`] or `answered`.
    fn request_finished(&self, outcome: &'static str, took: Duration);
    /// A request is retried.
    fn request_retried(&self);
    /// A lookup of a postcode ended: `remembered`, `answered` or `unavailable`.
    fn lookup_finished(&self, result: &'static str);
    /// The circuit breaker changed its state.
    fn breaker_changed(&self, state: State);
}
