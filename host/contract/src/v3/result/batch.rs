//! The envelope that a batch's results stand in.

use serde::Serialize;
use utoipa::ToSchema;

use super::Status;
use crate::v3::API_VERSION;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The outcome of a batch as a whole.
    pub open enum BatchStatus {
        /// Every row is valued or referred.
        Completed = "completed",
        /// Some rows are valued or referred, and some are not.
        Partial = "partial",
        /// No row is valued or referred.
        Failed = "failed",
    }
}

/// Results by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Summary {
    /// Rows of the request.
    pub requested: u32,
    /// Rows valued.
    pub valued: u32,
    /// Rows referred.
    pub referred: u32,
    /// Rows rejected.
    pub rejected: u32,
    /// Rows whose valuation failed.
    pub valuation_failed: u32,
}

impl Summary {
    /// Counts one more result.
    pub const fn count(&mut self, status: Status) {
        self.requested += 1;
        match status {
            Status::Valued => self.valued += 1,
            Status::Referred => self.referred += 1,
            Status::Rejected => self.rejected += 1,
            Status::ValuationFailed => self.valuation_failed += 1,
        }
    }

    /// Counts the results of another part of the same batch.
    pub const fn add(&mut self, other: Self) {
        self.requested += other.requested;
        self.valued += other.valued;
        self.referred += other.referred;
        self.rejected += other.rejected;
        self.valuation_failed += other.valuation_failed;
    }

    /// Returns the word for the whole.
    #[must_use]
    pub const fn status(&self) -> BatchStatus {
        match (
            self.valued + self.referred,
            self.rejected + self.valuation_failed,
        ) {
            (_, 0) => BatchStatus::Completed,
            (0, _) => BatchStatus::Failed,
            _ => BatchStatus::Partial,
        }
    }
}

#[derive(Serialize)]
struct Head<'a> {
    api_version: &'static str,
    release_id: &'a str,
    status: BatchStatus,
    summary: Summary,
}

/// Returns the envelope's text up to its first result. Results follow as JSON with commas between
/// them, and then [`BATCH_END`]. So each can be written as soon as it is made, and streamed.
///
/// # Errors
/// None that this shape can cause.
pub fn batch_start(release_id: &str, summary: Summary) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = serde_json::to_vec(&Head {
        api_version: API_VERSION,
        release_id,
        status: summary.status(),
        summary,
    })?;
    text.pop();
    text.extend_from_slice(br#","results":["#);
    Ok(text)
}

/// The bytes that close the envelope after its last result.
pub const BATCH_END: &[u8] = b"]}";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Vocabulary;

    fn summary(valued: u32, referred: u32, rejected: u32, valuation_failed: u32) -> Summary {
        Summary {
            requested: valued + referred + rejected + valuation_failed,
            valued,
            referred,
            rejected,
            valuation_failed,
        }
    }

    #[test]
    fn the_status_says_whether_all_some_or_none_have_an_answer() {
        for (summary, status) in [
            (summary(3, 0, 0, 0), BatchStatus::Completed),
            (summary(0, 3, 0, 0), BatchStatus::Completed),
            (summary(1, 1, 0, 0), BatchStatus::Completed),
            (summary(1, 0, 1, 0), BatchStatus::Partial),
            (summary(0, 1, 0, 1), BatchStatus::Partial),
            (summary(0, 0, 3, 0), BatchStatus::Failed),
            (summary(0, 0, 0, 3), BatchStatus::Failed),
            (summary(0, 0, 1, 1), BatchStatus::Failed),
        ] {
            assert_eq!(summary.status(), status, "{summary:?}");
        }
    }

    #[test]
    fn the_envelope_is_written_in_the_contracts_order() {
        let mut text = batch_start("synthetic-1", summary(1, 0, 1, 0)).unwrap();
        text.extend_from_slice(b"{},{}");
        text.extend_from_slice(BATCH_END);
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r#"{"api_version":"v3","release_id":"synthetic-1","status":"partial","summary":{"requested":2,"valued":1,"referred":0,"rejected":1,"valuation_failed":0},"results":[{},{}]}"#);
    }

    #[test]
    fn parts_add_up() {
        let mut whole = Summary::default();
        for status in Status::ALL {
            whole.count(*status);
        }
        assert_eq!(whole, summary(1, 1, 1, 1));
        whole.add(summary(1, 2, 3, 4));
        assert_eq!(whole, summary(2, 3, 4, 5));
    }
}
