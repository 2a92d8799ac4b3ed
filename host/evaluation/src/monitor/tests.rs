//! Alarms on made-up markets.

use super::metrics::metrics;
use super::summary::summary;
use super::*;
use crate::row::Prediction;
use crate::testing::{report as backtest, row};

/// The latest registered sale: the end of December 2026.
const REGISTERED: Day = Day(20_818);

fn header() -> Header {
    Header {
        release_id: "made-up-1".to_owned(),
        snapshot_id: "made-up".to_owned(),
        later_snapshot_id: "later".to_owned(),
        from: "2026-07-01".to_owned(),
        to: "2026-12-31".to_owned(),
        registered_through: REGISTERED.to_string(),
        evidence_lag_days: 60,
        alarm: 0.05,
        nominal_coverage: 0.8,
        unknown_homes: 0,
        against_backtest: true,
    }
}

/// A pseudo-random number from -1 to 1 of a sale.
fn noise(at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 40) as f64 / f64::from(1_u32 << 23)) - 1.0
}

/// Returns so many sales a month of an area from July to December 2026. From October on prices are
/// `fall` lower than the release's estimates expect. Estimates err by up to a quarter.
fn market(authority: &str, monthly: usize, fall: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    for month in 0..6 {
        let first = Day::first_of_month((2026 - 1970) * 12 + 6 + month).unwrap();
        for at in 0..monthly {
            let estimate = 200_000.0 * (1.0 + 0.25 * noise(rows.len() + authority.len() * 7_919));
            let price = if month >= 3 {
                200_000.0 * (1.0 - fall)
            } else {
                200_000.0
            };
            rows.push(Row {
                id: rows.len() as u64,
                day: Day(first.0 + (at % 28) as i32),
                authority: authority.to_owned(),
                postcode: format!("{authority} {}", rows.len()),
                answer: Prediction::Valued {
                    estimate,
                    range: Some([estimate * 0.8, estimate * 1.25]),
                    band: "high".to_owned(),
                },
                ..row(price, estimate)
            });
        }
    }
    rows
}

fn of(rows: &[Row]) -> MonitorReport {
    let backtest = backtest(&[]);
    MonitorReport::of(header(), rows, Some(&backtest), REGISTERED, &|_| None)
}

fn alarms(report: &MonitorReport) -> Vec<(&str, &str, Alarm)> {
    let windows = report.windows.iter();
    windows
        .flat_map(|window| {
            let raised = |it: &'_ Segment| it.alarm.is_some();
            let segments = window.segments.iter().filter(move |it| raised(it));
            segments.filter_map(|it| Some((window.month.as_str(), it.key.as_str(), it.alarm?)))
        })
        .collect()
}

#[test]
fn a_fall_of_ten_per_cent_in_an_area_raises_an_alarm_within_three_months() {
    // A hundred sales of the area in the quarter of the fall, among those of others.
    let mut rows = market("fallen", 34, 0.10);
    rows.extend(market("steady", 400, 0.0));
    let mut header = header();
    header.evidence_lag_days = 0;
    let report = MonitorReport::of(header, &rows, None, REGISTERED, &|_| None);
    assert!(report.alarmed);
    let found = alarms(&report);
    assert!(
        found.contains(&("2026-12", "fallen", Alarm::Bias)),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .all(|(month, key, _)| *month >= "2026-10" && *key != "steady"),
        "{found:?}"
    );
}

#[test]
fn a_window_whose_sales_are_not_all_registered_raises_none() {
    let report = of(&market("fallen", 100, 0.20));
    let complete: Vec<bool> = report.windows.iter().map(|it| it.complete).collect();
    assert_eq!(complete, [true, true, true, true, false, false]);
    // October is complete, and a third of its window fell.
    assert!(
        alarms(&report)
            .iter()
            .all(|(month, ..)| *month == "2026-10")
    );
    let text = summary(&report);
    assert!(text.contains("2026-12   all"), "{text}");
    assert!(text.contains("not all registered yet"), "{text}");
}

#[test]
fn without_a_complete_window_nothing_is_said_to_be_well() {
    let mut header = header();
    header.evidence_lag_days = 3_000;
    let rows = market("fallen", 100, 0.20);
    let report = MonitorReport::of(header, &rows, None, REGISTERED, &|_| None);
    assert!(report.latest_complete().is_none());
    let text = summary(&report);
    assert!(text.contains("Nothing judged"), "{text}");
    assert!(!text.contains("No alarm"), "{text}");
}

#[test]
fn too_few_sales_are_not_judged_and_no_page_says_that_they_are_well() {
    // Fifteen sales a window of a market that fell by 20 %.
    let report = of(&market("few", 5, 0.20));
    assert!(matches!(report.verdict(), Verdict::TooFew(window) if window.month == "2026-10"));
    assert_eq!((report.judged, report.alarmed), (0, false));
    let (text, page) = (summary(&report), html::page(&report).unwrap());
    for said in [&text, &page] {
        let refused = "Nothing judged: no segment of the window to 2026-10 has 30 values";
        assert!(said.contains(refused), "{said}");
        assert!(!said.contains("No alarm"), "{said}");
    }
    assert!(page.contains("class=\"warning\""), "{page}");
    let text = metrics(&report).unwrap();
    assert!(!text.contains("domesday_release_monitor_alarm{"), "{text}");
    let none = MonitorReport::of(header(), &[], None, REGISTERED, &|_| None);
    assert_eq!((none.verdict(), none.judged), (Verdict::NoWindow, 0));
    let page = html::page(&none).unwrap();
    assert!(page.contains("Nothing judged: no window ended"), "{page}");
}

