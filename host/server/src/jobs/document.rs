//! The document of a job for its client, from the record in the state.

use chrono::{DateTime, Utc};
use domesday_contract::v3::job::{JobDocument, JobFailure, JobStatus, Mode};
use domesday_contract::v3::result::Summary;
use domesday_state as state;
use domesday_state::{Job, Tally, UnixMillis};

/// Builds the job document.
pub fn document(job: &Job) -> JobDocument {
    JobDocument {
        job_id: job.id,
        status: match job.status {
            state::JobStatus::Queued => JobStatus::Queued,
            state::JobStatus::Running => JobStatus::Running,
            state::JobStatus::Completed => JobStatus::Completed,
            state::JobStatus::Failed => JobStatus::Failed,
        },
        mode: mode(job.mode),
        release_id: job.release_id.clone(),
        request_count: job.request_count,
        created_at: utc(job.created_at),
        updated_at: utc(job.updated_at),
        expires_at: utc(job.expires_at),
        error: job.error.as_ref().map(|error| JobFailure {
            code: error.code.clone(),
            message: error.message.clone(),
            retryable: error.retryable,
        }),
    }
}

/// Counts the results by status.
pub fn summary(tally: Tally) -> Summary {
    let Tally {
        valued,
        referred,
        rejected,
        valuation_failed,
    } = tally;
    Summary {
        requested: valued + referred + rejected + valuation_failed,
        valued,
        referred,
        rejected,
        valuation_failed,
    }
}

/// Converts a mode of the state to that of the contract.
pub fn mode(mode: state::JobMode) -> Mode {
    match mode {
        state::JobMode::Simple => Mode::Simple,
        state::JobMode::Standard => Mode::Standard,
        state::JobMode::Development => Mode::Development,
    }
}

/// Converts a mode of the contract to that of the state.
pub fn state_mode(mode: Mode) -> state::JobMode {
    match mode {
        Mode::Simple => state::JobMode::Simple,
        Mode::Standard => state::JobMode::Standard,
        Mode::Development => state::JobMode::Development,
    }
}

fn utc(at: UnixMillis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at.0).unwrap_or_default()
}
