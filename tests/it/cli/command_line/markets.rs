//! Making releases of market statistics from the made-up registers.

use crate::command_line::making::registers;
use crate::common::program::{ProcessOutput, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The headings of a file of rents.
const RENTS_HEADINGS: &str = "Time period,Area code,Rental price,Rental price one bed,\
    Rental price two bed,Rental price three bed,Rental price four or more bed";

fn build(packages_dir: &Path, more: &[&str]) -> ProcessOutput {
    build_without("", packages_dir, more)
}

/// Builds from every register but those of one option.
fn build_without(left_out: &str, packages_dir: &Path, more: &[&str]) -> ProcessOutput {
    let mut arguments: Vec<String> = ["series", "build", "markets", "--synthetic"]
        .map(String::from)
        .to_vec();
    for (option, file) in [
        ("--price-paid", "price-paid.csv"),
        ("--price-paid", "price-paid-monthly-change.csv"),
        ("--certificates", "certificates.csv"),
        ("--code-point", "codepo_gb.zip"),
        ("--areas", "SAM_LAD_DEC_2023_UK.csv"),
        (
            "--authority-codes",
            "local-authority-codes-past-and-current.csv",
        ),
        ("--rents", "price-index-of-private-rents.xlsx"),
        ("--house-price-index", "UK-HPI-full-file.csv"),
    ] {
        if option == left_out {
            continue;
        }
        arguments.extend([
            option.to_owned(),
            registers().join(file).display().to_string(),
        ]);
    }
    let packages_dir = packages_dir.display().to_string();
    arguments.extend(["--release-id", "invented", "--releases", &packages_dir].map(String::from));
    arguments.extend(more.iter().map(|text| (*text).to_owned()));
    run(arguments)
}

#[test]
fn a_release_of_markets_names_its_sources_and_is_the_same_again() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report: Value = serde_json::from_str(&build(one.path(), &[]).ok().stdout).unwrap();
    build(two.path(), &[]).ok();
    let read = |packages_dir: &Path| {
        fs::read(packages_dir.join("markets/invented/manifest.json")).unwrap()
    };
    assert!(read(one.path()) == read(two.path()));
    let manifest: Value = serde_json::from_slice(&read(one.path())).unwrap();
    assert_eq!(manifest["kind"], "markets");
    assert_eq!(manifest["body"]["synthetic"], true);
    assert_eq!(manifest["body"]["sources"].as_array().unwrap().len(), 8);
    assert_eq!(manifest["body"]["observations"], report["observations"]);
    assert!(report["sales"]["floor_area_match_pct"].as_f64().unwrap() > 70.0);
    assert_eq!(report["sales"]["areas_without_sales"], 0);
    // Sales end three months before the release's month, the one after the newest sale.
    assert_eq!(report["core_month"], "2026-07");
    assert_eq!(report["rental_month"], "2026-09");
}

#[test]
fn a_build_ends_with_its_datasets_and_what_to_give_for_those_that_lack_metrics() {
    let packages_dir = tempfile::tempdir().unwrap();
    let whole = build(packages_dir.path(), &[]).ok();
    let report: Value = serde_json::from_str(&whole.stdout).unwrap();
    let datasets = report["datasets"].as_array().unwrap();
    assert_eq!(datasets.len(), 7);
    for dataset in datasets {
        assert_eq!(dataset["reason"], Value::Null, "{dataset}");
        let id = dataset["dataset"].as_str().unwrap();
        let mut lines = whole.stderr.lines();
        assert!(lines.any(|line| line.starts_with(id)), "{id}");
    }
    let manifest =
        |folder: &Path| fs::read_to_string(folder.join("markets/invented/manifest.json")).unwrap();
    let stored: Value = serde_json::from_str(&manifest(packages_dir.path())).unwrap();
    assert_eq!(stored["body"]["datasets"], report["datasets"]);
    let without_rents = tempfile::tempdir().unwrap();
    let output = build_without("--rents", without_rents.path(), &[]).ok();
    assert!(output.stderr.contains("give --rents"), "{}", output.stderr);
    assert!(manifest(without_rents.path()).contains("give --rents"));
}

