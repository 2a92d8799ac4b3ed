//! The reference valuation release: time-adjusted comparables with hedonic adjustment.
//!
//! A valuation is one pass over small steps, each in its own file:
//!
//! - [`gather`]: query the evidence for own sales, nearby sales and the price index;
//! - [`time`]: carry every price to the valuation day;
//! - [`similarity`]: weigh each sale by its similarity to the subject;
//! - [`floor_area`]: derive a missing floor area;
//! - [`adjust`]: subtract the value of each home's attributes from its price;
//! - [`estimate`]: fit the local level of the residuals robustly;
//! - [`local_level`]: fall back on an area's price per square metre where comparables are few;
//! - [`own_history`]: blend in the property's own earlier sales;
//! - `comparables`: list the comparables of the outcome;
//! - [`confidence`], [`conformal`]: score the evidence and give a calibrated range;
//! - [`referral`]: refer the property where no automated value is offered.
//!
//! Results are bit-identical on every machine. IEEE 754 defines `+ - * /` and the square root
//! exactly. Logarithm and exponential are libm's. Every sum runs in the order of sale ids.
//!
//! The parameters come from `parameters.json` at build time. The environment variable
//! `DOMESDAY_PARAMETERS` names another file. The program `fit`, outside the sandbox, writes such
//! files.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod adjust;
#[cfg(not(target_arch = "wasm32"))]
pub mod bounds;
pub mod build_period;
mod candidate;
pub mod comparable_sale;
mod comparables;
pub mod confidence;
pub mod conformal;
#[cfg(not(target_arch = "wasm32"))]
pub mod document;
pub mod drift;
pub mod embedded_parameters;
pub mod estimate;
#[cfg(not(target_arch = "wasm32"))]
pub mod fit;
pub mod floor_area;
pub mod gather;
pub mod local_level;
pub mod log_estimate;
pub mod own_history;
pub mod parameters;
pub mod property_kind;
pub mod referral;
mod release;
pub mod robust_statistics;
pub mod similarity;
#[cfg(test)]
mod testing;
pub mod time;
pub mod valuation;
#[cfg(test)]
mod valuation_invariant_tests;
#[cfg(test)]
mod valuation_tests;

pub use release::{FINGERPRINT, Hedonic, PARAMETERS};

// Used by the binary `fit` only.
#[cfg(not(target_arch = "wasm32"))]
use clap as _;
