//! The metrics of a server that was started with `--metrics-listen`.

use super::client::Client;
use super::server::Server;

/// Returns a client of a server's metrics listener.
pub fn metrics_client(server: &Server) -> Client {
    let mut lines = server.printed.lines();
    let line = lines.find(|line| line.starts_with("Showing metrics"));
    let address = line.unwrap().split("http://").nth(1).unwrap();
    let address = address.strip_suffix("/metrics").unwrap();
    Client::new(address.parse().unwrap(), "none")
}

/// Returns the value of a metric, named with its labels, or 0 where the page has none.
#[track_caller]
pub fn metric(metrics: &Client, name: &str) -> f64 {
    let page = metrics.get("/metrics").text;
    let value = page.lines().find_map(|line| line.strip_prefix(name));
    value.map_or(0.0, |value| value.trim().parse().unwrap())
}