#[test]
fn inputs_without_an_observation_print_their_report_and_the_reason() {
    let packages_dir = tempfile::tempdir().unwrap();
    // No window of twelve months fits into two.
    let covers = ["--covers", "E06990001:2026-06:2026-07"];
    let output = build_without("--rents", packages_dir.path(), &covers);
    assert_eq!(output.code, Some(1), "{output:#?}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["observations"], 0);
    assert!(report["sales"]["transactions"].as_u64().unwrap() > 0);
    for dataset in report["datasets"].as_array().unwrap() {
        assert!(dataset["reason"].is_string(), "{dataset}");
    }
    for part in ["no observations", "12 covered months", "--covers"] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
    assert!(!packages_dir.path().join("markets/invented").exists());
}

/// Writes a register of the made-up country anew, line by line, its header unchanged.
fn rewrite(folder: &Path, file: &str, line: impl Fn(&str) -> Option<String>) -> String {
    let text = fs::read_to_string(registers().join(file)).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    let mut content = format!("{header}\n");
    for row in rows.lines().filter_map(line) {
        content += &(row + "\n");
    }
    let path = folder.join(file);
    fs::write(&path, content).unwrap();
    path.display().to_string()
}

#[test]
fn certificates_of_other_homes_leave_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = "certificates.csv";
    let elsewhere = rewrite(folder.path(), certificates, |row| {
        let mut cells: Vec<&str> = row.split(',').collect();
        let quoted = cells.iter().take(5).any(|cell| cell.contains('"'));
        *cells.get_mut(4).filter(|_| !quoted)? = "ZZ9 9ZZ";
        Some(cells.join(","))
    });
    let output = build_without(
        "--certificates",
        folder.path(),
        &["--certificates", &elsewhere],
    )
    .ok();
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["sales"]["with_floor_area"], 0);
    let reason = "no certificate has a floor area for a counted sale";
    assert!(output.stderr.contains(reason), "{}", output.stderr);
}

#[test]
fn a_price_index_of_other_countries_and_rents_without_a_figure_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scotland = rewrite(folder.path(), "UK-HPI-full-file.csv", |row| {
        let mut cells: Vec<&str> = row.split(',').collect();
        let is_code = |cell: &str| cell.len() == 9 && cell[1..].bytes().all(|b| b.is_ascii_digit());
        *cells.iter_mut().find(|cell| is_code(cell))? = "S92000003";
        Some(cells.join(","))
    });
    let option = "--house-price-index";
    let refusal = build_without(option, folder.path(), &[option, &scotland]).refused();
    assert!(
        refusal.contains("is of use to the build") && refusal.contains("outside_the_areas"),
        "{refusal}"
    );
    let rents = folder.path().join("rents.csv");
    fs::write(&rents, format!("{RENTS_HEADINGS}\n")).unwrap();
    let rents = rents.display().to_string();
    let refusal = build_without("--rents", folder.path(), &["--rents", &rents]).refused();
    assert!(refusal.contains("no rent below the headings"), "{refusal}");
    let check = run(["data", "check", &rents]);
    assert_eq!(check.code, Some(1), "{check:?}");
    for part in ["private rents (--rents)", "no rent below the headings"] {
        assert!(check.stdout.contains(part), "{check:?}");
    }
    assert!(!folder.path().join("markets/invented").exists());
}

#[test]
fn a_release_month_before_the_sales_names_the_earliest_one_that_has_an_observation() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = build(folder.path(), &["--release-month", "1990-01"]).refused();
    let begin = "--release-month 1990-01 states sales to 1989-10, and the first covered month is ";
    assert!(refusal.contains(begin), "{refusal}");
    let (_, earliest) = refusal.rsplit_once("Give --release-month ").unwrap();
    let (earliest, _) = earliest.split_once(" or a later one").unwrap();
    let report = build(folder.path(), &["--release-month", earliest]).ok();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    // One window of twelve months.
    assert!(
        refusal.contains(report["first_month"].as_str().unwrap()),
        "{refusal}"
    );
    assert!(report["observations"].as_u64() > Some(0), "{report}");
    let covers = [
        "--covers",
        "E06990001:2026-06:2026-07",
        "--release-month",
        "2026-04",
    ];
    let refusal = build_without("--rents", folder.path(), &covers).refused();
    assert!(
        refusal.contains("Give files of at least 12 months"),
        "{refusal}"
    );
}

