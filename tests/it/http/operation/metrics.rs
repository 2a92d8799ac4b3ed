//! The metrics page.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::metrics::{metric, metrics_client};
use crate::common::server::{Server, start};
use crate::v3_contract::deadline::{endless, spinning};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Starts a server with these arguments, and returns it with a client of its metrics listener.
pub(crate) fn serve_with(arguments: &[&str]) -> (Server, Client) {
    let server = start()
        .with(&["--metrics-listen", "127.0.0.1:0"])
        .with(arguments)
        .go();
    let metrics = metrics_client(&server);
    (server, metrics)
}

#[test]
fn requests_and_values_are_counted_under_labels_that_no_client_chooses() {
    let (server, metrics) = serve_with(&[]);
    let client = server.demo();
    assert_eq!(client.post("/v3/value", &house()).status, 200);
    assert_eq!(client.post("/v3/value", &house()).status, 200);
    assert_eq!(client.with_key("x").get("/v3/coverage").status, 401);
    for number in 0..50 {
        client.get(&format!("/nowhere/{number}"));
    }
    let page = metrics.get("/metrics");
    assert_eq!(page.status, 200);
    assert!(
        page.header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text")
    );
    let page = page.text;
    for line in [
        r#"domesday_requests_total{route="/v3/value",status="200",code="none"} 2"#,
        r#"domesday_requests_total{route="/v3/coverage",status="401",code="invalid_credential"} 1"#,
        r#"domesday_requests_total{route="none",status="404",code="route_not_found"} 50"#,
        r#"domesday_request_seconds_count{route="/v3/value"} 2"#,
        &format!(r#"domesday_values_total{{status="valued",release="{RELEASE}"}} 2"#),
        &format!(r#"domesday_current_release_info{{kind="valuation",release="{RELEASE}"}} 1"#),
        "domesday_log_lines_dropped_total 0",
        "domesday_ready 1",
        "domesday_request_slots_limit 1024",
        "# EOF",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    assert!(
        !page.contains("nowhere") && !page.contains("demo\""),
        "{page}"
    );

    // Every name with its labels: a change breaks an operator's dashboard.
    let names: BTreeSet<String> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (name, rest) = line.split_once(['{', ' ']).unwrap();
            let labels = rest
                .split("\"")
                .step_by(2)
                .filter_map(|part| part.strip_suffix('='));
            let labels: Vec<&str> = labels.map(|label| label.trim_start_matches(',')).collect();
            format!("{name} {}", labels.join(" ")).trim_end().to_owned()
        })
        .collect();
    let names: Vec<String> = names.into_iter().collect();
    insta::assert_snapshot!("metrics", names.join("\n"));
    // The service's own address shows none.
    assert_eq!(client.get("/metrics").status, 404);
}

#[test]
fn a_request_whose_client_leaves_is_counted_and_has_a_line() {
    let (server, client) = endless(&["--metrics-listen", "127.0.0.1:0"]);
    let metrics = metrics_client(&server);
    let hurried = client.with_timeout(Duration::from_millis(500));
    let left = hurried.try_post("/v3/simple-value", &spinning(house()).to_string());
    assert!(left.is_err(), "{left:?}");
    let line = server.await_log(|line| line["status"] == 499);
    assert_eq!(line["route"], "/v3/simple-value", "{line}");
    assert_eq!(line["tenant"], "demo", "{line}");
    for name in ["request_id", "execution_id", "valuation_id"] {
        assert!(line[name].is_string(), "{line}");
    }
    let labels = r#"route="/v3/simple-value",status="499",code="none""#;
    let name = format!("domesday_requests_total{{{labels}}}");
    assert_eq!(metric(&metrics, &name), 1.0);
}

/// Units are counted as they are charged, wherever that is, and jobs as they end.
#[test]
fn units_and_jobs_are_counted() {
    let (server, metrics) = serve_with(&[]);
    let client = server.demo();
    let read = |name: &str| {
        let page = metrics.get("/metrics").text;
        let mut lines = page.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    let units = || read("domesday_units_charged_total");
    assert_eq!(units(), 0);
    client.post("/v3/simple-value", &house()).ok();
    assert_eq!(units(), 1);
    // A row that is rejected before it runs costs nothing.
    let batch = json!({"requests": [house(), {}, house()]});
    client.post("/v3/simple-batch-value", &batch).ok();
    assert_eq!(units(), 3);
    let mut body = json!({"idempotency_key": "k", "requests": vec![house(); 70]});
    body["requests"].as_array_mut().unwrap().push(json!({}));
    let job = client.post("/v3/valuation-jobs", &body).json();
    client.post("/v3/valuation-jobs", &body).json();
    assert_eq!(units(), 73);
    let results = job["results_url"].as_str().unwrap();
    while client.get(results).status != 200 {
        std::thread::sleep(Duration::from_millis(5));
    }
    // It is counted once it is durable, which is when its client may see it already.
    server.await_log(|line| line["message"] == "job completed");
    assert_eq!(read(r#"domesday_jobs_ended_total{status="completed"}"#), 1);
    assert_eq!(read("domesday_jobs_accepted_total"), 1);
    assert_eq!(read("domesday_job_leases_lost_total"), 0);
    let values = |status: &str| {
        read(&format!(
            r#"domesday_values_total{{status="{status}",release="{RELEASE}"}}"#
        ))
    };
    assert_eq!((values("valued"), values("rejected")), (1 + 2 + 70, 1 + 1));
}

/// Every operation of the state is timed, and every piece of work that waited for a worker.
#[test]
fn charges_and_waits_for_workers_are_timed() {
    let (server, metrics) = serve_with(&[]);
    for _ in 0..3 {
        server.demo().post("/v3/value", &house()).ok();
    }
    let charges = r#"domesday_state_operation_seconds_count{operation="charge"}"#;
    assert_eq!(metric(&metrics, charges), 3.0);
    assert_eq!(metric(&metrics, "domesday_worker_wait_seconds_count"), 3.0);
    for name in [
        "process_cpu_seconds_total",
        "process_start_time_seconds",
        "process_resident_memory_bytes",
        "process_open_fds",
    ] {
        assert!(metric(&metrics, name) > 0.0, "{name}");
    }
}

/// The names of tenants are the operator's to show.
#[test]
fn a_tenant_is_counted_only_where_the_setting_says_so() {
    let (server, metrics) = serve_with(&["--metrics-tenants", "1"]);
    let client = server.demo();
    client.post("/v3/value", &house()).ok();
    client.get("/v3/releases/current").ok();
    let of = |name: &str| metric(&metrics, &format!("{name}{{tenant=\"demo\"}}"));
    assert_eq!(of("domesday_tenant_requests_total"), 2.0);
    assert_eq!(of("domesday_tenant_units_charged_total"), 1.0);
}

/// The page is made from memory, so a state that does not answer holds it up no more than a probe.
#[test]
fn the_oldest_job_is_read_beside_the_page() {
    let (server, metrics) = serve_with(&["--job-runners", "0"]);
    let oldest = "domesday_jobs_oldest_waiting_timestamp_seconds";
    assert_eq!(metric(&metrics, oldest), 0.0);
    let body = json!({"idempotency_key": "k", "requests": [house()]});
    server.demo().post("/v3/valuation-jobs", &body).json();
    let reads = r#"domesday_state_operation_seconds_count{operation="oldest_waiting"}"#;
    let before = metric(&metrics, reads);
    for _ in 0..20 {
        metrics.get("/metrics");
    }
    assert!(metric(&metrics, reads) <= before + 1.0);
    let started = Instant::now();
    while metric(&metrics, oldest) == 0.0 {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(200));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the host's clock is the machine's, from outside"
    )]
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let age = since_1970.as_secs_f64() - metric(&metrics, oldest);
    assert!((0.0..60.0).contains(&age), "{age}");
}
