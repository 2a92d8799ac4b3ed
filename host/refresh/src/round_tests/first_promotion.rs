//! Rounds beside releases that no round built.

use super::*;

#[test]
fn nothing_is_built_beside_a_release_that_is_served_without_a_promotion() {
    let world = World::new();
    world.receive_all();
    *world.program.change.borrow_mut() = Some(0.0);
    for part in [Part::Rates, Part::Valuation] {
        world.add_series(part, "by-hand", &[]);
    }
    let (first, ran) = world.round(&[Part::Rates, Part::Snapshot, Part::Valuation]);
    use PartState::{Built, Failed, Promoted};
    let expected = [
        (Part::Rates, Failed),
        (Part::Snapshot, Built),
        (Part::Valuation, Failed),
    ];
    assert_eq!(states(&first), expected);
    let steps = [
        "release history",
        "data data",
        "property build",
        "release history",
    ];
    assert_eq!(ran, steps);
    let next = first.parts[0].next.as_deref().unwrap();
    let command = "domesday release promote by-hand --kind rates --data ";
    assert!(next.starts_with(command), "{next}");
    for part in [Part::Rates, Part::Valuation] {
        world.promote_elsewhere(part, &["by-hand"]);
    }
    let (second, _) = world.round(&[Part::Rates, Part::Valuation]);
    let expected = [(Part::Rates, Promoted), (Part::Valuation, Promoted)];
    assert_eq!(states(&second), expected, "{second:?}");
}

#[test]
fn nothing_is_built_beside_such_a_release_while_the_ledger_cannot_be_read() {
    let world = World::new();
    world.receive(&["bank.csv"]);
    world.add_series(Part::Rates, "by-hand", &[]);
    world.promote_elsewhere(Part::Rates, &["by-hand"]);
    world.end_with("history", 1);
    let (report, ran) = world.round(&[Part::Rates]);
    assert_eq!(states(&report), [(Part::Rates, PartState::Failed)]);
    assert_eq!(ran, ["release history"]);
}
