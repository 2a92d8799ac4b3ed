//! The result of a mutation.

use crate::task::Task;
use std::fmt;

/// The result of a rule's own test under a mutation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The test ran and failed, as it must.
    Red,
    /// The test passed.
    Survived,
    /// The server did not start, so the test said nothing of the rule.
    NoServer,
    /// The test neither passed nor failed in time.
    NoResult,
    /// The mutated tree does not build.
    NoBuild,
}

impl Verdict {
    /// All of them.
    const ALL: [Verdict; 5] = [
        Verdict::Red,
        Verdict::Survived,
        Verdict::NoServer,
        Verdict::NoResult,
        Verdict::NoBuild,
    ];

    /// Returns the word for the verdict.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Red => "red",
            Verdict::Survived => "SURVIVED",
            Verdict::NoServer => "NO SERVER",
            Verdict::NoResult => "NO RESULT",
            Verdict::NoBuild => "NO BUILD",
        }
    }

    /// Returns the verdict of this word.
    pub fn of(word: &str) -> Option<Verdict> {
        Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.word() == word)
    }
}

/// A mutation of a rule, and its result.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The rule's id.
    pub rule: String,
    /// The mutation's name.
    pub mutation: String,
    /// The result of the rule's own test.
    pub verdict: Verdict,
    /// The duration, in seconds.
    pub seconds: f64,
}

impl Proof {
    /// Reports whether it is the proof of this task.
    pub fn is_of(&self, task: &Task<'_>) -> bool {
        self.rule == task.rule.id && self.mutation == task.mutation
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<9} {:<36} {:<40} {:>6.1}",
            self.verdict.word(),
            self.rule,
            self.mutation,
            self.seconds
        )
    }
}
