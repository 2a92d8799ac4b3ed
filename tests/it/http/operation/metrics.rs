//! The metrics page.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::metrics::metrics_client;
use crate::common::server::{Server, start};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

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
        &format!(r#"domesday_current_release{{release="{RELEASE}"}} 1"#),
        r#"domesday_log_lines_dropped 0"#,
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
    let values = |status: &str| {
        read(&format!(
            r#"domesday_values_total{{status="{status}",release="{RELEASE}"}}"#
        ))
    };
    assert_eq!((values("valued"), values("rejected")), (1 + 2 + 70, 1 + 1));
}
