//! Measures what a receipt costs the thread that values: the digests of its evidence, and sealing.
//!
//! ```sh
//! cargo run --release --package domesday-journal --example measure_seal
//! ```

#![allow(unused_crate_dependencies)]

use std::hint::black_box;
use std::time::Instant;

use domesday_journal::{ReceiptHeader, TenantKey, prepare};
use domesday_package::Sha256Digest;

const RUNS: u32 = 400;
const ROUNDS: u32 = 100;
/// Bytes of a sale as a release is shown it.
const SALE: usize = 72;

fn main() {
    let about = ReceiptHeader {
        at: 1_700_000_000_000,
        tenant: "demo".to_owned(),
        release_id: "synthetic-hedonic-2027-05".to_owned(),
        package: Sha256Digest::of(b"package"),
        snapshot: Sha256Digest::of(b"snapshot"),
        engine: "domesday-engine 0.1.0, wasmtime 48.0.8".to_owned(),
        execution_id: "0199a000-0000-7000-8000-000000000000".to_owned(),
        valuation_id: "0199a000-0000-7000-8000-000000000001".to_owned(),
        form: 2,
    };
    let key = TenantKey::new([1; 32]);
    for sales in [30, 60, 120, 500] {
        let numbers = vec![7_u8; sales * SALE];
        measure(&format!("digest of {sales} sales"), || {
            black_box(Sha256Digest::of(black_box(&numbers)));
        });
    }
    for bytes in [0, 1_000, 1_500, 5_400, 9_000] {
        let record = vec![7_u8; bytes];
        measure(&format!("receipt with a record of {bytes} bytes"), || {
            // A record is never too long here.
            let _ = black_box(prepare(&about, &key, black_box(&record)));
        });
    }
}

/// Prints the time of a piece of work: the shortest of many runs, since others use the machine too.
fn measure(name: &str, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            work();
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS));
    }
    println!("{name}: {best:.2} µs");
}
