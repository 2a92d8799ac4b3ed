use super::*;
use axum::Router;
use axum::http::StatusCode as Status;
use axum::routing::{get, post};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;

static ASKED: AtomicU64 = AtomicU64::new(0);

/// Serves a host whose metrics count a millisecond of processor time for each value.
async fn serve(status: &'static str) -> String {
    let value = move || async move {
        ASKED.fetch_add(1, Ordering::SeqCst);
        json!({"status": status, "release_id": "r-1"}).to_string()
    };
    let metrics = || async {
        let seconds = ASKED.load(Ordering::SeqCst) as f64 / 1_000.0;
        format!("process_cpu_seconds_total {seconds}\nprocess_resident_memory_bytes 5\n")
    };
    let refuse = || async { (Status::TOO_MANY_REQUESTS, "{}") };
    let router = Router::new()
        .route("/v3/value", post(value))
        .route("/v3/batch-value", post(refuse))
        .route("/metrics", get(metrics));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

fn options(url: String) -> BenchOptions {
    BenchOptions {
        metrics_url: Some(format!("{url}/metrics")),
        url,
        key: "k".to_owned(),
        homes: vec![json!({"property": {}})],
        duration: Duration::from_millis(300),
        connections: vec![1, 3],
        batch_rows: 10,
    }
}

#[tokio::test]
async fn each_load_has_its_figures_and_refusals_are_no_values() {
    let options = options(serve("valued").await);
    let report = bench(&options, &|_| {}).await.unwrap();
    let shape: Vec<_> = report
        .loads
        .iter()
        .map(|it| (it.rows, it.connections))
        .collect();
    assert_eq!(shape, [(1, 1), (1, 3), (10, 1)]);
    for load in &report.loads[..2] {
        assert!(
            load.requests > 5 && load.failed + load.limited == 0,
            "{load:?}"
        );
        assert!(load.latency.p50 <= load.latency.p99 && load.latency.p99 <= load.latency.max);
        let host = load.host_micros_per_value.unwrap();
        assert!((host - 1_000.0).abs() < 1.0, "{host}");
    }
    let batch = &report.loads[2];
    assert_eq!((batch.requests, batch.values_per_second), (0, 0.0));
    assert!(batch.limited > 0);
    assert_eq!(batch.host_micros_per_value, None);
    assert_eq!(
        (report.release_id.as_str(), report.resident_bytes),
        ("r-1", Some(5.0))
    );
}

#[tokio::test]
async fn a_slow_response_does_not_lower_the_rate_of_the_other_connections() {
    let served = Arc::new(AtomicU64::new(0));
    let value = move || {
        let wait = match served.fetch_add(1, Ordering::SeqCst) {
            3 => 3_000,
            _ => 10,
        };
        async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            json!({"status": "valued"}).to_string()
        }
    };
    let router = Router::new().route("/v3/value", post(value));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v3/value", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let found = run(&Load {
        client: Client::builder().no_proxy().build().unwrap(),
        url,
        key: "k".to_owned(),
        bodies: Arc::new(vec![b"{}".to_vec()]),
        rows: 1,
        connections: 3,
        duration: Duration::from_millis(600),
    })
    .await;
    // One of three waits for three seconds, and the others stop after 0.6.
    assert!(found.seconds >= 3.0 && found.failed == 0, "{found:?}");
    let until_the_last = found.requests as f64 / found.seconds;
    assert!(found.values_per_second > 2.0 * until_the_last, "{found:?}");
}

#[tokio::test]
async fn a_row_that_is_not_valued_is_no_value() {
    let row = |status: &str| json!({"status": status});
    let batch = json!({"status": "completed", "results": [row("valued"), row("rejected")]});
    let value = || async { json!({"status": "valued", "release_id": "r-1"}).to_string() };
    let router = Router::new().route("/v3/value", post(value)).route(
        "/v3/batch-value",
        post(move || async move { batch.to_string() }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let options = BenchOptions {
        metrics_url: None,
        ..options(url)
    };
    let report = bench(&options, &|_| {}).await.unwrap();
    let batch = &report.loads[2];
    assert_eq!(batch.requests, 0);
    let reason = batch.first_failure.as_deref().unwrap();
    assert!(reason.starts_with("1 of 2 rows are not valued"), "{reason}");
}

#[tokio::test]
async fn a_host_that_does_not_value_the_home_is_not_measured() {
    let refused = bench(&options(serve("referred").await), &|_| {}).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("is referred, not valued"), "{error}");
    let mut unmeasured = options(serve("valued").await);
    unmeasured.metrics_url = unmeasured.metrics_url.map(|url| url + "/nowhere");
    let error = bench(&unmeasured, &|_| {}).await.unwrap_err().to_string();
    assert!(
        error.contains("has no process_cpu_seconds_total"),
        "{error}"
    );
    let nobody = options("http://127.0.0.1:1".to_owned());
    let error = bench(&nobody, &|_| {}).await.unwrap_err().to_string();
    assert!(
        error.contains("http://127.0.0.1:1/v3/value cannot be reached"),
        "{error}"
    );
    let mut elsewhere = options(serve("valued").await);
    elsewhere.url.push_str("/nowhere");
    let error = bench(&elsewhere, &|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
}
