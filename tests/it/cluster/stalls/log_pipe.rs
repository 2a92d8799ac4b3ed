//! A log that nobody reads. Values do not wait for it.

use crate::common::log_pipe::LogReader;
use crate::crash::harness::World;
use crate::stalls::run::{Stall, bodies, host, keys};

fn hold(name: &str, world: &World) {
    let (keys, reader) = (keys(world), LogReader::default());
    let server = host(world).log_reader(&reader).go();
    let freeze = |frozen| match frozen {
        true => reader.stop(),
        false => reader.resume(),
    };
    Stall {
        turns: false,
        refusal: "none",
        ..Stall::of_storage(name, &bodies(), &freeze)
    }
    .hold(world, &server, &keys);
    // Nor does a stop.
    reader.stop();
    let client = server.client(&keys[0]);
    for _ in 0..300 {
        client.get("/v3/releases/current");
    }
    let asked = std::time::Instant::now();
    server.terminate();
    let (status, _) = server.await_end();
    println!(
        "{name}: stopped after {:.1} s",
        asked.elapsed().as_secs_f64()
    );
    assert!(status.success(), "{status}");
    reader.resume();
}

#[test]
fn a_log_that_nobody_reads_delays_no_value_on_redb() {
    hold("log pipe, redb", &World::embedded());
}

#[test]
fn a_log_that_nobody_reads_delays_no_value_on_postgresql() {
    hold("log pipe, PostgreSQL", &World::shared());
}
