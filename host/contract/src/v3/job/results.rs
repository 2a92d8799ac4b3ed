//! The results of a job that has ended.

use serde::Serialize;
use uuid::Uuid;

use super::{JobDocument, JobFailure, JobStatus};
use crate::v3::API_VERSION;
use crate::v3::result::{Summary, batch_start};

/// The first members of the results of every ended job.
#[derive(Serialize)]
struct Head<'a> {
    api_version: &'static str,
    job_id: Uuid,
    status: JobStatus,
    release_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a JobFailure>,
}

fn head(job: &JobDocument) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Head {
        api_version: API_VERSION,
        job_id: job.job_id,
        status: job.status,
        release_id: &job.release_id,
        error: job.error.as_ref(),
    })
}

/// Returns the text of a completed job's results up to the first result. The results follow as JSON
/// with commas between them, then [`RESULTS_END`]. So they are streamed from the store.
///
/// # Errors
/// None that this shape can cause.
pub fn results_start(job: &JobDocument, summary: Summary) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = head(job)?;
    text.pop();
    text.extend_from_slice(br#","result":"#);
    text.extend(batch_start(&job.release_id, summary)?);
    Ok(text)
}

/// The end of a completed job's results.
pub const RESULTS_END: &[u8] = b"]}}";

/// Returns the whole response for a failed job: its error, and no `result`.
///
/// # Errors
/// None that this shape can cause.
pub fn failed_results(job: &JobDocument) -> Result<Vec<u8>, serde_json::Error> {
    head(job)
}

#[cfg(test)]
mod tests {
    use super::super::document::example;
    use super::*;

    #[test]
    fn completed_results_hold_the_batch_envelope() {
        let job = JobDocument {
            status: JobStatus::Completed,
            ..example()
        };
        let summary = Summary {
            requested: 2,
            valued: 1,
            rejected: 1,
            ..Summary::default()
        };
        let mut text = results_start(&job, summary).unwrap();
        text.extend_from_slice(b"{},{}");
        text.extend_from_slice(RESULTS_END);
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r#"{"api_version":"v3","job_id":"01990000-0000-7000-8000-000000000001","status":"completed","release_id":"made-up-2026-10","result":{"api_version":"v3","release_id":"made-up-2026-10","status":"partial","summary":{"requested":2,"valued":1,"referred":0,"rejected":1,"valuation_failed":0},"results":[{},{}]}}"#);
    }

    #[test]
    fn failed_results_have_an_error_and_no_result() {
        let job = JobDocument {
            status: JobStatus::Failed,
            error: Some(JobFailure {
                code: "processing_failed".to_owned(),
                message: "It could not be finished.".to_owned(),
                retryable: false,
            }),
            ..example()
        };
        let text = failed_results(&job).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r#"{"api_version":"v3","job_id":"01990000-0000-7000-8000-000000000001","status":"failed","release_id":"made-up-2026-10","error":{"code":"processing_failed","message":"It could not be finished.","retryable":false}}"#);
    }
}
