//! The findings of the checks, as text and as JSON.

use domesday_package::Sha256Digest;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Version of the report's form. A member is only ever added under the same number.
const FORMAT: u32 = 1;

/// Lines below a check that name a problem. The rest are counted.
const NAMED: usize = 5;

/// Returns the first few of these lines, and a count of the rest.
pub fn first_lines(lines: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let all = lines.len();
    let mut first: Vec<String> = lines.take(NAMED).collect();
    if all > NAMED {
        first.push(format!("and {} more", all - NAMED));
    }
    first
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The demand holds.
    Passed,
    /// It does not.
    Failed,
    /// There was nothing to judge, or too little.
    NotJudged,
}

impl Verdict {
    /// Returns `Passed` where the demand `holds`, else `Failed`.
    pub fn of(holds: bool) -> Verdict {
        if holds {
            Verdict::Passed
        } else {
            Verdict::Failed
        }
    }

    fn words(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its short name.
    pub check: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, in one line.
    pub summary: String,
    /// More lines, for people.
    pub details: Vec<String>,
    /// The same for programs.
    pub figures: Value,
}

impl Finding {
    /// Returns a finding without details.
    pub fn new(check: &'static str, verdict: Verdict, summary: impl Into<String>) -> Finding {
        Finding {
            check,
            verdict,
            summary: summary.into(),
            details: Vec::new(),
            figures: Value::Null,
        }
    }

    /// Adds these lines below the finding.
    pub fn with_details(mut self, details: Vec<String>) -> Finding {
        self.details = details;
        self
    }

    /// Adds these figures.
    pub fn with_figures(mut self, figures: Value) -> Finding {
        self.figures = figures;
        self
    }

    /// Returns this finding if it failed, or else the one on chosen sales. Chosen sales do not make
    /// up for those of the package.
    pub fn failed_or(self, chosen: Finding) -> Finding {
        match self.verdict {
            Verdict::Failed => self,
            Verdict::Passed | Verdict::NotJudged => chosen,
        }
    }
}

/// The most rows of a kind that the checks might value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RowLimits {
    /// Homes of the snapshot.
    pub homes: usize,
    /// Rows of adversarial inputs.
    pub adversarial_rows: usize,
}

/// All checks of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The release.
    pub release_id: String,
    /// SHA-256 of the release's manifest.
    pub manifest: Sha256Digest,
    /// The homes and adversarial rows that the checks might value, at most.
    pub limits: RowLimits,
    /// True if coverage was judged on other sales than those of the package's back-test.
    pub other_sales: bool,
    /// The engine that ran it.
    pub engine: &'static str,
    /// True if no check failed and, in a strict report, all were judged.
    pub passed: bool,
    /// True if a check that is not judged fails the release.
    pub strict: bool,
    /// Checks that are not judged.
    pub not_judged: usize,
    /// In the order in which they were made.
    pub checks: Vec<Finding>,
    /// Warnings about the package that fail nothing.
    pub warnings: Vec<String>,
}

impl Report {
    /// Returns the report of these findings.
    pub fn of(
        (release_id, manifest): (&str, Sha256Digest),
        limits: RowLimits,
        engine: &'static str,
        checks: Vec<Finding>,
    ) -> Report {
        Report {
            format: FORMAT,
            release_id: release_id.to_owned(),
            manifest,
            limits,
            other_sales: false,
            engine,
            passed: checks.iter().all(|found| found.verdict != Verdict::Failed),
            strict: false,
            not_judged: checks.iter().filter(not_judged).count(),
            checks,
            warnings: Vec::new(),
        }
    }

    /// Returns the names of the checks that fail the release.
    pub fn failed_checks(&self) -> Vec<&'static str> {
        let fails = |found: &&Finding| match found.verdict {
            Verdict::Passed => false,
            Verdict::Failed => true,
            Verdict::NotJudged => self.strict,
        };
        let failed = self.checks.iter().filter(fails);
        failed.map(|found| found.check).collect()
    }

    /// Makes a check that is not judged fail the release.
    pub fn into_strict(mut self) -> Report {
        self.strict = true;
        self.passed &= self.not_judged == 0;
        self
    }

    /// Renders one line a check, then the details, then the result.
    pub fn text(&self) -> String {
        let mut out = format!("Check of {} ({})\n\n", self.release_id, self.engine);
        for found in &self.checks {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{:10}  {:13}  {}",
                found.verdict.words(),
                found.check,
                found.summary
            );
        }
        for found in self.checks.iter().filter(|found| !found.details.is_empty()) {
            let _ = writeln!(out, "\n{}", found.check);
            for line in &found.details {
                let _ = writeln!(out, "  {line}");
            }
        }
        let of = |verdict| {
            let those = self.checks.iter().filter(|found| found.verdict == verdict);
            those.count()
        };
        let _ = writeln!(
            out,
            "\n{} passed, {} failed, {} not judged",
            of(Verdict::Passed),
            of(Verdict::Failed),
            self.not_judged
        );
        if self.not_judged > 0 {
            let rule = if self.strict {
                "--strict fails the release for:"
            } else {
                "Give --strict to fail the release for:"
            };
            let _ = writeln!(out, "Not judged is not passed. {rule}");
            for found in self.checks.iter().filter(not_judged) {
                let _ = writeln!(
                    out,
                    "  {}: {}. {}",
                    found.check,
                    found.summary,
                    remedy(found.check)
                );
            }
        }
        for warning in &self.warnings {
            let _ = writeln!(out, "WARNING: {warning}");
        }
        out
    }
}

