//! A client that leaves while the charges of its requests wait for a storage that stalls.

use crate::common::demo::house;
use crate::common::metrics::{metric, metrics_client};
use crate::common::server::Server;
use crate::crash::harness::World;
use crate::stalls::report::settled;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time after which the client leaves. The host does not notice the stall before.
const LEAVES_AFTER: Duration = Duration::from_secs(1);
/// How long the host may take to notice that a client left.
const NOTICED: Duration = Duration::from_secs(15);
const VALUE: &str = "/v3/simple-value";
const CONNECTIONS: &str = r#"domesday_connections{listener="service"}"#;

/// Leaves before a value and a job without a key are charged, and asserts that they cost nothing.
pub fn assert_free(world: &World, server: &Server, key: &str, freeze: &dyn Fn(bool)) {
    let (client, data) = (server.client(key), world.data(0));
    client.post(VALUE, &house()).ok();
    settled(&data, "values", 1, Instant::now());
    let metrics = metrics_client(server);
    let connections = metric(&metrics, CONNECTIONS);
    let leaving = client.with_timeout(LEAVES_AFTER);
    let leave = |path: &str, body: Value| {
        let left = leaving.try_post(path, &body.to_string()).unwrap_err();
        assert!(left.is_timeout(), "{path}: {left:?}");
    };
    freeze(true);
    std::thread::scope(|scope| {
        scope.spawn(|| leave(VALUE, house()));
        scope.spawn(|| leave("/v3/valuation-jobs", json!({"requests": [house()]})));
    });
    // A request that the host ends before it notices is one that it answered.
    let left = Instant::now();
    while metric(&metrics, CONNECTIONS) > connections {
        assert!(left.elapsed() < NOTICED, "the host kept the connections");
        std::thread::sleep(Duration::from_millis(20));
    }
    freeze(false);
    let thawed = Instant::now();
    // A unit that is charged after those of the client that left.
    client.post(VALUE, &house()).ok();
    let exact = settled(&data, "values", 2, thawed);
    println!("units exact after {exact:.1?}");
}
