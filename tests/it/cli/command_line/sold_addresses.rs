//! Snapshots out of price paid data alone.

use crate::command_line::making::registers;
use crate::common::program::{ProcessOutput, run};
use serde_json::Value;
use std::path::Path;

/// Builds a snapshot without certificates and without an address file.
fn build(packages_dir: &Path, id: &str, further: &[&str]) -> ProcessOutput {
    let mut arguments = ["property", "build", "--synthetic", "--snapshot-id", id]
        .map(str::to_owned)
        .to_vec();
    for (option, file) in [
        ("--price-paid", "price-paid.csv"),
        ("--code-point", "codepo_gb.zip"),
        (
            "--authority-codes",
            "local-authority-codes-past-and-current.csv",
        ),
    ] {
        let file = registers().join(file).display().to_string();
        arguments.extend([option.to_owned(), file]);
    }
    arguments.extend(["--releases".to_owned(), packages_dir.display().to_string()]);
    arguments.extend(further.iter().map(|word| (*word).to_owned()));
    run(arguments)
}

#[test]
fn sold_addresses_become_homes_and_the_build_says_that_their_numbers_are_invented() {
    let folder = tempfile::tempdir().unwrap();
    let sales = registers().join("price-paid.csv").display().to_string();
    let built = build(folder.path(), "sold", &["--sold-addresses", &sales]).ok();
    let report: Value = serde_json::from_str(&built.stdout).unwrap();
    let homes = &report["homes"];
    assert!(homes["properties"].as_u64() > Some(1_000), "{homes}");
    assert_eq!(homes["from_sold_addresses"], homes["properties"]);
    let of_homes = report["sales"]["matching"]["one_property"].as_u64();
    assert!(of_homes > homes["properties"].as_u64(), "{report}");
    let last = built.stderr.lines().last().unwrap();
    assert!(last.contains("have an invented UPRN"), "{}", built.stderr);
}

#[test]
fn a_snapshot_without_a_home_is_refused_unless_that_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let refused = build(folder.path(), "sales-alone", &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("would have no home"), "{refused:?}");
    for option in ["--sold-addresses", "--without-homes"] {
        assert!(refused.stderr.contains(option), "{refused:?}");
    }
    assert!(!folder.path().join("property/sales-alone").exists());
    build(folder.path(), "sales-alone", &["--without-homes"]).ok();
    assert!(folder.path().join("property/sales-alone").exists());
}

#[test]
fn sold_addresses_do_not_go_with_registers_that_have_real_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| registers().join(name).display().to_string();
    let sales = file("price-paid.csv");
    for (option, other) in [
        ("--certificates", file("certificates.csv")),
        ("--addresses", file("addresses.csv")),
    ] {
        let refused = build(
            folder.path(),
            "both",
            &["--sold-addresses", &sales, option, &other],
        );
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(option), "{refused:?}");
    }
}
