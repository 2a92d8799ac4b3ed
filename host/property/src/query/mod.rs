//! The questions: one concern a file, each an `impl` block of [`crate::Snapshot`].

mod best;
pub mod book;
pub(crate) mod border;
pub(crate) mod cells;
pub(crate) mod export;
mod index;
mod market;
mod nearby;
mod own;
mod resolve;
