//! The page is complete, has its warnings, and needs no other file.

use super::*;
use crate::report::{LeakageCut, LeakageProbe, TrainingData};
use crate::row::{Prediction, Row};
use crate::testing::{report, row, row_with};

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = (0..90_u32)
        .map(|at| {
            let price = 100_000.0 + 4_000.0 * f64::from(at);
            Row {
                day: domesday_registers::Day(20_000 + at as i32),
                baselines: [Some(price * 1.2), Some(price * 0.95)],
                ..row(price, price * (0.9 + 0.003 * f64::from(at)))
            }
        })
        .collect();
    rows.push(row_with(Prediction::Referred("missing_input".to_owned())));
    rows
}

#[test]
fn nothing_is_fetched_or_run() {
    let text = page(&report(&rows())).unwrap();
    for foreign in ["<script", "src=", "href=", "@import", "url("] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    // The only URL in it is the namespace of SVG, which no browser fetches.
    let addresses = text.matches("http").count();
    assert_eq!(
        addresses,
        text.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    assert!(
        text.matches("<svg role=\"img\"").count() >= 8,
        "a plot each"
    );
}

#[test]
fn names_are_text_and_no_markup() {
    let text = page(&report(&rows())).unwrap();
    assert!(text.contains("Zed &amp; Ledbury &lt;North&gt;"));
    assert!(!text.contains("<North>"));
}

#[test]
fn warnings_stand_before_the_figures() {
    let mut doubtful = report(&rows());
    doubtful.subject.training_data = TrainingData::Unstated;
    doubtful.leakage_probe = Some(LeakageProbe {
        passed: false,
        cuts: vec![LeakageCut {
            day: "2024-05-01".to_owned(),
            sales: 9,
            certificates: 8,
            figures: 7,
            index_points: 6,
            homes: 5,
            different: 4,
            first_difference: Some("the outcome of the home of sale 3".to_owned()),
        }],
    });
    let text = page(&doubtful).unwrap();
    let position = |words: &str| text.find(words).unwrap_or(usize::MAX);
    let figures = position("class=\"figures\"");
    assert!(position("may be too good") < figures);
    assert!(position("The leakage probe failed") < figures);
    assert!(crate::summary::summary(&doubtful).contains("FAILED"));
    let sure = page(&report(&rows())).unwrap();
    assert!(!sure.contains("class=\"warning\""));
}

/// The host cannot know what a Python module's tables were fitted on.
#[test]
fn a_model_that_the_build_did_not_fit_is_not_said_to_have_no_fitted_numbers() {
    let mut unfitted = report(&rows());
    unfitted.subject.training_data = TrainingData::Nothing;
    let text = page(&unfitted).unwrap();
    let words = "<dt>Trained on</dt><dd>no sales by the build; numbers inside the model's source \
                 are not stated</dd>";
    assert!(text.contains(words), "{text}");
}

/// Each range of the cheaper half misses, which is half of all and refuted. No price is judged.
#[test]
fn the_glossary_says_what_is_red() {
    let rows: Vec<Row> = (0..400_u32)
        .map(|at| {
            let price = if at % 2 == 0 { 60_000.0 } else { 600_000.0 };
            let estimate = if at % 2 == 0 { 3.0 * price } else { price };
            Row {
                postcode: format!("ZZ1 {at}"),
                ..row(price, estimate)
            }
        })
        .collect();
    let found = report(&rows);
    let bands = &found.by("price").unwrap().groups;
    let outside = |group: &&Group| group.ranges.as_ref().is_some_and(|ranges| !ranges.agrees);
    assert_eq!(bands.iter().filter(outside).count(), 2);
    let off = find_off(&found);
    assert!(is_off(&off, &found.overall));
    assert!(!bands.iter().any(|band| is_off(&off, band)));
    let text = page(&found).unwrap();
    assert!(
        text.contains("red where it fails the check of a release"),
        "{text}"
    );
    assert!(
        text.contains("the share may be 3 points from the promise"),
        "{text}"
    );
    assert!(
        text.contains("Bands of price and small groups are not judged"),
        "{text}"
    );
    assert!(
        !text.contains("red where the promise lies outside"),
        "{text}"
    );
}

#[test]
fn a_report_of_next_to_nothing_is_a_page_too() {
    for few in [1, 29, 31] {
        let rows = vec![row(100_000.0, 90_000.0); few];
        page(&report(&rows)).unwrap();
    }
    let none = vec![row_with(Prediction::Referred("missing_input".to_owned())); 40];
    let text = page(&report(&none)).unwrap();
    assert!(text.contains("missing input"));
}
