//! The page is complete, has its warnings, and needs no other file.

use super::*;
use crate::compare::header::Source;
use crate::compare::paired::PairedRow;
use crate::compare::summary::summary;
use crate::compare::testing::{comparison, header, pair, paired_row, referral, valued_outcome};
use crate::report::TrainingData;

fn rows() -> Vec<PairedRow> {
    let mut rows: Vec<PairedRow> = (0..80_u32)
        .map(|at| {
            let price = 100_000.0 + 4_000.0 * f64::from(at);
            let b = price * (0.97 + 0.001 * f64::from(at));
            paired_row(
                &format!("sale {at}"),
                Some(price),
                valued_outcome(price * 1.02),
                valued_outcome(b),
            )
        })
        .collect();
    rows.push(paired_row(
        "lost",
        Some(1e5),
        valued_outcome(1e5),
        referral("unusual_<size>"),
    ));
    rows
}

#[test]
fn nothing_is_fetched_or_run() {
    let text = page(&comparison(&rows())).unwrap();
    for foreign in ["<script", "src=", "href=", "@import", "url("] {
        assert!(!text.contains(foreign), "{foreign}");
    }
    let addresses = text.matches("http").count();
    let vocabularies = text.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    assert_eq!(addresses, vocabularies);
    assert_eq!(vocabularies, 10, "a plot each");
}

#[test]
fn names_are_text_and_no_markup() {
    let text = page(&comparison(&rows())).unwrap();
    assert!(text.contains("Zed &amp; Ledbury &lt;North&gt;"));
    assert!(text.contains("unusual &lt;size&gt;"));
    assert!(!text.contains("<North>") && !text.contains("<size>"));
}

#[test]
fn the_verdict_and_warnings_stand_before_any_table() {
    let mut subject = header();
    subject.releases.b.snapshot_content = "1".repeat(64);
    subject.releases.b.latest_sale = Some("2024-06-30".to_owned());
    let found = crate::compare::comparison::Comparison::of(subject, &rows(), &|_| None);
    let text = page(&found).unwrap();
    let position = |words: &str| text.find(words).unwrap_or(usize::MAX);
    let table = position("<table");
    assert!(position("value from different snapshots") < position("class=\"figures\""));
    assert!(position("B's snapshot ends on 2024-06-30") < position("class=\"figures\""));
    assert!(position("1 row changes status") < table);
    assert!(position("Moved furthest") < table);
    assert!(
        !page(&comparison(&rows()))
            .unwrap()
            .contains("class=\"warning\"")
    );
}

#[test]
fn training_data_that_the_build_does_not_know_is_named_so() {
    let words = "no sales by the build; numbers inside the model's source are not stated";
    let mut subject = header();
    subject.releases.a.training_data = TrainingData::Sales {
        fitted_through: "2022-09-30".to_owned(),
        calibrated_through: "2023-12-31".to_owned(),
        overlap: false,
    };
    let found = Comparison::of(subject, &rows(), &|_| None);
    let text = page(&found).unwrap();
    assert_eq!(text.matches(&format!("trained on {words}")).count(), 1);
    assert!(text.contains("trained on sales up to 2022-09-30"), "{text}");
    let text = summary(&found);
    assert!(
        text.contains(&format!("B was trained on {words}.")),
        "{text}"
    );
    assert!(!text.contains("A was trained"), "{text}");
}

#[test]
fn next_to_nothing_is_a_page_too() {
    let mut live = header();
    live.rows = Source::Live {
        first: "2026-10-15T10:00:00Z".to_owned(),
        last: "2026-10-15T11:00:00Z".to_owned(),
        share: 0.01,
        shares: None,
        truncated: true,
        counted_since: None,
        left_out: crate::compare::header::Exclusions::default(),
    };
    let nothing = crate::compare::comparison::Comparison::of(live, &[], &|_| None);
    assert!(
        page(&nothing)
            .unwrap()
            .contains("There is no row to compare")
    );
    for rows in [
        vec![pair(1e5, 1e5)],
        vec![pair(1e5, 1e5); 3],
        vec![pair(1e5, 2e6); 40],
        vec![paired_row("r", None, referral("x"), referral("x")); 5],
        vec![paired_row("r", Some(1.0), referral("x"), valued_outcome(1e-3)); 5],
    ] {
        let text = page(&comparison(&rows)).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
}

#[test]
fn rows_beyond_a_plot_s_edge_are_counted_beside_it() {
    // Of hundreds that hardly move, a few move far.
    let mut rows: Vec<PairedRow> = (0..300_u32)
        .map(|at| pair(1e5 + f64::from(at), 1e5 + f64::from(at % 7)))
        .collect();
    rows.extend([pair(1e5, 3e5), pair(1.001e5, 0.4e5)]);
    let text = page(&comparison(&rows)).unwrap();
    assert!(
        text.contains("The furthest 2 of the 302 rows in the second are drawn on its edge"),
        "{text}"
    );
    // Without a point outside, the note is absent.
    let still = page(&comparison(&vec![pair(1e5, 1.01e5); 40])).unwrap();
    assert!(!still.contains("drawn on its edge"));
}
