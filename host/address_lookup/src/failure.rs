//! The failures of a lookup.

use std::time::Duration;

/// The reason why one request failed. It contains nothing of the key, the URL or the body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The connection failed.
    #[error("cannot connect")]
    Unreachable,
    /// The connection ended before the response did.
    #[error("connection closed before the end of the response")]
    Closed,
    /// The response was not complete in time.
    #[error("timed out")]
    TimedOut,
    /// 429.
    #[error("rate limited (429)")]
    Limited {
        /// The `Retry-After` of the response.
        after: Option<Duration>,
    },
    /// 5xx.
    #[error("server error ({status})")]
    ServerError {
        /// The status.
        status: u16,
        /// The `Retry-After` of the response.
        after: Option<Duration>,
    },
    /// 401 or 403.
    #[error("key rejected ({status}); check --address-key-file")]
    KeyRejected {
        /// The status.
        status: u16,
    },
    /// Any other status than 200.
    #[error("request rejected ({status})")]
    RequestRejected {
        /// The status.
        status: u16,
    },
    /// The response is longer than the bound.
    #[error("response exceeds the size limit")]
    TooLarge,
    /// The response does not have the expected form.
    #[error("invalid response: {0}")]
    Unreadable(&'static str),
    /// A result of the response lacks a part.
    #[error("invalid result: {0}")]
    Incomplete(&'static str),
    /// The response has more addresses than any postcode.
    #[error("postcode has more addresses than the limit")]
    TooMany,
    /// No request was made, because the breaker is open.
    #[error("not called: the circuit breaker is open after failures")]
    BreakerOpen {
        /// The time until the next request.
        after: Duration,
    },
}

impl Failure {
    /// Returns whether an immediate retry may succeed.
    ///
    /// A slow request is not retried: its time is used up, and the provider is busy.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Failure::Unreachable
                | Failure::Closed
                | Failure::Limited { .. }
                | Failure::ServerError { .. }
        )
    }

    /// Returns whether the failure shows ill health of the provider.
    ///
    /// A failure of one particular query does not count: a customer's choice of query must not
    /// close the provider to others.
    pub(crate) fn is_ill(&self) -> bool {
        !matches!(
            self,
            Failure::RequestRejected { .. }
                | Failure::TooLarge
                | Failure::Incomplete(_)
                | Failure::TooMany
                | Failure::BreakerOpen { .. }
        )
    }

    /// Returns the `Retry-After` of the response.
    pub(crate) fn after(&self) -> Option<Duration> {
        match self {
            Failure::Limited { after } | Failure::ServerError { after, .. } => *after,
            Failure::BreakerOpen { after } => Some(*after),
            _ => None,
        }
    }

    /// Returns the label of the failure in metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Failure::Unreachable => "unreachable",
            Failure::Closed => "closed",
            Failure::TimedOut => "timed_out",
            Failure::Limited { .. } => "limited",
            Failure::ServerError { .. } => "broken",
            Failure::KeyRejected { .. } => "key_refused",
            Failure::RequestRejected { .. } => "question_refused",
            Failure::TooLarge => "too_large",
            Failure::Unreadable(_) => "unreadable",
            Failure::Incomplete(_) => "incomplete",
            Failure::TooMany => "too_many",
            Failure::BreakerOpen { .. } => "not_asked",
        }
    }
}

/// A failed lookup of a postcode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("address lookup failed: {why}")]
pub struct Unavailable {
    /// The reason.
    pub why: Failure,
    /// The time until a retry is useful, where it is known.
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

impl Unavailable {
    /// Returns the same failure with a wait of at most `longest`. The provider may demand any wait,
    /// which responses to customers repeat.
    pub(crate) fn with_wait_of_at_most(mut self, longest: Duration) -> Unavailable {
        self.retry_after = self.retry_after.map(|wait| wait.min(longest));
        self
    }
}
