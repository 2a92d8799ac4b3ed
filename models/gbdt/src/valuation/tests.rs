//! The trees' part of a valuation, on synthetic evidence.

use super::*;
use crate::columns::{Codes, Column, Target};
use crate::features::Feature;
use crate::stack::Stack;
use crate::testing::{FakeEvidence, sale, subject};
use crate::{REFERENCE, Release};
use domesday_sdk::{IndexPoint, Model};
use domesday_trees::{lightgbm, pack};

/// Returns twenty similar sales nearby, and one earlier sale of the home itself.
fn evidence() -> FakeEvidence {
    let near = (0..20)
        .map(|i| {
            let mut s = sale(i);
            s.distance = 40.0 * i as f64;
            s.price = 250_000.0 + 1_000.0 * i as f64;
            s.uprn = Some(5_000 + i);
            s
        })
        .collect();
    let mut evidence = FakeEvidence::of(near);
    let mut own = sale(999);
    own.price = 200_000.0;
    evidence.own = vec![own];
    let point = |month| IndexPoint {
        month,
        value: 100.0,
    };
    evidence.index = Some((560..653).map(point).collect());
    evidence.refuse_after = u32::MAX;
    evidence
}

/// Packs a tree of one leaf.
fn constant(value: &str) -> Vec<u64> {
    let text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\n\
         objective=regression\nfeature_names=area\n\nTree=0\nnum_leaves=1\nnum_cat=0\n\
         leaf_value={value}\n\nend of trees\n"
    );
    pack(&lightgbm::read(&text).unwrap()).unwrap()
}

const AREA: &[Column] = &[Column {
    name: "area",
    feature: Feature::FloorArea,
    codes: Codes::AsIs,
}];

fn of(trees: &[u64], target: Target, offset: Option<Feature>) -> Outcome {
    let model = Gbdt {
        reference: &REFERENCE,
        columns: AREA,
        target,
        offset,
        trees,
        stack: None,
    };
    value(&model, &subject(), &evidence())
}

fn expect_value(outcome: Outcome) -> Valuation {
    match outcome {
        Outcome::Valued(valuation) => valuation,
        other => panic!("{other:?}"),
    }
}

#[test]
fn trees_move_the_estimate_its_comparables_and_its_range() {
    let plain = expect_value(Release::value(&subject(), &evidence()));
    let moved = expect_value(of(
        &constant("0.1"),
        Target::LogPrice,
        Some(Feature::ReferenceLogValue),
    ));
    let factor = 0.1_f64.exp();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    near(moved.estimate, plain.estimate * factor);
    for (after, before) in moved.comparables.iter().zip(&plain.comparables) {
        near(after.adjusted_price, before.adjusted_price * factor);
        assert_eq!(
            (after.sale, after.similarity),
            (before.sale, before.similarity)
        );
    }
    assert_eq!(
        (moved.confidence, moved.dispersion),
        (plain.confidence, plain.dispersion)
    );
    assert_eq!(
        (moved.derived, moved.own_sales_share),
        (plain.derived, plain.own_sales_share)
    );
}

#[test]
fn every_target_is_converted_to_pounds() {
    let pounds =
        |trees: &str, target, offset| expect_value(of(&constant(trees), target, offset)).estimate;
    let plain = expect_value(Release::value(&subject(), &evidence())).estimate;
    assert_eq!(pounds("240000", Target::Price, None), 240_000.0);
    assert_eq!(
        pounds("5000", Target::Price, Some(Feature::ReferenceValue)),
        plain + 5_000.0
    );
    assert!((pounds("12.5", Target::LogPrice, None) / 12.5_f64.exp() - 1.0).abs() < 1e-12);
}

#[test]
fn an_invalid_estimate_fails_and_an_outlier_is_referred() {
    let failed = Outcome::Failed(FailureReason::Numeric);
    assert_eq!(of(&constant("-5"), Target::Price, None), failed);
    assert_eq!(of(&constant("5000"), Target::LogPrice, None), failed);
    // An unknown floor level gives no offset.
    let mut model = Release::model();
    model.offset = Some(Feature::FloorLevel);
    assert_eq!(value(&model, &subject(), &evidence()), failed);
    for far in ["19000", "6000000", "1200000"] {
        let outcome = of(&constant(far), Target::Price, None);
        assert!(
            matches!(&outcome, Outcome::Referred(r) if r.reason == ReferralReason::UnusualValue),
            "{far}: {outcome:?}"
        );
    }
}

#[test]
fn a_referral_of_the_reference_model_stays() {
    let mut tiny = subject();
    tiny.size.floor_area = Some(12.0);
    let outcome = value(&Release::model(), &tiny, &evidence());
    assert!(matches!(outcome, Outcome::Referred(_)), "{outcome:?}");
    assert_eq!(inputs(&Release::model(), &tiny, &evidence()), None);
}

