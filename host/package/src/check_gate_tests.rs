//! Tests of reports, approvals and the gate, on packages of one file.

use super::*;
use crate::test_package::{ID, write_package};
use crate::{
    CHECKED_ADVERSARIAL_ROWS, CHECKED_HOMES, Kind, PulledRelease, REQUIRED_CHECKS, Remote,
    SigningKey, TransferControl, TransferObserver, TrustList, approve, attach_check, open, publish,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed([seed; 32])
}

/// The trust of a host that holds the keys of these seeds.
fn trust_of(seeds: &[u8]) -> Trust {
    let mut list = TrustList::new();
    for seed in seeds {
        list.add(key(*seed).public(), "");
    }
    list.exempt("another".parse().unwrap());
    Trust::Required(list)
}

/// Writes a package whose file holds `content`. The gate looks at no kind.
fn package_of(packages_dir: &Path, content: &[u8]) -> Package {
    write_package(packages_dir, "data", content);
    open(&packages_dir.join(ID), &Trust::Unsigned).unwrap()
}

fn package() -> (TempDir, Package) {
    let dir = tempfile::tempdir().unwrap();
    let package = package_of(dir.path(), b"content");
    (dir, package)
}

/// Returns all checks of a report. Those named have their verdicts, and the others passed.
fn checks(verdicts: &[(&str, &str)]) -> Vec<Value> {
    let verdict_of = |check: &str| {
        let named = verdicts.iter().find(|(name, _)| *name == check);
        named.map_or("passed", |(_, verdict)| *verdict)
    };
    REQUIRED_CHECKS
        .iter()
        .map(|check| json!({"check": check, "verdict": verdict_of(check)}))
        .collect()
}

/// Returns a whole report of the package in which each named check has its verdict.
fn report(package: &Package, passed: bool, verdicts: &[(&str, &str)]) -> Vec<u8> {
    let report = json!({
        "format": 1, "manifest": package.digest(), "passed": passed, "checks": checks(verdicts),
        "limits": {"homes": CHECKED_HOMES, "adversarial_rows": CHECKED_ADVERSARIAL_ROWS}, "more": 1,
    });
    serde_json::to_vec(&report).unwrap()
}

fn report_pass(package: &Package) -> Vec<u8> {
    report(
        package,
        true,
        &[("order", "passed"), ("cost", "not_judged")],
    )
}

fn judge_at(package: &Package, trust: &Trust, second: bool) -> Result<CheckEvidence, GateError> {
    let attachments = Attachments::read(package.directory()).unwrap();
    judge_check(package, &attachments, trust, second)
}

#[track_caller]
fn refusal(package: &Package, trust: &Trust, second: bool) -> GateErrorKind {
    *judge_at(package, trust, second).unwrap_err().kind
}

#[test]
fn a_trusted_report_that_passed_opens_the_gate() {
    let (_dir, package) = package();
    let error = judge_at(&package, &trust_of(&[1]), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "release s-1 has no check report. Make its report with `domesday release check s-1 \
         --sign-with KEY`"
    );
    let digest = attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    let evidence = judge_at(&package, &trust_of(&[1]), false).unwrap();
    assert_eq!(evidence.report, Some(digest));
    assert_eq!(evidence.approved_by, None);
    assert_eq!(evidence.not_judged, ["cost"]);
    // Opening is as before.
    open(package.directory(), &Trust::Unsigned).unwrap();
}

#[test]
fn a_report_that_failed_is_refused_with_the_names_of_its_checks() {
    let (_dir, package) = package();
    let verdicts = [("order", "failed"), ("dates", "failed")];
    for stated in [false, true] {
        attach_check(&package, &report(&package, stated, &verdicts), &key(1)).unwrap();
        let error = judge_at(&package, &trust_of(&[1]), false).unwrap_err();
        assert!(
            error.to_string().contains("failed its check: order, dates"),
            "{error}"
        );
    }
    attach_check(&package, &report(&package, false, &[]), &key(1)).unwrap();
    assert!(matches!(
        refusal(&package, &trust_of(&[1]), false),
        GateErrorKind::Failed { checks } if checks.is_empty()
    ));
}

