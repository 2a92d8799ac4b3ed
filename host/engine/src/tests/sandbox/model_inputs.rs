//! A component that shows its model's inputs: from the same evidence as a valuation, and beside it.

use super::demo::{demo_evidence, homes};
use super::guest::component;
use domesday_engine::config::Allocation;
use domesday_engine::fixture::RecordedResult;
use domesday_engine::outcome::Outcome;
use domesday_engine::{Limits, Release, Runtime};
use std::sync::Arc;

#[test]
fn neutral_trees_leave_the_reference_model_unchanged_and_show_their_inputs() {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let admit = |guest: &str| {
        let limits = Limits::new(50_000_000, 16 << 20);
        runtime.admit(&component(guest), limits).unwrap()
    };
    let (trees, reference) = (admit("domesday-gbdt"), admit("domesday-hedonic"));
    assert!(trees.shows_inputs() && !reference.shows_inputs());
    assert!(trees.predicts() && !reference.predicts());

    let evidence = demo_evidence();
    let mut valued = 0;
    for home in homes() {
        let subject = Arc::new(home.subject);
        let (ours, theirs) = (
            trees.value(&subject, evidence.clone()),
            reference.value(&subject, evidence.clone()),
        );
        // Both have the parameters that their crates are shipped with, which are the same.
        assert_eq!(ours.outcome, theirs.outcome, "{}", home.row);
        let shown = trees.inputs(&subject, evidence.clone()).unwrap();
        let Ok(Outcome::Valued(valuation)) = ours.outcome else {
            assert!(shown.is_none() && !matches!(home.result, RecordedResult::Failure(_)));
            continue;
        };
        valued += 1;
        let shown = shown.unwrap();
        let value = |name: &str| shown.iter().find(|input| input.name == name).unwrap().value;
        assert_eq!(shown.last().unwrap().name, "offset");
        assert!((value("offset") - valuation.estimate.ln()).abs() < 1e-12);
        assert_eq!(
            value("floor_area").is_nan(),
            subject.size.floor_area_m2.is_none()
        );
        assert_eq!(value("easting"), f64::from(subject.place.easting));
        assert!(value("near_sales") >= 3.0 && value("nearest_distance") >= 0.0);
    }
    assert!(valued > 20, "{valued}");
    assert_trees_predict_from_their_inputs(&trees, &reference);
    assert!(
        reference
            .inputs(&Arc::new(super::common::subject(0)), evidence)
            .is_err()
    );
}

/// Neutral trees predict the same for every row, and nothing for a row of another length.
fn assert_trees_predict_from_their_inputs(trees: &Release, reference: &Release) {
    let subject = Arc::new(super::common::subject(0));
    let shown = homes().into_iter().find_map(|home| {
        let shown = trees.inputs(&Arc::new(home.subject), demo_evidence());
        shown.unwrap()
    });
    // The last is the offset.
    let mut inputs: Vec<f64> = shown.unwrap().iter().map(|input| input.value).collect();
    inputs.pop();
    let predicted = trees.predict(&inputs, &subject).unwrap();
    assert_eq!(predicted, Some(0.0));
    inputs.pop();
    assert_eq!(trees.predict(&inputs, &subject).unwrap(), None);
    assert!(reference.predict(&inputs, &subject).is_err());
}
