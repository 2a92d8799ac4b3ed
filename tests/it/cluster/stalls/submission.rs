//! A submission that ends with an error, because its storage stalls. Its job may be accepted later.
//! Without an idempotency key nobody knows the id of the job.

use crate::common::demo::house;
use crate::common::server::Server;
use crate::crash::harness::World;
use crate::stalls::report::settled;
use serde_json::{Value, json};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The time after which the state gives up. An earlier error would be that of a host that noticed
/// the stall before.
pub const STATE_GIVES_UP: Range<Duration> = Duration::from_secs(9)..Duration::from_secs(20);
/// The time after which a host gives up whose deadline is [`DEADLINE`].
pub const DEADLINE_PASSES: Range<Duration> = Duration::from_millis(1_400)..Duration::from_secs(5);
/// The arguments of a host with a deadline of a second.
pub const DEADLINE: [&str; 2] = ["--processing-deadline", "1000"];
/// Time in which a job that stayed would have been accepted and worked off.
const LATER: Duration = Duration::from_secs(4);

/// Submits a job while the storage is frozen. Asserts that it is refused after this time, and costs
/// nothing in the end.
pub fn assert_withdrawn(
    world: &World,
    server: &Server,
    key: &str,
    freeze: &dyn Fn(bool),
    refused_after: Range<Duration>,
) {
    let client = server.client(key);
    let job = json!({"requests": [house()]});
    assert_eq!(client.post("/v3/valuation-jobs", &job).status, 202);
    let data = world.data(0);
    settled(&data, "jobs", 1, Instant::now());
    freeze(true);
    let began = Instant::now();
    let refused = client.post("/v3/valuation-jobs", &job);
    let took = began.elapsed();
    freeze(false);
    let thawed = Instant::now();
    assert_eq!(
        (refused.status, refused.refusal().1),
        (503, "overloaded".to_owned())
    );
    let is_in_time = refused_after.contains(&took);
    assert!(is_in_time, "refused after {took:?}: {refused:?}");
    std::thread::sleep(LATER);
    let exact = settled(&data, "jobs", 1, thawed);
    println!("refused after {took:.1?}, units exact after {exact:.1?}");
    std::thread::sleep(LATER);
    settled(&data, "jobs", 1, Instant::now());
    // The next job of the tenant is one of two.
    assert_eq!(client.post("/v3/valuation-jobs", &job).status, 202);
    settled(&data, "jobs", 2, Instant::now());
}

/// Submits a job with an idempotency key to a host whose deadline is [`DEADLINE`], while the
/// storage is frozen. Asserts that the log names the job that is accepted after its request has
/// ended.
pub fn assert_logged(server: &Server, key: &str, freeze: &dyn Fn(bool)) {
    let client = server.client(key);
    freeze(true);
    let job = json!({"idempotency_key": "late", "requests": [house()]});
    let refused = client.post("/v3/valuation-jobs", &job);
    freeze(false);
    assert_eq!(refused.status, 503, "{refused:?}");
    let request = refused.header("x-service-request-id").unwrap();
    let is_accepted = |line: &Value| line["message"] == "job accepted";
    let line = server.await_log(|line| is_accepted(line) && line["request_id"] == request);
    assert_eq!(line["new"], true, "{line}");
    std::thread::sleep(LATER);
    let known = client.post("/v3/valuation-jobs", &job);
    assert_eq!(known.json()["job_id"], line["job_id"], "{known:?}");
}
