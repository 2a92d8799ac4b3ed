//! Every observation of a markets package, re-derived in SQL from the source files.

use super::{downloads, python, target};
use domesday_package::{Full, Trust};
use domesday_series::build::markets::{Coverage, Inputs, ReleaseDetails, Report, build};
use domesday_series::catalogue::{Availability, Family, SelectorName};
use domesday_series::store::{Release, Series};
use domesday_synthetic::{World, generate};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the files of an invented world, as the commands take them.
fn synthetic(world: &Path) -> Inputs {
    let file = |name: &str| world.join(name);
    Inputs {
        price_paid: vec![
            file("price-paid.csv"),
            file("price-paid-monthly-change.csv"),
        ],
        certificates: vec![file("certificates.csv")],
        areas: vec![file("SAM_LAD_DEC_2023_UK.csv")],
        code_map: file("local-authority-codes-past-and-current.csv"),
        code_point: vec![file("codepo_gb.zip")],
        rents: vec![file("price-index-of-private-rents.xlsx")],
        price_index: vec![file("UK-HPI-full-file.csv")],
        ..Inputs::default()
    }
}

fn release(folder: &Path, id: &str, inputs: &Inputs) -> (PathBuf, Report) {
    let about = ReleaseDetails {
        release_id: id.parse().unwrap(),
        created: None,
        published_at: None,
        synthetic: true,
    };
    let (_, report) = build(folder, (about, None), inputs, &mut |_, _, _| ()).unwrap();
    (folder.join(id), report)
}

/// Runs the peer over the inputs of a package and returns its output.
fn rederive(package: &Path, inputs: &Inputs) -> String {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/duckdb");
    let interpreter = python::interpreter(&peers, &target().join("tmp"));
    let mut command = Command::new(interpreter);
    command.arg(peers.join("markets.py")).arg(package);
    command
        .arg("--matches")
        .arg(inputs.matches.as_ref().unwrap());
    command.arg("--codes").arg(&inputs.code_map);
    let lists = [
        ("--price-paid", &inputs.price_paid),
        ("--areas", &inputs.areas),
        ("--code-point", &inputs.code_point),
        ("--rents", &inputs.rents),
        ("--house-price-index", &inputs.price_index),
    ];
    for (name, files) in lists {
        for file in files {
            command.arg(name).arg(file);
        }
    }
    for coverage in &inputs.coverage {
        let months = coverage.months;
        let text = format!("{}:{}:{}", coverage.area_code, months.first, months.last);
        command.arg("--covers").arg(text);
    }
    String::from_utf8(python::run_to_success(&mut command).stdout).unwrap()
}

/// Returns the number of compared observations, by `dataset metric`.
fn count_compared(printed: &str) -> HashMap<String, u64> {
    printed
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(": ")?;
            Some((
                name.to_owned(),
                rest.split_once(" compared")?.0.parse().ok()?,
            ))
        })
        .collect()
}

#[test]
fn every_observation_of_an_invented_country_is_rederived() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world");
    generate(&World::demo(), &world, |_, _, _| ()).unwrap();
    let matches = folder.path().join("matches.csv");
    let inputs = Inputs {
        matches: Some(matches.clone()),
        ..synthetic(&world)
    };
    let (package, report) = release(folder.path(), "invented", &inputs);
    let printed = rederive(&package, &inputs);
    println!("{printed}{report:#?}");
    let compared = count_compared(&printed);
    assert_eq!(
        compared.len(),
        21,
        "every metric of every dataset: {printed}"
    );
    assert!(compared.values().all(|count| *count > 200), "{printed}");
    assert!(
        printed.contains("input_month_gap: [0, 1, 2], 0 contradict"),
        "{printed}"
    );
    assert!(report.suppressed > 0);
    matches_are_true(&world, &matches, &report);
}

/// Asserts that each matched floor area is on a certificate of the home that was sold.
fn matches_are_true(world: &Path, matches: &Path, report: &Report) {
    let rows = |path: &Path| -> Vec<HashMap<String, String>> {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_path(path)
            .unwrap();
        reader.deserialize().filter_map(Result::ok).collect()
    };
    let homes: HashMap<String, String> = rows(&world.join("truth-sales.csv"))
        .into_iter()
        .map(|row| {
            (
                row["transaction_id"].trim_matches(['{', '}']).to_owned(),
                row["uprn"].clone(),
            )
        })
        .collect();
    let areas: HashSet<(String, u64)> = rows(&world.join("certificates.csv"))
        .into_iter()
        .filter_map(|row| {
            let area: f64 = row.get("TOTAL_FLOOR_AREA")?.parse().ok()?;
            Some((row.get("UPRN")?.clone(), (area * 100.0).round() as u64))
        })
        .collect();
    let mut checked = 0;
    for row in rows(matches) {
        let Some(home) = homes.get(&row["transaction_id"]) else {
            continue;
        };
        if let Ok(area) = row["floor_area_hundredths_m2"].parse::<u64>() {
            assert!(areas.contains(&(home.clone(), area)), "{row:?} {home}");
            checked += 1;
        }
    }
    assert!(checked > 20_000, "{checked}");
    assert!(report.sales.floor_area_match_pct.unwrap() > 70.0);
}

