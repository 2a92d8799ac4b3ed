//! Benchmarks of the sandbox: a fresh instance, the boundary, the evidence, and a whole valuation
//! against the same model run natively.
//!
//! `cargo bench -p domesday-engine --profile dev --bench sandbox`: the profile is the one that is
//! served and tested with.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../src/tests/sandbox/common.rs"]
mod common;
#[path = "../../../../tests/common/guest.rs"]
mod guest;
mod native;
mod replayed;

use common::{Nothing, subject};
use criterion::{Criterion, criterion_group, criterion_main};
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{EvidenceQuery, EvidenceSource, SnapshotEvidence};
use domesday_engine::subject::Subject;
use domesday_engine::{Limits, Release, Runtime, fixture};
use domesday_hedonic::Hedonic;
use domesday_property::Snapshot;
use domesday_sdk::Model;
use guest::component;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::Arc;

const DEMO: &str = "../../releases/valuation/synthetic-hedonic-2027-05/fixtures.jsonl";
const SNAPSHOT: &str = "../../releases/property/synthetic-2026-09/snapshot.redb";

fn release(guest: &[u8], allocation: Allocation) -> Release {
    let limits = Limits::new(50_000_000, 16 << 20);
    Runtime::new(allocation)
        .unwrap()
        .admit(guest, limits)
        .unwrap()
}

fn row(
    c: &mut Criterion,
    name: &str,
    release: &Release,
    subject: &Arc<Subject>,
    evidence: Arc<dyn EvidenceSource>,
) {
    assert!(
        release.value(subject, evidence.clone()).outcome.is_ok(),
        "{name}"
    );
    c.bench_function(name, |b| {
        b.iter(|| release.value(subject, evidence.clone()))
    });
}

fn instance(c: &mut Criterion) {
    let guest = component("guest-queries");
    let quiet = Arc::new(subject(0));
    for (name, allocation) in [
        ("pooling", Allocation::Pooling { instances: 8 }),
        ("on_demand", Allocation::OnDemand),
    ] {
        let release = release(&guest, allocation);
        row(
            c,
            &format!("instance/fresh_and_call_{name}"),
            &release,
            &quiet,
            Arc::new(Nothing),
        );
    }
}

fn boundary(c: &mut Criterion) {
    let release = release(
        &component("guest-queries"),
        Allocation::Pooling { instances: 8 },
    );
    for questions in [1, 10] {
        let asking = Arc::new(subject(questions));
        row(
            c,
            &format!("boundary/{questions}_questions_no_sales"),
            &release,
            &asking,
            Arc::new(Nothing),
        );
    }
    for sales in [50, 500] {
        let mut asking = subject(1);
        asking.size.storeys = Some(sales);
        let evidence = replayed::RepeatedSales::of(sales as usize);
        row(
            c,
            &format!("boundary/1_question_{sales}_sales"),
            &release,
            &Arc::new(asking),
            Arc::new(evidence),
        );
    }
}

/// Benchmarks the search of the demo's snapshot, without a sandbox.
fn evidence(c: &mut Criterion) {
    let fixtures = fixture::read(BufReader::new(File::open(path(DEMO)).unwrap())).unwrap();
    let source = SnapshotEvidence::new(Arc::new(Snapshot::open(&path(SNAPSHOT)).unwrap()));
    let home = fixtures
        .iter()
        .find(|fixture| fixture.row == "home-08")
        .unwrap();
    for exchange in &home.evidence {
        let name = match &exchange.question {
            EvidenceQuery::NearbySales(_) => "nearby_sales",
            EvidenceQuery::OwnSales => "own_sales",
            EvidenceQuery::PriceIndex { .. } => "price_index",
            EvidenceQuery::AreaFigures { .. } => "area_figures",
        };
        c.bench_function(&format!("evidence/{name}"), |b| {
            b.iter(|| source.ask(&home.subject, &exchange.question).unwrap())
        });
    }
}

fn model(c: &mut Criterion) {
    let fixtures = fixture::read(BufReader::new(File::open(path(DEMO)).unwrap())).unwrap();
    let home = fixtures
        .iter()
        .find(|fixture| fixture.row == "home-08")
        .unwrap();
    // The unfitted parameters on both sides: the same crate, native and as a guest.
    let guest = component("domesday-hedonic");
    let subject = Arc::new(home.subject.clone());
    for (name, allocation) in [
        ("pooling", Allocation::Pooling { instances: 8 }),
        ("on_demand", Allocation::OnDemand),
    ] {
        let release = release(&guest, allocation);
        let evidence = Arc::new(replayed::ReplayedEvidence::of(home));
        row(
            c,
            &format!("model/hedonic_sandboxed_{name}"),
            &release,
            &subject,
            evidence,
        );
    }
    let native_subject = native::subject(&home.subject);
    let native_evidence = native::ReplayedEvidence::of(home);
    c.bench_function("model/hedonic_native", |b| {
        b.iter(|| Hedonic::value(&native_subject, &native_evidence))
    });
    let whole = SnapshotEvidence::new(Arc::new(Snapshot::open(&path(SNAPSHOT)).unwrap()));
    let release = release(&guest, Allocation::Pooling { instances: 8 });
    row(
        c,
        "model/hedonic_sandboxed_with_search",
        &release,
        &subject,
        Arc::new(whole),
    );
}

fn admission(c: &mut Criterion) {
    let guest = component("domesday-hedonic");
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let limits = Limits::new(50_000_000, 16 << 20);
    c.bench_function("admission/compile", |b| {
        b.iter(|| runtime.admit(&guest, limits).unwrap())
    });
    let folder = tempfile::tempdir().unwrap();
    let cache =
        domesday_engine::cache::Cache::open(&folder.path().join("compiled"), [7; 32]).unwrap();
    let runtime = Runtime::new(Allocation::OnDemand)
        .unwrap()
        .with_cache(cache);
    c.bench_function("admission/from_cache", |b| {
        b.iter(|| runtime.admit(&guest, limits).unwrap())
    });
}

fn path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(relative)
}

criterion_group!(benches, instance, boundary, evidence, model, admission);
criterion_main!(benches);
