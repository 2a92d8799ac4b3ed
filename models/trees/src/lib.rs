//! Gradient-boosted trees for a sandbox.
//!
//! A trained model is read ([`lightgbm`], [`xgboost`]) into plain trees ([`Ensemble`]), each rule of which is checked:
//! what cannot be represented exactly is refused by name. It is then packed ([`pack()`]) into words that
//! are used where they lie ([`Forest`]), so that a fresh sandbox has nothing to read before its first row.
//!
//! # The layout
//!
//! Each input is replaced once a row by its rank among its own thresholds, so that a comparison of
//! numbers becomes one of small integers: `x <= t` is `rank(x) <= position of t`, exactly. All that a
//! maker does about missing values, zeroes and categories is done in that step too: a *column* is an
//! input under one such rule, and a set of categories is a column of noughts and ones. What is left
//! of a tree is nodes of eight bytes, breadth first, siblings side by side:
//! `next = left + (column[node] > threshold[node])`. A leaf leads to itself, so that trees are walked
//! side by side without asking which has arrived; every few steps those that have drop out. Leaves are summed in
//! the order of the trees, as their maker sums them.

#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod ensemble;
pub mod lightgbm;
#[cfg(not(target_arch = "wasm32"))]
mod maker;
mod pack;
mod packed;
mod refused;
mod transform;
// Models are read where releases are built, never in a sandbox.
#[cfg(not(target_arch = "wasm32"))]
pub mod xgboost;

pub use ensemble::{Arithmetic, Ensemble, Missing, Next, Node, Numeric, Set, Split, Tree};
#[cfg(not(target_arch = "wasm32"))]
pub use maker::read;
pub use pack::pack;
pub use packed::{Forest, PackedError, Scratch};
pub use refused::Refused;
pub use transform::Transform;

#[cfg(test)]
mod testing;
