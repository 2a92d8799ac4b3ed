//! Rounds of a scripted program.

#[path = "round_tests/absent_files.rs"]
mod absent_files;
#[path = "round_tests/current_release.rs"]
mod current_release;
#[path = "round_tests/first_promotion.rs"]
mod first_promotion;
#[path = "round_tests/scripted_round.rs"]
mod scripted_round;

use super::*;
use crate::file_kind::FileKind;
use crate::monitor_exit::ALARMED;
use crate::report::{PartState, RoundResult};
use scripted_round::World;

fn states(report: &RoundReport) -> Vec<(Part, PartState)> {
    let parts = report.parts.iter();
    parts.map(|part| (part.part, part.state)).collect()
}

#[test]
fn a_second_round_over_the_same_files_builds_nothing() {
    let world = World::new();
    world.receive_all();
    let (first, ran) = world.round(&[]);
    assert_eq!(
        states(&first),
        [
            (Part::Rates, PartState::Promoted),
            (Part::Markets, PartState::Proposed),
            (Part::Snapshot, PartState::Built),
            (Part::Valuation, PartState::Held),
        ]
    );
    assert_eq!(
        ran,
        [
            "data data",
            "series build",
            "release history",
            "release promote",
            "data data",
            "series build",
            "data data",
            "property build",
            "release build",
            "release check",
            "release history",
        ]
    );
    let (second, ran) = world.round(&[]);
    // It looks whether a person promoted what was proposed.
    assert_eq!(ran, ["release history", "release history"]);
    let states: Vec<PartState> = second.parts.iter().map(|part| part.state).collect();
    use PartState::{Held, Unchanged};
    assert_eq!(states, [Unchanged, Unchanged, Unchanged, Held]);
    // The command to type is still told.
    let next = second.parts[1].next.as_deref().unwrap();
    assert!(
        next.starts_with("domesday release promote markets-"),
        "{next}"
    );
    assert!(next.contains("--kind markets"), "{next}");
}

#[test]
fn a_release_that_a_person_promoted_waits_no_longer() {
    let world = World::new();
    world.receive_all();
    let (first, _) = world.round(&[]);
    let held = first.parts[3].id.as_deref().unwrap();
    world.promote_elsewhere(Part::Valuation, &[held]);
    let (second, _) = world.round(&[Part::Valuation]);
    assert_eq!(states(&second), [(Part::Valuation, PartState::Unchanged)]);
    assert_eq!(second.parts[0].next, None);
    let (_, ran) = world.round(&[Part::Valuation]);
    assert_eq!(ran, [""; 0]);
}

#[test]
fn a_release_that_moves_estimates_too_far_waits_for_a_person() {
    for (change, state) in [(0.05, PartState::Promoted), (-0.0501, PartState::Held)] {
        let world = World::new();
        world.receive_all();
        world.promote_elsewhere(Part::Valuation, &["older", "current"]);
        *world.program.change.borrow_mut() = Some(change);
        let (report, ran) = world.round(&[]);
        let part = report.parts.last().unwrap();
        assert_eq!(part.state, state, "{part:?}");
        let compared = &part
            .steps
            .iter()
            .find(|step| step.name == "compare")
            .unwrap()
            .command;
        assert!(
            compared.starts_with("domesday compare current hedonic-"),
            "{compared}"
        );
        let promoted = ran.iter().filter(|step| *step == "release promote").count();
        assert_eq!(promoted, if state == PartState::Promoted { 2 } else { 1 });
    }
}

#[test]
fn a_release_that_fails_its_check_is_not_promoted_and_not_built_again() {
    let world = World::new();
    world.receive_all();
    world.end_with("check", 1);
    let (first, _) = world.round(&[]);
    let part = first.parts.last().unwrap();
    assert_eq!(part.state, PartState::Refused);
    assert!(
        part.next
            .as_deref()
            .unwrap()
            .starts_with("domesday release check")
    );
    assert_eq!(first.result(), RoundResult::Attention);
    let (again, ran) = world.round(&[]);
    assert_eq!(again.parts.last().unwrap().state, PartState::Refused);
    assert_eq!(ran, ["release history"], "of the markets that are proposed");
    // Another model is another try.
    fs::write(world.folder.path().join("models/hedonic/release.toml"), "b").unwrap();
    world.program.ends.borrow_mut().clear();
    let (mended, ran) = world.round(&[Part::Valuation]);
    assert_eq!(mended.parts.last().unwrap().state, PartState::Held);
    assert_eq!(ran[0], "release build");
}

