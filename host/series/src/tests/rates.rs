//! Releases of rates, from invented files in the publisher's layouts.

use super::{python, target};
use domesday_package::{Full, Trust};
use domesday_series::build::rates::{Inputs, PublishedRates, RatesError, derive, read};
use domesday_series::build::{BuildError, Publication, write};
use domesday_series::catalogue::{Dimension, Family, ObservationField as F, SelectorName};
use domesday_series::store::{Release, Series, Value};
use domesday_synthetic::{RatesManifest, RatesWorld, generate_rates};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn publication(id: &str, published: &PublishedRates) -> Publication {
    Publication {
        family: Family::Rates,
        release_id: id.parse().unwrap(),
        created: None,
        published_at: None,
        preview_bounds: None,
        sources: published.sources.clone(),
        synthetic: true,
        notes: Vec::new(),
    }
}

fn inputs(folder: &Path, written: &RatesManifest) -> Inputs {
    let paths = |names: &[String]| names.iter().map(|name| folder.join(name)).collect();
    Inputs {
        database: paths(&written.database),
        curves: paths(&written.curves),
        synthetic: true,
    }
}

/// The demo's source files and its release, made once for all tests.
struct Demo {
    sources: PathBuf,
    package: PathBuf,
    release: Release,
    _folder: tempfile::TempDir,
}

fn demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let sources = folder.path().join("sources");
        let written = generate_rates(&RatesWorld::demo(), &sources).unwrap();
        let published = read(&inputs(&sources, &written), &mut |_, _, _| ()).unwrap();
        write(
            folder.path(),
            derive(&published),
            publication("r-1", &published),
        )
        .unwrap();
        let package = folder.path().join("r-1");
        let release = Release::open(&package, Family::Rates, &Trust::Unsigned, &Full).unwrap();
        Demo {
            sources,
            package,
            release,
            _folder: folder,
        }
    })
}

fn of<'r>(release: &'r Release, dataset: &'r str) -> impl Iterator<Item = (usize, &'r Series)> {
    let all = release.series().iter().enumerate();
    all.filter(move |(_, series)| series.dataset().id == dataset)
}

#[test]
fn every_dataset_of_the_catalogue_has_observations() {
    for dataset in Family::Rates.datasets() {
        let rows: usize = of(&demo().release, dataset.id)
            .map(|(_, s)| s.rows().len())
            .sum();
        assert!(rows > 0, "{}", dataset.id);
    }
}

#[test]
fn an_independent_derivation_gives_every_computed_figure() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers/rates");
    let python = python::interpreter(&folder, &target());
    let mut derive = Command::new(python);
    derive
        .arg(folder.join("derive.py"))
        .arg(&demo().sources)
        .arg(&demo().package);
    let output = derive.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    println!("{stdout}");
    let fault = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}{fault}");
}

#[test]
fn a_summary_is_one_observation_and_a_scenario_one_snapshot() {
    let release = &demo().release;
    for dataset in [
        "mortgage_spread_summary",
        "bank_rate_scenarios",
        "financing_stress_scenarios",
    ] {
        for (_, series) in of(release, dataset) {
            assert_eq!(series.rows().len(), 1, "{}", series.id());
        }
    }
    let latest = |id| release.latest(Family::Rates.dataset(id).unwrap());
    assert_eq!(latest("bank_rate_scenarios"), latest("ois_spot_curve"));
}

#[test]
fn missing_nodes_and_months_stay_missing() {
    let release = &demo().release;
    // The nominal short end lacks its first months on most days.
    let curve = Family::Rates.dataset("nominal_gilt_spot_curve").unwrap();
    let rows = |tenor| {
        of(release, curve.id)
            .find(|(_, series)| series.dimension(Dimension::TenorMonths) == Some(tenor))
            .map_or(0, |(_, series)| series.rows().len())
    };
    assert!(rows(1) < rows(12), "{} {}", rows(1), rows(12));
    // The month that has just ended has no mortgage rates yet, and so no spread.
    for dataset in [
        "mortgage_benchmarks",
        "mortgage_swap_spread",
        "mortgage_reversion_spread",
    ] {
        let latest = release
            .latest(Family::Rates.dataset(dataset).unwrap())
            .unwrap();
        assert_eq!(
            latest.text(domesday_series::catalogue::Frequency::Monthly),
            "2026-08",
            "{dataset}"
        );
    }
}

/// Returns the fields that do not apply to a dataset, which are null in all its observations.
fn never(dataset: &str) -> &'static [F] {
    const MORTGAGES: &[F] = &[
        F::MortgageLatestObservationDate,
        F::Swap2yEndDate,
        F::Swap5yEndDate,
        F::Swap10yEndDate,
        F::SvrLatestObservationDate,
    ];
    match dataset {
        "mortgage_reversion_spread" => &[F::MatchedSwapAsOfDate],
        "sonia_forward_path" | "bank_rate_scenarios" => MORTGAGES,
        "mortgage_reversion_scenarios" => &MORTGAGES[..4],
        "financing_stress_scenarios" => &[F::SvrLatestObservationDate, F::SoniaCompounding],
        // Buy-to-let products are of two and five years.
        "btl_refinancing_scenarios" => &[
            F::SvrLatestObservationDate,
            F::SoniaCompounding,
            F::Swap10yEndDate,
        ],
        _ => &[],
    }
}

