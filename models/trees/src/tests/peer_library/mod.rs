//! Comparison with the library that trained a model.

use super::python;
use domesday_trees::{Forest, Scratch, pack, read};
use std::path::Path;
use std::process::Command;

/// Returns the number of models, the rows of each and the seed. `DOMESDAY_TREES_PROOF` overrides
/// them.
fn proof_size() -> [String; 3] {
    let setting = std::env::var("DOMESDAY_TREES_PROOF").unwrap_or_else(|_| "40 1000 1".to_owned());
    let words: Vec<String> = setting.split_whitespace().map(str::to_owned).collect();
    words.try_into().unwrap()
}

fn numbers(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    let (numbers, rest) = bytes.as_chunks::<8>();
    assert!(rest.is_empty());
    numbers.iter().map(|n| f64::from_le_bytes(*n)).collect()
}

/// Checks that raw scores are bit-identical to the library's. Predictions may differ by the ratio
/// `close`, because exponentials do.
pub fn compare(peer: &str, close: f64) {
    let [models, rows, seed] = proof_size();
    let folder = tempfile::tempdir().unwrap();
    let peers = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/peers")
        .join(peer);
    // This binary lies in `deps` of a profile's folder, which lies in cargo's target folder.
    let binary = std::env::current_exe().unwrap();
    let target = binary.ancestors().nth(3).unwrap();
    let interpreter = python::interpreter(&peers, &target.join("tmp"));
    let mut command = Command::new(interpreter);
    command.arg(peers.join("models.py")).arg(folder.path());
    command.args(["--models", &models, "--rows", &rows, "--seed", &seed]);
    python::run_to_success(&mut command);

    let (mut compared, mut trees, mut wrong) = (0_u64, 0, 0);
    for number in 0..models.parse().unwrap() {
        let file = |kind: &str| folder.path().join(format!("{number}.{kind}"));
        let text = std::fs::read_to_string(file("model")).unwrap();
        let model = read(&text).unwrap_or_else(|why| panic!("model {number}: {why}"));
        let words = pack(&model).unwrap();
        let forest = Forest::read(&words).unwrap();
        let mut scratch = Scratch::default();
        trees += model.trees.len();
        let rows = numbers(&file("rows"));
        let expected = numbers(&file("raw"))
            .into_iter()
            .zip(numbers(&file("answers")));
        for (row, (raw, answer)) in rows.chunks_exact(forest.inputs()).zip(expected) {
            let score = forest.score(row, &mut scratch);
            let plain = model.score(row);
            let predicted = forest.predict(score);
            let near = predicted == answer || (predicted / answer - 1.0).abs() < close;
            if score.to_bits() != raw.to_bits() || plain.to_bits() != raw.to_bits() || !near {
                wrong += 1;
                if wrong < 10 {
                    eprintln!(
                        "model {number}: {row:?}: {score}, {plain}, {peer} {raw}; {predicted}, {answer}"
                    );
                }
            }
            compared += 1;
        }
    }
    println!("{peer}: {compared} rows of {models} models with {trees} trees, {wrong} wrong");
    assert_eq!(
        compared,
        models.parse::<u64>().unwrap() * rows.parse::<u64>().unwrap()
    );
    assert_eq!(wrong, 0);
}
