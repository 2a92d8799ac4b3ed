//! Why the provider gave no answer.

use std::time::Duration;

/// Why one request gave no answer that can be used. Nothing of the key, the address or the body
/// is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No connection.
    #[error("no connection could be made")]
    Unreachable,
    /// The connection ended before the answer did.
    #[error("the connection ended before the answer did")]
    Closed,
    /// No whole answer in time.
    #[error("there was no whole answer in time")]
    TimedOut,
    /// 429.
    #[error("it takes no more requests at present (429)")]
    Limited {
        /// How long it wishes to be left alone.
        after: Option<Duration>,
    },
    /// 5xx.
    #[error("it failed ({status})")]
    Broken {
        /// The status.
        status: u16,
        /// How long it wishes to be left alone.
        after: Option<Duration>,
    },
    /// 401 or 403.
    #[error("it does not take the key ({status})")]
    KeyRefused {
        /// The status.
        status: u16,
    },
    /// Any other status than 200.
    #[error("it does not take the question ({status})")]
    QuestionRefused {
        /// The status.
        status: u16,
    },
    /// The answer is longer than any that is expected.
    #[error("the answer is larger than is read")]
    TooLarge,
    /// The answer is not what such an answer is.
    #[error("the answer cannot be read: {0}")]
    Unreadable(&'static str),
    /// More addresses than any postcode has.
    #[error("it lists more addresses than are read of one postcode")]
    TooMany,
    /// It was not asked, since it failed before.
    #[error("it is not asked for now, since it failed before")]
    NotAsked {
        /// When it will be.
        after: Duration,
    },
}

impl Failure {
    /// Whether the same request may do better a moment later. One that was slow is not made again: it
    /// has had its time, and the provider has enough to do.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Failure::Unreachable
                | Failure::Closed
                | Failure::Limited { .. }
                | Failure::Broken { .. }
        )
    }

    /// Whether it says something of the provider's health, rather than of this one question: what a
    /// customer chose to ask must not close the provider to others.
    pub(crate) fn is_ill(&self) -> bool {
        !matches!(
            self,
            Failure::QuestionRefused { .. }
                | Failure::TooLarge
                | Failure::TooMany
                | Failure::NotAsked { .. }
        )
    }

    /// How long it wishes to be left alone.
    pub(crate) fn after(&self) -> Option<Duration> {
        match self {
            Failure::Limited { after } | Failure::Broken { after, .. } => *after,
            Failure::NotAsked { after } => Some(*after),
            _ => None,
        }
    }

    /// Its name among the metrics' labels.
    pub fn label(&self) -> &'static str {
        match self {
            Failure::Unreachable => "unreachable",
            Failure::Closed => "closed",
            Failure::TimedOut => "timed_out",
            Failure::Limited { .. } => "limited",
            Failure::Broken { .. } => "broken",
            Failure::KeyRefused { .. } => "key_refused",
            Failure::QuestionRefused { .. } => "question_refused",
            Failure::TooLarge => "too_large",
            Failure::Unreadable(_) => "unreadable",
            Failure::TooMany => "too_many",
            Failure::NotAsked { .. } => "not_asked",
        }
    }
}

/// The provider could not say which homes a postcode has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the identity provider gave no answer: {why}")]
pub struct Unavailable {
    /// Why.
    pub why: Failure,
    /// After which time it is worth asking again, where that is known.
    pub retry_after: Option<Duration>,
}

impl From<Failure> for Unavailable {
    fn from(why: Failure) -> Self {
        Unavailable {
            retry_after: why.after(),
            why,
        }
    }
}
