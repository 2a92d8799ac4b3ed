//! Tests of the layout of the workspace. [`crates`] says which crate may use which. No file of a
//! crate imports in a circle ([`imports`], [`circles`]), and no crate is too large ([`sizes`]). The
//! product holds no hook for tests ([`hooks`]). The set-up looks for the programs that tests start
//! ([`programs`]). Doc comments of functions begin with a verb ([`doc_comments`]). The name of a
//! function is a verb or a noun phrase ([`function_names`]). The text of an error says what failed
//! ([`error_texts`]). Files of tests are named so, and use their crate as others do
//! ([`test_files`]). No text has a word of the list ([`words`]). [`walk`] lists the files of a
//! folder.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic))]

pub mod circles;
pub mod crates;
pub mod doc_comments;
pub mod error_texts;
pub mod function_names;
pub mod hooks;
pub mod imports;
pub mod programs;
pub mod sizes;
pub mod test_files;
pub mod walk;
pub mod words;

use std::path::PathBuf;

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
