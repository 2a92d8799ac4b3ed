//! The sizes of results, and the largest response.

use super::{Outcome, ValuationResult};
use crate::error::ValidationError;
use uuid::Uuid;

/// The largest answer of a valuing route, bytes before any compression in transport.
pub const RESPONSE_MAX: usize = 9_500_000;

/// Returns the exact number of bytes of the result of a row that is rejected for these errors.
/// Without an error it is fewer than any result has.
#[must_use]
pub fn rejection_size(
    release_id: &str,
    request_reference: Option<&str>,
    errors: &[ValidationError],
) -> usize {
    let result = ValuationResult {
        release_id,
        execution_id: Uuid::nil(),
        valuation_id: Uuid::nil(),
        request_reference,
        outcome: Outcome::Rejected(errors.to_vec()),
    };
    json_len(&result)
}

/// Returns a bound of the bytes that a reference adds to a result. It reads no text.
#[must_use]
pub const fn reference_size_bound(request_reference: Option<&str>) -> usize {
    const FIELD: &str = r#","request_reference":"""#;
    match request_reference {
        // A control character takes six bytes, and nothing takes more.
        Some(reference) => FIELD.len() + 6 * reference.len(),
        None => 0,
    }
}

/// Bytes of a value as JSON.
fn json_len<T: serde::Serialize>(value: &T) -> usize {
    struct ByteCounter(usize);
    impl std::io::Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = ByteCounter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // A result that cannot be serialised is never sent.
        Err(_) => 0,
    }
}

#[cfg(test)]
#[path = "result_size_tests.rs"]
mod tests;
