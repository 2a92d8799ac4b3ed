//! `scripts/measure-accuracy`: a walked release knows no sale that registers did not have.

use crate::common::program::repository;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// A program that notes its arguments, and writes the files that the script reads.
const PROGRAM: &str = r#"#!/bin/sh
echo "$*" >>"$0.log"
case "$1 $2" in
"release keygen") touch "$3" "$3.pub" ;;
"release backtest")
  while [ $# -gt 0 ]; do
    if [ "$1" = --rows ]; then echo lower_gbp >"$2"; fi
    shift
  done
  ;;
esac
"#;

/// Returns the commands of a run of one window with this lag.
fn commands(window: &str, lag: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("domesday");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut script = Command::new(repository().join("scripts/measure-accuracy"));
    script
        .arg(folder.path())
        .arg(folder.path().join("work"))
        .arg(&program)
        .env("ONLY", window)
        .env_remove("LAG");
    if let Some(lag) = lag {
        script.env("LAG", lag);
    }
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::read_to_string(folder.path().join("domesday.log")).unwrap()
}

#[test]
fn a_walked_release_is_calibrated_on_sales_that_registers_had_on_its_first_day() {
    let found = commands("reading-2012-walked", None);
    for expected in [
        "--train-until 2010-11-01 --calibrate-until 2011-11-01 ",
        "release backtest reading-2012-2012-01-01 --from 2012-01-01 --to 2012-03-31 ",
        "--train-until 2012-08-01 --calibrate-until 2013-08-01 ",
        "release backtest reading-2012-2013-10-01 --from 2013-10-01 --to 2013-12-31 ",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
    assert_eq!(found.matches("release build ").count(), 8, "{found}");
    // As measured before: up to the day before.
    let found = commands("reading-2012-walked", Some("0"));
    assert!(found.contains("--train-until 2010-12-31 --calibrate-until 2011-12-31 "));
    // The fit reaches a stated day at least.
    let found = commands("manchester-2019-walked", None);
    assert!(found.contains("--train-until 2019-03-31 --calibrate-until 2019-05-01 "));
}
