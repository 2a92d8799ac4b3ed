//! A release of gradient-boosted trees that were trained elsewhere, made without writing Rust.
//!
//! A team brings a model of LightGBM (text) or XGBoost (JSON) and a mapping file, which says what fills each of the model's columns
//! ([`features`] is the list to choose from) and what the trees' answer is. Both are checked and baked in when the
//! release is built: `domesday_trees` packs the trees so that they are used where they lie. A valuation
//! is the reference model's ([`domesday_hedonic`]), whose comparables, referrals and measure of certainty are kept,
//! moved to where the trees say ([`mod@value`]). A second estimate, by kriging, may be among what they are given ([`kriging`]).
//!
//! `parameters.json`, or the file that `DOMESDAY_PARAMETERS` names at build time, holds it all. `fit` (outside the sandbox)
//! makes such files.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

#[cfg(not(target_arch = "wasm32"))]
pub mod assembly;
#[cfg(not(target_arch = "wasm32"))]
pub mod baking;
pub mod columns;
pub mod features;
#[cfg(not(target_arch = "wasm32"))]
pub mod fit;
pub mod kriging;
#[cfg(not(target_arch = "wasm32"))]
pub mod mapping;
mod release;
// The build script has the reference model's file under this name too.
#[cfg(not(target_arch = "wasm32"))]
use domesday_hedonic::document;
#[cfg(target_arch = "wasm32")]
mod shown;
/// The reference model's made-up subjects and evidence.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../hedonic/src/testing.rs"]
mod testing;
pub mod value;

pub use release::{COLUMNS, FINGERPRINT, OFFSET, REFERENCE, Release, TARGET, trees};

// The fitting program's alone.
#[cfg(not(target_arch = "wasm32"))]
use clap as _;
