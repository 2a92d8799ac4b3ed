//! The reference valuation release: time-adjusted comparables with hedonic adjustment.
//!
//! A valuation is one pass over a handful of small steps, each in its own file:
//!
//! - [`gather`]: ask the evidence for the property's own sales, for sales near by and for the index;
//! - [`time`]: carry every price to the valuation day;
//! - [`likeness`]: weigh each sale by how alike it is;
//! - [`derive`](mod@derive): fill a floor area that nobody gave;
//! - [`adjust`]: take out of each price what the home's attributes are worth;
//! - [`estimate`]: find the local level under what is left, robustly;
//! - [`anchor`]: hold on to an area's price per square metre where comparables are thin;
//! - [`own_history`]: blend in the property's own earlier sales;
//! - `named`: choose the comparables that are shown;
//! - [`confidence`], [`conformal`]: say how strong the evidence is, and give a calibrated range;
//! - [`refer`]: say when no automated value is offered.
//!
//! The same bits come out on every machine: `+ - * /` and the square root are exact by IEEE 754,
//! logarithm and exponential are libm's own code, and every sum runs in the order of sale ids.
//!
//! Its numbers come from `parameters.json` or, where set, from the file named by the environment
//! variable `DOMESDAY_PARAMETERS`, at build time. `fit` (outside the sandbox) makes such files.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod adjust;
pub mod anchor;
pub mod baked;
#[cfg(not(target_arch = "wasm32"))]
pub mod bounds;
pub mod built;
pub mod confidence;
pub mod conformal;
pub mod derive;
#[cfg(not(target_arch = "wasm32"))]
pub mod document;
pub mod drift;
pub mod estimate;
#[cfg(not(target_arch = "wasm32"))]
pub mod fit;
pub mod gather;
pub mod kind;
pub mod likeness;
mod named;
pub mod own_history;
pub mod parameters;
pub mod refer;
mod release;
pub mod robust;
pub mod sold;
#[cfg(test)]
mod testing;
pub mod time;
pub mod value;
#[cfg(test)]
mod value_properties;
#[cfg(test)]
mod value_tests;

pub use release::{FINGERPRINT, Hedonic, PARAMETERS};

// The fitting program's alone.
#[cfg(not(target_arch = "wasm32"))]
use clap as _;
