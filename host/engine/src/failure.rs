//! Classification of failed rows: an error of the guest or a failure of the host.

use crate::outcome::RowFailure;
use crate::row_state::{HostError, LimitReached};
use crate::wasi::MAX_HANDLES;
use wasmtime::{Error, PoolConcurrencyLimitError, Trap};
use wasmtime_wasi::{I32Exit, ResourceTableError};

/// Classifies an error of the sandbox. A failure of the guest is final and the same on every
/// machine. A failure of the host may be retried. None where the error alone does not say.
pub(crate) fn classify(error: &Error, fuel: u64) -> Option<RowFailure> {
    if let Some(limit) = error.downcast_ref::<LimitReached>() {
        return Some(RowFailure::LimitReached {
            what: limit.what.to_owned(),
            limit: limit.limit as u64,
        });
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref::<ResourceTableError>() {
        return Some(RowFailure::LimitReached {
            what: "handles of WASI".to_owned(),
            limit: MAX_HANDLES as u64,
        });
    }
    if let Some(host_error) = error.downcast_ref::<HostError>() {
        return Some(host(host_error));
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return Some(host("all of the sandbox's slots are taken"));
    }
    if let Some(I32Exit(status)) = error.downcast_ref::<I32Exit>() {
        return Some(RowFailure::Trapped {
            trap: format!("it ended its own program with status {status}"),
        });
    }
    Some(match error.downcast_ref::<Trap>()? {
        Trap::OutOfFuel => RowFailure::FuelSpent { fuel },
        Trap::Interrupt => RowFailure::OutOfTime,
        // The depth of the native stack depends on the compiler's frames, so it is the host's. A
        // release whose rows come near it is refused when it is checked.
        Trap::StackOverflow => host("the native stack ran out"),
        trap => RowFailure::Trapped {
            trap: trap.to_string(),
        },
    })
}

/// Returns the failure of a row without a sandbox: memory was not available, or could not be
/// mapped.
pub(crate) fn sandbox_failure(error: &Error) -> RowFailure {
    host(format!("no sandbox could be made ready: {error:#}"))
}

/// Returns the failure of a row whose answer cannot be read: a bad pointer, an unknown case, too
/// much data.
pub(crate) fn unreadable_outcome(error: &Error) -> RowFailure {
    RowFailure::InvalidOutcome {
        field: "outcome".to_owned(),
        problem: format!("cannot be read: {}", error.root_cause()),
    }
}

fn host(problem: impl ToString) -> RowFailure {
    RowFailure::Host {
        problem: problem.to_string(),
    }
}
