//! The conformance kit: the checks that a release must pass before anybody trusts it.
//!
//! Each check has a file. It takes homes or answers and returns a finding. A check that values rows
//! returns the rows as well, since ranges and cost are judged over all of them.

mod adversarial_inputs;
mod answer_schema;
mod backtest_reproducible;
mod behaviour;
mod cost;
mod coverage;
mod engines;
mod error;
mod extremes;
mod finding;
mod fixtures;
mod homes;
mod imports;
mod input_steps;
mod monotone;
mod order_independence;
mod ranges;
mod reference_choice;
mod request_shapes;
mod rows;
mod store;
#[cfg(test)]
mod testing;

use crate::backtest;
use crate::backtest::{BacktestInput, training_window};
use crate::sampling;
use domesday_engine::Runtime;
use domesday_engine::fixture::Fixture;
use domesday_engine::outcome::RowFailure;
use domesday_engine::subject::Subject;
use domesday_evaluation::report::AsAt;
use domesday_evaluation::request_shape::RequestShape;
use domesday_package::{Kind, Package, PropertyBody, Trust, ValuationBody, open, open_unproved};
use domesday_property::SnapshotError;
use domesday_registers::Day;
use domesday_registers::Progress;
use domesday_valuation::comparison_header::training_data;
use domesday_valuation::release_store::{OpenRelease, ReleaseError};
use engines::{Candidate, candidate};
use finding::{Finding, RowLimits, Verdict};
use reference_choice::Choice;
use rows::{Home, RowResult, value, value_all};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::CheckError;
pub use finding::Report;
pub(crate) use finding::{group_digits, percent};
pub use reference_choice::Reference;
pub use store::store_report;

/// The options of a check.
pub struct CheckOptions {
    /// Homes of the snapshot, at most.
    pub homes: usize,
    /// Rows of adversarial inputs, at most.
    pub adversarial_rows: usize,
    /// Another window than the package's back-test to judge coverage on: first and last day of
    /// sale.
    pub window: Option<(Day, Day)>,
    /// Sales of that window, at most.
    pub sample: Option<usize>,
    /// The release that estimates are compared with.
    pub reference: Reference,
    /// True if a check that is not judged fails the release.
    pub strict: bool,
    /// The folder that keeps compiled code, if any is to.
    pub compiled: Option<PathBuf>,
}

/// Returns at most `most` homes of a release's snapshot, each with a name, as a check takes them.
///
/// # Errors
/// [`SnapshotError`] if the snapshot cannot be read.
pub(crate) fn sampled_homes(
    open: &OpenRelease,
    most: usize,
) -> Result<Vec<(String, Arc<Subject>)>, SnapshotError> {
    let homes = homes::sample(open, most)?.into_iter();
    Ok(homes.map(|home| (home.name, home.subject)).collect())
}

/// Checks a release.
///
/// # Errors
/// [`CheckError`] if the package or its snapshot does not open, the window may not be judged on, or
/// the host fails. Failed checks are in the report.
pub fn check(
    root: &Path,
    id: &str,
    trust: &Trust,
    options: &CheckOptions,
    progress: &mut Progress<'_>,
) -> Result<Report, CheckError> {
    let compiled = options.compiled.as_deref();
    let candidate = match candidate(root, id, trust, compiled, progress) {
        Ok(candidate) => candidate,
        Err(CheckError::Release(ReleaseError::NotAdmitted { source, .. })) => {
            let found = imports::refusal(&source.to_string());
            let package = open(&root.join(Kind::Valuation.as_str()).join(id), trust)?;
            return Ok(report(&package, vec![found], Vec::new(), options));
        }
        Err(other) => return Err(other),
    };
    let manifest = &candidate.on_demand.manifest;
    if let Some((from, _)) = options.window {
        training_window::refuse(manifest, &training_data(manifest, from), from)?;
    }
    let component = candidate.package.bytes(manifest.component.as_str())?;
    let mut findings = vec![imports::check_admitted(
        manifest,
        &component,
        &candidate.on_demand.release,
    )];

    let recorded = fixtures::read_all(&candidate.package, manifest.fixtures.as_str())?;
    findings.extend(on_fixtures(&candidate, &recorded, progress));
    let recorded = recorded.fixtures;
    progress("listing sales", 0, 1);
    let many = homes::sample(&candidate.on_demand, behaviour::reference::HOMES)?;
    findings.extend(on_homes(&candidate, &recorded, &many, options, progress)?);
    findings.push(against(
        &candidate,
        root,
        trust,
        (&many, options),
        progress,
    )?);
    let (on_sales, warnings) = on_sales(&candidate, root, options, progress)?;
    findings.extend(on_sales);
    Ok(report(&candidate.package, findings, warnings, options))
}