#[test]
fn a_step_that_fails_stops_its_part_alone_and_is_tried_again() {
    let world = World::new();
    world.receive_all();
    world.end_with("build", 1);
    let (first, _) = world.round(&[]);
    assert_eq!(states(&first).len(), 3);
    for part in &first.parts {
        assert_eq!(part.state, PartState::Failed);
        assert!(
            part.notes
                .last()
                .unwrap()
                .contains("build ended with 1: the reason")
        );
    }
    world.program.ends.borrow_mut().clear();
    let (second, _) = world.round(&[]);
    assert_eq!(second.parts[2].state, PartState::Built);
}

#[test]
fn a_promotion_that_fails_is_tried_again_without_a_build() {
    let world = World::new();
    world.receive(&["bank.csv"]);
    world.end_with("promote", 1);
    let (first, _) = world.round(&[Part::Rates]);
    assert_eq!(first.parts[0].state, PartState::Failed);
    world.program.ends.borrow_mut().clear();
    let (second, ran) = world.round(&[Part::Rates]);
    assert_eq!(second.parts[0].state, PartState::Promoted);
    assert_eq!(ran, ["release history", "release promote"]);
    assert_eq!(world.round(&[Part::Rates]).1, [""; 0]);
}

#[test]
fn a_release_that_was_not_judged_is_judged_by_the_next_round() {
    let world = World::new();
    world.receive_all();
    let ends = &world.program.ends;
    world.end_with("check", 2);
    let (first, _) = world.round(&[]);
    let part = first.parts.last().unwrap();
    assert_eq!(part.state, PartState::Failed);
    assert!(part.notes[0].contains("check ended with 2"), "{part:?}");
    ends.borrow_mut().clear();
    world.end_with("history", 1);
    let (second, ran) = world.round(&[Part::Valuation]);
    assert_eq!(second.parts[0].state, PartState::Failed);
    // A person may have promoted it.
    assert_eq!(ran, ["release history"]);
    ends.borrow_mut().clear();
    let (third, ran) = world.round(&[Part::Valuation]);
    assert_eq!(third.parts[0].state, PartState::Held);
    assert_eq!(ran, ["release history", "release check", "release history"]);
}

#[test]
fn a_release_whose_report_lacks_its_signature_is_checked_again() {
    let mut world = World::new();
    world.receive_all();
    world.config.publish_to = Some("releases-of-hosts".to_owned());
    world.end_with("publish", 1);
    let (first, _) = world.round(&[]);
    let id = first.parts[3].id.as_deref().unwrap();
    let package = world.config.releases.join("valuation").join(id);
    fs::remove_file(package.join("check.sig")).unwrap();
    let (_, ran) = world.round(&[Part::Valuation]);
    assert_eq!(ran[..2], ["release history", "release check"]);
    // The report may be approved already.
    let (_, ran) = world.round(&[Part::Valuation]);
    let last = ["release history", "release history", "release publish"];
    assert_eq!(ran, last);
}

#[test]
fn a_release_that_is_held_is_judged_again_by_another_limit() {
    let mut world = World::new();
    world.receive_all();
    world.promote_elsewhere(Part::Valuation, &["current"]);
    *world.program.change.borrow_mut() = Some(0.06);
    let (first, _) = world.round(&[]);
    assert_eq!(first.parts[3].state, PartState::Held);
    let (second, ran) = world.round(&[Part::Valuation]);
    assert_eq!(second.parts[0].state, PartState::Held);
    assert_eq!(ran, ["release history"]);
    world.config.valuation.as_mut().unwrap().largest_change = 0.1;
    let (third, _) = world.round(&[Part::Valuation]);
    assert_eq!(third.parts[0].state, PartState::Promoted);
}

