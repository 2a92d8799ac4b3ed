//! The tests that rules name.

use anyhow::{Context, Result};

/// The suite of the embedded store, which rules name without its crate, and its file.
const STORE: (&str, &str) = ("embedded", "host/state/src/tests/embedded.rs");

/// A test, by how a rule names it.
pub enum TestName<'a> {
    /// `suite::module::test`.
    Suite {
        /// The suite.
        suite: &'a str,
        /// Its test.
        test: &'a str,
    },
    /// `folder/src/file.rs::test`, a unit test, or `embedded::module::test`.
    Unit {
        /// The file, from the root of the tree.
        file: &'a str,
        /// Its test.
        test: &'a str,
    },
}

impl<'a> TestName<'a> {
    /// Parses the name of a test.
    ///
    /// # Errors
    /// The text names no test.
    pub fn of(test: &'a str) -> Result<TestName<'a>> {
        let context = || format!("{test} names no test");
        let (place, rest) = test.split_once("::").with_context(context)?;
        let (store, file) = STORE;
        Ok(if place == store {
            TestName::Unit { file, test }
        } else if place.contains('/') {
            TestName::Unit {
                file: place,
                test: rest,
            }
        } else {
            TestName::Suite {
                suite: place,
                test: rest,
            }
        })
    }
}
