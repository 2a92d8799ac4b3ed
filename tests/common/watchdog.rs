//! The service's own watchdog: how late its asynchronous threads ran a task that was due.

use super::metrics::metrics_client;
use super::server::Server;

/// Returns how often the asynchronous threads ran something more than a second late. The server
/// shows metrics.
pub fn late_tasks(server: &Server) -> u64 {
    let page = metrics_client(server).get("/metrics");
    let read = |name: &str| -> u64 {
        let found = page.text.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap().trim().parse().unwrap()
    };
    let all = read("domesday_runtime_delay_seconds_count");
    assert!(all > 0);
    all - read(r#"domesday_runtime_delay_seconds_bucket{le="1.0"}"#)
}
