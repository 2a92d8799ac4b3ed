//! A job as its client sees it.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use uuid::Uuid;

use super::PATH;
use crate::v3::API_VERSION;
use crate::v3::options::Depth;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of a job's rows and the depth of its results.
    pub open enum Mode {
        /// Existing properties, core results.
        Simple = "simple",
        /// Existing properties, with evidence where the options ask for it.
        Standard = "standard",
        /// Proposed properties, with evidence where the options ask for it.
        Development = "development",
    }
}

impl Mode {
    /// Returns how much its results may show.
    #[must_use]
    pub const fn depth(self) -> Depth {
        match self {
            Self::Simple => Depth::Simple,
            Self::Standard | Self::Development => Depth::Standard,
        }
    }
}

vocabulary! {
    /// The status of a job.
    pub open enum JobStatus {
        /// Accepted, and waiting for its turn.
        Queued = "queued",
        /// Being worked on.
        Running = "running",
        /// Every row has its result.
        Completed = "completed",
        /// It could not be finished.
        Failed = "failed",
    }
}

/// Reason for the failure of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = JobError)]
pub struct JobFailure {
    /// The code that programs branch on: `processing_failed`, or rarely `job_expired`.
    pub code: String,
    /// For people.
    pub message: String,
    /// True if a new job of the same rows may succeed.
    pub retryable: bool,
}

/// A job document. It serialises in the contract's form, fields in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDocument {
    /// The job.
    pub job_id: Uuid,
    /// Status of the job.
    pub status: JobStatus,
    /// Its mode.
    pub mode: Mode,
    /// The release that it was submitted under, and stays on.
    pub release_id: String,
    /// Its rows.
    pub request_count: u32,
    /// Time at which the job was accepted.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// From when on it is gone.
    pub expires_at: DateTime<Utc>,
    /// Reason for the failure, if the job failed.
    pub error: Option<JobFailure>,
}

#[derive(Serialize)]
struct Wire<'a> {
    api_version: &'static str,
    job_id: Uuid,
    status: JobStatus,
    mode: Mode,
    release_id: &'a str,
    request_count: u32,
    #[serde(serialize_with = "timestamp")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "timestamp")]
    updated_at: DateTime<Utc>,
    #[serde(serialize_with = "timestamp")]
    expires_at: DateTime<Utc>,
    status_url: String,
    results_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a JobFailure>,
}

impl JobDocument {
    /// Returns the path of the job.
    #[must_use]
    pub fn status_url(&self) -> String {
        format!("{PATH}/{}", self.job_id)
    }
}

impl Serialize for JobDocument {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let status_url = self.status_url();
        Wire {
            api_version: API_VERSION,
            job_id: self.job_id,
            status: self.status,
            mode: self.mode,
            release_id: &self.release_id,
            request_count: self.request_count,
            created_at: self.created_at,
            updated_at: self.updated_at,
            expires_at: self.expires_at,
            results_url: format!("{status_url}/results"),
            status_url,
            error: self.error.as_ref(),
        }
        .serialize(out)
    }
}

/// Serializes a time as ISO 8601 in UTC, to the millisecond: `2026-10-15T09:30:00.000Z`.
fn timestamp<S: Serializer>(at: &DateTime<Utc>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

#[cfg(test)]
pub(super) fn example() -> JobDocument {
    let at = |millis: i64| DateTime::from_timestamp_millis(1_791_000_000_000 + millis).unwrap();
    JobDocument {
        job_id: Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_0000_0001),
        status: JobStatus::Queued,
        mode: Mode::Standard,
        release_id: "made-up-2026-10".to_owned(),
        request_count: 3,
        created_at: at(0),
        updated_at: at(5),
        expires_at: at(7 * 86_400_000),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_job() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&example()).unwrap());
    }

    #[test]
    fn a_failed_job_says_why() {
        let failed = JobDocument {
            status: JobStatus::Failed,
            error: Some(JobFailure {
                code: "release_unavailable".to_owned(),
                message: "The release cannot be opened.".to_owned(),
                retryable: true,
            }),
            ..example()
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&failed).unwrap());
    }
}