#[test]
fn one_block_raises_no_alarm_and_is_not_judged() {
    let mut rows = market("block", 20, 0.20);
    for row in &mut rows {
        "ZZ1 1AA".clone_into(&mut row.postcode);
    }
    let report = of(&rows);
    assert!(matches!(report.verdict(), Verdict::TooFew(_)), "{report:?}");
}

#[test]
fn an_alarm_that_has_ended_is_no_warning() {
    let mut header = header();
    header.evidence_lag_days = 0;
    let fallen = Day::first_of_month((2026 - 1970) * 12 + 9).unwrap();
    let mut rows = market("recovered", 100, 0.0);
    for row in rows.iter_mut().filter(|row| row.day < fallen) {
        row.price *= 0.8;
    }
    let report = MonitorReport::of(header, &rows, None, REGISTERED, &|_| None);
    assert!(
        matches!(report.verdict(), Verdict::NoAlarm(_)),
        "{report:?}"
    );
    assert!(report.judged > 0 && report.windows[2].is_alarmed());
    let text = summary(&report);
    assert!(
        text.contains("has ended") && text.contains("No alarm: of"),
        "{text}"
    );
    let page = html::page(&report).unwrap();
    let ended = "An alarm of the window to 2026-09 has ended: the median error";
    assert!(
        page.contains(ended) && page.contains("No alarm: of"),
        "{page}"
    );
    assert!(!page.contains("class=\"warning\""), "{page}");
}

#[test]
fn reports_of_earlier_versions_are_judged_by_their_figures() {
    let new = of(&market("fallen", 100, 0.0));
    let mut old = new.clone();
    old.judged = 0;
    for segment in old.windows.iter_mut().flat_map(|it| &mut it.segments) {
        segment.effective_rows = None;
    }
    assert!(matches!(old.verdict(), Verdict::NoAlarm(_)), "{old:?}");
}

#[test]
fn a_page_says_that_ranges_hold_only_of_segments_with_ranges_enough() {
    let mut rows = market("ranged", 100, 0.0);
    rows.extend(market("unranged", 100, 0.0));
    let words = |rows: &[Row]| of(rows).verdict_words();
    let all = words(&rows);
    // All sales, one type, two authorities and one postcode area.
    let judged = "No alarm: of 5 segments judged in the window to 2026-10, no median error moved \
                  by 5.0 % or more beyond chance";
    let ranges =
        |tested: usize| format!(", and of {tested} whose ranges were tested none was refuted");
    assert_eq!(all, format!("{judged}{}", ranges(5)));
    let without = |row: &mut Row| {
        if let Prediction::Valued { range, .. } = &mut row.answer {
            *range = None;
        }
    };
    rows.iter_mut()
        .filter(|row| row.authority == "unranged")
        .for_each(without);
    assert_eq!(words(&rows), format!("{judged}{}", ranges(4)));
    rows.iter_mut().for_each(without);
    assert_eq!(words(&rows), judged);
}

#[test]
fn a_steady_market_raises_no_alarm_in_any_of_many_areas() {
    let mut rows = Vec::new();
    for area in 0..60 {
        rows.extend(market(&format!("area-{area}"), 12, 0.0));
    }
    let report = of(&rows);
    assert!(!report.alarmed, "{:?}", alarms(&report));
    assert!(summary(&report).contains("No alarm"));
}

#[test]
fn ranges_that_hold_too_few_prices_raise_an_alarm() {
    let mut rows = market("steady", 100, 0.0);
    for row in &mut rows {
        if let Prediction::Valued {
            estimate, range, ..
        } = &mut row.answer
        {
            *range = Some([*estimate * 0.95, *estimate * 1.05]);
        }
    }
    let report = of(&rows);
    assert!(
        alarms(&report)
            .iter()
            .all(|(.., alarm)| *alarm == Alarm::Coverage)
    );
    assert!(report.alarmed);
}

/// Every second value has a range.
#[test]
fn an_alarm_of_ranges_counts_the_prices_that_had_one() {
    let mut rows = market("steady", 100, 0.0);
    for (at, row) in rows.iter_mut().enumerate() {
        if let Prediction::Valued {
            estimate, range, ..
        } = &mut row.answer
        {
            *range = (at % 2 == 0).then_some([*estimate * 0.95, *estimate * 1.05]);
        }
    }
    let report = of(&rows);
    let all = &report.windows[2].segments[0];
    assert_eq!((all.valued, all.alarm), (300, Some(Alarm::Coverage)));
    let words = html::describe_alarm(all);
    assert!(words.ends_with(" % of 150 prices"), "{words}");
    let page = html::page(&report).unwrap();
    assert!(page.contains(&words), "{page}");
}