fn report(
    package: &Package,
    findings: Vec<Finding>,
    warnings: Vec<String>,
    options: &CheckOptions,
) -> Report {
    let limits = RowLimits {
        homes: options.homes,
        adversarial_rows: options.adversarial_rows,
    };
    let release = (package.manifest().id.as_str(), package.digest());
    let mut report = Report::of(release, limits, Runtime::version(), findings);
    report.other_sales = options.window.is_some();
    report.warnings = warnings;
    if options.strict {
        report.into_strict()
    } else {
        report
    }
}

/// Compares the release with the reference, if there is one.
fn against(
    candidate: &Candidate,
    root: &Path,
    trust: &Trust,
    (homes, options): (&[Home], &CheckOptions),
    progress: &mut Progress<'_>,
) -> Result<Finding, CheckError> {
    let open = &candidate.on_demand;
    let wanted = (&options.reference, homes);
    let compiled = options.compiled.as_deref();
    match reference_choice::choose(root, &open.manifest, trust, wanted, compiled, progress)? {
        Choice::Nothing(why) => Ok(Finding::new(
            behaviour::reference::CHECK,
            Verdict::NotJudged,
            why,
        )),
        Choice::Chosen(chosen) => Ok(behaviour::compare_with(&chosen, open, homes, progress)),
    }
}

fn on_fixtures(
    candidate: &Candidate,
    recorded: &fixtures::RecordedRows,
    progress: &mut Progress<'_>,
) -> [Finding; 2] {
    let engines = [
        ("on demand", &candidate.on_demand.release),
        ("pooled", &candidate.pooled),
    ];
    [
        fixtures::check_replay(recorded, &engines, progress),
        fixtures::check_snapshot(&recorded.fixtures, &*candidate.evidence, progress),
    ]
}

/// Runs the checks that value homes: order, declared inputs, adversarial inputs, behaviour, and
/// over all their rows ranges and cost.
fn on_homes(
    candidate: &Candidate,
    recorded: &[Fixture],
    many: &[Home],
    options: &CheckOptions,
    progress: &mut Progress<'_>,
) -> Result<Vec<Finding>, CheckError> {
    let manifest = &candidate.on_demand.manifest;
    let (release, evidence) = (&candidate.on_demand.release, &candidate.evidence);
    progress("listing sales", 0, 1);
    let declared_homes = manifest.monotone.iter().map(|probe| probe.homes as usize);
    let most = declared_homes.fold(options.homes, usize::max);
    let pool = homes::sample(&candidate.on_demand, most)?;
    let every = sampling::step(pool.len(), options.homes);
    let sample = pool.iter().step_by(every).cloned();
    let mut known: Vec<Home> = recorded.iter().map(of_fixture).collect();
    known.extend(sample);

    let mut results = value_all(release, &known, evidence, "valuing homes", progress);
    let pooled = |home: &Home| value(&candidate.pooled, home, evidence);
    let order = order_independence::check(&known, &results, &pooled, progress);
    let (monotone, at_steps) =
        monotone::check(&manifest.monotone, &pool, release, evidence, progress);
    let days = (
        Day::from(manifest.valuation_date.from),
        Day::from(manifest.valuation_date.to),
    );
    let extreme = adversarial_inputs::homes(
        &pool,
        homes::kinds(&manifest.property_types),
        days,
        options.adversarial_rows,
    );
    let (adversarial, at_ends) = adversarial_inputs::check(&extreme, release, evidence, progress);

    let mut deep = Vec::new();
    for homes in [&known, &extreme] {
        let half_stack = value_all(
            &candidate.half_stack,
            homes,
            evidence,
            "halving the stack",
            progress,
        );
        deep.extend(half_stack.into_iter().filter_map(stack_overrun));
    }
    let homes = behaviour::Homes {
        pool: &pool,
        many,
        sample: &known[recorded.len()..],
        ordinary: &results[recorded.len()..],
    };
    let (behaviour, probed) = behaviour::check(&candidate.on_demand, &homes, progress);
    results.extend(at_steps);
    results.extend(probed);
    let answers = answer_schema::judge(answer_schema::CHECK, "rows of ordinary homes", &results);
    results.extend(at_ends);
    let limits = cost::CostLimits {
        fuel: release.limits().fuel_per_row,
        memory_bytes: release.limits().memory_bytes,
        memory_at_start: release.memory_at_start(),
    };
    let mut findings = vec![
        answers,
        order,
        monotone,
        adversarial,
        ranges::judge(&results),
        cost::judge(&results, limits, &deep),
    ];
    findings.extend(behaviour);
    Ok(findings)
}