#[test]
fn a_report_of_another_manifest_an_altered_one_and_a_strange_key_are_refused() {
    let (_dir, package) = package();
    let trust = trust_of(&[1]);
    let other_dir = tempfile::tempdir().unwrap();
    let other = package_of(other_dir.path(), b"other content");
    attach_check(&other, &report_pass(&other), &key(1)).unwrap();
    for name in [CHECK, CHECK_SIGNATURE] {
        fs::copy(other.directory().join(name), package.directory().join(name)).unwrap();
    }
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::OtherManifest { checked } if checked == other.digest()
    ));
    // The words of the manifest alone do not help: the signature covers its digest.
    let file = package.directory().join(CHECK);
    fs::write(&file, report_pass(&package)).unwrap();
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::SignatureMismatch {
            file: CHECK_SIGNATURE,
            ..
        }
    ));
    attach_check(&package, &report_pass(&package), &key(2)).unwrap();
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::Untrusted { key: found, .. } if found == key(2).public()
    ));
    fs::write(&file, b"{}").unwrap();
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::ReportForm(_)
    ));
    attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    fs::write(package.directory().join(CHECK_SIGNATURE), b"x").unwrap();
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::SignatureForm {
            file: CHECK_SIGNATURE
        }
    ));
    fs::remove_file(package.directory().join(CHECK_SIGNATURE)).unwrap();
    assert!(matches!(
        refusal(&package, &trust, false),
        GateErrorKind::NoSignature
    ));
}

#[test]
fn a_release_that_the_operator_takes_unsigned_needs_no_report() {
    let (_dir, package) = package();
    let Trust::Required(mut list) = trust_of(&[1]) else {
        unreachable!("it lists keys");
    };
    list.exempt(ID.parse().unwrap());
    let trust = Trust::Required(list);
    let evidence = judge_at(&package, &trust, false).unwrap();
    assert_eq!(evidence, CheckEvidence::default());
    // A second person's approval is not waived by a flag.
    assert!(matches!(
        refusal(&package, &trust, true),
        GateErrorKind::NoReport
    ));
}

#[test]
fn no_flag_waives_a_report_that_says_that_the_release_failed() {
    let (_dir, package) = package();
    let Trust::Required(mut list) = trust_of(&[1]) else {
        unreachable!("it lists keys");
    };
    list.exempt(ID.parse().unwrap());
    let trust = Trust::Required(list);
    let failed = report(&package, false, &[("order", "failed")]);
    // By a trusted key, and by one that nobody knows.
    for signer in [1, 9] {
        attach_check(&package, &failed, &key(signer)).unwrap();
        judge_at(&package, &trust, false).unwrap_err();
    }
    attach_check(&package, &report_pass(&package), &key(9)).unwrap();
    judge_at(&package, &trust, false).unwrap();
}

