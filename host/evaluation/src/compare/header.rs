//! The header of a comparison: the releases, the rows and warnings to the reader.

use super::sides::Sides;
use crate::report::{REGISTERS_LAG_DAYS, TrainingData, is_early};
use serde::{Deserialize, Serialize};

/// The header of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The releases.
    pub releases: Sides<ComparedRelease>,
    /// Origin of the rows.
    pub rows: Source,
    /// Groups of fewer known prices are shown without figures against them.
    pub least_rows: usize,
}

/// One of the two releases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparedRelease {
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
    /// Its training data.
    #[serde(rename = "learnt")]
    pub training_data: TrainingData,
}

/// Origin of the rows.
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
        /// Homes without a required input in the register.
        not_askable: usize,
        /// The sampling interval of the others: 3 takes every third.
        taken_every: usize,
        /// Days before the valuation day whose evidence is hidden, too.
        #[serde(default)]
        evidence_lag_days: u32,
        /// True if every household in A's snapshot is invented.
        #[serde(default)]
        synthetic: bool,
    },
    /// The subjects of recorded fixtures, each with new questions to each release's own snapshot.
    Fixtures {
        /// The file's name.
        file: String,
    },
    /// Rows of live requests, answered by A.
    Live {
        /// Valuation time of the first row, RFC 3339 in UTC.
        first: String,
        /// Valuation time of the last row.
        last: String,
        /// Share of live rows that is taken, 0 to 1, as set last.
        share: f64,
        /// The smallest and the largest sampling share of the rows; absent where it was not stored.
        #[serde(default)]
        shares: Option<[f64; 2]>,
        /// True if earlier rows were removed, since the number of kept rows is limited.
        truncated: bool,
        /// Since when rows are counted in `left_out`, RFC 3339 in UTC.
        #[serde(default)]
        counted_since: Option<String>,
        /// Sampled rows that are in no figure.
        #[serde(default)]
        left_out: Exclusions,
    },
}

/// Live rows that were sampled for B and are in no figure, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exclusions {
    /// B is not made for their valuation dates.
    pub outside_dates: u64,
    /// They came while the queue for B was full.
    pub dropped: u64,
    /// They were waiting when B's run ended.
    pub shadow_ended: u64,
    /// The host failed on them.
    pub host_failure: u64,
    /// The outcomes could not be written.
    pub write_failed: u64,
}

impl Exclusions {
    /// Returns all of them.
    pub fn rows(&self) -> u64 {
        self.outside_dates
            + self.dropped
            + self.shadow_ended
            + self.host_failure
            + self.write_failed
    }

    /// Returns the counts and reasons as text, or `None` without any.
    pub fn in_words(&self) -> Option<String> {
        let kinds = [
            (
                self.outside_dates,
                "of valuation dates that B is not made for",
            ),
            (self.dropped, "dropped, since B was slower than they came"),
            (self.shadow_ended, "waiting when B's run ended"),
            (self.host_failure, "on which the host failed"),
            (self.write_failed, "that could not be written"),
        ];
        let kinds = kinds.iter().filter(|(rows, _)| *rows > 0);
        let kinds: Vec<String> = kinds.map(|(rows, why)| format!("{rows} {why}")).collect();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    }
}

impl Header {
    /// Returns whether both value from the same content.
    pub fn same_snapshot(&self) -> bool {
        self.releases.a.snapshot_content == self.releases.b.snapshot_content
    }

