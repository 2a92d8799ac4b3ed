//! The cost of trees: native, in a warm sandbox and in a fresh one for every row, checked to the
//! bit on the way.
//!
//! `scripts/measure-trees` trains the model, runs this and LightGBM's own single-row prediction.
#![allow(clippy::unwrap_used)]

#[path = "../../../tests/common/guest.rs"]
mod guest;

use domesday_engine::config::{Allocation, configuration};
use domesday_trees::{Forest, Scratch, lightgbm, pack};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

/// Passes over the rows.
const PASSES: usize = 15;
/// Rows that are timed together. A machine that does other things too is seldom left alone for a
/// whole pass, and often for so few.
const TOGETHER: usize = 20;

fn numbers(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let numbers = bytes.as_chunks::<8>().0.iter();
    numbers.map(|n| f64::from_le_bytes(*n)).collect()
}

/// Microseconds a row: of the median pass, and of one in which every few rows took as long as in
/// their best pass.
fn measure(what: &str, rows: &[&[f64]], raw: &[f64], mut score: impl FnMut(&[f64]) -> f64) {
    for (row, raw) in rows.iter().zip(raw) {
        assert_eq!(score(row).to_bits(), raw.to_bits(), "{what}");
    }
    let mut best = vec![f64::INFINITY; rows.len().div_ceil(TOGETHER)];
    let mut passes: Vec<f64> = (0..PASSES)
        .map(|_| {
            let times = rows.chunks(TOGETHER).zip(&mut best).map(|(rows, best)| {
                let start = Instant::now();
                for row in rows {
                    black_box(score(black_box(row)));
                }
                let time = start.elapsed().as_secs_f64();
                *best = best.min(time);
                time
            });
            times.sum()
        })
        .collect();
    passes.sort_unstable_by(f64::total_cmp);
    let a_row = |seconds: f64| seconds * 1e6 / rows.len() as f64;
    let least = a_row(best.iter().sum());
    println!(
        "{what}: {:.1} (least {least:.1})",
        a_row(passes[PASSES / 2])
    );
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let folder = Path::new(&folder);
    let text = std::fs::read_to_string(folder.join("model.txt")).unwrap();
    let model = lightgbm::read(&text).unwrap();
    let words = pack(&model).unwrap();
    let (all, raw) = (numbers(&folder.join("rows")), numbers(&folder.join("raw")));
    let rows: Vec<&[f64]> = all.chunks_exact(model.inputs.len()).collect();
    println!(
        "{} trees, {} inputs, {} rows, {} bytes packed",
        model.trees.len(),
        model.inputs.len(),
        rows.len(),
        8 * words.len()
    );
    measure(
        "µs a row, native, decision after decision",
        &rows,
        &raw,
        |row| model.score(row),
    );
    let forest = Forest::read(&words).unwrap();
    let mut scratch = Scratch::default();
    measure("µs a row, native", &rows, &raw, |row| {
        forest.score(row, &mut scratch)
    });

    // The variable DOMESDAY_TREES, which names the model to the guest's build, is inherited.
    let component = guest::component("guest-trees");
    let engine = Engine::new(&configuration(Allocation::Pooling { instances: 8 })).unwrap();
    let start = Instant::now();
    let component = Component::new(&engine, component).unwrap();
    println!("ms to compile: {:.0}", start.elapsed().as_secs_f64() * 1e3);
    let pre = Linker::<()>::new(&engine)
        .instantiate_pre(&component)
        .unwrap();
    let ready = || {
        let mut store = Store::new(&engine, ());
        store.set_fuel(u64::MAX / 2).unwrap();
        store.set_epoch_deadline(1 << 40);
        let instance = pre.instantiate(&mut store).unwrap();
        let score = instance
            .get_typed_func::<(&[f64],), (f64,)>(&mut store, "score")
            .unwrap();
        (store, score)
    };
    let (mut store, score) = ready();
    for row in &rows {
        score.call(&mut store, (*row,)).unwrap();
    }
    let spent = (u64::MAX / 2 - store.get_fuel().unwrap()) / rows.len() as u64;
    println!("fuel a row, in a warm sandbox: {spent}");
    measure("µs a row, in a warm sandbox", &rows, &raw, |row| {
        score.call(&mut store, (row,)).unwrap().0
    });
    drop(store);
    measure(
        "µs a row, in a fresh sandbox for each",
        &rows,
        &raw,
        |row| {
            let (mut store, score) = ready();
            score.call(&mut store, (row,)).unwrap().0
        },
    );
}
