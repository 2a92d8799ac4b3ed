//! Submitting a job to the state, and withdrawing it where nobody can find it.
//!
//! Where the state does not answer in time, or after the request ended, the job may be accepted
//! later. A client repeats its submission by its idempotency key and finds the job. Without a key
//! nobody knows the job's id. So it is withdrawn once the state answers, and its units are given
//! back.

use domesday_state::{JOB_RETENTION_MILLIS, Jobs, NewJob, StateError, Submission, TenantId};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// Interval between two attempts to withdraw a job.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time for which a job is to be withdrawn. By then it has expired.
const WITHDRAWAL_TIMEOUT: Duration = Duration::from_millis(JOB_RETENTION_MILLIS.unsigned_abs());

/// Submits a job. Where the outcome of a submission without a key is unknown, it is withdrawn in
/// the background. The caller runs this to its end, also where the client has gone.
///
/// # Errors
/// The error of the state.
pub async fn submit(state: &Arc<dyn Jobs>, job: NewJob) -> Result<Submission, StateError> {
    let nameless = job.idempotency.is_none();
    let (tenant, id) = (job.tenant.clone(), job.id);
    let outcome = state.submit(job).await;
    if nameless && let Err(StateError::Storage { .. }) = &outcome {
        tokio::spawn(withdraw(Arc::clone(state), tenant, id));
    }
    outcome
}

/// Withdraws a job whose id nobody knows, again until the state answers.
pub async fn withdraw(state: Arc<dyn Jobs>, tenant: TenantId, id: Uuid) {
    let withdrawal = async {
        while let Err(error) = state.withdraw(tenant.clone(), id).await {
            tracing::debug!(job_id = %id, %error, "a job is not withdrawn yet");
            sleep(RETRY_INTERVAL).await;
        }
    };
    let withdrawn = timeout(WITHDRAWAL_TIMEOUT, withdrawal).await;
    let tenant = tenant.as_str();
    match withdrawn {
        Ok(()) => tracing::info!(tenant, job_id = %id, "a job that nobody knows of is withdrawn"),
        Err(_) => tracing::error!(
            tenant,
            job_id = %id,
            "a job that nobody knows of is not withdrawn: it may be there and charged"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_store::tests::{NOW, job};
    use domesday_state::{EmbeddedState, Month, Usage as _};
    use std::fs;

    /// The state refuses the first attempts, since its folder is away.
    #[tokio::test]
    async fn a_job_is_withdrawn_as_soon_as_the_state_answers() {
        let place = tempfile::tempdir().unwrap();
        let (data, away) = (place.path().join("data"), place.path().join("away"));
        fs::create_dir(&data).unwrap();
        let state = Arc::new(EmbeddedState::open(&data.join("state.redb")).unwrap());
        let jobs: Arc<dyn Jobs> = state.clone();
        let job = job(&[vec![1], vec![2]]);
        let (tenant, id) = (job.tenant.clone(), job.id);
        let used = || state.used_units(tenant.clone(), Month::of(NOW));
        let submission = submit(&jobs, job).await.unwrap();
        assert!(matches!(submission, Submission::Accepted(_)));
        fs::rename(&data, &away).unwrap();
        let withdrawal = tokio::spawn(withdraw(jobs, tenant.clone(), id));
        sleep(RETRY_INTERVAL / 2).await;
        assert_eq!(used().await.unwrap(), 2);
        assert!(!withdrawal.is_finished());
        fs::rename(&away, &data).unwrap();
        timeout(RETRY_INTERVAL * 10, withdrawal)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(used().await.unwrap(), 0);
        assert_eq!(state.job(tenant, id, NOW).await.unwrap(), None);
    }
}
