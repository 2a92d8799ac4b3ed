//! A mutation to prove.

use crate::rules::Rule;

/// One mutation of one rule.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The mutation's name.
    pub mutation: &'a str,
}

impl<'a> Task<'a> {
    /// Returns the patch's name, or nothing for a wire mutation.
    pub fn patch(&self) -> Option<&'a str> {
        self.mutation.strip_prefix("patch:")
    }

    /// Returns the rule's own test.
    pub fn test(&self) -> &'a str {
        &self.rule.tests[0]
    }
}
