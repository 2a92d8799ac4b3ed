//! Rounds that compare a new release with the one that is current, by the ledger of promotions.

use super::*;
use crate::config::ServiceConfig;

#[test]
fn a_release_whose_promotion_failed_is_judged_against_the_release_that_is_current_now() {
    let world = World::new();
    world.receive_all();
    let promote_elsewhere = |id: &str| world.promote_elsewhere(Part::Valuation, &[id]);
    promote_elsewhere("current");
    *world.program.change.borrow_mut() = Some(0.0);
    world.end_with("promote", 1);
    let (first, _) = world.round(&[]);
    assert_eq!(first.parts[3].state, PartState::Failed);
    // Nothing has changed, so that the judgement holds.
    let (second, ran) = world.round(&[Part::Valuation]);
    assert_eq!(second.parts[0].state, PartState::Failed);
    assert_eq!(ran, ["release history", "release promote"]);
    world.program.ends.borrow_mut().clear();
    promote_elsewhere("other");
    *world.program.change.borrow_mut() = Some(0.2);
    let (third, ran) = world.round(&[Part::Valuation]);
    assert_eq!(third.parts[0].state, PartState::Held, "{third:?}");
    assert!(!ran.contains(&"release promote".to_owned()), "{ran:?}");
    let steps = &third.parts[0].steps;
    let compared = steps.iter().find(|step| step.name == "compare").unwrap();
    assert!(
        compared
            .command
            .starts_with("domesday compare other hedonic-"),
        "{compared:?}"
    );
    promote_elsewhere("near");
    *world.program.change.borrow_mut() = Some(0.01);
    let (fourth, _) = world.round(&[Part::Valuation]);
    assert_eq!(fourth.parts[0].state, PartState::Promoted, "{fourth:?}");
}

/// A second person promoted it, and then promoted the one before it again.
#[test]
fn a_release_that_a_person_rolled_back_is_not_promoted_again() {
    let world = World::new();
    world.receive_all();
    world.promote_elsewhere(Part::Valuation, &["old"]);
    *world.program.change.borrow_mut() = Some(0.0);
    world.end_with("promote", 1);
    let (first, _) = world.round(&[]);
    let id = first.parts[3].id.as_deref().unwrap();
    world.program.ends.borrow_mut().clear();
    world.promote_elsewhere(Part::Valuation, &["old", id, "old"]);
    let (second, ran) = world.round(&[Part::Valuation]);
    assert_eq!(states(&second), [(Part::Valuation, PartState::Unchanged)]);
    assert_eq!(second.parts[0].next, None);
    assert_eq!(ran, ["release history"]);
    assert_eq!(world.round(&[Part::Valuation]).1, [""; 0]);
}

/// The server ended the promotion, and a person may have promoted another release since.
#[test]
fn a_release_whose_round_ended_in_its_promotion_is_not_promoted_again() {
    for later in [None, Some("old")] {
        let world = World::new();
        world.receive(&["bank.csv"]);
        *world.program.broken.borrow_mut() = Some("promote");
        world.with_context(&[Part::Rates], |context| run(context).unwrap_err());
        *world.program.broken.borrow_mut() = None;
        world.program.ran.take();
        let record = RefreshRecord::read(&world.config.reports).unwrap();
        let id = record.built[&Part::Rates].id.as_str();
        let promoted: Vec<&str> = [id].into_iter().chain(later).collect();
        world.promote_elsewhere(Part::Rates, &promoted);
        let (report, ran) = world.round(&[Part::Rates]);
        assert_eq!(states(&report), [(Part::Rates, PartState::Unchanged)]);
        assert_eq!(ran, ["release history"]);
    }
}

/// Returns the datasets of a release of rates that ends on this day.
fn bank_rate(to: &str, series: u64) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"dataset": "bank_rate", "to": to, "series": series})]
}

#[test]
fn a_release_of_series_whose_promotion_failed_is_compared_with_the_current_one() {
    for (to, state) in [
        ("2026-11-30", PartState::Promoted),
        ("2026-12-31", PartState::Held),
    ] {
        let world = World::new();
        world.receive(&["bank.csv"]);
        *world.program.datasets.borrow_mut() = bank_rate("2026-11-30", 1);
        world.end_with("promote", 1);
        world.round(&[Part::Rates]);
        world.program.ends.borrow_mut().clear();
        world.add_series(Part::Rates, "other", &bank_rate(to, 1));
        world.promote_elsewhere(Part::Rates, &["other"]);
        let (report, _) = world.round(&[Part::Rates]);
        assert_eq!(report.parts[0].state, state, "{to}: {report:?}");
    }
}

