//! The round of one part: its steps, one after another.

use crate::config::Policy;
use crate::context::{RoundContext, note_absent};
use crate::error::{RefreshError, io_error};
use crate::judge::{self, Verdict};
use crate::part::Part;
use crate::plan::{BuildPlan, Decision};
use crate::record::{Outcome, RefreshRecord};
use crate::report::{PartReport, PartState};
use crate::step::{Step, StepEnd, run_step};
use std::path::Path;

/// The exit code of `release monitor` for an alarm.
const ALARM: i32 = 3;
/// The exit code of `release monitor` where nothing was judged.
const NOT_JUDGED: i32 = 4;

/// The round of one part.
pub(crate) struct PartRound<'a> {
    context: &'a RoundContext<'a>,
    logs: &'a Path,
    report: PartReport,
}

impl<'a> PartRound<'a> {
    /// Returns the round of a part, with its logs in a folder.
    pub(crate) fn new(context: &'a RoundContext<'a>, logs: &'a Path, part: Part) -> PartRound<'a> {
        PartRound {
            context,
            logs,
            report: PartReport::new(part, PartState::Failed),
        }
    }

    /// Carries a decision out and reports it.
    pub(crate) fn carry_out(
        mut self,
        decision: Decision,
        record: &mut RefreshRecord,
    ) -> Result<PartReport, RefreshError> {
        let part = self.report.part;
        let plan = match decision {
            Decision::Build(plan) => plan,
            // The policy may have changed since, or a promotion may have failed.
            Decision::Unchanged {
                id,
                outcome: Outcome::Proposed,
            } if self.context.policy(part) == Some(Policy::Promote) => {
                self.report.id = Some(id.clone());
                let outcome = self.finish(&id, record)?;
                if let Some(built) = record.built.get_mut(&part) {
                    built.outcome = outcome;
                }
                return Ok(self.report);
            }
            Decision::Unchanged {
                id,
                outcome: outcome @ (Outcome::Held | Outcome::Proposed),
            } => {
                let promoted = self.current(part)?.is_some_and(|current| current == id);
                let outcome = if promoted { Outcome::Promoted } else { outcome };
                if let Some(built) = record.built.get_mut(&part) {
                    built.outcome = outcome;
                }
                let settled = self
                    .context
                    .report_settled(part, Decision::Unchanged { id, outcome });
                return Ok(PartReport {
                    steps: self.report.steps,
                    ..settled
                });
            }
            other => return Ok(self.context.report_settled(part, other)),
        };
        self.report.notes = note_absent(&plan.absent);
        if !self.build(&plan)? {
            return Ok(self.report);
        }
        self.report.id = Some(plan.id.clone());
        let id = plan.id.clone();
        // A round that ends here goes on with the promotion next time.
        record
            .built
            .insert(part, plan.rests_on.record(plan.id, Outcome::Proposed));
        record.write(&self.context.config.reports)?;
        let outcome = self.finish(&id, record)?;
        if let Some(built) = record.built.get_mut(&part) {
            built.outcome = outcome;
        }
        Ok(self.report)
    }

    /// Checks the new files and builds the package. Returns false where a step failed.
    fn build(&mut self, plan: &BuildPlan) -> Result<bool, RefreshError> {
        if !plan.new_files.is_empty() {
            let check = Step::new("data", &["data", "check"]).with(&plan.new_files);
            if !self.succeeds(&check)? {
                return Ok(false);
            }
        }
        if let Some(update) = &plan.update {
            if self.step(update)? == StepEnd::Exit(0) {
                return Ok(true);
            }
            self.report
                .notes
                .push("the update was not possible, so everything is built anew".to_owned());
        }
        self.succeeds(&plan.build)
    }

    /// Judges a package that was built, and promotes or proposes it.
    fn finish(&mut self, id: &str, record: &RefreshRecord) -> Result<Outcome, RefreshError> {
        let part = self.report.part;
        let verdict = match part {
            Part::Snapshot => {
                self.report.state = PartState::Built;
                return Ok(Outcome::Built);
            }
            Part::Rates | Part::Markets => {
                let folder = self.context.package_dir(part, id);
                self.report
                    .notes
                    .extend(judge::incomplete_datasets(part, &folder));
                Verdict::Sound
            }
            Part::Valuation => self.judge_valuation(id, record)?,
        };
        let promotion = self.context.promotion(part, id);
        match (verdict, self.context.policy(part)) {
            (Verdict::Refused, _) => {
                self.report.state = PartState::Refused;
                self.report.next = Some(self.context.check(id).command_line());
                Ok(Outcome::Refused)
            }
            (Verdict::Failed, _) => Ok(Outcome::Proposed),
            (Verdict::Sound, Some(Policy::Promote)) => {
                if self.publish(id)? && self.succeeds(&promotion)? {
                    self.report.state = PartState::Promoted;
                    return Ok(Outcome::Promoted);
                }
                self.report.next = Some(promotion.command_line());
                Ok(Outcome::Proposed)
            }
            (Verdict::Held, Some(Policy::Promote)) => {
                self.report.state = PartState::Held;
                self.report.next = Some(promotion.command_line());
                Ok(Outcome::Held)
            }
            (Verdict::Sound | Verdict::Held, _) => {
                self.report.state = PartState::Proposed;
                self.report.next = Some(promotion.command_line());
                Ok(Outcome::Proposed)
            }
        }
    }

    /// Publishes a release for other hosts, where the configuration names a place.
    fn publish(&mut self, id: &str) -> Result<bool, RefreshError> {
        let config = self.context.config;
        let Some(place) = &config.publish_to else {
            return Ok(true);
        };
        let arguments = [
            "release",
            "publish",
            id,
            place,
            "--kind",
            self.report.part.name(),
        ];
        let step = Step::new("publish", &arguments).option("--releases", &config.releases);
        self.succeeds(&step)
    }

    /// Checks a valuation release, compares it with the current one, and holds that one against
    /// the sales registered since.
    fn judge_valuation(
        &mut self,
        id: &str,
        record: &RefreshRecord,
    ) -> Result<Verdict, RefreshError> {
        match self.step(&self.context.check(id))? {
            StepEnd::Exit(0) => {}
            // What cannot be checked has 1 too, so the report decides.
            StepEnd::Exit(1)
                if judge::has_report(&self.context.package_dir(Part::Valuation, id)) =>
            {
                return Ok(Verdict::Refused);
            }
            _ => return Ok(Verdict::Failed),
        }
        let Some(current) = self.current(Part::Valuation)? else {
            let note = "no release was promoted before, so that it is compared with none";
            self.report.notes.push(note.to_owned());
            return Ok(Verdict::Held);
        };
        if let Some(snapshot) = record.built.get(&Part::Snapshot) {
            self.monitor(&current, &snapshot.id)?;
        }
        let json = self
            .context
            .config
            .reports
            .join(format!("compare-{current}-{id}.json"));
        let compare = Step::new("compare", &["compare", &current, id])
            .option("--json", &json)
            .option("--report", json.with_extension("html"))
            .option("--releases", &self.context.config.releases);
        if !self.succeeds(&compare)? {
            return Ok(Verdict::Failed);
        }
        let largest = self
            .context
            .config
            .valuation
            .as_ref()
            .map_or(0.0, |it| it.largest_change);
        let (verdict, note) = judge::judge_change(&json, largest);
        self.report.notes.push(note);
        Ok(verdict)
    }

    /// Returns the release of the kind that was promoted last, by the ledger.
    fn current(&mut self, part: Part) -> Result<Option<String>, RefreshError> {
        let ledger = self.logs.join(format!("{part}-history.json"));
        let arguments = ["release", "history", "--kind", part.name(), "--json"];
        let history = Step::new("history", &arguments).output_to(ledger.clone());
        let history = self.context.of_service(history);
        Ok(match self.step(&history)? {
            StepEnd::Exit(0) => judge::current_release(&ledger),
            _ => None,
        })
    }

    /// Holds the current release against the sales of a later snapshot. It decides nothing.
    fn monitor(&mut self, current: &str, snapshot: &str) -> Result<(), RefreshError> {
        let json = self
            .context
            .config
            .reports
            .join(format!("monitor-{current}-{snapshot}.json"));
        let monitor = Step::new("monitor", &["release", "monitor", current])
            .option("--later-snapshot", snapshot)
            .option("--json", &json)
            .option("--report", json.with_extension("html"))
            .option("--releases", &self.context.config.releases);
        let note = match self.step(&monitor)? {
            StepEnd::Exit(0) => return Ok(()),
            StepEnd::Exit(ALARM) => format!(
                "ALARM of the monitor: {current} has drifted; see {}",
                json.display()
            ),
            StepEnd::Exit(NOT_JUDGED) => format!(
                "the monitor judged nothing of {current}: too few sales were registered since"
            ),
            _ => format!("{current} could not be compared with the new sales"),
        };
        self.report.notes.push(note);
        Ok(())
    }

    /// Runs a step, and returns false with a note where it fails.
    fn succeeds(&mut self, step: &Step) -> Result<bool, RefreshError> {
        let end = self.step(step)?;
        if end == StepEnd::Exit(0) {
            return Ok(true);
        }
        let log = self.report.steps.last().map(|step| step.log.clone());
        let log = log.unwrap_or_default();
        let how = match end {
            StepEnd::Exit(code) => format!("ended with {code}"),
            StepEnd::Signal => "was ended by a signal".to_owned(),
            StepEnd::TimedOut => format!("took more than {} hours", self.context.config.step_hours),
        };
        self.report.notes.push(format!(
            "{} {how}: {} ({})",
            step.name,
            judge::last_line(&log),
            log.display()
        ));
        Ok(false)
    }

    fn step(&mut self, step: &Step) -> Result<StepEnd, RefreshError> {
        (self.context.announce)(&format!("{}: {}", self.report.part, step.command_line()));
        let number = self.report.steps.len() + 1;
        let name = format!("{}-{number}-{}.log", self.report.part, step.name);
        let log = self.logs.join(name);
        let limit = self.context.config.step_time();
        let (end, report) =
            run_step(self.context.program, step, log.clone(), limit).map_err(io_error(&log))?;
        self.report.steps.push(report);
        Ok(end)
    }
}
