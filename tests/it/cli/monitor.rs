//! `domesday release monitor`: an alarm where prices fall after a release was made.

use crate::command_line::making::{REGISTERS, registers};
use crate::common::demo::RELEASE;
use crate::common::packages::Releases;
use crate::common::program::{ProcessOutput, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The snapshot with the later sales.
const LATER: &str = "later-2026-12";
/// The share of the price that homes of one authority keep.
const FALLEN: f64 = 0.9;

/// Writes the sales of October 2025 to September 2026 again, as of the last quarter of 2026.
/// Returns the authority whose prices are lower: the one with most sales.
fn write_later_sales(path: &Path) -> String {
    let mut sales = Vec::new();
    for name in ["price-paid.csv", "price-paid-monthly-change.csv"] {
        let mut file = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_path(registers().join(name))
            .unwrap();
        sales.extend(file.records().map(Result::unwrap));
    }
    // The registers have damaged lines on purpose.
    sales.retain(|sale| sale.len() == 16 && sale[2].len() >= 10);
    sales.retain(|sale| ("2025-10-01".."2026-10-01").contains(&&sale[2][..10]) && &sale[14] == "A");
    let mut counts = BTreeMap::<String, usize>::new();
    for sale in &sales {
        *counts.entry(sale[12].to_owned()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).unwrap();
    assert!(most.1 >= 100, "{most:?}");
    let mut file = csv::WriterBuilder::new()
        .has_headers(false)
        .from_path(path)
        .unwrap();
    for (at, sale) in sales.iter().enumerate() {
        let month: usize = sale[2][5..7].parse().unwrap();
        let share = if sale[12] == most.0 { FALLEN } else { 1.0 };
        let price: f64 = sale[1].parse().unwrap();
        let fields = sale.iter().enumerate().map(|(column, field)| match column {
            0 => format!("{{DDDDDDDD-0000-0000-0000-{at:012}}}"),
            1 => format!("{:.0}", price * share),
            2 => {
                let (later, day) = (10 + month % 3, &sale[2][8..10]);
                // November has no 31st.
                let day = if later == 11 && day == "31" {
                    "30"
                } else {
                    day
                };
                format!("2026-{later:02}-{day} 00:00")
            }
            // Sold before, whatever it was then.
            5 => "N".to_owned(),
            15 => "A".to_owned(),
            _ => field.to_owned(),
        });
        file.write_record(fields).unwrap();
    }
    file.flush().unwrap();
    most.0
}

fn monitor(releases: &Path, more: &[&str]) -> ProcessOutput {
    let folder = releases.display().to_string();
    let all = [
        &["release", "monitor", RELEASE, "--later-snapshot", LATER][..],
        &["--allow-unsigned", LATER, "--releases", &folder],
        more,
    ];
    run(all.concat())
}

#[test]
fn prices_that_fall_in_one_area_raise_an_alarm_there() {
    let releases = Releases::copy();
    let folder = releases.path().display().to_string();
    let later = releases.path().join("later.csv");
    let fallen = write_later_sales(&later);
    let mut build = vec!["property".to_owned(), "build".to_owned()];
    for (option, file) in REGISTERS {
        build.extend([
            option.to_owned(),
            registers().join(file).display().to_string(),
        ]);
    }
    for more in [registers().join("price-paid-monthly-change.csv"), later] {
        build.extend(["--price-paid".to_owned(), more.display().to_string()]);
    }
    let options = [
        "--snapshot-id",
        LATER,
        "--synthetic",
        "--exact-addresses",
        "--releases",
        &folder,
    ];
    build.extend(options.map(str::to_owned));
    run(build).ok();

    let json = releases.path().join("monitor.json").display().to_string();
    let prom = releases.path().join("monitor.prom").display().to_string();
    let page = releases.path().join("monitor.html").display().to_string();
    let outputs = ["--json", &json, "--metrics", &prom, "--report", &page];
    let alarmed = monitor(
        releases.path(),
        &[&["--evidence-lag", "0"], &outputs[..]].concat(),
    );
    assert_eq!(alarmed.code, Some(3), "{alarmed:?}");
    assert!(
        alarmed.stdout.contains("ALARM: the median error moved"),
        "{}",
        alarmed.stdout
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["alarmed"], true);
    assert!(report["judged"].as_u64().unwrap() > 0, "{report:#}");
    let windows = report["windows"].as_array().unwrap();
    let authorities = |window: &Value| -> Vec<String> {
        let segments = window["segments"].as_array().unwrap().iter();
        let alarmed = segments.filter(|it| it["by"] == "authority" && it["alarm"] == "bias");
        alarmed
            .map(|it| it["name"].as_str().unwrap().to_uppercase())
            .collect()
    };
    let last = windows.last().unwrap();
    assert_eq!(last["month"], "2026-12");
    assert_eq!(authorities(last), [fallen.to_uppercase()], "{last:#}");
    let metrics = fs::read_to_string(&prom).unwrap();
    assert!(
        metrics.contains("domesday_release_monitor_alarm{"),
        "{metrics}"
    );
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .contains("Window to 2026-12")
    );

    // As registers lag, most windows are not complete at the end of the year.
    let early = monitor(releases.path(), &[]).stdout;
    assert!(early.contains("not all registered yet"), "{early}");
    assert!(
        !early.contains("2026-12   all") || !early.contains("windows to 2026-12"),
        "{early}"
    );
    // Two days have too few sales for a test, and their window is complete.
    let days = ["--evidence-lag", "0", "--to", "2026-10-02", "--json", &json];
    let few = monitor(releases.path(), &days);
    assert_eq!(few.code, Some(4), "{few:?}");
    assert!(
        few.stdout
            .contains("Nothing judged: no segment of the window to 2026-10"),
        "{few:?}"
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (&report["judged"], &report["alarmed"]),
        (&json!(0), &json!(false))
    );

    let refused = monitor(releases.path(), &["--from", "2027-02-01"]).refused();
    assert!(
        refused.contains("its latest sale is of 2026-12-"),
        "{refused}"
    );
    let refused = monitor(releases.path(), &["--alarm", "5"]);
    assert_eq!(refused.code, Some(2));
    let why = refused.stderr;
    assert!(why.contains("a share between 0 and 1"), "{why}");
}
