//! Gradient-boosted trees for a sandbox.
//!
//! [`lightgbm`] and [`xgboost`] read a trained model into plain trees ([`Ensemble`]). They refuse a
//! model that cannot be represented exactly. [`pack()`] packs the trees into words that are used in
//! place ([`Forest`]), so that a fresh sandbox has nothing to load before its first row.
//!
//! # The layout
//!
//! Once per row, each input is replaced by its rank among its own thresholds. Comparisons of
//! numbers become comparisons of small integers: `x <= t` is `rank(x) <= position of t`, exactly.
//! The same step applies the library's rules for missing values, zeros and categories. A *column*
//! is an input under one such rule, and a set of categories is a column of zeros and ones.
//!
//! A tree is a list of nodes of eight bytes, breadth first, with siblings side by side: `next =
//! left + (column[node] > threshold[node])`. A leaf leads to itself, so trees are walked side by
//! side without a check for arrival. Arrived trees drop out every few steps. Leaves are summed in
//! the order of the trees, as the library sums them.

#![cfg_attr(not(test), deny(unused_crate_dependencies))]

#[cfg(not(target_arch = "wasm32"))]
mod category_names;
#[cfg(not(target_arch = "wasm32"))]
mod detect;
mod ensemble;
mod error;
pub mod lightgbm;
mod pack;
mod packed;
mod transform;
// Builds read models. The sandbox never does.
#[cfg(not(target_arch = "wasm32"))]
pub mod xgboost;

#[cfg(not(target_arch = "wasm32"))]
pub use detect::{read, read_with};
pub use ensemble::{Arithmetic, CategorySet, Child, Ensemble, Missing, Node, Numeric, Split, Tree};
pub use error::ModelError;
pub use pack::{MAX_WORDS, pack};
pub use packed::{Forest, PackedError, Scratch};
pub use transform::Transform;

#[cfg(test)]
extern crate self as domesday_trees;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
