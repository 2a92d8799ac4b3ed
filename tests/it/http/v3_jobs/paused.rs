//! New jobs are paused and resumed; the jobs that exist go on and stay readable.

use crate::common::program::run;
use crate::common::server::Server;
use crate::v3_jobs::{JOBS, accepted_job, await_completed, await_results, houses, job_of};
use serde_json::json;

fn order(server: &Server, order: &str) {
    let data = server.data.display().to_string();
    run(["jobs", order, "--data", &data]).ok();
}

#[test]
fn paused_submissions_are_refused_and_everything_else_goes_on() {
    let server = crate::v3_jobs::start().go();
    let client = server.demo();
    let known = json!({"idempotency_key": "known", "requests": houses(70)});
    let job = accepted_job(&client.post(JOBS, &known));
    order(&server, "pause");

    let new = json!({"idempotency_key": "new", "requests": houses(1)});
    for body in [&new, &job_of(&houses(1))] {
        let refused = client.post(JOBS, body);
        assert_eq!(
            refused.refusal(),
            (503, "job_admission_paused".to_owned(), None)
        );
        assert_eq!(refused.json()["error"]["retryable"], true);
        assert!(refused.header("retry-after").is_some());
    }
    // Everything but a new submission is answered as before.
    assert_eq!(
        client.post(JOBS, &job_of(&[])).refusal().1,
        "empty_requests"
    );
    assert_eq!(
        accepted_job(&client.post(JOBS, &known))["job_id"],
        job["job_id"]
    );
    let other = json!({"idempotency_key": "known", "requests": houses(1)});
    assert_eq!(
        client.post(JOBS, &other).refusal().1,
        "idempotency_conflict"
    );
    assert_eq!(
        await_results(&client, &job)["result"]["summary"]["valued"],
        70
    );
    client.get(job["status_url"].as_str().unwrap()).ok();

    order(&server, "resume");
    // The refused submission left nothing behind: it makes its job now.
    assert_ne!(
        accepted_job(&client.post(JOBS, &new))["job_id"],
        job["job_id"]
    );
    await_completed(&client, &job_of(&houses(1)));
}
