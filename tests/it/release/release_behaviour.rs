//! `domesday release check` sees behaviour: twenty guests, each failing for its own reason.
//!
//! They are one component, which misbehaves in years that no client asks for
//! (`tests/guests/plain/src/behaviour.rs`). Its fixtures and its back-test are of honest years, so
//! the checks that were there before pass.

use crate::check_run::{CheckRun, PLAIN, changed, plain, write_copy};
use crate::common::packages::Releases;
use crate::common::program::run;

const REFERENCE: &str = "plain-reference-1";

/// Returns the plain release with its valuation dates in two years in which it goes wrong, and
/// beside it the honest release as a reference. The check looks two months back from the first day,
/// so the window leaves that time of the first year before it.
fn in_years(first: u16) -> Releases {
    let wrong = changed(plain().path(), PLAIN, |body, _| {
        body.valuation_date.from = format!("{first}-03-20").parse().unwrap();
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

/// Returns the date that stands behind this text.
#[track_caller]
fn date_after<'a>(text: &'a str, before: &str) -> &'a str {
    let (_, after) = text.split_once(before).unwrap_or_else(|| panic!("{text}"));
    &after[..10]
}

#[test]
fn a_time_bomb_inside_the_window_fails_with_the_days_around_it() {
    let checked = CheckRun::plain(&in_years(2050), &[]);
    checked.assert_failed(&["dates"], "estimates jump from 2050-");
    // The days are drawn. The bomb goes off on 8 August.
    let text = &checked.ran.stdout;
    let before = date_after(text, "estimates jump from ");
    let after = date_after(text, &format!("estimates jump from {before} to "));
    assert!(before < "2050-08-08" && "2050-08-08" <= after, "{text}");
}

/// The back-test has no day of the window, and every day of the window is alike.
#[test]
fn estimates_that_rise_on_the_windows_first_day_fail_with_the_day_before() {
    let expected = "estimates jump from 2082-03-19 to 2082-03-20";
    assert_fails(2082, &["dates"], expected);
}

/// A release knows each month's 1st, 10th and 20th, and the ends of its window. It does not know
/// the days that are drawn from its manifest.
#[test]
fn estimates_that_are_right_on_few_days_of_a_month_fail() {
    assert_fails(2084, &["dates"], "estimates jump from ");
}

/// Eleven days hold half of a part of the window. Each half has a day.
#[test]
fn estimates_that_are_wrong_for_eleven_days_fail() {
    assert_fails(2092, &["dates"], "estimates jump from 2092-0");
}

#[test]
fn homes_that_are_trebled_where_their_sale_is_old_fail() {
    // One home of eight has an old sale, and twenty are needed.
    let homes = ["--homes", "300", "--adversarial-rows", "400"];
    let checked = CheckRun::of(in_years(2090).path(), PLAIN, &homes);
    let failed = checked.with_verdict("failed");
    // Homes next door lose their old sales where they are valued at another place, so some
    // postcodes may stand apart too.
    assert!(failed.contains(&"own_sale"), "{}", checked.ran.stdout);
    let expected = "homes are valued apart by their own sale: without it the median of ";
    assert!(
        checked.ran.stdout.contains(expected),
        "{}",
        checked.ran.stdout
    );
}

/// No manifest declares the bedrooms.
#[test]
fn homes_that_are_trebled_for_a_number_of_bedrooms_fail() {
    assert_fails(2094, &["patterns"], "the worst is bedrooms 5");
}

/// 25 days hold a whole part of the window, from which a day is drawn.
#[test]
fn homes_that_are_referred_for_some_weeks_fail() {
    assert_fails(
        2086,
        &["dates"],
        "homes lose their value: 100.0 % of those valued on 2086-0",
    );
}

#[test]
fn homes_that_are_referred_for_a_last_digit_fail() {
    assert_fails(2088, &["small_changes"], " of them to no value");
}

#[test]
fn ranges_that_shrink_inside_the_window_fail_with_the_day() {
    let checked = CheckRun::plain(&in_years(2074), &[]);
    checked.assert_failed(&["dates"], " the median range is 0.0");
    let text = &checked.ran.stdout;
    let day = date_after(text, "ranges change: on ");
    assert!(("2074-08-08".."2074-09-01").contains(&day), "{text}");
}

/// No flag is given, and no other release is trusted here.
#[test]
fn one_postcode_that_is_three_times_too_dear_fails_and_is_named() {
    let expected = "postcodes stand apart: homes next door to VA1 2AT move by +";
    assert_fails(2052, &["places"], expected);
}

#[test]
fn one_pattern_of_inputs_that_is_three_times_too_dear_fails_and_is_named() {
    // Homes of the sample that have the pattern themselves fall by each other rating.
    let expected = "the worst is subtype house_semi_detached, energy rating D";
    assert_fails(2054, &["patterns"], expected);
}

/// The release is honest on the first day of its window, and in the whole of the first year.
#[test]
fn what_goes_wrong_from_a_later_day_on_fails_with_the_last_day() {
    for (first, checks, text) in [
        (
            2076,
            &["places"][..],
            "homes next door to VA1 2AT move by +",
        ),
        // Few homes have one postcode or one pattern: the median of all does not jump.
        (
            2078,
            &["patterns"],
            "the worst is subtype house_semi_detached",
        ),
        (2080, &["own_sale"], "the own sale is ignored"),
    ] {
        let checked = CheckRun::plain(&in_years(first), &[]);
        checked.assert_failed(checks, text);
        let last = format!("on {}-12-20: ", first + 1);
        assert!(checked.ran.stdout.contains(&last), "{}", checked.ran.stdout);
    }
}

/// Checks a release of two years beside the honest one, which is trusted.
fn beside_reference(first: u16, more: &[&str]) -> CheckRun {
    let flags = [&["--allow-unsigned", REFERENCE], more].concat();
    CheckRun::plain(&in_years(first), &flags)
}

#[test]
fn a_reference_that_is_named_finds_both_too() {
    let reference = ["--reference", REFERENCE];
    for (first, alone, worst) in [
        (2052, "places", "postcode VA1 2AT"),
        (2054, "patterns", "type semi_detached, energy rating D"),
    ] {
        let checked = beside_reference(first, &reference);
        checked.assert_failed(&[alone, "reference"], &format!("the worst is {worst}"));
    }
}

#[test]
fn the_newest_other_release_is_the_reference_unless_a_flag_says_no() {
    let found = beside_reference(2054, &[]);
    let worst = "the worst is type semi_detached, energy rating D";
    found.assert_failed(&["patterns", "reference"], worst);
    let why = format!("nobody named a reference: {REFERENCE} is the newest of 1 other releases");
    assert!(found.ran.stdout.contains(&why), "{}", found.ran.stdout);
    let without = beside_reference(2054, &["--no-reference"]);
    let unjudged = without.with_verdict("not_judged");
    assert_eq!(unjudged, ["monotone", "reference"]);
    let both = [
        "release",
        "check",
        "a",
        "--reference",
        "b",
        "--no-reference",
    ];
    let refused = run(both);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("cannot be used with"),
        "{refused:#?}"
    );
}

/// An honest copy passes beside the one that it is a copy of.
#[test]
fn an_honest_release_passes_against_the_newest_other_one() {
    let releases = Releases::without_release();
    write_copy(plain().path(), PLAIN, releases.path(), PLAIN, |_, _| {});
    write_copy(plain().path(), PLAIN, releases.path(), REFERENCE, |_, _| {});
    let checked = CheckRun::plain(&releases, &["--allow-unsigned", REFERENCE, "--strict"]);
    assert_eq!(
        checked.with_verdict("failed"),
        [""; 0],
        "{}",
        checked.ran.stdout
    );
    assert_eq!(checked.with_verdict("not_judged"), [""; 0]);
    assert_eq!(checked.ran.code, Some(0));
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
        body.valuation_date.from = "2043-03-20".parse().unwrap();
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
        "confidence is in the highest band for 100.0 % of",
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
    assert_fails(2072, &["dates"], "after the last evidence, from 2072-01-19");
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
    let text = "Not judged is not passed. --strict fails the release for:\n  reference: there is nothing to compare with: the folder holds no other release that is trusted and values these types and countries. Name a release of the same places by --reference, or pull one\n";
    assert!(checked.ran.stdout.contains(text), "{}", checked.ran.stdout);
}
