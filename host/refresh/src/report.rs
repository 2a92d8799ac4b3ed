//! The report of a round: what it did, failed to do and missed.

use crate::file_kind::FileKind;
use crate::part::Part;
use crate::step::{Step, StepReport};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The version of the report's form.
pub const FORMAT: u32 = 1;

/// The report of a round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundReport {
    /// [`FORMAT`].
    pub format: u32,
    /// Time of its beginning: RFC 3339 in UTC.
    pub started: String,
    /// True if the round only says what it would do.
    pub dry_run: bool,
    /// The parts, in the order in which they ran.
    pub parts: Vec<PartReport>,
    /// Kinds without a new file in the expected time.
    pub overdue: Vec<OverdueKind>,
    /// Files of the inbox that no build takes.
    pub unknown: Vec<PathBuf>,
    /// Files and folders of the inbox that cannot be read, with the reason.
    pub unreadable: Vec<String>,
    /// Files that may still be arriving. A later round takes them.
    pub arriving: Vec<PathBuf>,
}

/// A kind without a new file in the expected time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverdueKind {
    /// The kind.
    pub kind: FileKind,
    /// Days since its latest file. Absent without any file.
    pub days: Option<u64>,
    /// The expected days.
    pub expected_days: u16,
}

/// The report of a part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartReport {
    /// The part.
    pub part: Part,
    /// Its fate.
    pub state: PartState,
    /// Its package, which may be an earlier one.
    pub id: Option<String>,
    /// The steps, in their order.
    pub steps: Vec<StepReport>,
    /// Facts for a person.
    pub notes: Vec<String>,
    /// The command that a person may type next.
    pub next: Option<String>,
    /// True if the monitor raised an alarm.
    pub alarm: bool,
}

impl PartReport {
    /// Returns the report of a part without steps.
    pub fn new(part: Part, state: PartState) -> PartReport {
        PartReport {
            part,
            state,
            id: None,
            steps: Vec::new(),
            notes: Vec::new(),
            next: None,
            alarm: false,
        }
    }

    /// Reports whether a person should look at the part, or promote its release.
    pub fn needs_person(&self) -> bool {
        use PartState::{Held, Missing, Planned, Proposed, Refused, Waiting};
        // A release that waits for its promotion does so over rounds without news. What a dry run
        // names next is a step of the round.
        let is_waiting = self.next.is_some() && self.state != Planned;
        let state = self.state;
        self.alarm || is_waiting || matches!(state, Proposed | Held | Refused | Missing | Waiting)
    }
}

/// The fate of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    /// Nothing new came.
    Unchanged,
    /// It would be built, in a dry run.
    Planned,
    /// It was built.
    Built,
    /// It was built, and a person may promote it.
    Proposed,
    /// It was promoted.
    Promoted,
    /// It was built, and passes a limit of the policy, so that a person must decide.
    Held,
    /// It failed its check.
    Refused,
    /// Files are missing.
    Missing,
    /// Files are still arriving, and its package would be short without them.
    Waiting,
    /// A step failed. The next round tries again.
    Failed,
}

impl PartState {
    /// Reports whether a step failed.
    pub fn is_failure(self) -> bool {
        self == PartState::Failed
    }

    fn text(self) -> &'static str {
        match self {
            PartState::Unchanged => "nothing new",
            PartState::Planned => "would be built",
            PartState::Built => "built",
            PartState::Proposed => "proposed",
            PartState::Promoted => "promoted",
            PartState::Held => "held for a person",
            PartState::Refused => "refused by its check",
            PartState::Missing => "files are missing",
            PartState::Waiting => "waits for files",
            PartState::Failed => "failed",
        }
    }
}

/// The result of a round, as its exit code has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundResult {
    /// Everything is done.
    Done,
    /// A step failed.
    Failed,
    /// Nothing failed, and a person should look: something is missing, overdue, proposed, held or
    /// refused.
    Attention,
}

impl RoundReport {
    /// Returns the result.
    pub fn result(&self) -> RoundResult {
        if self.parts.iter().any(|part| part.state.is_failure()) {
            RoundResult::Failed
        } else if self.inbox_problems() > 0 || self.parts.iter().any(PartReport::needs_person) {
            RoundResult::Attention
        } else {
            RoundResult::Done
        }
    }

