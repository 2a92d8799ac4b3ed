//! Both clients on connections that are cut at random.
//!
//! A proxy between a client and a host cuts connections at a random byte of the request or of the
//! response. It delays others, and sends requests twice where that is harmless. The client values
//! homes one by one and in batches, and submits jobs and reads their results. It prints the
//! outcome of each call.
//!
//! The invariant, for each call and for the sum:
//!
//! - A synchronous valuation reaches the host at most once.
//! - One that was answered is charged once, and one that cannot be charged never reached the host.
//! - All submissions of a job get one id, and it is charged once. Two jobs never have one id.
//! - Results of a job are all there, once each and in order.
//! - The host charged the rows of all jobs and of all synchronous requests that it answered, and no
//!   unit more. Requests whose answer nobody read may be charged or not.
//!
//! `DOMESDAY_CLIENT_CUTS` is the number of cuts for each client, a thousand in `scripts/test full`.
//! `DOMESDAY_CLIENT_CUTS_SEED` repeats random choices, as far as threads and the clock allow.

mod invariant;
mod proxy;

use crate::common::program::run;
use crate::common::python::run_to_success;
use crate::common::server::{Server, start};
use crate::{python_client, typescript_client};
use invariant::{CallOutcome, check};
use proxy::{Cutter, Plan};
use std::process::Command;
use std::time::{Duration, Instant};

/// Cuts where `DOMESDAY_CLIENT_CUTS` says nothing.
const CUTS: u64 = 100;

fn setting(name: &str) -> Option<u64> {
    Some(std::env::var(name).ok()?.parse().unwrap())
}

/// Returns the units of the tenant `customer`.
fn units(server: &Server) -> u64 {
    let data = server.data.display().to_string();
    let listed = run(["tenant", "list", "--data", &data]).ok().stdout;
    let line = listed
        .lines()
        .find(|line| line.starts_with("customer\t"))
        .unwrap();
    let units = line
        .split('\t')
        .find_map(|part| part.strip_suffix(" units this month"));
    units.unwrap().parse().unwrap()
}

/// Returns the units once no request of a client that left is still at work.
fn settled_units(server: &Server) -> u64 {
    let started = Instant::now();
    let mut before = units(server);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = units(server);
        if now == before {
            return now;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "units grow");
        before = now;
    }
}

/// Runs a client's program through the proxy, and asserts the invariant. The program gets the seed
/// and the file that ends it.
fn hold_invariant(name: &str, program: impl FnOnce() -> Command) {
    let cuts = setting("DOMESDAY_CLIENT_CUTS").unwrap_or(CUTS);
    let seed =
        setting("DOMESDAY_CLIENT_CUTS_SEED").unwrap_or_else(|| getrandom::u32().unwrap().into());
    println!("{name}: DOMESDAY_CLIENT_CUTS_SEED={seed}");
    let started = start();
    let key = started.key(&["avm:value"]);
    let server = started.go();
    let folder = tempfile::TempDir::new().unwrap();
    let stop = folder.path().join("stop");
    let plan = Plan {
        host: server.address,
        cuts,
        stop: stop.clone(),
    };
    let cutter = Cutter::start(plan, seed);
    let begun = Instant::now();
    let output = run_to_success(
        program()
            .arg(seed.to_string())
            .arg(&stop)
            .env("DOMESDAY_URL", format!("http://{}", cutter.address))
            .env("DOMESDAY_KEY", key)
            .env("NO_PROXY", "127.0.0.1"),
    );
    let told: Vec<CallOutcome> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let counts = cutter.counts();
    let found = check(&told, &cutter.exchanges());
    let charged = settled_units(&server);
    println!(
        "{name}: {} calls in {:.0?}; {counts}; {found}; {charged} units charged",
        told.len(),
        begun.elapsed()
    );
    assert!(counts.cuts() >= cuts, "only {} cuts", counts.cuts());
    let most = found.charged + found.in_doubt;
    assert!(
        (found.charged..=most).contains(&charged),
        "{charged} units are charged, and the contract allows {} to {most}",
        found.charged
    );
}

#[test]
fn no_cut_makes_the_blocking_client_for_python_pay_twice() {
    hold_invariant("Python, blocking", || python_client::cut_calls("blocking"));
}

#[test]
fn no_cut_makes_the_async_client_for_python_pay_twice() {
    hold_invariant("Python, async", || python_client::cut_calls("async"));
}

#[test]
fn no_cut_makes_the_client_for_typescript_pay_twice() {
    hold_invariant("TypeScript", typescript_client::cut_calls);
}