#[test]
fn an_alarm_of_the_monitor_is_for_a_person() {
    let world = World::new();
    world.receive_all();
    world.promote_elsewhere(Part::Valuation, &["current"]);
    *world.program.change.borrow_mut() = Some(0.0);
    world.end_with("monitor", i32::from(ALARMED));
    let (report, _) = world.round(&[]);
    assert_eq!(report.parts[3].state, PartState::Promoted);
    assert_eq!(report.result(), RoundResult::Attention);
}

#[test]
fn a_round_whose_packages_nobody_would_trust_builds_none() {
    let world = World::new();
    world.receive_all();
    fs::remove_file(world.config.releases.join("keys/my.pub")).unwrap();
    let error = world.with_context(&[], |context| run(context).unwrap_err());
    assert!(matches!(error, RefreshError::Untrusted { .. }), "{error}");
    assert_eq!(world.program.ran.take(), [""; 0]);
}

#[test]
fn a_part_that_the_file_does_not_have_is_refused() {
    let mut world = World::new();
    world.config.markets = None;
    let error = world.with_context(&[Part::Markets], |context| run(context).unwrap_err());
    assert!(error.to_string().contains("no [markets]"), "{error}");
    assert!(
        !world.config.reports.exists(),
        "a mistyped part was recorded"
    );
}

#[test]
fn a_round_that_an_error_breaks_off_records_the_parts_before_it() {
    let world = World::new();
    world.receive_all();
    *world.program.broken.borrow_mut() = Some("check");
    let error = world.with_context(&[], |context| run(context).unwrap_err());
    assert!(matches!(error, RefreshError::Io { .. }), "{error}");
    let metrics = fs::read_to_string(world.config.reports.join("refresh.prom")).unwrap();
    for sample in [
        "round_broken_off 1",
        "part_failed{part=\"rates\"} 0",
        "part_failed{part=\"markets\"} 0",
        "part_failed{part=\"snapshot\"} 0",
    ] {
        let sample = format!("domesday_refresh_{sample}\n");
        assert!(metrics.contains(&sample), "{metrics}");
    }
    assert!(!metrics.contains("valuation"), "{metrics}");
}

#[test]
fn a_model_that_cannot_be_read_fails_its_part_alone() {
    let world = World::new();
    world.receive_all();
    fs::remove_dir_all(world.folder.path().join("models/hedonic")).unwrap();
    let (report, _) = world.round(&[]);
    assert_eq!(
        states(&report)[2..],
        [
            (Part::Snapshot, PartState::Built),
            (Part::Valuation, PartState::Failed)
        ]
    );
    let note = &report.parts[3].notes[0];
    assert!(note.contains("models/hedonic"), "{note}");
    let planned = world.with_context(&[], |context| plan(context).unwrap());
    assert_eq!(planned.parts[3].state, PartState::Failed);
    let metrics = fs::read_to_string(world.config.reports.join("refresh.prom")).unwrap();
    for sample in ["round_broken_off 0", "part_failed{part=\"valuation\"} 1"] {
        let sample = format!("domesday_refresh_{sample}\n");
        assert!(metrics.contains(&sample), "{metrics}");
    }
}

#[test]
fn an_update_that_is_refused_becomes_a_build() {
    let world = World::new();
    world.receive_all();
    world.round(&[Part::Snapshot]);
    world.receive(&["pp-2.csv"]);
    world.end_with("update", 1);
    let (report, ran) = world.round(&[Part::Snapshot]);
    assert_eq!(report.parts[0].state, PartState::Built);
    assert_eq!(ran, ["data data", "property update", "property build"]);
    assert!(
        report.parts[0].notes[1].contains("built anew"),
        "{report:?}"
    );
}

#[test]
fn a_round_fetches_first_and_builds_nothing_without_its_files() {
    let mut world = World::new();
    world.receive(&["bank.csv"]);
    world.config.fetch_from = Some("s3://bucket/inbox".to_owned());
    let (_, ran) = world.round(&[Part::Rates]);
    assert_eq!(ran[..2], ["data fetch", "data data"]);
    world.receive(&["bank-2.csv"]);
    world.end_with("fetch", 1);
    let refused = world.with_context(&[], |context| run(context).unwrap_err());
    assert!(
        refused
            .to_string()
            .contains("cannot fetch the files of s3://bucket/inbox")
    );
    assert_eq!(world.program.ran.take(), ["data fetch"]);
    let metrics = fs::read_to_string(world.config.reports.join("refresh.prom")).unwrap();
    for sample in ["round_broken_off 1", "part_failed{part=\"rates\"} 0"] {
        let sample = format!("domesday_refresh_{sample}\n");
        assert!(metrics.contains(&sample), "{metrics}");
    }
}