    /// Counts the kinds of files that came too late, and the files that are unknown or cannot be
    /// read.
    pub fn inbox_problems(&self) -> usize {
        self.overdue.len() + self.unknown.len() + self.unreadable.len()
    }

    /// Returns the report for a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            let state = part.state.text();
            let _ = match &part.id {
                Some(id) => writeln!(text, "{:<10} {state:<22} {id}", part.part),
                None => writeln!(text, "{:<10} {state}", part.part),
            };
            for note in &part.notes {
                let _ = writeln!(text, "           {}", printable(note));
            }
            if let Some(next) = &part.next {
                let _ = writeln!(text, "           next: {}", printable(next));
            }
        }
        for overdue in &self.overdue {
            let kind = overdue.kind.flag();
            let expected = overdue.expected_days;
            let _ = match overdue.days {
                Some(days) => writeln!(
                    text,
                    "overdue: the latest file for --{kind} came {days} days ago, and {expected} are expected at most"
                ),
                None => writeln!(text, "overdue: no file for --{kind} has come"),
            };
        }
        for path in &self.unknown {
            let check = Step::new("data", &["data", "check"]).with([path]);
            let _ = writeln!(
                text,
                "unknown: {}; `{}` says more",
                printable(&path.to_string_lossy()),
                printable(&check.command_line())
            );
        }
        for entry in &self.unreadable {
            let _ = writeln!(text, "unreadable: {}", printable(entry));
        }
        for path in &self.arriving {
            let _ = writeln!(
                text,
                "arriving: {}; the next round takes it",
                printable(&path.to_string_lossy())
            );
        }
        text
    }
}

/// Returns a text without the characters that could draw on a terminal.
fn printable(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(states: &[PartState]) -> RoundReport {
        let parts = states
            .iter()
            .map(|state| PartReport::new(Part::Rates, *state));
        RoundReport {
            format: FORMAT,
            started: String::new(),
            dry_run: false,
            parts: parts.collect(),
            overdue: Vec::new(),
            unknown: Vec::new(),
            unreadable: Vec::new(),
            arriving: Vec::new(),
        }
    }

    #[test]
    fn a_failure_outweighs_what_a_person_should_look_at() {
        use PartState::{Failed, Held, Missing, Promoted, Unchanged, Waiting};
        let done = report(&[Unchanged, Promoted]);
        assert_eq!(done.result(), RoundResult::Done);
        assert_eq!(report(&[Missing]).result(), RoundResult::Attention);
        assert_eq!(report(&[Waiting]).result(), RoundResult::Attention);
        assert_eq!(report(&[Held, Failed]).result(), RoundResult::Failed);
        let mut overdue = report(&[Unchanged]);
        overdue.overdue.push(OverdueKind {
            kind: FileKind::Curves,
            days: Some(9),
            expected_days: 5,
        });
        assert_eq!(overdue.result(), RoundResult::Attention);
        assert_eq!(
            overdue.text(),
            "rates      nothing new\n\
             overdue: the latest file for --curves came 9 days ago, and 5 are expected at most\n"
        );
        let mut unknown = report(&[Unchanged]);
        unknown.unknown.push("inbox/a b.txt".into());
        assert_eq!(unknown.result(), RoundResult::Attention);
        unknown.unknown = vec!["inbox/a\u{1b}[31m\nrates  promoted".into()];
        let text = unknown.text();
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let mut alarm = report(&[Unchanged]);
        alarm.parts[0].alarm = true;
        assert_eq!(alarm.result(), RoundResult::Attention);
        // A file that is still arriving is no cause for alarm where no part waits for it.
        let mut arriving = report(&[Unchanged]);
        arriving.arriving.push("inbox/pp.csv".into());
        assert_eq!(arriving.result(), RoundResult::Done);
    }

    #[test]
    fn a_release_that_waits_for_its_promotion_is_for_a_person() {
        use PartState::{Planned, Promoted, Proposed, Unchanged};
        let proposed = report(&[Promoted, Proposed]);
        assert_eq!(proposed.result(), RoundResult::Attention);
        let with_next = |state: PartState| {
            let mut report = report(&[state]);
            report.parts[0].next = Some("domesday release promote".to_owned());
            report.result()
        };
        assert_eq!(with_next(Unchanged), RoundResult::Attention);
        // The round itself takes the steps that a dry run names.
        assert_eq!(with_next(Planned), RoundResult::Done);
    }
}
