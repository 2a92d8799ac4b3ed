//! The ledger of used units.

use crate::command_line::folder;
use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::start;
use domesday_server::clock::{Clock, MachineClock};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Returns the current month in UTC, as the commands write it.
fn month() -> String {
    MachineClock.utc().format("%Y-%m").to_string()
}

/// The entries of a month add up to its units, with a server and without one.
#[test]
fn each_request_that_was_charged_is_an_entry_of_the_export() {
    let (_kept, data) = folder();
    let server = start().data(Path::new(&data)).go();
    let client = server.demo();
    let value = client.post("/v3/value", &house()).ok();
    let rows = json!({"requests": [house(), house()]});
    assert_eq!(client.post("/v3/batch-value", &rows).status, 200);
    let month = month();
    let export = |more: &[&str]| {
        let command = ["usage", "export", "--month", &month, "--data", &data];
        run([&command, more].concat())
    };
    let running = export(&[]).ok().stdout;
    let lines: Vec<Vec<&str>> = running
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(lines[0], ["month", "tenant", "at", "kind", "id", "units"]);
    let [single, batch] = &lines[1..] else {
        panic!("{running}");
    };
    assert_eq!((single[1], single[3], single[5]), ("demo", "value", "1"));
    assert_eq!(single[4], value["execution_id"]);
    assert_eq!(
        (batch[0], batch[3], batch[5]),
        (month.as_str(), "batch", "2")
    );
    server.stop();

    // Without a server the state has the same.
    assert_eq!(export(&[]).ok().stdout, running);
    let tenants = run(["tenant", "list", "--data", &data]).ok().stdout;
    assert!(tenants.contains("3 units this month"), "{tenants}");
    let nobody = export(&["--tenant", "nobody"]).ok().stdout;
    assert_eq!(nobody.lines().count(), 1);
    let file = format!("{data}/usage.csv");
    let summary = export(&["--output", &file]).ok().stdout;
    assert!(summary.starts_with(&format!("2 entries of {month}, 3 units in all: ")));
    assert_eq!(fs::read_to_string(&file).unwrap(), running);
    let file = format!("{data}/usage.parquet");
    export(&["--format", "parquet", "--output", &file]).ok();
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn an_export_names_its_errors() {
    let (_kept, data) = folder();
    let export = |arguments: &[&str]| {
        let command = ["usage", "export", "--data", &data];
        run([&command, arguments].concat())
    };
    let malformed = export(&["--month", "2026-13"]);
    assert_eq!(malformed.code, Some(2));
    let error = malformed.stderr;
    assert!(error.contains("a month is written as 2026-11"), "{error}");
    let error = export(&["--month", "2026-11", "--format", "parquet"]).refused();
    assert!(error.contains("needs --output FILE"), "{error}");
    let missing = format!("{data}/missing");
    let failed = run(["usage", "export", "--month", "2026-11", "--data", &missing]);
    // No heading, which a program would read as a month without entries.
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""));
    assert!(failed.stderr.contains(&missing), "{}", failed.stderr);
}
