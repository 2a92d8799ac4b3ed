//! One native valuation with 90 sales nearby, own history and ten years of index. The model takes
//! 30 of the sales. The time includes building the answers' lists.

#[allow(dead_code)]
#[path = "../src/testing.rs"]
mod testing;

use criterion::{Criterion, criterion_group, criterion_main};
use domesday_hedonic::Hedonic;
use domesday_sdk::{IndexPoint, Model};
use std::hint::black_box;
use testing::{FakeEvidence, sale, subject};

fn value(c: &mut Criterion) {
    let near = (0..90)
        .map(|i| {
            let mut s = sale(i);
            let step = i as f64;
            s.distance = 15.0 * step;
            s.day -= 14 * i as i32;
            s.floor_area = (i % 7 != 3).then_some(70.0 + step);
            s.price = 3_000.0 * (70.0 + step) * (1.0 + 0.05 * ((i % 5) as f64 - 2.0));
            s
        })
        .collect();
    let mut evidence = FakeEvidence::of(near);
    evidence.refuse_after = u32::MAX;
    evidence.own = vec![sale(999)];
    let point = |month| IndexPoint {
        month,
        value: 50.0 + 0.2 * f64::from(month - 530),
    };
    evidence.index = Some((530..652).map(point).collect());
    let subject = subject();
    c.bench_function("value", |b| {
        b.iter(|| {
            evidence.queries.set(0);
            Hedonic::value(black_box(&subject), black_box(&evidence))
        });
    });
}

criterion_group!(benches, value);
criterion_main!(benches);
