//! What Prometheus reads.

use crate::common::client::Client;
use crate::common::demo::{RELEASE, house};
use crate::common::server::{Server, start};
use std::collections::BTreeSet;

fn serve() -> (Server, Client) {
    let server = start().with(&["--metrics-listen", "127.0.0.1:0"]).go();
    let line = server
        .printed
        .lines()
        .find(|line| line.starts_with("Showing metrics"))
        .unwrap();
    let address = line.split("http://").nth(1).unwrap();
    let address = address.strip_suffix("/metrics").unwrap();
    let metrics = Client::new(address.parse().unwrap(), "none");
    (server, metrics)
}

#[test]
fn requests_and_values_are_counted_under_labels_that_no_client_chooses() {
    let (server, metrics) = serve();
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

    // Every name with its labels: whoever changes one breaks somebody's dashboard.
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
