//! Executes the documents.
//!
//! A document that is never executed becomes wrong. A test types the commands of each page of
//! `docs/` and of the README in order. It runs the program under test in a separate folder
//! ([`session`]). It compares their output with the page's ([`expected`]). Names on a page must
//! exist: files and words ([`vocabulary`]), the program's commands and flags ([`program`]), cargo's
//! ([`cargo`]), scripts ([`scripts`]), other pages ([`links`]).
//!
//! This crate knows pages and shells and nothing of the service. `tests/documents.rs` is the suite
//! that hands it the pages and the program.
#![allow(
    clippy::expect_used,
    reason = "patterns are literals, and a test ends where something unexpected happens"
)]

pub mod cargo;
mod checkout;
pub mod command_line;
pub mod expected;
pub mod links;
pub mod mask;
pub mod page;
pub mod program;
pub mod scripts;
pub mod session;
pub mod vocabulary;

/// A fault of a page, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{page}:{line}: {what}")]
pub struct Problem {
    /// The page, as a path from the repository's root.
    pub page: String,
    /// A line of it, from 1.
    pub line: usize,
    /// The fault, and the remedy.
    pub what: String,
}