#[test]
fn no_query_is_repeated() {
    let (ours, theirs) = (evidence(), evidence());
    let _ = Release::value(&subject(), &ours);
    let _ = domesday_hedonic::valuation::value(&REFERENCE, &subject(), &theirs);
    assert_eq!(ours.queries.get(), theirs.queries.get());
}

/// Returns the model with a tree of one leaf and a stack with these weights for every home.
fn value_with(trees: &[u64], stack: &Stack) -> Valuation {
    let model = Gbdt {
        trees,
        columns: AREA,
        stack: Some(stack),
        ..Release::model()
    };
    expect_value(value(&model, &subject(), &evidence()))
}

fn stack_of(weights: crate::stack::Weights, disagreement: f64) -> Stack {
    let of_type = crate::stack::ByHistory {
        own_sale: weights,
        none: weights,
    };
    let mut stack = Stack::equal();
    for kind in domesday_hedonic::property_kind::PropertyKind::ALL {
        *stack.weights.of_mut(kind) = of_type;
    }
    stack.disagreement = disagreement;
    stack
}

#[test]
fn a_stack_gives_each_member_its_weight() {
    let trees = constant("0.3");
    let log = |weights| value_with(&trees, &stack_of(weights, 0.0)).estimate.ln();
    let plain = expect_value(Release::value(&subject(), &evidence()));
    let members = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(log);
    assert!((members[0] - plain.estimate.ln()).abs() < 1e-12);
    assert!(members[2] - members[0] > 0.2, "{members:?}");
    let mixed = log([0.5, 0.2, 0.3]);
    let expected = 0.5 * members[0] + 0.2 * members[1] + 0.3 * members[2];
    assert!((mixed - expected).abs() < 1e-12);
}

#[test]
fn own_sales_weigh_what_they_weigh_in_each_member() {
    let trees = constant("0.3");
    let share = |weights| {
        let valuation = value_with(&trees, &stack_of(weights, 0.0));
        valuation.own_sales_share.unwrap()
    };
    let plain = expect_value(Release::value(&subject(), &evidence()));
    let members = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(share);
    assert_eq!(Some(members[0]), plain.own_sales_share);
    assert!(
        members[1] > 0.0 && (members[1] - members[0]).abs() > 0.01,
        "{members:?}"
    );
    let mixed = share([0.5, 0.2, 0.3]);
    let expected = 0.5 * members[0] + 0.2 * members[1] + 0.3 * members[2];
    assert!((mixed - expected).abs() < 1e-12);
}

#[test]
fn members_that_disagree_lower_confidence_by_the_disagreement() {
    let trees = constant("0.3");
    let weights = crate::stack::EQUAL;
    let none = value_with(&trees, &stack_of(weights, 0.0));
    let some = value_with(&trees, &stack_of(weights, 1.0));
    assert!(some.confidence < none.confidence);
    assert!(some.dispersion > none.dispersion);
    assert_eq!(some.estimate, none.estimate);
}

#[test]
fn the_inputs_show_the_members_and_weights_of_the_estimate() {
    let trees = constant("0.3");
    let stack = stack_of([0.5, 0.2, 0.3], 0.0);
    let model = Gbdt {
        trees: &trees,
        columns: AREA,
        stack: Some(&stack),
        ..Release::model()
    };
    let shown = inputs(&model, &subject(), &evidence()).unwrap();
    let of = |name: &str| shown.iter().find(|(n, _)| *n == name).unwrap().1;
    let sum: f64 = crate::stack::MEMBERS
        .iter()
        .map(|name| of(&format!("weight_{name}")) * of(&format!("member_{name}")))
        .sum();
    let estimate = value_with(&trees, &stack).estimate;
    assert!((sum.exp() / estimate - 1.0).abs() < 1e-12);
    assert_eq!(of("member_own_sale"), 1.0);
}

/// A build reads the inputs of sales off them, before it has trees.
#[test]
fn placeholder_trees_of_a_price_show_the_inputs_of_a_stack() {
    let mapping = crate::fit::mapping(
        "target = \"price\"\nstack = true\n[columns]\narea = \"floor_area_m2\"\n",
    );
    let placeholder = crate::fit::make_placeholder_trees(&mapping.unwrap());
    let trees = pack(&domesday_trees::read(&placeholder).unwrap()).unwrap();
    let stack = Stack::equal();
    let model = Gbdt {
        reference: &REFERENCE,
        columns: AREA,
        target: Target::Price,
        offset: None,
        trees: &trees,
        stack: Some(&stack),
    };
    let shown = inputs(&model, &subject(), &evidence()).unwrap();
    let names: Vec<&str> = shown.iter().map(|(name, _)| *name).collect();
    assert!(
        names.contains(&"area") && names.contains(&"member_trees"),
        "{names:?}"
    );
}
