//! The cost of authentication to a request: `cargo bench -p domesday-state`.

#![allow(missing_docs, reason = "criterion's macros make undocumented items")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends where it cannot begin")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use domesday_state::*;

/// Keys in the directory: many more than a service is likely to have.
const KEYS: u32 = 1_000;

fn authenticate(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&directory.path().join("state.redb")).unwrap();
    let now = UnixMillis(0);
    let tenant: TenantId = "bench".parse().unwrap();
    state.create_tenant(&tenant, &Plan::default(), now).unwrap();
    let new = NewKey {
        tenant,
        label: String::new(),
        scopes: Scopes::all(),
        requires_metric_selection: false,
        expires_at: None,
    };
    let mut made = Vec::new();
    for number in 0..KEYS {
        let mut seed = [0; 40];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        made.push(state.create_key(&new, KeySeed::new(seed), now).unwrap());
    }
    let good = made[500].secret.expose();
    criterion.bench_function("authenticate, a good key", |bencher| {
        bencher.iter(|| state.authenticate(black_box(good), now).unwrap());
    });
    let wrong = good.replacen("dk_", "dk_f", 1);
    criterion.bench_function("authenticate, a malformed key", |bencher| {
        bencher.iter(|| state.authenticate(black_box(&wrong), now).unwrap());
    });
}

criterion_group!(benches, authenticate);
criterion_main!(benches);
