//! Reports of releases: a configured folder, and the running shadow's.

use super::{Browser, link, start_with_console};
use crate::common::demo::{RELEASE, house};
use crate::common::program::{releases, run};
use crate::common::server::Server;
use crate::shadow::harness::{PLAIN, serve};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// A name that would be script, were it not escaped.
const NAME: &str = "<img src=x onerror=alert(1)>.html";

fn segment(by: &str, key: &str, error: f64, coverage: f64, alarm: Option<&str>) -> Value {
    json!({
        "by": by, "key": key, "name": null, "valued": 200, "expected": -0.01,
        "median_error": error, "interval": [error - 0.01, error + 0.01], "change": error + 0.01,
        "ranges": {
            "rows": 200, "coverage": coverage, "effective_rows": 180, "interval": [coverage - 0.05, coverage + 0.05],
            "nominal": 0.8, "agrees": alarm.is_none(), "below": 0.1, "above": 0.1, "median_width": 0.3,
        },
        "alarm": alarm,
    })
}

/// Returns a monitor's figures: prices of one area fall in the last window.
pub(super) fn monitor() -> Value {
    let window = |month: &str, error: f64, alarm: Option<&str>| {
        json!({
            "month": month, "complete": true,
            "segments": [
                segment("all", "all", error / 4.0, 0.79, None),
                segment("type", "semi_detached", error / 4.0, 0.79, None),
                segment("postcode_area", "QA", error, 0.55, alarm),
                segment("postcode_area", "QB", -0.01, 0.81, None),
            ],
        })
    };
    json!({
        "format": 1,
        "subject": {
            "release_id": RELEASE, "snapshot_id": "synthetic-2026-09", "later_snapshot_id": "synthetic-2026-12",
            "from": "2026-10-01", "to": "2026-12-30", "registered_through": "2026-12-30",
            "evidence_lag_days": 60, "alarm": 0.05, "nominal_coverage": 0.8, "unknown_homes": 12,
            "against_backtest": true,
        },
        "alarmed": true,
        "windows": [
            window("2026-10", -0.01, None), window("2026-11", 0.02, None), window("2026-12", 0.124, Some("bias")),
        ],
    })
}

/// Returns a folder of reports of each kind, beside a file that is none of its business.
pub(super) fn folder() -> TempDir {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("reports");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("drift.json", &monitor().to_string());
    let script = "<script>document.title = 'run'</script>";
    write(NAME, &format!("<title>Notes</title>{script}"));
    compare(&folder);
    fs::write(outer.path().join("secret.html"), "<title>secret</title>").unwrap();
    symlink("../secret.html", folder.join("link.html")).unwrap();
    let large = fs::File::create(folder.join("large.html")).unwrap();
    large.set_len((4 << 20) + 1).unwrap();
    outer
}

fn compare(folder: &Path) {
    let file = |name: &str| folder.join(name).display().to_string();
    let root = releases().display().to_string();
    let (page, figures) = (file("compare.html"), file("compare.json"));
    let files = ["--report", &page, "--json", &figures];
    let command = [
        "compare",
        RELEASE,
        RELEASE,
        "--sample",
        "40",
        "--releases",
        &root,
    ];
    run([&command[..], &files].concat()).ok();
}

fn serve_reports(outer: &TempDir) -> Server {
    let folder = outer.path().join("reports").display().to_string();
    start_with_console()
        .with(&["--console-reports", &folder])
        .go()
}

/// Returns the path of a report.
fn path(name: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    format!(
        "/releases/report?{}",
        query.append_pair("name", name).finish()
    )
}

#[test]
fn reports_are_listed_by_release_with_their_verdict_and_their_names_are_escaped() {
    let outer = folder();
    let server = serve_reports(&outer);
    let page = Browser::open(&link(&server, &["--operator"])).page("/releases");
    for shown in [
        "drift.json",
        "Alarm in the window to 2026-12: the median error of QA is +12.4 %",
        "compare.json",
        "B says the same as A on all",
        "compare.html",
        "&lt;img src=x onerror=alert(1)&gt;.html",
        " UTC</td>",
        "link.html&quot; is a link or no file",
        "large.html&quot; has 4194305 bytes",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("<img src=x"), "{page}");
    server.stop();
}