    /// Returns the warnings that precede the figures.
    pub fn warnings(&self) -> Vec<String> {
        let Sides { a, b } = &self.releases;
        let mut sentences = Vec::new();
        if !self.same_snapshot() {
            sentences.push(format!(
                "The two releases value from different snapshots (A from {}, sales up to {}; B from {}, sales up to {}): a change may \
                 come from the evidence as well as from the model.",
                a.snapshot_id,
                a.latest_sale.as_deref().unwrap_or("no day"),
                b.snapshot_id,
                b.latest_sale.as_deref().unwrap_or("no day"),
            ));
        }
        if let Source::Sales {
            first,
            last,
            evidence_lag_days,
            synthetic,
            ..
        } = &self.rows
        {
            if is_early(*evidence_lag_days, *synthetic) {
                sentences.push(format!(
                    "Evidence is shown after {evidence_lag_days} days, and registers have it after about {REGISTERS_LAG_DAYS}. A server \
                     sees less, so that figures against prices are too good. Leave out --evidence-lag."
                ));
            }
            for (name, release) in [("A", a), ("B", b)] {
                sentences.extend(
                    release
                        .training_data
                        .warning()
                        .map(|words| format!("{name}: {words}")),
                );
                if let Some(latest) = release.latest_sale.as_ref().filter(|latest| *latest < last) {
                    sentences.push(format!(
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
            sentences.push(
                "The number of kept rows is limited, and earlier ones were removed: these are the latest."
                    .to_owned(),
            );
        }
        if let Source::Live {
            counted_since,
            left_out,
            ..
        } = &self.rows
            && let Some(kinds) = left_out.in_words()
        {
            let since = counted_since.as_ref();
            let since = since.map(|since| format!(" since {since}"));
            sentences.push(format!(
                "Rows that were taken{} and are in no figure here: {kinds}.",
                since.unwrap_or_default()
            ));
        }
        sentences
    }

    /// Describes the source of the rows in a sentence.
    pub fn rows_in_words(&self) -> String {
        match &self.rows {
            Source::Sales {
                first,
                last,
                in_window,
                not_askable,
                taken_every,
                evidence_lag_days,
                ..
            } => {
                let taken = match taken_every {
                    1 => "all others taken".to_owned(),
                    every => format!("one in {every} of the others taken"),
                };
                let seen = match evidence_lag_days {
                    0 => "before it".to_owned(),
                    days => format!("more than {days} days before it"),
                };
                format!(
                    "Homes sold from {first} to {last}, each valued as at its own day by evidence of {seen}: {in_window} sales of category \
                     A, {not_askable} without a tenure left out, {taken}."
                )
            }
            Source::Fixtures { file } => format!(
                "The subjects of the fixtures {file}, each valued anew by the evidence of each release's own snapshot."
            ),
            Source::Live {
                first,
                last,
                share,
                shares,
                ..
            } => {
                let [least, most] = shares.unwrap_or([*share; 2]).map(per_cent);
                let taken = match least == most {
                    true => format!("{most} % of them"),
                    false => {
                        format!("{least} % to {most} % of them, as the share was set at the time")
                    }
                };
                format!(
                    "Live rows of {first} to {last}, {taken}; A's answer went to the client, B's to nobody."
                )
            }
        }
    }
}

/// Returns a share per cent, to four significant digits.
fn per_cent(share: f64) -> String {
    let value = 100.0 * share;
    // Digits before the point, or, if negative, zeros after it.
    let digits = value.log10().floor() + 1.0;
    let places = (4.0 - digits).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::testing::header;

    fn live(shares: Option<[f64; 2]>, left_out: Exclusions) -> Header {
        let mut found = header();
        found.rows = Source::Live {
            first: "2026-10-15T10:00:00Z".to_owned(),
            last: "2026-10-15T11:00:00Z".to_owned(),
            share: 0.07,
            shares,
            truncated: false,
            counted_since: Some("2026-10-14T09:00:00Z".to_owned()),
            left_out,
        };
        found
    }

    #[test]
    fn sample_rates_print_as_configured() {
        for (share, text) in [
            (0.07, "7"),
            (1.0, "100"),
            (0.01, "1"),
            (0.1234567, "12.35"),
            (0.00123, "0.123"),
            (1e-9, "0.0000001"),
        ] {
            assert_eq!(per_cent(share), text);
        }
        let one = live(Some([0.07, 0.07]), Exclusions::default()).rows_in_words();
        assert!(one.contains("11:00:00Z, 7 % of them; A's"), "{one}");
        let unknown = live(None, Exclusions::default()).rows_in_words();
        assert!(unknown.contains(", 7 % of them"), "{unknown}");
        let two = live(Some([0.07, 1.0]), Exclusions::default()).rows_in_words();
        assert!(two.contains("7 % to 100 % of them, as the"), "{two}");
    }

    fn of_lag(days: u32, invented: bool) -> Header {
        let mut found = header();
        if let Source::Sales {
            evidence_lag_days,
            synthetic,
            ..
        } = &mut found.rows
        {
            (*evidence_lag_days, *synthetic) = (days, invented);
        }
        found
    }

    #[test]
    fn evidence_that_a_server_lacks_is_reported() {
        for (days, invented, warned) in [
            (0, false, true),
            (REGISTERS_LAG_DAYS - 1, false, true),
            (REGISTERS_LAG_DAYS, false, false),
            (0, true, false),
        ] {
            let warnings = of_lag(days, invented).warnings();
            assert_eq!(warnings.len(), usize::from(warned), "{days} {invented}");
            let words = format!("shown after {days} days");
            assert!(warnings.iter().all(|said| said.contains(&words)));
        }
        let words = |days| of_lag(days, false).rows_in_words();
        assert!(words(0).contains("by evidence of before it: 100 sales"));
        assert!(words(60).contains("by evidence of more than 60 days before it: 100"));
    }

    #[test]
    fn excluded_rows_are_reported_before_all_figures() {
        assert_eq!(live(None, Exclusions::default()).warnings().len(), 0);
        let some = Exclusions {
            dropped: 12,
            host_failure: 1,
            ..Exclusions::default()
        };
        assert_eq!(some.rows(), 13);
        assert_eq!(
            live(None, some).warnings(),
            [
                "Rows that were taken since 2026-10-14T09:00:00Z and are in no figure here: 12 dropped, since B was slower than they came, \
                 1 on which the host failed."
            ]
        );
    }
}