/// Returns the row's name where half of the native stack was too little.
fn stack_overrun(half: RowResult) -> Option<String> {
    matches!(half.outcome, Err(RowFailure::Host { .. })).then_some(half.name)
}

fn of_fixture(fixture: &Fixture) -> Home {
    Home {
        name: format!("fixture {}", fixture.row),
        subject: Arc::new(fixture.subject.clone()),
    }
}

/// Runs the checks against prices that were paid. Returns warnings about the package's back-test as
/// well.
fn on_sales(
    candidate: &Candidate,
    root: &Path,
    options: &CheckOptions,
    progress: &mut Progress<'_>,
) -> Result<([Finding; 3], Vec<String>), CheckError> {
    let manifest = &candidate.on_demand.manifest;
    let package = open_unproved(
        &root
            .join(Kind::Property.as_str())
            .join(manifest.snapshot.id.as_str()),
        // Verified a moment ago. Only its manifest is read here.
        &Trust::Unsigned,
    )?;
    let body: PropertyBody = package.body()?;
    let tested = BacktestInput {
        manifest,
        release: &candidate.on_demand.release,
        snapshot: &candidate.on_demand.snapshot,
        database: &package.path(body.database.as_str())?,
        synthetic: body.synthetic,
    };
    let (backtest, own) = match &manifest.backtest {
        Some(file) => backtest_reproducible::check(
            &candidate.package.bytes(file.as_str())?,
            &tested,
            progress,
        )?,
        None => {
            let why = "the package holds no back-test";
            (
                Finding::new(backtest_reproducible::CHECK, Verdict::NotJudged, why),
                None,
            )
        }
    };
    let warnings = own.iter().filter_map(|own| own.subject.lag_warning());
    let warnings = warnings.collect();
    let chosen = match options.window {
        Some((from, to)) if backtest::askable(tested.snapshot, from, to)? == 0 => {
            Some(not_judged(&format!(
                "the snapshot holds no sale of {from} to {to} that can be valued; --from and --to name another window"
            )))
        }
        Some(window) => {
            let report = on_window(&tested, manifest, window, options.sample, progress)?;
            Some(judge_sales(&report))
        }
        None => None,
    };
    let (coverage, shapes) = match (own.as_ref().map(judge_sales), chosen) {
        (Some(own), Some(chosen)) => (own.0.failed_or(chosen.0), own.1.failed_or(chosen.1)),
        (Some(found), None) | (None, Some(found)) => found,
        (None, None) => {
            not_judged("there is no back-test to judge by; --from and --to name a window")
        }
    };
    Ok(([backtest, coverage, shapes], warnings))
}

/// Returns both findings of a back-test.
fn judge_sales(report: &domesday_evaluation::report::Report) -> (Finding, Finding) {
    (coverage::judge(report), request_shapes::judge(report))
}

/// Returns both findings of a back-test where there is none.
fn not_judged(why: &str) -> (Finding, Finding) {
    let of = |check| Finding::new(check, Verdict::NotJudged, why);
    (of(coverage::CHECK), of(request_shapes::CHECK))
}

fn on_window(
    tested: &BacktestInput<'_>,
    manifest: &ValuationBody,
    (from, to): (Day, Day),
    sample: Option<usize>,
    progress: &mut Progress<'_>,
) -> Result<domesday_evaluation::report::Report, CheckError> {
    let options = backtest::BacktestOptions {
        from,
        to,
        as_at: AsAt::Sale,
        request: RequestShape::Stored,
        evidence_lag_days: backtest::EVIDENCE_LAG_DAYS,
        sample,
        probe_homes: 0,
        allow_overlap: false,
    };
    backtest::run(tested, &options, progress)
        .map(|(report, _)| report)
        .map_err(|source| CheckError::Window {
            release: manifest.release_id.clone(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::REQUIRED_CHECKS;

    /// The checks that are newer than the gate. Reports without them open it.
    const LATER: [&str; 2] = ["places", "patterns"];

    #[test]
    fn the_gate_demands_each_check_that_is_as_old_as_the_gate() {
        let before = [
            imports::CHECK,
            fixtures::CHECK,
            fixtures::SNAPSHOT_CHECK,
            answer_schema::CHECK,
            order_independence::CHECK,
            monotone::CHECK,
            adversarial_inputs::CHECK,
            ranges::CHECK,
            cost::CHECK,
        ];
        let on_sales = [
            backtest_reproducible::CHECK,
            coverage::CHECK,
            request_shapes::CHECK,
        ];
        let all = before.into_iter().chain(behaviour::CHECKS).chain(on_sales);
        let demanded: Vec<_> = all.filter(|name| !LATER.contains(name)).collect();
        assert_eq!(demanded, REQUIRED_CHECKS);
    }
}