/// Returns the way to have a check judged.
fn remedy(check: &str) -> &'static str {
    match check {
        "monotone" => {
            "Declare the inputs that customers rely on under [[monotone]] in release.toml"
        }
        "reference" => "Name a release of the same places by --reference, or pull one",
        "dates" => "State a longer valuation_date in release.toml, and build the release anew",
        "snapshot" | "backtest" => {
            "Build the release anew with this version, and leave out sales for its back-test"
        }
        "coverage" | "request_shapes" => {
            "Name a window with more sales by --from, --to and --sample"
        }
        _ => "Check it on a snapshot with more homes, or with a larger --homes",
    }
}

fn not_judged(found: &&Finding) -> bool {
    found.verdict == Verdict::NotJudged
}

/// Formats a number with commas between its thousands.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a share as per cent with one decimal.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of(checks: Vec<Finding>) -> Report {
        let limits = RowLimits {
            homes: 300,
            adversarial_rows: 10_000,
        };
        let release = ("r-1", Sha256Digest::of(b"manifest"));
        Report::of(release, limits, "engine", checks)
    }

    #[test]
    fn one_failure_fails_the_release_and_nothing_judged_does_not() {
        let of = |verdicts: &[Verdict]| {
            let found = verdicts.iter().map(|v| Finding::new("a", *v, "b"));
            report_of(found.collect()).passed
        };
        assert!(of(&[Verdict::Passed, Verdict::NotJudged]));
        assert!(!of(&[Verdict::Passed, Verdict::Failed]));
    }

    #[test]
    fn chosen_sales_do_not_make_up_for_those_of_the_package() {
        use Verdict::{Failed, NotJudged, Passed};
        let of = |own, chosen| {
            let own = Finding::new("coverage", own, "of the package");
            own.failed_or(Finding::new("coverage", chosen, "chosen"))
        };
        for chosen in [Passed, NotJudged, Failed] {
            assert_eq!(of(Failed, chosen).summary, "of the package");
            assert_eq!(of(Passed, chosen).verdict, chosen);
            assert_eq!(of(NotJudged, chosen).summary, "chosen");
        }
    }

    #[test]
    fn a_strict_report_fails_where_a_check_is_not_judged() {
        let of = |verdict| report_of(vec![Finding::new("cost", verdict, "b")]);
        assert!(of(Verdict::Passed).into_strict().passed);
        let lenient = of(Verdict::NotJudged);
        assert!(
            lenient.text().contains(
                "0 passed, 0 failed, 1 not judged\nNot judged is not passed. Give --strict"
            )
        );
        let strict = lenient.into_strict();
        assert!(!strict.passed && strict.not_judged == 1);
        let text = strict.text();
        let reasons = "--strict fails the release for:\n  cost: b. Check it on a snapshot with more homes, or with a larger --homes\n";
        assert!(text.ends_with(reasons), "{text}");
        assert_eq!(strict.failed_checks(), ["cost"]);
        assert!(of(Verdict::NotJudged).failed_checks().is_empty());
    }

    #[test]
    fn a_check_is_one_line_and_its_details_stand_below() {
        let found = Finding::new("order", Verdict::Failed, "two rows differ")
            .with_details(vec!["home 1".to_owned()]);
        let text = report_of(vec![found]).text();
        assert!(
            text.contains("FAILED      order          two rows differ\n"),
            "{text}"
        );
        assert!(text.contains("\norder\n  home 1\n"), "{text}");
        assert!(
            text.ends_with("0 passed, 1 failed, 0 not judged\n"),
            "{text}"
        );
    }

    #[test]
    fn a_warning_stands_below_and_fails_nothing() {
        let mut report = report_of(vec![Finding::new("order", Verdict::Passed, "b")]);
        report.warnings.push("evidence is early".to_owned());
        assert!(report.passed);
        let text = report.text();
        assert!(text.ends_with("WARNING: evidence is early\n"), "{text}");
    }

    #[test]
    fn thousands_are_parted() {
        let texts = [0, 999, 1_000, 12_345_678].map(group_digits);
        assert_eq!(texts, ["0", "999", "1,000", "12,345,678"]);
    }
}
