//! One valuation with the digests of its answers: a record that needs its snapshot to be replayed.

use crate::evidence::{
    AnswerDigest, DigestedExchange, EvidenceResponse, EvidenceSource, Exchange, RowWork, SaleIds,
    digest,
};
use crate::fixture::{Fixture, FixtureError, RecordedResult, final_result};
use crate::outcome::{Cost, Outcome, Row, RowFailure};
use crate::replay::Mismatch;
use crate::subject::Subject;
use crate::v1_1;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One recorded row, whose evidence is in the snapshot that its release is pinned to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestRecord<'a> {
    /// The property, resolved.
    pub subject: Cow<'a, Subject>,
    /// Every question of the release with the digest of its answer, in order.
    pub evidence: Cow<'a, [DigestedExchange]>,
    /// The release's answer, or its final failure.
    pub result: Result<Cow<'a, Outcome>, Cow<'a, RowFailure>>,
    /// The cost.
    pub cost: Cost,
}

impl<'a> DigestRecord<'a> {
    /// Returns the record of a row that was run with digests.
    ///
    /// # Errors
    /// [`FixtureError::HostFailure`] if the host failed.
    pub fn of(
        row: &str,
        subject: &'a Subject,
        run: &'a Row,
    ) -> Result<DigestRecord<'a>, FixtureError> {
        let result = final_result(row, run)?;
        Ok(DigestRecord {
            subject: Cow::Borrowed(subject),
            evidence: Cow::Borrowed(&run.digests),
            result: result.map(Cow::Borrowed).map_err(Cow::Borrowed),
            cost: run.cost,
        })
    }

    /// Asks the questions of a snapshot again, proves each answer by its digest, and returns the
    /// row with its evidence.
    ///
    /// # Errors
    /// The first sale that is another, the first answer whose digest is another, or an answer that
    /// cannot be had.
    pub fn complete(
        self,
        row: String,
        engine: String,
        snapshot: &dyn EvidenceSource,
    ) -> Result<Fixture, Mismatch> {
        let subject = self.subject.into_owned();
        let mut evidence = Vec::with_capacity(self.evidence.len());
        let work = RowWork::of_row();
        for (at, recorded) in self.evidence.iter().enumerate() {
            let mismatch = |field: &str, expected: String, found: String| Mismatch {
                row: row.clone(),
                field: format!("/evidence/{at}/{field}"),
                expected,
                found,
            };
            let mut question = recorded.question.clone();
            work.bind(&mut question);
            let answer = (snapshot.ask(&subject, &question))
                .map_err(|error| mismatch("answer", "an answer".to_owned(), error.to_string()))?;
            if let Err((field, expected, found)) = compare(recorded, &answer) {
                return Err(mismatch(&field, expected, found));
            }
            evidence.push(Exchange { question, answer });
        }
        Ok(Fixture {
            row,
            engine,
            subject,
            evidence,
            result: match self.result {
                Ok(outcome) => RecordedResult::Outcome(outcome.into_owned()),
                Err(failure) => RecordedResult::Failure(failure.into_owned()),
            },
            cost: self.cost,
        })
    }
}

/// Returns the first difference between an answer and its record: its field, and both values.
fn compare(
    recorded: &DigestedExchange,
    answer: &EvidenceResponse,
) -> Result<(), (String, String, String)> {
    let (found, sales): (AnswerDigest, SaleIds) = digest(answer, v1_1::pack);
    let text = |id: Option<&u64>| id.map_or_else(|| "no sale".to_owned(), u64::to_string);
    let (was, is) = (&recorded.sales.0, &sales.0);
    let differs = (0..was.len().max(is.len())).find(|at| was.get(*at) != is.get(*at));
    if let Some(at) = differs {
        return Err((format!("sales/{at}"), text(was.get(at)), text(is.get(at))));
    }
    if recorded.digest != found {
        let [was, is] = [recorded.digest, found].map(|digest| digest.to_string());
        return Err(("digest".to_owned(), was, is));
    }
    Ok(())
}