#[test]
fn the_error_of_the_back_test_is_no_change() {
    let tested: Vec<Row> = (0..60).map(|_| row(100_000.0, 110_000.0)).collect();
    let biased: Vec<Row> = market("biased", 100, 0.0)
        .into_iter()
        .map(|it| row_with(it, 220_000.0))
        .collect();
    let (before, none) = (backtest(&tested), backtest(&[]));
    let change = |of: &Report| {
        let report = MonitorReport::of(header(), &biased, Some(of), REGISTERED, &|_| None);
        report.windows[2].segments[0].change.unwrap()
    };
    assert!(change(&before).abs() < 1e-9);
    assert!((change(&none) - 0.1).abs() < 1e-9);
}

/// Returns a back-test of sales at 100,000 with this estimate, in so many postcodes.
fn backtest_of(estimate: f64, sales: usize, postcodes: usize) -> Report {
    let sale = |at: usize| Row {
        postcode: format!("ZZ1 {}", at % postcodes),
        ..row(100_000.0, estimate)
    };
    backtest(&(0..sales).map(sale).collect::<Vec<_>>())
}

/// The median error of the back-test is 8 % too low, which few sales may be by chance.
#[test]
fn a_change_within_the_sampling_error_of_the_back_test_raises_no_alarm() {
    let rows = market("steady", 100, 0.0);
    let monitored = |tested: &Report| {
        let report = MonitorReport::of(header(), &rows, Some(tested), REGISTERED, &|_| None);
        assert!(report.judged > 0, "{report:?}");
        let all = &report.windows[2].segments[0];
        (report.alarmed, all.effective_rows)
    };
    // 299 x 40 / 339 and 299 x 1,000 / 1,299.
    assert_eq!(monitored(&backtest_of(92_000.0, 40, 40)), (false, Some(35)));
    let mut many = backtest_of(92_000.0, 1_000, 1_000);
    assert_eq!(monitored(&many), (true, Some(230)));
    let blocks = backtest_of(92_000.0, 1_000, 40);
    assert_eq!(monitored(&blocks), (false, Some(35)));
    // A back-test of an earlier version does not count its postcodes.
    many.overall.intervals = None;
    assert_eq!(monitored(&many), (true, Some(230)));
}

#[test]
fn a_page_tells_what_an_error_is_compared_with() {
    let biased: Vec<Row> = market("biased", 100, 0.0)
        .into_iter()
        .map(|it| row_with(it, 220_000.0))
        .collect();
    let page = |tested: Option<&Report>| {
        let mut header = header();
        header.against_backtest = tested.is_some();
        header.unknown_homes = 17;
        let report = MonitorReport::of(header, &biased, tested, REGISTERED, &|_| None);
        html::page(&report).unwrap()
    };
    let without = page(None);
    assert!(without.contains("zero, since the package has no back-test; 17 sales of homes"));
    let none = "of biased is +10.0 % on 100 sales against zero, without a back-test of 30 values";
    assert!(without.contains(none), "{without}");
    assert!(!without.contains("in the back-test"), "{without}");
    // The back-test has the type and the postcode area, and the authority under another name.
    let with = page(Some(&backtest_of(98_000.0, 60, 60)));
    assert!(
        with.contains("compared with that of the back-test; 17 sales"),
        "{with}"
    );
    let own = "of terraced is +10.0 % on 100 sales and was -2.0 % in the back-test";
    assert!(with.contains(own), "{with}");
    let all =
        "of biased is +10.0 % on 100 sales, and that of all sales was -2.0 % in the back-test";
    assert!(with.contains(all), "{with}");
    assert!(with.contains("<small>of all sales</small>"), "{with}");
}

fn row_with(row: Row, estimate: f64) -> Row {
    Row {
        answer: Prediction::Valued {
            estimate,
            range: None,
            band: "high".to_owned(),
        },
        ..row
    }
}

#[test]
fn metrics_are_of_the_latest_complete_window() {
    let text = metrics(&of(&market("fallen", 100, 0.20))).unwrap();
    let line = "domesday_release_monitored_sales{release_id=\"made-up-1\",by=\"authority\",segment=\"fallen\"} 300";
    assert!(text.contains(line), "{text}");
    for name in [
        "domesday_release_median_error_ratio",
        "domesday_release_median_error_change_ratio",
        "domesday_release_coverage_ratio",
        "domesday_release_monitor_alarm",
    ] {
        assert!(text.contains(&format!("{name}{{")), "{name}: {text}");
    }
    let none = MonitorReport::of(header(), &[], None, REGISTERED, &|_| None);
    assert!(!metrics(&none).unwrap().contains("made-up-1"));
}

#[test]
fn a_page_names_each_alarm_and_every_window() {
    let page = html::page(&of(&market("fallen", 100, 0.30))).unwrap();
    assert!(page.contains("the median error of fallen is +"), "{page}");
    assert!(page.contains("2026-12") && page.contains("not all yet"));
    assert!(page.contains("<svg "));
}
