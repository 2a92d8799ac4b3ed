//! Packed scoring against reference scoring, for random models whose rows hit their thresholds.

use super::*;
use crate::Transform;
use crate::pack;
use crate::testing::{model, row};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_layout_scores_as_the_trees_do(model in model(), rows in prop::collection::vec(row(), 1..30)) {
        let words = pack(&model).unwrap();
        let forest = Forest::read(&words).unwrap();
        let mut scratch = Scratch::default();
        for row in rows {
            let (plain, packed) = (model.score(&row), forest.score(&row, &mut scratch));
            prop_assert_eq!(plain.to_bits(), packed.to_bits(), "{:?}: {} and {}", row, plain, packed);
        }
    }

    #[test]
    fn more_trees_than_a_block_are_summed_in_order(model in model(), row in row(), times in 30_usize..80) {
        let mut model = model;
        model.trees = std::iter::repeat_n(model.trees, times).flatten().collect();
        let words = pack(&model).unwrap();
        let packed = Forest::read(&words).unwrap().score(&row, &mut Scratch::default());
        prop_assert_eq!(model.score(&row).to_bits(), packed.to_bits());
    }

    #[test]
    fn a_truncated_model_is_refused(model in model(), cut in any::<prop::sample::Index>()) {
        let words = pack(&model).unwrap();
        let read = Forest::read(&words[..cut.index(words.len())]);
        prop_assert!(read.is_err());
    }
}

#[test]
fn a_mean_is_of_the_trees_and_then_transformed() {
    let mut model = crate::lightgbm::read(include_str!("two_trees.txt")).unwrap();
    model.averaged = true;
    model.transform = Transform::SignedSquare;
    let words = pack(&model).unwrap();
    let forest = Forest::read(&words).unwrap();
    assert_eq!(forest.inputs(), 2);
    let score = forest.score(&[0.0, f64::NAN], &mut Scratch::default());
    assert_eq!((score, forest.predict(score)), (-3.0, -2.25));
}