/// A person promoted the current one, so that the record knows none before.
#[test]
fn a_release_of_series_is_compared_with_the_current_one_before_its_promotion() {
    for (to, state) in [
        ("2026-11-30", PartState::Promoted),
        ("2026-12-31", PartState::Held),
    ] {
        let world = World::new();
        world.receive(&["bank.csv"]);
        *world.program.datasets.borrow_mut() = bank_rate("2026-11-30", 1);
        world.add_series(Part::Rates, "current", &bank_rate(to, 1));
        world.promote_elsewhere(Part::Rates, &["current"]);
        let (report, _) = world.round(&[Part::Rates]);
        assert_eq!(report.parts[0].state, state, "{to}: {report:?}");
    }
}

/// Its steps reach the folder that commands take without options.
#[test]
fn a_round_that_names_no_service_compares_with_the_release_that_is_current() {
    let mut world = World::new();
    world.config.service = ServiceConfig::default();
    fs::create_dir_all(&world.default_data).unwrap();
    world.receive_all();
    *world.program.datasets.borrow_mut() = bank_rate("2026-11-30", 1);
    *world.program.change.borrow_mut() = Some(0.01);
    world.add_series(Part::Rates, "current", &bank_rate("2026-12-31", 1));
    for part in [Part::Rates, Part::Valuation] {
        world.promote_elsewhere(part, &["current"]);
    }
    let (report, _) = world.round(&[]);
    let states: Vec<PartState> = report.parts.iter().map(|part| part.state).collect();
    use PartState::{Built, Held, Promoted, Proposed};
    assert_eq!(states, [Held, Proposed, Built, Promoted], "{report:?}");
}

#[test]
fn the_ledger_is_read_where_the_service_may_have_a_state() {
    for (has_data, names_elsewhere) in [(false, false), (true, false), (false, true)] {
        let mut world = World::new();
        world.config.service = ServiceConfig::default();
        world.names_elsewhere = names_elsewhere;
        if has_data {
            fs::create_dir_all(&world.default_data).unwrap();
        }
        world.receive(&["bank.csv"]);
        let (_, ran) = world.round(&[Part::Rates]);
        let is_read = ran.contains(&"release history".to_owned());
        assert_eq!(is_read, has_data || names_elsewhere, "{ran:?}");
    }
}

#[test]
fn a_release_of_series_is_not_promoted_while_the_ledger_cannot_be_read() {
    let world = World::new();
    world.receive(&["bank.csv"]);
    world.end_with("history", 1);
    let (first, ran) = world.round(&[Part::Rates]);
    assert_eq!(first.parts[0].state, PartState::Failed);
    assert_eq!(ran.last().unwrap(), "release history");
    world.program.ends.borrow_mut().clear();
    let (second, ran) = world.round(&[Part::Rates]);
    assert_eq!(second.parts[0].state, PartState::Promoted);
    let last = ["release history", "release history", "release promote"];
    assert_eq!(ran, last);
}

#[test]
fn a_release_of_series_is_not_promoted_beside_a_damaged_ledger() {
    let world = World::new();
    world.receive(&["bank.csv"]);
    world.damage_ledger(Part::Rates);
    let (report, ran) = world.round(&[Part::Rates]);
    assert_eq!(report.parts[0].state, PartState::Failed);
    let note = report.parts[0].notes.last().unwrap();
    assert!(note.contains("the promotion ledger"), "{note}");
    assert_eq!(ran.last().unwrap(), "release history");
}

#[test]
fn a_release_of_series_that_lost_data_waits_for_a_person() {
    let world = World::new();
    world.receive(&["bank.csv"]);
    *world.program.datasets.borrow_mut() = bank_rate("2026-10-30", 1);
    assert_eq!(
        world.round(&[Part::Rates]).0.parts[0].state,
        PartState::Promoted
    );
    for (file, datasets, state) in [
        (
            "bank-2.csv",
            bank_rate("2026-11-30", 1),
            PartState::Promoted,
        ),
        ("bank-3.csv", bank_rate("2026-10-30", 1), PartState::Held),
        (
            "bank-4.csv",
            bank_rate("2026-11-30", 1),
            PartState::Promoted,
        ),
        ("bank-5.csv", bank_rate("2026-11-30", 0), PartState::Held),
        ("bank-6.csv", Vec::new(), PartState::Held),
        (
            "bank-7.csv",
            bank_rate("2026-11-30", 1),
            PartState::Promoted,
        ),
        ("bank-8.csv", Vec::new(), PartState::Held),
    ] {
        world.receive(&[file]);
        *world.program.datasets.borrow_mut() = datasets;
        let (report, _) = world.round(&[Part::Rates]);
        assert_eq!(report.parts[0].state, state, "{file}: {report:?}");
    }
}
