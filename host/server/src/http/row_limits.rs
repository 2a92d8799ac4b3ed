//! The most rows that a caller may send.

use domesday_contract::v3::release::Limits;
use domesday_package::RowLimits;
use domesday_state::Plan;

/// Returns the lower of the release's limit and the plan's, for a batch and for a job.
pub(super) fn row_limits(release: &RowLimits, plan: &Plan) -> Limits {
    Limits {
        synchronous_batch_rows: release
            .synchronous_batch_rows
            .min(plan.synchronous_batch_rows),
        asynchronous_job_rows: release
            .asynchronous_job_rows
            .min(plan.asynchronous_job_rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_the_lower_of_the_releases_and_the_plans() {
        let release = RowLimits {
            synchronous_batch_rows: 20,
            asynchronous_job_rows: 200,
        };
        for (batch, job, expected) in [
            (10, 100, (10, 100)),
            (20, 200, (20, 200)),
            (30, 300, (20, 200)),
            (10, 300, (10, 200)),
            (30, 100, (20, 100)),
        ] {
            let plan = Plan {
                synchronous_batch_rows: batch,
                asynchronous_job_rows: job,
                ..Plan::default()
            };
            let limits = row_limits(&release, &plan);
            let found = (limits.synchronous_batch_rows, limits.asynchronous_job_rows);
            assert_eq!(found, expected);
        }
    }
}
