//! The cost of durable operations: `cargo bench -p domesday-state --profile dev --bench commit`.
//! The states are made in the directory of temporary files, which should be on a disk. That on
//! PostgreSQL is reached by a local socket, and waits for the disk as well.

#![allow(missing_docs, reason = "criterion's macros make undocumented items")]
#![allow(clippy::unwrap_used, reason = "a benchmark ends where it cannot begin")]

use std::sync::Arc;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use domesday_state::*;
use domesday_test_postgres::{Cluster, Disk};
use uuid::Uuid;

const MONTH: Month = Month {
    year: 2031,
    month: 6,
};
/// Rows of a full job, in chunks of the size that a worker takes.
const ROWS: u32 = 2_500;
const CHUNK: u32 = 64;
/// Bytes of a row as kept.
const ROW_BYTES: usize = 400;

fn state(directory: &tempfile::TempDir) -> Arc<EmbeddedState> {
    Arc::new(EmbeddedState::open(&directory.path().join("state.redb")).unwrap())
}

fn tenant() -> TenantId {
    "bench".parse().unwrap()
}

fn charge() -> Charge {
    Charge {
        tenant: tenant(),
        month: MONTH,
        units: 1,
        allowance: u64::MAX,
        source: UsageSource {
            kind: UsageKind::Value,
            id: Uuid::nil(),
            at: UnixMillis(0),
        },
    }
}

fn charges(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    charges_on(criterion, "charge", &state(&directory));
    let cluster = Cluster::start(Disk::Synced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    charges_on(criterion, "charge on PostgreSQL", &Arc::new(state));
}

fn charges_on(criterion: &mut Criterion, name: &str, state: &Arc<impl State + 'static>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    for in_flight in [1_u64, 8, 64] {
        group.bench_function(format!("{in_flight} in flight"), |bencher| {
            bencher.iter_custom(|rounds| {
                let begun = Instant::now();
                let tasks: Vec<_> = (0..in_flight)
                    .map(|task| {
                        let state = Arc::clone(state);
                        let mine = rounds / in_flight + u64::from(task < rounds % in_flight);
                        runtime.spawn(async move {
                            for _ in 0..mine {
                                state.charge(charge()).await.unwrap();
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    runtime.block_on(task).unwrap();
                }
                begun.elapsed()
            });
        });
    }
    group.finish();
}

/// Measures the check of the folder and both files that precedes each group.
fn check(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.redb");
    std::fs::write(&path, "").unwrap();
    let place = OpenPath::open(&path).unwrap();
    criterion.bench_function("check of a place", |bencher| {
        bencher.iter(|| place.check().unwrap());
    });
}

fn submission(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    submission_on(criterion, "submission of 2,500 rows", &state(&directory));
    let cluster = Cluster::start(Disk::Synced);
    let state = PostgresState::open(&cluster.database()).unwrap();
    submission_on(criterion, "submission on PostgreSQL", &Arc::new(state));
}

fn submission_on(criterion: &mut Criterion, name: &str, state: &Arc<impl State>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let mut number = 0;
    let chunks: Vec<_> = (0..ROWS.div_ceil(CHUNK))
        .map(|chunk| {
            let rows = CHUNK.min(ROWS - chunk * CHUNK);
            NewChunk {
                rows,
                units: rows,
                input: vec![b'x'; rows as usize * ROW_BYTES],
            }
        })
        .collect();
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            number += 1;
            let job = NewJob {
                id: Uuid::from_u128(number),
                tenant: tenant(),
                mode: JobMode::Standard,
                release_id: "release".into(),
                shared: Vec::new(),
                chunks: chunks.clone(),
                idempotency: Some(Idempotency {
                    key: number.to_string(),
                    digest: [0; 32],
                }),
                month: MONTH,
                allowance: u64::MAX,
                queued_jobs: u32::MAX,
                stored_bytes: u64::MAX,
                now: UnixMillis(0),
            };
            runtime.block_on(state.submit(job)).unwrap()
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = check, charges, submission
}
criterion_main!(benches);
