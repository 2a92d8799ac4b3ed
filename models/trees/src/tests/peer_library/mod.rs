//! Comparison with the library that trained a model.

use super::python;
use domesday_trees::{Arithmetic, Ensemble, Forest, Scratch, Transform, pack, read};
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

/// A model of the library, and its scores for some rows.
struct Scored {
    model: Ensemble,
    rows: Vec<f64>,
    /// The library's raw score and prediction for each row.
    expected: Vec<(f64, f64)>,
}

impl Scored {
    /// Returns the rows whose raw score differs in a bit, or whose prediction differs by more than
    /// the ratio `close`. Describes the first of them.
    fn wrong_rows(&self, close: f64) -> (usize, String) {
        let words = pack(&self.model).unwrap();
        let forest = Forest::read(&words).unwrap();
        let (mut scratch, mut first) = (Scratch::default(), String::new());
        let rows = self.rows.chunks_exact(forest.inputs());
        let wrong = rows.zip(&self.expected).filter(|(row, (raw, answer))| {
            let score = forest.score(row, &mut scratch);
            let plain = self.model.score(row);
            let predicted = forest.predict(score);
            let near = predicted == *answer || (predicted / answer - 1.0).abs() < close;
            let is_wrong =
                score.to_bits() != raw.to_bits() || plain.to_bits() != raw.to_bits() || !near;
            if is_wrong && first.is_empty() {
                first = format!("{row:?}: {score}, {plain}, and {raw}; {predicted}, and {answer}");
            }
            is_wrong
        });
        (wrong.count(), first)
    }

    /// Returns the model with each neighbour of its base score, where that is a logarithm. XGBoost
    /// takes it from the machine's C library, which may round it to the other side.
    fn with_other_logarithms(&self) -> Vec<Scored> {
        let Arithmetic::XgBoost { base } = self.model.arithmetic else {
            return Vec::new();
        };
        let bases = match self.model.transform {
            Transform::ExponentialOfSingle => vec![base.next_down(), base.next_up()],
            _ => Vec::new(),
        };
        let with = |base| Scored {
            model: Ensemble {
                arithmetic: Arithmetic::XgBoost { base },
                ..self.model.clone()
            },
            rows: self.rows.clone(),
            expected: self.expected.clone(),
        };
        bases.into_iter().map(with).collect()
    }
}

/// Checks that raw scores are bit-identical to the library's. Predictions may differ by the ratio
/// `close`, because exponentials do. One model in a hundred may have another logarithm.
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

    let (models, rows): (usize, usize) = (models.parse().unwrap(), rows.parse().unwrap());
    let (mut trees, mut wrong, mut other_logarithms) = (0, 0, 0);
    for number in 0..models {
        let file = |kind: &str| folder.path().join(format!("{number}.{kind}"));
        let text = std::fs::read_to_string(file("model")).unwrap();
        let scored = Scored {
            model: read(&text).unwrap_or_else(|why| panic!("model {number}: {why}")),
            rows: numbers(&file("rows")),
            expected: numbers(&file("raw"))
                .into_iter()
                .zip(numbers(&file("answers")))
                .collect(),
        };
        assert_eq!(scored.expected.len(), rows, "model {number}");
        trees += scored.model.trees.len();
        let (count, first) = scored.wrong_rows(close);
        if count == 0 {
            continue;
        }
        let others = scored.with_other_logarithms();
        if others.iter().any(|other| other.wrong_rows(close).0 == 0) {
            other_logarithms += 1;
            continue;
        }
        eprintln!("model {number}, {count} rows, the first: {first}");
        wrong += count;
    }
    println!(
        "{peer}: {} rows of {models} models with {trees} trees, {wrong} wrong; {other_logarithms} \
         models with another logarithm",
        models * rows
    );
    assert_eq!(wrong, 0);
    assert!(other_logarithms <= models.div_ceil(100));
}