#[test]
fn a_check_of_few_rows_opens_nothing() {
    let (_dir, package) = package();
    let report = |homes: u32, rows: u32, other_sales: bool, coverage: &str| {
        let report = json!({
            "manifest": package.digest(), "passed": true, "other_sales": other_sales,
            "limits": {"homes": homes, "adversarial_rows": rows},
            "checks": checks(&[("coverage", coverage)]),
        });
        attach_check(&package, report.to_string().as_bytes(), &key(1)).unwrap();
        judge_at(&package, &trust_of(&[1]), false)
    };
    let (homes, rows) = (CHECKED_HOMES, CHECKED_ADVERSARIAL_ROWS);
    report(homes, rows, false, "not_judged").unwrap();
    report(homes, rows, true, "passed").unwrap();
    for (weak, why) in [
        (report(homes - 1, rows, false, "passed"), "--homes 299"),
        (
            report(homes, rows - 1, false, "passed"),
            "--adversarial-rows 9999",
        ),
        (report(homes, rows, true, "not_judged"), "--from and --to"),
    ] {
        let refused = weak.unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn a_report_without_its_limits_or_a_check_opens_nothing() {
    let (_dir, package) = package();
    let judge = |limits: Value, checks: Vec<Value>| {
        let report = json!({
            "manifest": package.digest(), "passed": true, "limits": limits, "checks": checks,
        });
        attach_check(&package, report.to_string().as_bytes(), &key(1)).unwrap();
        judge_at(&package, &trust_of(&[1]), false)
    };
    let limits = json!({"homes": CHECKED_HOMES, "adversarial_rows": CHECKED_ADVERSARIAL_ROWS});
    judge(limits.clone(), checks(&[])).unwrap();
    let refused = judge(Value::Null, checks(&[])).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "release s-1 has a check report without limits. Check it again with this program: \
         `domesday release check s-1 --sign-with KEY`"
    );
    let none = judge(limits.clone(), Vec::new()).unwrap_err();
    assert!(none.to_string().contains("without admission, fixtures, "));
    for name in REQUIRED_CHECKS {
        let mut checks = checks(&[]);
        checks.retain(|found| found["check"] != name);
        let refused = judge(limits.clone(), checks).unwrap_err();
        assert!(
            matches!(&*refused.kind, GateErrorKind::Incomplete { missing } if *missing == [name]),
            "{name}: {refused}"
        );
    }
    // A later program's check is one more.
    let mut more = checks(&[]);
    more.push(json!({"check": "later", "verdict": "not_judged"}));
    judge(limits, more).unwrap();
}

#[test]
fn a_back_test_that_was_not_judged_or_that_took_a_part_of_the_sales_opens_nothing() {
    let (_dir, package) = package();
    let judge = |verdicts: &[(&str, &str)], taken_every: Value| {
        let mut report: Value = serde_json::from_slice(&report(&package, true, verdicts)).unwrap();
        for found in report["checks"].as_array_mut().unwrap() {
            if found["check"] == "coverage" {
                found["figures"] = json!({"taken_every": taken_every});
            }
        }
        attach_check(&package, report.to_string().as_bytes(), &key(1)).unwrap();
        judge_at(&package, &trust_of(&[1]), false)
    };
    let unjudged = [("backtest", "not_judged"), ("coverage", "not_judged")];
    let refused = judge(&unjudged, json!(1)).unwrap_err().to_string();
    assert!(
        refused.contains("no back-test that the check could judge"),
        "{refused}"
    );
    assert!(refused.contains("--allow-unsigned"), "{refused}");
    let refused = judge(&unjudged[1..], json!(9)).unwrap_err().to_string();
    assert!(refused.contains("one in 9 of its window"), "{refused}");
    // All sales of a small place may be too few.
    let small = judge(&unjudged[1..], json!(1)).unwrap();
    assert_eq!(small.not_judged, ["coverage"]);
    judge(&[], json!(9)).unwrap();
}

#[test]
fn the_key_of_the_package_is_no_second_person() {
    let (dir, _) = package();
    crate::sign(&dir.path().join(ID), &key(2)).unwrap();
    let package = open(&dir.path().join(ID), &Trust::Unsigned).unwrap();
    let trust = trust_of(&[1, 2, 3]);
    attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    let refused = approve(&package, &trust, &key(2)).unwrap_err();
    assert!(
        refused.to_string().contains("signed the package too"),
        "{refused}"
    );
    approve(&package, &trust, &key(3)).unwrap();
    judge_at(&package, &trust, true).unwrap();
}

#[test]
fn an_approval_is_by_another_trusted_key_and_of_this_very_report() {
    let (_dir, package) = package();
    let trust = trust_of(&[1, 2]);
    attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    assert!(matches!(
        refusal(&package, &trust, true),
        GateErrorKind::NotApproved
    ));
    let same = approve(&package, &trust, &key(1)).unwrap_err();
    assert!(
        matches!(*same.kind, GateErrorKind::SameKey { .. }),
        "{same}"
    );
    // Nothing was written.
    assert!(matches!(
        refusal(&package, &trust, true),
        GateErrorKind::NotApproved
    ));
    approve(&package, &trust, &key(2)).unwrap();
    let evidence = judge_at(&package, &trust, true).unwrap();
    assert_eq!(evidence.approved_by, Some(key(2).public()));
    assert!(matches!(
        refusal(&package, &trust_of(&[1]), true),
        GateErrorKind::Untrusted { file: APPROVAL, .. }
    ));
    // It is recorded where it is not demanded, if it is good.
    let unapproved = judge_at(&package, &trust_of(&[1]), false).unwrap();
    assert_eq!(unapproved.approved_by, None);

    let approval = fs::read(package.directory().join(APPROVAL)).unwrap();
    let later = report(&package, true, &[("order", "passed")]);
    attach_check(&package, &later, &key(1)).unwrap();
    assert!(!package.directory().join(APPROVAL).exists());
    fs::write(package.directory().join(APPROVAL), approval).unwrap();
    assert!(matches!(
        refusal(&package, &trust, true),
        GateErrorKind::SignatureMismatch { file: APPROVAL, .. }
    ));
}

#[test]
fn a_release_that_failed_cannot_be_approved() {
    let (_dir, package) = package();
    let failed = report(&package, false, &[("order", "failed")]);
    attach_check(&package, &failed, &key(1)).unwrap();
    let refused = approve(&package, &trust_of(&[1]), &key(2)).unwrap_err();
    assert!(matches!(*refused.kind, GateErrorKind::Failed { .. }));
}

#[test]
fn a_copy_takes_attachments_that_vouch_for_more_and_keeps_its_own_otherwise() {
    let (_dir, package) = package();
    let elsewhere = tempfile::tempdir().unwrap();
    let read = |package: &Package| Attachments::read(package.directory()).unwrap();
    let copy = || {
        let outcome = publish(&package, elsewhere.path(), &TransferControl::default()).unwrap();
        let there = open(&elsewhere.path().join(ID), &Trust::Unsigned).unwrap();
        (outcome, read(&there))
    };
    copy();
    let failed = report(&package, false, &[("order", "failed")]);
    let mut last = Attachments::default();
    for step in ["failed", "passed", "approved"] {
        match step {
            "failed" => drop(attach_check(&package, &failed, &key(1)).unwrap()),
            "passed" => drop(attach_check(&package, &report_pass(&package), &key(1)).unwrap()),
            _ => drop(approve(&package, &trust_of(&[1]), &key(2)).unwrap()),
        }
        let (outcome, found) = copy();
        assert_eq!(outcome, crate::PublishOutcome::Completed, "{step}");
        assert_eq!(found, read(&package), "{step}");
        assert_ne!(found, last, "{step}");
        last = found;
    }
    // None of these vouches for more than an approved report.
    attach_check(&package, &report_pass(&package), &key(3)).unwrap();
    assert_eq!(copy().1, last);
    let mut forged = report_pass(&package);
    forged.push(b' ');
    fs::write(package.directory().join(CHECK), forged).unwrap();
    assert_eq!(copy().1, last);
    // A new copy has them at once.
    fs::remove_dir_all(elsewhere.path().join(ID)).unwrap();
    assert_eq!(copy().1, read(&package));
}

/// A place serves the package with another report, signed and approved by strange keys.
#[test]
fn a_report_by_a_key_that_is_not_trusted_replaces_none() {
    let (_dir, package) = package();
    attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    let own = Attachments::read(package.directory()).unwrap();
    let (_elsewhere, copy) = {
        let dir = tempfile::tempdir().unwrap();
        publish(&package, dir.path(), &TransferControl::default()).unwrap();
        let copy = open(&dir.path().join(ID), &Trust::Unsigned).unwrap();
        (dir, copy)
    };
    attach_check(&copy, &report_pass(&copy), &key(8)).unwrap();
    approve(&copy, &trust_of(&[8]), &key(9)).unwrap();
    let strange = Attachments::read(copy.directory()).unwrap();
    assert!(strange.outweigh(&own, &package, &Trust::Unsigned));
    assert!(!strange.outweigh(&own, &package, &trust_of(&[1])));
    assert!(own.outweigh(&strange, &package, &trust_of(&[1])));
}

/// A listener that takes no notice.
struct Silent;

impl TransferObserver for Silent {
    fn show_progress(&self, _: &str, _: u64, _: u64) {}

    fn say(&self, _: &str) {}
}

#[test]
fn a_pull_from_a_folder_judges_reports_by_the_keys_of_the_host_that_pulls() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let make = |releases: &Path| {
        let packages_dir = releases.join(Kind::Property.as_str());
        write_package(&packages_dir, "data", b"content");
        crate::sign(&packages_dir.join(ID), &key(1)).unwrap()
    };
    let (own, other) = (make(here.path()), make(there.path()));
    let read = |package: &Package| Attachments::read(package.directory()).unwrap();
    let pull = || {
        let wanted = PulledRelease {
            kind: Kind::Property,
            id: &own.manifest().id,
            manifest: None,
            with_snapshot: false,
        };
        let remote = Remote::Folder(there.path().to_owned(), Arc::default());
        let destination = (here.path(), &trust_of(&[1]));
        remote.pull(wanted, destination, &Silent).unwrap();
        read(&own)
    };
    // A stranger's report here makes way for a trusted one of the same weight.
    attach_check(&own, &report_pass(&own), &key(8)).unwrap();
    attach_check(&other, &report_pass(&other), &key(1)).unwrap();
    let trusted = read(&other);
    assert_ne!(read(&own), trusted);
    assert_eq!(pull(), trusted);
    // A trusted one here stays, although a stranger's is approved.
    attach_check(&other, &report_pass(&other), &key(8)).unwrap();
    approve(&other, &trust_of(&[8]), &key(9)).unwrap();
    assert_eq!(pull(), trusted);
}

#[test]
fn a_whole_report_replaces_one_that_lacks_a_check() {
    let (_dir, package) = package();
    let mut few: Value = serde_json::from_slice(&report_pass(&package)).unwrap();
    few["checks"].as_array_mut().unwrap().pop();
    let few = serde_json::to_vec(&few).unwrap();
    attach_check(&package, &few, &key(1)).unwrap();
    let before = Attachments::read(package.directory()).unwrap();
    attach_check(&package, &report_pass(&package), &key(1)).unwrap();
    let whole = Attachments::read(package.directory()).unwrap();
    assert!(whole.outweigh(&before, &package, &trust_of(&[1])));
    assert!(!before.outweigh(&whole, &package, &trust_of(&[1])));
}
