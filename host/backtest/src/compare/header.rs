//! What was compared, on which rows, and what a reader must know before the figures.

use super::sides::Sides;
use crate::report::Learnt;
use serde::{Deserialize, Serialize};

/// What was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The releases.
    pub releases: Sides<Compared>,
    /// Where the rows come from.
    pub rows: Source,
    /// Groups of fewer known prices are shown without figures against them.
    pub least_rows: usize,
}

/// One of the two releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Its id.
    pub release_id: String,
    /// Its model's name.
    pub model: String,
    /// Its model's version.
    pub model_version: String,
    /// The snapshot that it values from.
    pub snapshot_id: String,
    /// That snapshot's content digest.
    pub snapshot_content: String,
    /// The snapshot's latest sale, YYYY-MM-DD.
    pub latest_sale: Option<String>,
    /// Share of prices that its ranges are meant to hold.
    pub nominal_coverage: f64,
    /// Its bands of confidence, best first.
    pub bands: Vec<String>,
    /// What it learnt from.
    pub learnt: Learnt,
}

/// Where the rows come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Homes of A's snapshot that were sold, each valued as at its own day.
    Sales {
        /// First day of sale, YYYY-MM-DD.
        first: String,
        /// Last day of sale.
        last: String,
        /// Category A sales of homes in the window.
        in_window: usize,
        /// Those that cannot be asked about, since the register lacks what a customer must state.
        not_askable: usize,
        /// Every so-many-th of the others was taken.
        taken_every: usize,
    },
    /// The subjects of recorded fixtures, each with new questions to each release's own snapshot.
    Fixtures {
        /// The file's name.
        file: String,
    },
    /// Rows of live requests, of which A's answer went out.
    Live {
        /// When the first of them was valued, RFC 3339 in UTC.
        first: String,
        /// When the last was.
        last: String,
        /// Share of live rows that is taken, 0 to 1, as set last.
        share: f64,
        /// Whether earlier rows were let go of, since only so many are kept.
        truncated: bool,
    },
}

impl Header {
    /// Whether both value from the same content.
    pub fn same_snapshot(&self) -> bool {
        self.releases.a.snapshot_content == self.releases.b.snapshot_content
    }

    /// What must be said before any figure.
    pub fn warnings(&self) -> Vec<String> {
        let Sides { a, b } = &self.releases;
        let mut said = Vec::new();
        if !self.same_snapshot() {
            said.push(format!(
                "The two releases value from different snapshots (A from {}, sales up to {}; B from {}, sales up to {}): a change may \
                 come from the evidence as well as from the model.",
                a.snapshot_id,
                a.latest_sale.as_deref().unwrap_or("no day"),
                b.snapshot_id,
                b.latest_sale.as_deref().unwrap_or("no day"),
            ));
        }
        if let Source::Sales { first, last, .. } = &self.rows {
            for (name, release) in [("A", a), ("B", b)] {
                said.extend(
                    release
                        .learnt
                        .warning()
                        .map(|words| format!("{name}: {words}")),
                );
                if let Some(latest) = release.latest_sale.as_ref().filter(|latest| *latest < last) {
                    said.push(format!(
                        "{name}'s snapshot ends on {latest}, and sales of {first} to {last} were asked about: the later the sale, \
                         the more evidence {name} lacks."
                    ));
                }
            }
        }
        if let Source::Live {
            truncated: true, ..
        } = &self.rows
        {
            said.push(
                "Only so many rows are kept, and earlier ones were let go of: these are the latest."
                    .to_owned(),
            );
        }
        said
    }

    /// Where the rows come from, in a sentence.
    pub fn rows_in_words(&self) -> String {
        match &self.rows {
            Source::Sales {
                first,
                last,
                in_window,
                not_askable,
                taken_every,
            } => {
                let taken = match taken_every {
                    1 => "all others taken".to_owned(),
                    every => format!("one in {every} of the others taken"),
                };
                format!(
                    "Homes sold from {first} to {last}, each valued as at its own day by evidence of before it: {in_window} sales of \
                     category A, {not_askable} without a tenure left out, {taken}."
                )
            }
            Source::Fixtures { file } => format!(
                "The subjects of the fixtures {file}, each valued anew by the evidence of each release's own snapshot."
            ),
            Source::Live {
                first, last, share, ..
            } => format!(
                "Live rows of {first} to {last}, {} % of them; A's answer went to the client, B's to nobody.",
                100.0 * share
            ),
        }
    }
}
