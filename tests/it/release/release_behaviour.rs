//! `domesday release check` sees behaviour: twelve guests, each failing for its own reason.
//!
//! They are one component, which misbehaves in years that no client asks for
//! (`tests/guests/plain/src/behaviour.rs`). Its fixtures and its back-test are of honest years, so
//! the checks that were there before pass.

use crate::check_run::{CheckRun, PLAIN, changed, plain, write_copy};
use crate::common::packages::Releases;
use crate::common::program::run;

const REFERENCE: &str = "plain-reference-1";

/// Returns the plain release with its valuation dates in two years in which it goes wrong, and
/// beside it the honest release as a reference.
fn in_years(first: u16) -> Releases {
    let wrong = changed(plain().path(), PLAIN, |body, _| {
        body.valuation_date.from = format!("{first}-01-05").parse().unwrap();
        body.valuation_date.to = format!("{}-12-20", first + 1).parse().unwrap();
        // The checks find them whatever the manifest declares.
        body.monotone.clear();
    });
    write_copy(plain().path(), PLAIN, wrong.path(), REFERENCE, |_, _| {});
    wrong
}

/// Checks the release of two years, and asserts that exactly these checks fail, with this text.
#[track_caller]
fn assert_fails(first: u16, checks: &[&str], text: &str) {
    CheckRun::plain(&in_years(first), &[]).assert_failed(checks, text);
}

/// Checks it against the honest release, and asserts that this comparison alone fails.
#[track_caller]
fn assert_stands_apart(first: u16, text: &str) {
    let reference = ["--reference", REFERENCE, "--allow-unsigned", REFERENCE];
    CheckRun::plain(&in_years(first), &reference).assert_failed(&["reference"], text);
}

#[test]
fn a_time_bomb_inside_the_window_fails_with_the_days_around_it() {
    let expected = "estimates jump from 2050-08-01 to 2050-08-10";
    assert_fails(2050, &["dates"], expected);
}

#[test]
fn one_postcode_that_is_three_times_too_dear_fails_and_is_named() {
    assert_stands_apart(2052, "the worst is postcode VA1 2AT");
}

#[test]
fn one_pattern_of_inputs_that_is_three_times_too_dear_fails_and_is_named() {
    assert_stands_apart(2054, "the worst is type semi_detached, energy rating D");
}

#[test]
fn noise_by_the_last_digit_of_a_field_fails() {
    assert_fails(
        2056,
        &["small_changes"],
        "0.1 m² more moves the median estimate",
    );
}

#[test]
fn an_ignored_own_sale_fails() {
    assert_fails(2058, &["own_sale"], "the own sale is ignored");
}

#[test]
fn a_price_that_falls_with_size_fails_though_nothing_is_declared() {
    let wrong = changed(plain().path(), PLAIN, |body, _| {
        body.valuation_date.from = "2043-01-05".parse().unwrap();
        body.valuation_date.to = "2043-12-20".parse().unwrap();
        body.monotone.clear();
    });
    CheckRun::plain(&wrong, &[]).assert_failed(&["attributes"], "the price falls with size");
}

#[test]
fn an_ignored_type_fails() {
    assert_fails(2062, &["attributes"], "the type is ignored");
}

#[test]
fn crossed_quantiles_fail_on_every_row() {
    let checks = ["answers", "adversarial", "ranges"];
    assert_fails(
        2064,
        &checks,
        "range does not contain the estimate in order",
    );
}

#[test]
fn ranges_of_one_width_fail() {
    assert_fails(2066, &["spread"], "ranges have one width for all homes");
}

#[test]
fn a_confidence_that_is_always_high_fails() {
    assert_fails(
        2068,
        &["spread"],
        "confidence is in the highest band for all",
    );
}

/// Where the last sale is all, the type does not count.
#[test]
fn a_copy_of_the_last_sale_fails() {
    let checks = ["attributes", "own_sale"];
    assert_fails(2070, &checks, "estimates are a copy of the last price");
}

#[test]
fn an_index_that_grows_beyond_its_end_fails() {
    assert_fails(2072, &["dates"], "after the last evidence, from 2072-01-05");
}

#[test]
fn a_release_cannot_be_its_own_reference() {
    let own = ["--reference", PLAIN];
    let folder = plain().path().display().to_string();
    let all = [
        "release",
        "check",
        PLAIN,
        "--releases",
        &folder,
        "--allow-unsigned",
        PLAIN,
    ];
    let refused = run(all.into_iter().chain(own)).refused();
    assert!(refused.contains("cannot be its own reference"), "{refused}");
}

#[test]
fn strict_fails_where_a_check_is_not_judged() {
    let checked = CheckRun::plain(plain(), &["--strict"]);
    assert_eq!(checked.ran.code, Some(1), "{:#?}", checked.ran);
    assert_eq!(checked.with_verdict("failed"), [""; 0]);
    assert_eq!(checked.with_verdict("not_judged"), ["reference"]);
    assert_eq!(checked.report["passed"], false);
    assert_eq!(checked.report["not_judged"], 1);
    let text = "Not judged is not passed: reference. --strict fails the release.";
    assert!(checked.ran.stdout.contains(text), "{}", checked.ran.stdout);
}