#[test]
fn a_report_is_opened_in_a_sandbox() {
    let outer = folder();
    let server = serve_reports(&outer);
    let browser = Browser::open(&link(&server, &["--operator"]));
    for name in ["compare.json", "compare.html", "drift.json", NAME] {
        let response = browser.get(&path(name));
        assert_eq!(response.status(), 200, "{name}");
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(
            policy.starts_with("sandbox; default-src 'none'"),
            "{policy}"
        );
        for allowed in ["allow-", "script-src", "http"] {
            assert!(!policy.contains(allowed), "{policy}");
        }
        // A browser shows no sandboxed page that asks to be alone.
        assert_eq!(header("cross-origin-opener-policy"), "unsafe-none");
        assert_eq!(header("x-frame-options"), "DENY");
    }
    let file = browser.page(&path("compare.html"));
    assert_eq!(browser.page(&path("compare.json")), file);
    server.stop();
}

#[test]
fn nothing_outside_of_the_folder_is_opened() {
    let outer = folder();
    let server = serve_reports(&outer);
    let browser = Browser::open(&link(&server, &["--operator"]));
    for name in [
        "../secret.html",
        "..",
        "link.html",
        "large.html",
        "/etc/passwd",
    ] {
        let refused = browser.get(&path(name));
        assert_eq!(refused.status(), 400, "{name}");
        let page = refused.text().unwrap();
        assert!(!page.contains("<title>secret"), "{page}");
    }
    assert_eq!(browser.get(&path("none.html")).status(), 404);
    server.stop();
}

#[test]
fn a_session_sees_the_reports_that_its_scopes_allow() {
    let outer = folder();
    let server = serve_reports(&outer);
    for (scopes, drift, compare) in [
        (&["rates:read"][..], false, false),
        (&["avm:value"], true, false),
        (&["avm:value", "avm:stored-data"], true, true),
    ] {
        let scopes = scopes.iter().flat_map(|scope| ["--scope", scope]);
        let browser = Browser::open(&link(&server, &scopes.collect::<Vec<_>>()));
        let page = browser.page("/releases");
        for (name, shown) in [
            ("drift.json", drift),
            ("compare.json", compare),
            ("compare.html", false),
            ("onerror", false),
            ("large.html", false),
        ] {
            assert_eq!(page.contains(name), shown, "{name}: {page}");
        }
        for (name, shown) in [
            ("drift.json", drift),
            ("compare.json", compare),
            (NAME, false),
        ] {
            let status = if shown { 200 } else { 404 };
            assert_eq!(browser.get(&path(name)).status(), status, "{name}");
        }
        let drawn = browser.get("/releases/drift?name=drift.json").status();
        assert_eq!(drawn == 200, drift);
    }
    server.stop();
}

#[test]
fn drift_is_drawn_by_month_and_segment_with_its_alarm() {
    let outer = folder();
    let server = serve_reports(&outer);
    let browser = Browser::of_demo(&server);
    let page = browser.page("/releases/drift?name=drift.json&by=postcode_area");
    for shown in [
        "Alarm, the median error moved: ",
        "in the window to 2026-12, the median error of QA is +12.4 % on 200 sales",
        "<title>QA, window to 2026-12: 12.4 %</title>",
        "<title>QB, window to 2026-12: 81.0 %</title>",
        "promised",
        ">2026-12<",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let all = browser.page("/releases/drift?name=drift.json");
    assert!(
        all.contains("<title>all, window to 2026-12: 3.1 %</title>"),
        "{all}"
    );
    assert_eq!(
        browser.get("/releases/drift?name=compare.json").status(),
        404
    );
    server.stop();
}

#[test]
fn a_folder_that_is_none_stops_the_start() {
    let refused = start_with_console()
        .with(&["--console-reports", "/nowhere/reports"])
        .refused();
    assert!(
        refused.contains("/nowhere/reports is not a folder"),
        "{refused}"
    );
}

#[test]
fn the_running_shadows_report_is_for_operators() {
    let served = serve(&[
        "--shadow",
        PLAIN,
        "--shadow-share",
        "1",
        "--console",
        "127.0.0.1:0",
    ]);
    let open = |more: &[&str]| {
        let tenant = ["--tenant", "customer"];
        Browser::open(&link(&served.server, &[&tenant[..], more].concat()))
    };
    let operator = open(&["--operator"]);
    let page = operator.page("/releases");
    assert!(page.contains("There is no report yet"), "{page}");
    served.client.post("/v3/value", &house()).ok();
    served.wait_for_stored(PLAIN, 1);
    let page = operator.page("/releases");
    assert!(page.contains("Shadow: plain-1"), "{page}");
    assert!(
        page.contains("B says something else than A on 1 of 1 row"),
        "{page}"
    );
    let report = operator.get("/releases/shadow");
    assert_eq!(report.status(), 200);
    let policy = report.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(policy.starts_with("sandbox;"), "{policy}");
    let tenant = open(&[]);
    assert!(!tenant.page("/releases").contains("Shadow: plain-1"));
    assert_eq!(tenant.get("/releases/shadow").status(), 403);
}
