//! A release of gradient-boosted trees, made without writing Rust.
//!
//! A team supplies a LightGBM model (text) or an XGBoost model (JSON) and a mapping file. The
//! mapping names the feature of each column ([`features`] lists them) and the meaning of the score.
//! The build checks and embeds both. `domesday_trees` packs the trees so that they are used in
//! place. A valuation is the reference model's ([`domesday_hedonic`]), moved to the trees' estimate
//! ([`mod@valuation`]). Comparables, referrals and confidence stay. The trees may use a second
//! estimate by kriging ([`kriging`]).
//!
//! `parameters.json` holds it all. The environment variable `DOMESDAY_PARAMETERS` names another
//! file at build time. The program `fit`, outside the sandbox, writes such files.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

#[cfg(not(target_arch = "wasm32"))]
pub mod assembly;
pub mod columns;
#[cfg(not(target_arch = "wasm32"))]
pub mod embed_parameters;
#[cfg(not(target_arch = "wasm32"))]
pub mod expected;
pub mod features;
#[cfg(not(target_arch = "wasm32"))]
pub mod fit;
pub mod kriging;
#[cfg(not(target_arch = "wasm32"))]
pub mod mapping;
mod members;
pub mod model;
mod release;
pub mod stack;
// The build script includes the reference model's file under this name too.
#[cfg(not(target_arch = "wasm32"))]
use domesday_hedonic::document;
use domesday_hedonic::parameters;
#[cfg(target_arch = "wasm32")]
mod describe_inputs;
#[cfg(target_arch = "wasm32")]
mod describe_predictions;
/// The reference model's synthetic subjects and evidence.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../hedonic/src/testing.rs"]
mod testing;
pub mod valuation;

pub use release::{COLUMNS, FINGERPRINT, OFFSET, REFERENCE, Release, STACK, TARGET, trees};

// Used by the binary `fit` only.
#[cfg(not(target_arch = "wasm32"))]
use clap as _;
