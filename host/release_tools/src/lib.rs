//! Tools of model teams: make a model's crate, build a release of it, check it, test it on sales
//! that it has not seen, and compare two releases.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod backtest;
pub mod build;
pub mod check;
pub mod compare;
pub mod scaffold;
