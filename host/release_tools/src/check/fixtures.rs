//! The release's own fixtures and recorded predictions: the same bits on both allocators, and of
//! the snapshot the same answers.

use super::finding::{Finding, Verdict, first_lines};
use domesday_engine::Release;
use domesday_engine::evidence::EvidenceSource;
use domesday_engine::fixture::{Fixture, FixtureError, read};
use domesday_engine::predictions::{self, RecordedPrediction};
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_package::{Package, PackageError};
use domesday_registers::Progress;
use serde_json::json;
use std::io::Cursor;
use std::sync::Arc;

pub const CHECK: &str = "fixtures";
pub const SNAPSHOT_CHECK: &str = "snapshot";

/// The recorded rows of a package. A file that cannot be read has none.
#[derive(Default)]
pub struct RecordedRows {
    /// Its fixtures.
    pub fixtures: Vec<Fixture>,
    /// Predictions for rows that its model came with.
    pub predictions: Vec<RecordedPrediction>,
    /// The files that cannot be read, each with the reason.
    unreadable: Vec<String>,
}

impl RecordedRows {
    /// Takes the rows of a file, or the reason why it has none.
    fn take<T>(&mut self, file: &str, rows: Result<Vec<T>, FixtureError>) -> Vec<T> {
        rows.unwrap_or_else(|error| {
            self.unreadable
                .push(format!("{file} cannot be read: {error}"));
            Vec::new()
        })
    }
}

/// Reads the recorded rows of a package, whose fixtures are in this file.
///
/// # Errors
/// [`PackageError`] if the package has not the bytes of a file.
pub fn read_all(package: &Package, fixtures: &str) -> Result<RecordedRows, PackageError> {
    let mut recorded = RecordedRows::default();
    let rows = read(Cursor::new(package.bytes(fixtures)?));
    recorded.fixtures = recorded.take(fixtures, rows);
    if package.path(predictions::FILE).is_ok() {
        let rows = predictions::read(Cursor::new(package.bytes(predictions::FILE)?));
        recorded.predictions = recorded.take(predictions::FILE, rows);
    }
    Ok(recorded)
}

/// Replays the fixtures and the recorded predictions on each engine. A file of them that cannot be
/// read fails the release.
pub fn check_replay(
    recorded: &RecordedRows,
    engines: &[(&str, &Release)],
    progress: &mut Progress<'_>,
) -> Finding {
    let RecordedRows {
        fixtures,
        predictions,
        unreadable,
    } = recorded;
    if let [first, others @ ..] = &unreadable[..] {
        let found = Finding::new(CHECK, Verdict::Failed, first.clone());
        return found.with_details(others.to_vec());
    }
    let stand_in = fixtures.first().map(|row| Arc::new(row.subject.clone()));
    let rows = fixtures.len() + predictions.len();
    let mut found = Vec::new();
    for (at, (engine, release)) in engines.iter().enumerate() {
        progress("replaying fixtures", at as u64, engines.len() as u64);
        let differ = fixtures.iter().filter_map(|row| replay(release, row).err());
        found.extend(differ.map(|mismatch| (*engine, mismatch)));
        if let Some(stand_in) = &stand_in {
            let differ = predictions
                .iter()
                .filter_map(|row| row.replay(release, stand_in).err());
            found.extend(differ.map(|mismatch| (*engine, mismatch)));
        }
    }
    let names: Vec<&str> = engines.iter().map(|(name, _)| *name).collect();
    let names = names.join(" and ");
    if found.is_empty() {
        return Finding::new(
            CHECK,
            Verdict::Passed,
            match predictions.len() {
                0 => format!("{rows} rows identical to the bit, with instances {names}"),
                expected => format!(
                    "{rows} rows identical to the bit, {expected} expected predictions among them, with instances {names}"
                ),
            },
        )
        .with_figures(json!({
            "rows": rows, "expected_predictions": predictions.len(), "mismatches": [],
        }));
    }
    let lines = found
        .iter()
        .map(|(engine, mismatch)| format!("{engine}: {mismatch}"))
        .collect();
    let summary = format!(
        "{} of {} replays are not identical to the bit",
        found.len(),
        rows * engines.len()
    );
    fail(CHECK, summary, lines, rows, found.iter().map(|(_, m)| m))
}

/// Asks the snapshot the fixtures' questions again.
pub fn check_snapshot(
    fixtures: &[Fixture],
    snapshot: &dyn EvidenceSource,
    progress: &mut Progress<'_>,
) -> Finding {
    progress("asking the snapshot", 0, 1);
    let found: Vec<Mismatch> = fixtures
        .iter()
        .filter_map(|row| agrees(snapshot, row).err())
        .collect();
    if found.is_empty() {
        let questions: usize = fixtures.iter().map(|row| row.evidence.len()).sum();
        if questions == 0 {
            let why = "the fixtures hold no question of the snapshot";
            return Finding::new(SNAPSHOT_CHECK, Verdict::NotJudged, why);
        }
        return Finding::new(
            SNAPSHOT_CHECK,
            Verdict::Passed,
            format!("the snapshot still gives all {questions} answers that the fixtures hold"),
        )
        .with_figures(json!({"questions": questions, "mismatches": []}));
    }
    let lines = found.iter().map(ToString::to_string).collect();
    let summary = format!(
        "{} of {} rows get other answers from the snapshot than the fixtures hold",
        found.len(),
        fixtures.len()
    );
    fail(SNAPSHOT_CHECK, summary, lines, fixtures.len(), found.iter())
}

fn fail<'a>(
    check: &'static str,
    summary: String,
    lines: Vec<String>,
    rows: usize,
    mismatches: impl Iterator<Item = &'a Mismatch>,
) -> Finding {
    let mismatches: Vec<&Mismatch> = mismatches.collect();
    let summary = format!("{summary}; list all with `domesday replay --snapshot`");
    Finding::new(check, Verdict::Failed, summary)
        .with_details(first_lines(lines.into_iter()))
        .with_figures(json!({"rows": rows, "mismatches": mismatches}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_fails_the_check_and_names_its_file() {
        let mut recorded = RecordedRows::default();
        let good = recorded.take("fixtures.jsonl", Ok(vec![1]));
        assert_eq!(good, [1]);
        let bad = predictions::read(Cursor::new("{}\n"));
        assert!(recorded.take(predictions::FILE, bad).is_empty());
        let found = check_replay(&recorded, &[], &mut |_, _, _| {});
        assert_eq!(found.verdict, Verdict::Failed);
        let expected = "predictions.jsonl cannot be read: line 1 is not a fixture";
        assert!(found.summary.starts_with(expected), "{found:?}");
    }
}
