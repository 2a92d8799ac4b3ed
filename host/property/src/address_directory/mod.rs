//! The address directory: a file of addresses that people search as they type.
//!
//! A snapshot keeps no address in words, so a search needs a separate file. It is made of files
//! whose licence lets the operator show their addresses ([`build`]). It is not part of a release
//! and has no effect on a value.
//!
//! `tables` has the tables, `query` reads what a person typed, `directory` answers it, and `build`
//! writes the file.

mod build;
mod directory;
mod query;
mod tables;
#[cfg(test)]
mod tests;

pub use build::{DirectoryInputs, DirectoryReport, build};
pub use directory::{AddressDirectory, is_searchable};
pub use tables::{DirectoryError, FoundAddress};