#[test]
fn every_field_that_the_catalogue_names_is_filled_where_it_applies() {
    let release = &demo().release;
    let filled = |dataset: &str, field: F| -> bool {
        of(release, dataset).any(|(number, series)| {
            let last = release.observations(number, series.rows()).last();
            last.is_some_and(|one| one.field(field).is_some())
        })
    };
    for dataset in Family::Rates.datasets() {
        for field in dataset.fields {
            let never = never(dataset.id).contains(field);
            assert_eq!(filled(dataset.id, *field), !never, "{} {field}", dataset.id);
        }
    }
}

#[test]
fn intervals_end_where_the_contract_says() {
    let release = &demo().release;
    let one = |dataset, horizon, term| {
        let (number, series) = of(release, dataset)
            .find(|(_, s)| {
                s.dimension(Dimension::HorizonMonth) == Some(horizon)
                    && s.dimension(Dimension::TermYears) == term
            })
            .unwrap();
        release.observations(number, series.rows()).last().unwrap()
    };
    let swap = one("forward_starting_swap_rates", 24, Some(5));
    assert_eq!(swap.field(F::IntervalEndMonth), Some(Value::Integer(84)));
    let path = one("sonia_forward_path", 120, None);
    assert_eq!(path.field(F::ProjectionEndMonth), Some(Value::Integer(121)));
    let stress = one("financing_stress_scenarios", 24, Some(5));
    assert_eq!(
        stress.field(F::ProjectionEndMonth),
        Some(Value::Integer(84))
    );
    assert_eq!(stress.field(F::Swap2yEndDate), None);
}

#[test]
fn the_same_files_give_the_same_package() {
    let folder = tempfile::tempdir().unwrap();
    let again = || {
        let written = generate_rates(&RatesWorld::demo(), &folder.path().join("s")).unwrap();
        let published = read(
            &inputs(&folder.path().join("s"), &written),
            &mut |_, _, _| (),
        )
        .unwrap();
        write(
            folder.path(),
            derive(&published),
            publication("r-1", &published),
        )
        .unwrap()
    };
    let manifest = again();
    assert_eq!(manifest.files.len(), 2);
    let bytes = std::fs::read(demo().package.join("manifest.json")).unwrap();
    assert_eq!(
        std::fs::read(folder.path().join("r-1/manifest.json")).unwrap(),
        bytes
    );
    // An id that is published does not change: the second time must give the same bytes.
    assert_eq!(again(), manifest);
}

#[test]
fn rates_without_an_observation_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let published = PublishedRates::default();
    let publication = publication("r-1", &published);
    let refusal = write(folder.path(), derive(&published), publication);
    assert!(matches!(refusal, Err(BuildError::Empty)), "{refusal:?}");
    assert!(!folder.path().join("r-1").exists());
}

/// Reads this text as the only database file.
fn database(text: &str) -> Result<PublishedRates, RatesError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.csv");
    std::fs::write(&path, text).unwrap();
    let inputs = Inputs {
        database: vec![path],
        ..Inputs::default()
    };
    read(&inputs, &mut |_, _, _| ())
}

fn values(text: &str) -> Vec<String> {
    let read = database(text).unwrap();
    let all = read.series.iter();
    all.flat_map(|(series, days)| days.iter().map(move |(d, v)| format!("{series:?} {d} {v}")))
        .collect()
}

#[test]
fn both_date_styles_and_every_layout_of_the_database_are_read() {
    let expected = ["BankRate 2025-12-18 3.75"];
    assert_eq!(
        values("DATE,IUDBEDR\n18 Dec 2025,3.75\n19 Dec 2025,\n"),
        expected
    );
    assert_eq!(values("Date Changed,Rate\n18-Dec-25,3.75\n,\n"), expected);
    assert_eq!(
        values("DATE,SERIES,VALUE\n18 Dec 2025,IUDBEDR,3.75\n"),
        expected
    );
    let titled =
        "SERIES,DESCRIPTION\nIUDBEDR,Official Bank Rate\n\nDATE,IUDBEDR\n18 Dec 2025,3.75\n";
    assert_eq!(values(titled), expected);
    assert_eq!(
        values("Date,SONIA\n,\n17/03/2021,0.0494\n"),
        ["Sonia 2021-03-17 0.0494"]
    );
}

#[test]
fn faults_in_a_database_file_name_line_and_column() {
    let error_of = |text| database(text).unwrap_err().to_string();
    let all = [
        error_of("DATE,IUDBEDR\n18 Dec 2025,3.75\n19 Dec 2025,n/a\n"),
        error_of("DATE,IUDBEDR\n31 Feb 2025,3.75\n"),
        error_of("DATE,IUDBEDR\n18 Dec 2025,inf\n"),
        error_of("DATE,IUDBEDR\n18 Dec 2025,3.75\n18 Dec 2025,4\n"),
        // A month has one quoted rate, whichever day a file writes.
        error_of("DATE,IUMBV34\n15 Jan 2025,4.4\n31 Jan 2025,4.5\n"),
        error_of("DATE,XUDLUSS\n18 Dec 2025,1.3\n"),
        error_of("SERIES,DESCRIPTION\nIUMBV34,5 year (75% LTV) fixed\nDATE,IUMBV34\n"),
        error_of(""),
    ];
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn products_carry_their_term_and_loan_to_value() {
    let (_, series) = of(&demo().release, "mortgage_benchmarks")
        .find(|(_, s)| s.selector(SelectorName::MortgageProduct) == Some("btl_fixed_5y_60ltv"))
        .unwrap();
    assert_eq!(series.dimension(Dimension::TermYears), Some(5));
    assert_eq!(series.dimension(Dimension::LtvPct), Some(60));
}
