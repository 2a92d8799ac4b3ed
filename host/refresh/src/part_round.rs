//! The round of one part: its steps, one after another.

use crate::config::Policy;
use crate::context::{RoundContext, note_absent};
use crate::error::{RefreshError, io_error};
use crate::first_promotion;
use crate::judge::{self, Verdict};
use crate::monitor_exit::{ALARMED, NOTHING_JUDGED};
use crate::part::Part;
use crate::plan::{BuildPlan, Decision};
use crate::record::{Outcome, RefreshRecord};
use crate::report::{PartReport, PartState};
use crate::step::{Step, StepEnd, run_step};
use std::path::Path;

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
            Decision::Unchanged { id, outcome } if outcome.is_open() => {
                return self.go_on(id, outcome, record);
            }
            other => return Ok(self.context.report_decision(part, other)),
        };
        self.report.notes = note_absent(&plan.absent);
        if !self.may_build(part)? || !self.build(&plan)? {
            return Ok(self.report);
        }
        self.report.id = Some(plan.id.clone());
        let id = plan.id.clone();
        // One that a person has not let through is no measure of the next.
        let before = record
            .built
            .get(&part)
            .and_then(|before| match before.outcome {
                Outcome::Built | Outcome::Proposed | Outcome::Promoted => Some(before.id.clone()),
                Outcome::Unjudged | Outcome::Held | Outcome::Refused => before.before.clone(),
            });
        // A round that ends here goes on with the judgement next time.
        let built = plan.rests_on.record(plan.id, before);
        record.built.insert(part, built);
        record.write(&self.context.config.reports)?;
        self.finish(&id, record)?;
        Ok(self.report)
    }

    /// Reports whether a build is safe beside the releases that no round built: the service
    /// promoted a release of the kind before. Notes what to type where it did not.
    fn may_build(&mut self, part: Part) -> Result<bool, RefreshError> {
        let others = first_promotion::find_others(self.context, part)?;
        if others.is_empty() || self.context.has_no_state() {
            return Ok(true);
        }
        let promoted = self.read_ledger(part)?;
        if promoted.as_ref().is_some_and(Vec::is_empty) {
            first_promotion::ask(self.context, &others, &mut self.report);
        }
        Ok(promoted.is_some_and(|promoted| !promoted.is_empty()))
    }

    /// Goes on with a package of an earlier round that waits for a judgement, a promotion or a
    /// person.
    fn go_on(
        mut self,
        id: String,
        outcome: Outcome,
        record: &mut RefreshRecord,
    ) -> Result<PartReport, RefreshError> {
        let part = self.report.part;
        self.report.id = Some(id.clone());
        let Some(promoted) = self.read_ledger(part)? else {
            return Ok(self.report);
        };
        // Another release that was promoted after it is a person's choice.
        let is_promoted = promoted.contains(&id);
        if !is_promoted {
            if outcome == Outcome::Unjudged {
                self.finish(&id, record)?;
                return Ok(self.report);
            }
            let current = promoted.last().map(String::as_str);
            // A person may have promoted another release, or changed the policy, meanwhile.
            let judged_now = self.judged_by(current);
            if part == Part::Valuation && record.judged_by(part) != Some(&*judged_now) {
                self.finish(&id, record)?;
                return Ok(self.report);
            }
            if outcome == Outcome::Proposed && self.context.policy(part) == Some(Policy::Promote) {
                let outcome = self.go_on_with_promotion(&id, current)?;
                record.set_outcome(part, outcome);
                return Ok(self.report);
            }
        }
        let outcome = if is_promoted {
            Outcome::Promoted
        } else {
            outcome
        };
        record.set_outcome(part, outcome);
        let settled = Decision::Unchanged { id, outcome };
        Ok(PartReport {
            steps: self.report.steps,
            ..self.context.report_decision(part, settled)
        })
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

    /// Judges a package, publishes it, promotes or proposes it, and records its fate.
    fn finish(&mut self, id: &str, record: &mut RefreshRecord) -> Result<(), RefreshError> {
        let part = self.report.part;
        let mut judged_by = None;
        let verdict = match part {
            Part::Snapshot => {
                self.report.state = PartState::Built;
                record.set_outcome(part, Outcome::Built);
                return Ok(());
            }
            Part::Rates | Part::Markets => self.judge_new_series(id, record)?,
            Part::Valuation => {
                let (verdict, current) = self.judge_valuation(id, record)?;
                judged_by = Some(self.judged_by(current.as_deref()));
                verdict
            }
        };
        let promotion = self.context.promotion(part, id).command_line();
        let outcome = match verdict {
            Verdict::Failed => Outcome::Unjudged,
            Verdict::Refused => {
                self.report.state = PartState::Refused;
                self.report.next = Some(self.context.check(id).command_line());
                Outcome::Refused
            }
            // Whoever promotes it, hosts fetch it then. The next round tries again.
            Verdict::Held | Verdict::Sound if !self.publish(id)? => Outcome::Unjudged,
            Verdict::Held => {
                self.report.state = PartState::Held;
                self.report.next = Some(promotion);
                Outcome::Held
            }
            Verdict::Sound if self.context.policy(part) == Some(Policy::Promote) => {
                self.promote(id)?
            }
            Verdict::Sound => {
                self.report.state = PartState::Proposed;
                self.report.next = Some(promotion);
                Outcome::Proposed
            }
        };
        record.set_outcome(part, outcome);
        record.set_judged_by(part, judged_by);
        Ok(())
    }

    /// Promotes a package that was found sound and is published.
    fn promote(&mut self, id: &str) -> Result<Outcome, RefreshError> {
        let promotion = self.context.promotion(self.report.part, id);
        if self.succeeds(&promotion)? {
            self.report.state = PartState::Promoted;
            return Ok(Outcome::Promoted);
        }
        self.report.next = Some(promotion.command_line());
        Ok(Outcome::Proposed)
    }

    /// Promotes a package whose judgement still holds. One of series is compared with the current
    /// release, which need not be the one that it was judged against.
    fn go_on_with_promotion(
        &mut self,
        id: &str,
        current: Option<&str>,
    ) -> Result<Outcome, RefreshError> {
        let part = self.report.part;
        let current = Vec::from_iter(current);
        if part != Part::Valuation && self.judge_series(id, &current) != Verdict::Sound {
            self.report.state = PartState::Held;
            self.report.next = Some(self.context.promotion(part, id).command_line());
            return Ok(Outcome::Held);
        }
        // An earlier version published nothing that it proposed.
        if !self.publish(id)? {
            self.report.next = Some(self.context.promotion(part, id).command_line());
            return Ok(Outcome::Proposed);
        }
        self.promote(id)
    }

    /// Judges a release of series against the one before it. One that would be promoted is judged
    /// against the current release too, which a person may have promoted.
    fn judge_new_series(
        &mut self,
        id: &str,
        record: &RefreshRecord,
    ) -> Result<Verdict, RefreshError> {
        let part = self.report.part;
        let before = record.built.get(&part).and_then(|it| it.before.as_deref());
        let mut others = Vec::from_iter(before);
        let current = match self.context.policy(part) {
            Some(Policy::Promote) => match self.read_ledger(part)? {
                Some(mut promoted) => promoted.pop(),
                None => return Ok(Verdict::Failed),
            },
            _ => None,
        };
        let current = current.as_deref();
        others.extend(current.filter(|current| before != Some(*current)));
        Ok(self.judge_series(id, &others))
    }

    /// Judges a release of series: one that lost data against one of the others is for a person.
    fn judge_series(&mut self, id: &str, others: &[&str]) -> Verdict {
        let part = self.report.part;
        let folder = self.context.package_dir(part, id);
        let incomplete = judge::incomplete_datasets(&folder);
        self.report.notes.extend(incomplete);
        let mut verdict = Verdict::Sound;
        for other in others {
            let notes = judge::find_lost_datasets(&self.context.package_dir(part, other), &folder)
                .unwrap_or_else(|error| {
                    vec![format!("it cannot be compared with {other}: {error}")]
                });
            if !notes.is_empty() {
                verdict = Verdict::Held;
            }
            self.report.notes.extend(notes);
        }
        verdict
    }

    /// Returns the policy and the current release as the record keeps them.
    fn judged_by(&self, current: Option<&str>) -> String {
        let valuation = self.context.config.valuation.as_ref();
        let largest = valuation.map_or(0.0, |it| it.largest_change);
        format!("at most {largest} against {}", current.unwrap_or("none"))
    }

    /// Publishes a release for other hosts, where the configuration names a location.
    fn publish(&mut self, id: &str) -> Result<bool, RefreshError> {
        let config = self.context.config;
        let Some(location) = &config.publish_to else {
            return Ok(true);
        };
        let arguments = [
            "release",
            "publish",
            id,
            location,
            "--kind",
            self.report.part.name(),
        ];
        let step = Step::new("publish", &arguments).option("--releases", &config.releases);
        self.succeeds(&step)
    }

    /// Checks a valuation release, compares it with the current one, and compares that one with
    /// the sales registered since. Returns the current one too.
    fn judge_valuation(
        &mut self,
        id: &str,
        record: &RefreshRecord,
    ) -> Result<(Verdict, Option<String>), RefreshError> {
        let package_dir = self.context.package_dir(Part::Valuation, id);
        // A report that is there stays: a second person may have approved it.
        if judge::find_check(&package_dir) != Some(true) {
            let end = self.step(&self.context.check(id))?;
            match (end, judge::find_check(&package_dir)) {
                (StepEnd::Exit(0), _) => {}
                (_, Some(false)) => return Ok((Verdict::Refused, None)),
                _ => {
                    let step = self.context.check(id);
                    self.note_failure(&step, end);
                    return Ok((Verdict::Failed, None));
                }
            }
        }
        let current = match self.read_ledger(Part::Valuation)? {
            Some(mut promoted) => promoted.pop(),
            None => return Ok((Verdict::Failed, None)),
        };
        let Some(current) = current else {
            let note = "no release was promoted before, so that it is compared with none";
            self.report.notes.push(note.to_owned());
            return Ok((Verdict::Held, None));
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
            return Ok((Verdict::Failed, Some(current)));
        }
        let largest = self
            .context
            .config
            .valuation
            .as_ref()
            .map_or(0.0, |it| it.largest_change);
        let (verdict, note) = judge::judge_change(&json, largest);
        self.report.notes.push(note);
        Ok((verdict, Some(current)))
    }

    /// Reads the promotion ledger of a kind: the releases in the order of their promotions. None,
    /// with a note, where it cannot be read.
    fn read_ledger(&mut self, part: Part) -> Result<Option<Vec<String>>, RefreshError> {
        // Snapshots have no ledger.
        if part == Part::Snapshot || self.context.has_no_state() {
            return Ok(Some(Vec::new()));
        }
        let ledger = self.logs.join(format!("{part}-history.json"));
        let arguments = ["release", "history", "--kind", part.name(), "--json"];
        let history = Step::new("history", &arguments).output_to(ledger.clone());
        let history = self.context.of_service(history);
        if !self.succeeds(&history)? {
            return Ok(None);
        }
        let promoted = judge::read_ledger(&ledger);
        if let Err(error) = &promoted {
            let ledger = ledger.display();
            let note = format!("the promotion ledger cannot be read: {error} ({ledger})");
            self.report.notes.push(note);
        }
        Ok(promoted.ok())
    }

    /// Compares the current release with the sales of a later snapshot. It decides nothing.
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
            StepEnd::Exit(code) if code == i32::from(ALARMED) => {
                self.report.alarm = true;
                let json = json.display();
                format!("ALARM of the monitor: {current} has drifted; see {json}")
            }
            StepEnd::Exit(code) if code == i32::from(NOTHING_JUDGED) => format!(
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
        self.note_failure(step, end);
        Ok(false)
    }

    /// Notes that the last step failed, with the last line of its log.
    fn note_failure(&mut self, step: &Step, end: StepEnd) {
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
