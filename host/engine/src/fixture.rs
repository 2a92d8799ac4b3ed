//! One valuation, recorded whole: the input of a replay, and nothing that can change.
//!
//! A fixture file holds one JSON object a line. Numbers are written in the shortest form that
//! reads back to the same bits, so equal text is equal bits.

use crate::evidence::{EvidenceSource, Exchange, Recorder};
use crate::outcome::{Cost, Outcome, Row, RowFailure};
use crate::release::Release;
use crate::runtime::Runtime;
use crate::subject::Subject;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::sync::Arc;

/// One recorded row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// The row's name in messages; unique in its file.
    pub row: String,
    /// The engine that made the record.
    pub engine: String,
    /// The property, resolved.
    pub subject: Subject,
    /// Every question of the release with its answer, in order.
    pub evidence: Vec<Exchange>,
    /// The result.
    pub result: RecordedResult,
    /// The cost, for information: another engine version may count otherwise.
    pub cost: Cost,
}

/// The result of a row: an outcome, or a final failure of the release itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedResult {
    /// The release answered.
    Outcome(Outcome),
    /// The release failed, as it always will on this row.
    Failure(RowFailure),
}

/// A fixture could not be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// A host's failure is no property of the release, so it is never recorded.
    #[error("row {row:?} cannot be recorded: {failure}")]
    HostFailure {
        /// The row.
        row: String,
        /// The problem.
        failure: RowFailure,
    },
    /// A line is no fixture.
    #[error("line {line} is not a fixture, at column {column}: {problem}")]
    NotAFixture {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The problem.
        problem: String,
    },
    /// Two rows of one name. A message could mean either.
    #[error("line {line} has the name of an earlier row, {row:?}. Give each row its own name")]
    NameRepeated {
        /// Counted from 1.
        line: usize,
        /// The name.
        row: String,
    },
    /// There are more rows than a file may have, or a row has more of something.
    #[error("line {line}: the file may have {most} {what}")]
    TooLarge {
        /// Counted from 1.
        line: usize,
        /// The bound.
        most: usize,
        /// Its kind, in the plural.
        what: &'static str,
    },
    /// There is nothing to replay.
    #[error("the file holds no fixture. Record at least one row")]
    Empty,
    /// Reading or writing failed. The caller knows the file.
    #[error("cannot read or write fixtures")]
    Io(#[from] std::io::Error),
}

/// Returns the result of a row that a record keeps: the release's answer or its final failure.
///
/// # Errors
/// [`FixtureError::HostFailure`] if the host failed, which proves nothing.
pub(crate) fn final_result<'a>(
    row: &str,
    run: &'a Row,
) -> Result<Result<&'a Outcome, &'a RowFailure>, FixtureError> {
    match &run.outcome {
        Err(failure) if failure.retryable() => Err(FixtureError::HostFailure {
            row: row.to_owned(),
            failure: failure.clone(),
        }),
        result => Ok(result.as_ref()),
    }
}

impl Fixture {
    /// Returns the record of a row that was run. `evidence` holds its queries and the responses.
    ///
    /// # Errors
    /// [`FixtureError::HostFailure`] if the host fails.
    pub fn of(
        row: String,
        subject: Subject,
        evidence: Vec<Exchange>,
        run: &Row,
    ) -> Result<Fixture, FixtureError> {
        let result = match final_result(&row, run)? {
            Ok(outcome) => RecordedResult::Outcome(outcome.clone()),
            Err(failure) => RecordedResult::Failure(failure.clone()),
        };
        Ok(Fixture {
            row,
            engine: Runtime::version().to_owned(),
            subject,
            evidence,
            result,
            cost: run.cost,
        })
    }

    /// Values one subject and records everything.
    ///
    /// # Errors
    /// [`FixtureError::HostFailure`] if the host fails.
    pub fn record(
        row: String,
        release: &Release,
        subject: Subject,
        evidence: Arc<dyn EvidenceSource>,
    ) -> Result<Fixture, FixtureError> {
        let recorder = Arc::new(Recorder::new(evidence));
        let subject = Arc::new(subject);
        let run = release.value(&subject, recorder.clone());
        let subject = Arc::unwrap_or_clone(subject);
        Fixture::of(row, subject, recorder.take(), &run)
    }
}

/// Returns the error of a line without its position. The JSON parser sees one line and always
/// counts it as the first.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).unwrap_or(&text).to_owned()
}

/// Reads a fixture file. Empty lines are passed over.
///
/// # Errors
/// [`FixtureError::NotAFixture`] or [`FixtureError::NameRepeated`] with the number of the bad line.
/// [`FixtureError::Empty`] if there is no line.
pub fn read(from: impl BufRead) -> Result<Vec<Fixture>, FixtureError> {
    read_lines(from, |fixture: &Fixture| &fixture.row, |_, _| Ok(()))
}

/// Reads a file of recorded rows, one a line. `name` returns a row's name. `admit` receives
/// the number of rows with the latest, and returns the bound and its kind where one is exceeded.
pub(crate) fn read_lines<T: DeserializeOwned>(
    from: impl BufRead,
    name: impl Fn(&T) -> &String,
    admit: impl Fn(usize, &T) -> Result<(), (usize, &'static str)>,
) -> Result<Vec<T>, FixtureError> {
    let mut rows = Vec::new();
    let mut names = BTreeSet::new();
    for (at, line) in from.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let row: T = serde_json::from_str(&line).map_err(|error| FixtureError::NotAFixture {
            line: at + 1,
            column: error.column(),
            problem: without_position(&error),
        })?;
        admit(rows.len() + 1, &row).map_err(|(most, what)| FixtureError::TooLarge {
            line: at + 1,
            most,
            what,
        })?;
        if !names.insert(name(&row).clone()) {
            return Err(FixtureError::NameRepeated {
                line: at + 1,
                row: name(&row).clone(),
            });
        }
        rows.push(row);
    }
    if rows.is_empty() {
        Err(FixtureError::Empty)
    } else {
        Ok(rows)
    }
}

/// Writes fixtures, one a line.
///
/// # Errors
/// [`FixtureError::Io`] if writing fails.
pub fn write(fixtures: &[Fixture], to: impl Write) -> Result<(), FixtureError> {
    write_lines(fixtures, to)
}

/// Writes recorded rows, one a line.
pub(crate) fn write_lines<T: Serialize>(
    rows: &[T],
    mut to: impl Write,
) -> Result<(), FixtureError> {
    for row in rows {
        serde_json::to_writer(&mut to, row).map_err(std::io::Error::from)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}