#[test]
fn sales_of_one_district_are_built_only_as_those_of_the_whole_country() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(registers().join("price-paid.csv")).unwrap();
    // The name of the district stands before those of the county, the category and the change.
    let district = |row: &str| row.rsplit(',').nth(3).unwrap().to_owned();
    let first = district(text.lines().next().unwrap());
    let rows = text.lines().filter(|row| district(row) == first);
    let sales = folder.path().join("price-paid.csv");
    fs::write(
        &sales,
        rows.map(|row| format!("{row}\n")).collect::<String>(),
    )
    .unwrap();
    let sales = ["--price-paid", &sales.display().to_string()].map(str::to_owned);
    let build = |more: &[&str]| {
        let arguments = sales.iter().map(String::as_str).chain(more.iter().copied());
        build_without(
            "--price-paid",
            folder.path(),
            &arguments.collect::<Vec<_>>(),
        )
    };
    insta::assert_snapshot!("sales_of_one_district", build(&[]).refused());
    assert!(!folder.path().join("markets/invented").exists());
    let report: Value = serde_json::from_str(&build(&["--whole-country"]).ok().stdout).unwrap();
    assert!(
        report["sales"]["areas_without_sales"].as_u64() > Some(0),
        "{report}"
    );
    assert!(folder.path().join("markets/invented").exists());
}

#[test]
fn invalid_inputs_are_refused_by_name_and_nothing_is_published() {
    let packages_dir = tempfile::tempdir().unwrap();
    let refusal = build(
        packages_dir.path(),
        &["--covers", "E06000001:2021-01:2021-12"],
    )
    .refused();
    assert!(
        refusal.contains("E06000001") && refusal.contains("areas file"),
        "{refusal}"
    );
    let refusal = build(packages_dir.path(), &["--release-month", "2026-13"]).refused();
    assert!(refusal.contains("2026-13"), "{refusal}");
    // Months that the registers do not reach would be stated as zero.
    let refusal = build(packages_dir.path(), &["--release-month", "2027-02"]).refused();
    assert!(
        refusal.contains("2026-11") && refusal.contains("2026-09"),
        "{refusal}"
    );
    let text = fs::read_to_string(registers().join("price-paid.csv")).unwrap();
    let newest = text.lines().next().unwrap();
    let day = newest.split(',').nth(2).unwrap().trim_matches('"');
    let wrong = packages_dir.path().join("price-paid-wrong.csv");
    let year = format!("2062{}", &day[4..]);
    fs::write(
        &wrong,
        newest
            .replacen(day, &year, 1)
            .replacen("000000000001}", "FFFFFFFFFFFF}", 1),
    )
    .unwrap();
    let refusal = build(
        packages_dir.path(),
        &["--price-paid", &wrong.display().to_string()],
    )
    .refused();
    assert!(
        refusal.contains("2026-10") && refusal.contains("2062-"),
        "{refusal}"
    );
    let rents = packages_dir.path().join("rents.csv");
    fs::write(
        &rents,
        format!("{RENTS_HEADINGS}\n2026-08-01,E06990001,950,about 700,800,900,[x]\n"),
    )
    .unwrap();
    let refusal = build(
        packages_dir.path(),
        &["--rents", &rents.display().to_string()],
    )
    .refused();
    assert!(
        refusal.contains("rents.csv") && refusal.contains("D2") && refusal.contains("about 700"),
        "{refusal}"
    );
    assert!(!packages_dir.path().join("markets/invented").exists());
}