#[test]
fn the_order_of_files_does_not_change_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world");
    generate(&World::demo(), &world, |_, _, _| ()).unwrap();
    let inputs = synthetic(&world);
    let mut other = inputs.clone();
    other.price_paid.reverse();
    let (one, _) = release(&folder.path().join("a"), "m", &inputs);
    let (two, _) = release(&folder.path().join("b"), "m", &other);
    for file in [
        "manifest.json",
        "series.parquet",
        "observations.parquet",
        "areas.parquet",
    ] {
        let read = |package: &Path| std::fs::read(package.join(file)).unwrap();
        assert!(read(&one) == read(&two), "{file}");
    }
}

#[test]
fn every_observation_of_the_real_extracts_is_rederived() {
    let needs = "rents/privaterentalmarketstatistics231220.xls";
    let Some(data) =
        downloads::folder("every_observation_of_the_real_extracts_is_rederived", needs)
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| data.join(name);
    // Bristol and Greater Manchester are whole; the seven of Leicestershire are not, and are named
    // here to have real certificates behind real sales.
    let mut covers = vec!["E06000023:2021-01:2025-12".to_owned()];
    covers.extend((1..=10).map(|n| format!("E080000{n:02}:2019-01:2019-12")));
    covers
        .extend([129, 130, 131, 132, 133, 134, 135].map(|n| format!("E07000{n}:2015-01:2023-12")));
    let inputs = Inputs {
        price_paid: vec![
            file("ppd/bristol-2021-2025-renamed-columns.csv"),
            file("ppd/greater-manchester-2019-linked-data-export.csv"),
            file("ppd/leicestershire-matched-ppd.csv"),
            file("ppd/pp-complete-head-1995.csv"),
        ],
        certificates: vec![file("epc/leicestershire-certificates.csv")],
        areas: vec![file("areas/SAM_LAD_DEC_2023_UK.csv")],
        code_map: file("areas/local-authority-codes-past-and-current.csv"),
        code_point: vec![file("postcodes/codepo_gb.zip")],
        rents: vec![file(needs)],
        price_index: vec![
            file("hpi/UK-HPI-regions-full-columns.csv"),
            file("hpi/UK-HPI-London-full-columns.csv"),
        ],
        coverage: covers
            .iter()
            .map(|text| Coverage::parse(text).unwrap())
            .collect(),
        matches: Some(folder.path().join("matches.csv")),
        ..Inputs::default()
    };
    let (package, report) = release(folder.path(), "extracts", &inputs);
    let printed = rederive(&package, &inputs);
    println!("{printed}{report:#?}");
    let compared = count_compared(&printed);
    assert!(compared["market_activity sales_count"] > 1_000, "{printed}");
    assert!(
        compared["market_activity price_per_sqm_gbp"] > 20,
        "{printed}"
    );
    assert!(
        compared["rental_market monthly_rent_gbp"] > 1_000,
        "{printed}"
    );
    let release = Release::open(&package, Family::Markets, &Trust::Unsigned, &Full).unwrap();
    assert_eq!(release.areas().len(), 318);
    // The smallest authorities are there, and say nothing where nothing is known of them.
    for (code, name) in [
        ("E09000001", "City of London"),
        ("E06000053", "Isles of Scilly"),
    ] {
        assert_eq!(release.area(code).unwrap().name, name);
        let own = |series: &&Series| series.selector(SelectorName::Area) == Some(code);
        let statuses: Vec<(&str, Availability)> = release
            .series()
            .iter()
            .filter(own)
            .map(|series| (series.metric().id, series.availability()))
            .collect();
        assert_eq!(statuses.len(), 99, "{name}");
        let rents = |metric: &str| metric == "monthly_rent_gbp";
        assert!(
            statuses
                .iter()
                .all(|(metric, status)| rents(metric) || *status == Availability::NotAvailable),
            "{name}: {statuses:?}"
        );
    }
}