#[test]
fn a_release_is_published_before_it_is_promoted() {
    let mut world = World::new();
    world.receive(&["bank.csv"]);
    world.config.publish_to = Some("oci://registry.example/rates".to_owned());
    let (report, ran) = world.round(&[Part::Rates]);
    let last = ["release history", "release publish", "release promote"];
    assert_eq!(ran[2..], last);
    let command = &report.parts[0].steps[3].command;
    assert!(
        command.contains("oci://registry.example/rates --kind rates"),
        "{command}"
    );
    // Hosts could not fetch what was not published.
    world.receive(&["bank-2.csv"]);
    world.end_with("publish", 1);
    let (report, ran) = world.round(&[Part::Rates]);
    assert_eq!(report.parts[0].state, PartState::Failed);
    assert_eq!(ran.last().unwrap(), "release publish");
}

/// A person promotes it, and the hosts fetch it then.
#[test]
fn a_release_that_waits_for_a_person_is_published() {
    let mut world = World::new();
    world.receive_all();
    world.config.publish_to = Some("releases-of-hosts".to_owned());
    world.end_with("publish", 1);
    let parts = [Part::Markets, Part::Snapshot, Part::Valuation];
    let (first, _) = world.round(&parts);
    use PartState::{Built, Failed, Held, Proposed, Unchanged};
    let of = |report: &RoundReport| report.parts.iter().map(|it| it.state).collect::<Vec<_>>();
    assert_eq!(of(&first), [Failed, Built, Failed]);
    world.program.ends.borrow_mut().clear();
    let (second, ran) = world.round(&parts);
    assert_eq!(of(&second), [Proposed, Unchanged, Held]);
    assert_eq!(
        ran,
        [
            "release history",
            "release publish",
            "release history",
            "release history",
            "release publish",
        ]
    );
    let (_, ran) = world.round(&parts);
    assert!(!ran.contains(&"release publish".to_owned()), "{ran:?}");
}

#[test]
fn what_is_missing_unknown_or_overdue_is_said() {
    let mut world = World::new();
    world.receive(&["bank.csv", "notes.txt"]);
    world.config.expected_within_days = [(FileKind::BankCsv, 0), (FileKind::PricePaid, 40)].into();
    let (report, _) = world.round(&[]);
    assert_eq!(report.parts[1].state, PartState::Missing);
    let note = &report.parts[1].notes[0];
    assert!(
        note.contains("--price-paid, --areas, --authority-codes"),
        "{note}"
    );
    assert_eq!(report.unknown.len(), 1);
    // The file of rates is an hour old.
    let overdue: Vec<_> = report.overdue.iter().map(|it| (it.kind, it.days)).collect();
    assert_eq!(overdue, [(FileKind::PricePaid, None)]);
}

#[test]
fn a_dry_run_leaves_no_trace() {
    let world = World::new();
    world.receive_all();
    let report = world.with_context(&[], |context| plan(context).unwrap());
    let planned = report
        .parts
        .iter()
        .all(|part| part.state == PartState::Planned);
    assert!(planned && report.parts.len() == 4, "{report:?}");
    let next = report.parts[3].next.as_deref().unwrap();
    assert!(next.contains("--snapshot registers-"), "{next}");
    assert_eq!(world.program.ran.take(), [""; 0]);
    assert!(!world.config.reports.exists());
}

#[test]
fn two_rounds_at_once_are_one() {
    let world = World::new();
    fs::create_dir_all(&world.config.reports).unwrap();
    let held = RoundLock::take(&world.config.reports).unwrap();
    let error = world.with_context(&[], |context| run(context).unwrap_err());
    assert!(matches!(error, RefreshError::Busy { .. }), "{error}");
    drop(held);
    world.with_context(&[], |context| run(context).unwrap());
}
