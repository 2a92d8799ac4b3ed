//! The pages that a person reads, in a browser. They are legible at a desk and on a telephone, have
//! whole axes, and load nothing from the network. Each test prints where it stores screenshots.
//! Without Debian's chromium the tests print that they were skipped.

mod browser;

use crate::common::demo::{RELEASE, house};
use crate::common::guest::component;
use crate::common::packages::Releases;
use crate::common::program::run;
use crate::common::server::start;
use browser::{PageReport, WIDTHS, inspect, is_installed};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// A release of the demo's snapshot that says so much a square metre everywhere.
const PLAIN: &str = "plain-1";

/// The page has this much on it at every width, and nothing is wrong with it.
#[track_caller]
fn assert_sound(name: &str, page: &str, least: &PageReport) {
    for width in WIDTHS {
        let found = inspect(name, page, width);
        assert!(
            found.faults.is_empty(),
            "{name}, {width} wide: {:#?}",
            found.faults
        );
        assert!(found.has_at_least(least), "{name}, {width} wide: {found:?}");
    }
}

/// Writes a report by a command that ends well, and reads it.
#[track_caller]
fn write_report(command: &[&str]) -> String {
    let kept = tempfile::tempdir().unwrap();
    let page = kept.path().join("page.html");
    let path = page.display().to_string();
    run([command, &["--report", &path]].concat()).ok();
    fs::read_to_string(page).unwrap()
}

#[test]
fn page_errors_are_detected() {
    if !is_installed() {
        return;
    }
    let plot = |inner: &str| {
        format!(
            r#"<svg aria-label="a plot" width="400" height="100" viewBox="0 0 400 100">{inner}</svg>"#
        )
    };
    let axis = r#"<text x="50" y="90" font-size="11">0</text><text x="150" y="90" font-size="11">10</text>
        <text x="250" y="90" font-size="11">20</text><text x="10" y="50" font-size="11">per cent</text>"#;
    let mark = r##"<rect x="50" y="10" width="90" height="9" fill="#1F5F99"/>"##;
    let whole = format!(
        "<title>t</title><h1>h</h1>{}",
        plot(&(axis.to_owned() + mark))
    );
    assert_eq!(inspect("whole", &whole, 1280).faults, Vec::<String>::new());
    let cases = [
        (
            "<img src=\"http://127.0.0.1:9/x.png\">".to_owned(),
            "asks for",
        ),
        (
            "<style>p { background: url(x.png) }</style>".to_owned(),
            "asks for",
        ),
        ("<h1>another</h1>".to_owned(), "heading"),
        ("<p style=\"width:200vw\">wide</p>".to_owned(), "wider than"),
        (
            "<p style=\"color:#bbb\">pale</p>".to_owned(),
            "stands out by",
        ),
        (
            "<p style=\"font-size:7px\">small</p>".to_owned(),
            "7.0 pixels",
        ),
        ("<p>NaN %</p>".to_owned(), "is not words"),
        ("<table><tr><td>a<tr><td>b<td>c</table>".to_owned(), "cells"),
        (plot(axis), "is empty"),
        (plot(mark), "no axis"),
        (plot(&axis.replace(">10<", ">19<")), "no axis"),
        (
            plot(&axis.replace("x=\"250\"", "x=\"395\"")),
            "beyond its edge",
        ),
        (plot(&axis.replace("x=\"150\"", "x=\"52\"")), "over"),
        (plot(&mark.replace("\"90\"", "\"NaN\"")), "not a number"),
    ];
    for (fault, words) in cases {
        let found = inspect("broken", &(whole.clone() + &fault), 1280).faults;
        assert!(
            found.iter().any(|fault| fault.contains(words)),
            "{words}: {found:?}"
        );
    }
}

#[test]
fn a_back_test() {
    if !is_installed() {
        return;
    }
    let folder = crate::common::program::releases();
    let text = fs::read_to_string(folder.join("valuation").join(RELEASE).join("backtest.json"));
    let packaged: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let day = |which: &str| packaged["subject"][which].as_str().unwrap();
    let folder = folder.display().to_string();
    let page = write_report(
        &[
            &["release", "backtest", RELEASE, "--releases", &folder][..],
            &["--from", day("from"), "--to", day("to")],
        ]
        .concat(),
    );
    let least = PageReport {
        faults: Vec::new(),
        texts: 400,
        plots: 8,
        marks: 60,
        tables: 8,
    };
    assert_sound("back-test", &page, &least);
}

#[test]
fn a_comparison() {
    if !is_installed() {
        return;
    }
    let releases = Releases::copy();
    releases.add(PLAIN, component("guest-plain"));
    let folder = releases.path().display().to_string();
    let few = ["--sample", "6"];
    let least = |texts, plots, marks, tables| PageReport {
        faults: Vec::new(),
        texts,
        plots,
        marks,
        tables,
    };
    for (name, b, more, least) in [
        ("comparison", PLAIN, &few[..0], least(400, 8, 300, 6)),
        ("comparison-of-few", PLAIN, &few, least(100, 1, 1, 3)),
        (
            "comparison-with-itself",
            RELEASE,
            &few[..0],
            least(100, 1, 1, 3),
        ),
    ] {
        let command = [
            &["compare", RELEASE, b, "--releases", &folder][..],
            &["--allow-unsigned", PLAIN],
            more,
        ];
        assert_sound(name, &write_report(&command.concat()), &least);
    }
}

#[test]
fn a_shadows_report() {
    if !is_installed() {
        return;
    }
    let releases = Releases::copy();
    releases.add(PLAIN, component("guest-plain"));
    let start = start().releases(releases.path());
    let key = start.key(&["avm:value", "avm:stored-data"]);
    let server = start
        .with(&["--release", RELEASE, "--allow-unsigned", PLAIN])
        .with(&["--shadow", PLAIN, "--shadow-share", "1"])
        .go();
    let rows: Vec<Value> = (0..120)
        .map(|at| {
            let mut row = house();
            row["size"]["floor_area_m2"] = (60 + at % 60).into();
            row
        })
        .collect();
    let client = server.client(&key);
    client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .ok();
    let data = server.data.display().to_string();
    let kept = tempfile::tempdir().unwrap();
    let (text, page) = (kept.path().join("s.json"), kept.path().join("s.html"));
    let [text_path, page_path] = [&text, &page].map(|path| path.display().to_string());
    let report = ["shadow", "report", PLAIN, "--data", &data];
    let outputs = ["--json", &text_path, "--report", &page_path];
    // A shadow comes after the answers.
    let began = Instant::now();
    loop {
        let ran = run([&report[..], &outputs].concat());
        let said = fs::read_to_string(&text).unwrap_or_default();
        let found: Value = serde_json::from_str(&said).unwrap_or_default();
        if found["overall"]["rows"] == 120 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(40), "{ran:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let least = PageReport {
        faults: Vec::new(),
        texts: 200,
        plots: 5,
        marks: 50,
        tables: 4,
    };
    assert_sound("shadow", &fs::read_to_string(page).unwrap(), &least);
}
