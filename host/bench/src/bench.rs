//! The measurement.

use crate::load::{Load, causes, describe, run};
use crate::metrics;
use crate::report::{BenchReport, FORMAT, LoadFigures};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Homes in a batch at most, as the contract has it.
pub const MOST_ROWS: usize = 2_500;
/// The longest time of one request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The duration of the load that warms caches, before any is measured.
const WARM_UP: Duration = Duration::from_secs(1);

/// The choice of what is measured, and where.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The host's address, such as `http://127.0.0.1:8080`.
    pub url: String,
    /// The key.
    pub key: String,
    /// The page of the host's metrics.
    pub metrics_url: Option<String>,
    /// Requests for a single value, as the API takes them.
    pub homes: Vec<Value>,
    /// The duration of each load.
    pub duration: Duration,
    /// Connections at once, one load each.
    pub connections: Vec<usize>,
    /// Homes in a batch; 0 leaves batches out.
    pub batch_rows: usize,
}

/// The reason why nothing is measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The client cannot be made.
    #[error("the client cannot be made")]
    Client(#[source] reqwest::Error),
    /// The host does not answer.
    #[error("{url} cannot be reached: {problem}")]
    Unreachable {
        /// The route.
        url: String,
        /// The problem.
        problem: String,
    },
    /// The host refused the first request.
    #[error("the first request to {url} was refused: {problem}")]
    Refused {
        /// The route.
        url: String,
        /// The status and the message.
        problem: String,
    },
    /// The first home is not valued.
    #[error(
        "the status of the first home is {status}, not valued; give requests of homes that the release values"
    )]
    NotValued {
        /// The status.
        status: String,
    },
    /// The metrics do not state the host's processor time.
    #[error(
        "{url} has no process_cpu_seconds_total; name the host's --metrics-listen and /metrics"
    )]
    NoMetrics {
        /// The page.
        url: String,
    },
    /// There is no home.
    #[error("there is no home to value; write one request a line into the file of --homes")]
    NoHomes,
}

/// Measures a host. `announce` takes what begins.
///
/// # Errors
/// [`BenchError`] where the host does not value the first home.
pub async fn bench(
    options: &BenchOptions,
    announce: &dyn Fn(&str),
) -> Result<BenchReport, BenchError> {
    // Another may have been chosen before.
    let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(TIMEOUT)
        // The key is for the host alone.
        .no_proxy()
        .pool_max_idle_per_host(usize::MAX)
        .build()
        .map_err(BenchError::Client)?;
    let base = options.url.trim_end_matches('/');
    let single_url = format!("{base}/v3/value");
    let first = options.homes.first().ok_or(BenchError::NoHomes)?;
    let release_id = first_value(&client, &single_url, &options.key, first).await?;
    let metrics_url = options.metrics_url.as_deref();
    if let Some(url) = metrics_url
        && metrics::read(&client, metrics_url)
            .await
            .cpu_seconds
            .is_none()
    {
        return Err(BenchError::NoMetrics {
            url: url.to_owned(),
        });
    }

    let singles = options
        .homes
        .iter()
        .map(|home| home.to_string().into_bytes());
    let single = Load {
        client: client.clone(),
        url: single_url,
        key: options.key.clone(),
        bodies: Arc::new(singles.collect()),
        rows: 1,
        connections: 1,
        duration: WARM_UP,
    };
    announce("warming up");
    run(&single).await;
    let mut loads = Vec::new();
    for &connections in &options.connections {
        loads.push(Load {
            connections,
            duration: options.duration,
            ..single.clone()
        });
    }
    if options.batch_rows > 0 {
        let rows = options.homes.iter().cycle().take(options.batch_rows);
        let body = json!({"requests": rows.collect::<Vec<_>>()});
        loads.push(Load {
            url: format!("{base}/v3/batch-value"),
            bodies: Arc::new(vec![body.to_string().into_bytes()]),
            rows: options.batch_rows,
            duration: options.duration,
            ..single
        });
    }
    let mut figures = Vec::new();
    for load in &loads {
        announce(&format!(
            "{} rows a request, {} connections, {} s",
            load.rows,
            load.connections,
            load.duration.as_secs_f64()
        ));
        figures.push(measure(&client, metrics_url, load).await);
    }
    Ok(BenchReport {
        format: FORMAT,
        url: base.to_owned(),
        release_id,
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        loads: figures,
        resident_bytes: metrics::read(&client, metrics_url).await.resident_bytes,
    })
}

/// Puts a load on the host, with the host's processor time where its metrics state it.
async fn measure(client: &Client, metrics_url: Option<&str>, load: &Load) -> LoadFigures {
    let before = metrics::read(client, metrics_url).await.cpu_seconds;
    let mut figures = run(load).await;
    let after = metrics::read(client, metrics_url).await.cpu_seconds;
    let values = figures.requests as f64 * load.rows as f64;
    figures.host_micros_per_value = before
        .zip(after)
        .filter(|_| values > 0.0)
        .map(|(before, after)| (after - before) * 1e6 / values);
    figures
}

/// Values a home once, and returns the release that did.
async fn first_value(
    client: &Client,
    url: &str,
    key: &str,
    home: &Value,
) -> Result<String, BenchError> {
    let unreachable = |error: reqwest::Error| BenchError::Unreachable {
        url: url.to_owned(),
        problem: causes(&error),
    };
    let request = client.post(url).bearer_auth(key).json(home);
    let response = request.send().await.map_err(unreachable)?;
    let status = response.status();
    let bytes = response.bytes().await.map_err(unreachable)?;
    if status != StatusCode::OK {
        return Err(BenchError::Refused {
            url: url.to_owned(),
            problem: describe(status, &bytes),
        });
    }
    let value: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    match (&value["status"], value["release_id"].as_str()) {
        (status, Some(release_id)) if status == "valued" => Ok(release_id.to_owned()),
        (status, _) => Err(BenchError::NotValued {
            status: status.as_str().unwrap_or("no result").to_owned(),
        }),
    }
}

#[cfg(test)]
#[path = "bench_tests.rs"]
mod tests;
