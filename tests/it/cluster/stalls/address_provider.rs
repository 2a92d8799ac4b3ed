//! An address provider that accepts connections and does not answer. Homes of the snapshot are
//! valued meanwhile, and others are refused.

use crate::common::demo::{HOUSE, at, house};
use crate::common::places::{LookupRequest, Places, home, listing};
use crate::common::program::run;
use crate::crash::harness::World;
use crate::stalls::run::{Stall, host, keys};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An address that no register has; the provider lists it in every postcode.
const NUMBER: &str = "4711";
const STREET: &str = "Badger Yard Gardens";

/// Returns the English postcodes of the demo's snapshot.
fn postcodes() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    run(["demo-data", &path, "--seed", "1086", "--lean"]).ok();
    let sales = std::fs::read_to_string(folder.path().join("price-paid.csv")).unwrap();
    let postcodes = sales.lines().filter_map(|row| row.split('"').nth(7));
    let english = postcodes.filter(|postcode| postcode.starts_with('Q'));
    english.map(str::to_owned).collect()
}

fn hold(name: &str, world: &World) {
    let postcodes = postcodes();
    let homes = (999_000_000_001..).zip(&postcodes);
    let homes: Vec<_> = homes
        .map(|(uprn, postcode)| home(uprn, postcode, NUMBER, STREET))
        .collect();
    let stalled = Arc::new(AtomicBool::new(false));
    let (answer, stalls) = (listing(&homes), Arc::clone(&stalled));
    let places = Places::with_behaviour(move |request: &LookupRequest| {
        while stalls.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        answer(request)
    });

    let server = host(world)
        .with(&["--address-provider", &places.url()])
        .go();
    let bodies: Vec<Value> = postcodes
        .iter()
        .map(|postcode| at(NUMBER, STREET, postcode))
        .collect();
    let keys = keys(world);
    // A home of the snapshot needs no provider, stalled or not.
    let known = server.client(&world.key("known", 1_000));
    let freeze = |frozen| {
        stalled.store(frozen, Ordering::Relaxed);
        let result = known.post("/v3/value", &house()).ok();
        assert_eq!(result["property"]["uprn"], HOUSE);
    };
    Stall {
        requests: ("/v3/value", &bodies),
        refusal: "identity_provider_unavailable",
        turns: false,
        ..Stall::of_storage(name, &bodies, &freeze)
    }
    .hold(world, &server, &keys);
    server.stop();
}

#[test]
fn an_address_provider_that_stalls_refuses_its_rows_alone_on_redb() {
    hold("address provider, redb", &World::embedded());
}

#[test]
fn an_address_provider_that_stalls_refuses_its_rows_alone_on_postgresql() {
    hold("address provider, PostgreSQL", &World::shared());
}
