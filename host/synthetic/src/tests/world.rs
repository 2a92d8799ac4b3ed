//! One small world, read back as plain text and compared with its own truth.

use super::common::{demo, number, read_rows};
use super::downloads;
use domesday_synthetic::{Layout, Size, SyntheticError, World, generate, generate_as};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Columns of the register of certificates, the UPRN the third from the end.
const CERTIFICATE_COLUMNS: usize = 93;
const UPRN: usize = CERTIFICATE_COLUMNS - 3;

/// Returns the rows of a CSV file, of any width.
fn rows(folder: &Path, name: &str, header: bool) -> Vec<csv::StringRecord> {
    csv::ReaderBuilder::new()
        .has_headers(header)
        .flexible(true)
        .from_path(folder.join(name))
        .unwrap()
        .records()
        .map(|row| row.unwrap())
        .collect()
}

fn small(seed: u64) -> World {
    let size = Size {
        properties: 1_500,
        sales: 3_000,
        certificates: 1_300,
        ..Size::demo()
    };
    World {
        seed,
        size,
        ..World::demo()
    }
}

fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_seed_decides_every_byte() {
    let write = |seed| {
        let folder = tempfile::tempdir().unwrap();
        generate(&small(seed), folder.path(), |_, _, _| ()).unwrap();
        bytes(folder.path())
    };
    let (one, same, other) = (write(1), write(1), write(2));
    assert_eq!(one.len(), 12);
    for (name, content) in &one {
        assert!(same[name] == *content, "{name} differs for the same seed");
        if !name.starts_with("local-authority-codes") {
            assert!(
                other[name] != *content,
                "{name} is the same for another seed"
            );
        }
    }
}

#[test]
fn rows_have_their_columns_and_the_manifest_counts_them() {
    let (folder, manifest) = demo();
    let planted = &manifest.planted;
    for (name, header, width, narrow) in [
        (
            "price-paid.csv",
            false,
            16,
            planted.price_paid.wrong_columns,
        ),
        ("price-paid-monthly-change.csv", false, 16, 0),
        (
            "certificates.csv",
            true,
            CERTIFICATE_COLUMNS,
            planted.certificates.wrong_columns,
        ),
        ("addresses.csv", true, 11, planted.addresses.wrong_columns),
        ("SAM_LAD_DEC_2023_UK.csv", true, 7, 0),
        ("local-authority-codes-past-and-current.csv", true, 21, 0),
        ("UK-HPI-full-file.csv", true, 54, 0),
    ] {
        let rows = rows(folder.path(), name, header);
        assert_eq!(rows.len() as u64, manifest.files[name].rows, "{name}");
        let odd = rows.iter().filter(|row| row.len() != width).count() as u64;
        assert_eq!(odd, narrow, "{name}");
    }
    assert_eq!(manifest.properties, 12_000);
    let within = |got: u64, wanted: u32| (got as f64 / f64::from(wanted) - 1.0).abs() < 0.08;
    assert!(
        within(manifest.sales, 30_000) && within(manifest.certificates, 11_000),
        "{manifest:?}"
    );
}

#[test]
fn planted_faults_are_found_where_the_manifest_says() {
    let (folder, manifest) = demo();
    let planted = &manifest.planted;
    let sales = rows(folder.path(), "price-paid.csv", false);
    let whole: Vec<_> = sales.iter().filter(|row| row.len() == 16).collect();
    let count = |test: &dyn Fn(&csv::StringRecord) -> bool| {
        whole.iter().filter(|row| test(row)).count() as u64
    };
    assert_eq!(
        count(&|row| &row[2] == "2019-02-30 00:00"),
        planted.price_paid.bad_date
    );
    assert_eq!(
        count(&|row| row[1].starts_with('-')),
        planted.price_paid.negative_price
    );
    let mut seen = HashSet::new();
    assert_eq!(count(&|row| row[15] != *"A"), 0);
    let repeated = whole
        .iter()
        .filter(|row| !seen.insert(row[0].to_owned()))
        .count() as u64;
    assert_eq!(repeated, planted.price_paid.duplicate);

    let monthly = rows(folder.path(), "price-paid-monthly-change.csv", false);
    for (letter, wanted) in [
        ("A", planted.monthly.additions),
        ("C", planted.monthly.changes),
        ("D", planted.monthly.deletions),
    ] {
        assert!(wanted > 0);
        assert_eq!(
            monthly.iter().filter(|row| &row[15] == letter).count() as u64,
            wanted,
            "{letter}"
        );
    }
    for row in &monthly {
        assert_eq!(seen.contains(&row[0]), &row[15] != "A", "{row:?}");
    }

    let certificates = rows(folder.path(), "certificates.csv", true);
    let faulty = &planted.certificates;
    let whole: Vec<_> = certificates
        .iter()
        .filter(|row| row.len() == CERTIFICATE_COLUMNS)
        .collect();
    assert_eq!(
        whole
            .iter()
            .filter(|row| row.iter().any(|cell| cell == "2021-13-40"))
            .count() as u64,
        faulty.bad_date
    );
    assert_eq!(whole.len() as u64 - faulty.bad_date, manifest.certificates);
    let addresses = rows(folder.path(), "addresses.csv", true);
    let bad = addresses.iter().filter(|row| row[0].contains('X')).count() as u64;
    assert_eq!(bad, planted.addresses.bad_uprn);
}

#[test]
fn every_sale_and_certificate_has_its_property_in_the_truth() {
    let (folder, manifest) = demo();
    let truth: HashMap<String, _> = read_rows(folder.path(), "truth.csv")
        .into_iter()
        .map(|row| (row["uprn"].clone(), row))
        .collect();
    assert_eq!(truth.len() as u64, manifest.properties + manifest.premises);
    let sales = read_rows(folder.path(), "truth-sales.csv");
    assert_eq!(sales.len() as u64, manifest.sales);
    let mut by_id = HashMap::new();
    for sale in &sales {
        assert!(truth.contains_key(&sale["uprn"]));
        by_id.insert(sale["transaction_id"].as_str(), sale);
    }
    let mut found = HashSet::new();
    for name in ["price-paid.csv", "price-paid-monthly-change.csv"] {
        for row in rows(folder.path(), name, false)
            .iter()
            .filter(|row| row.len() == 16)
        {
            // Withdrawn and malformed rows are no sales.
            let Some(sale) = by_id.get(&row[0]) else {
                continue;
            };
            found.insert(row[0].to_owned());
            let home = &truth[&sale["uprn"]];
            assert!(row[3].is_empty() || row[3] == home["postcode"]);
            assert!(&row[0][..10] == "{SYNTH000-" && row[2].starts_with(sale["date"].as_str()));
            let right = name.contains("monthly") || sale["standing"] == "complete";
            assert_eq!(row[1] == sale["price_gbp"], right, "{row:?}");
        }
    }
    assert_eq!(found.len(), sales.len());
    let certificates = rows(folder.path(), "certificates.csv", true);
    let uprns: Vec<&str> = certificates
        .iter()
        .filter(|row| row.len() == CERTIFICATE_COLUMNS)
        .map(|row| &row[UPRN])
        .collect();
    let given = uprns.iter().filter(|uprn| !uprn.is_empty()).count() as u64;
    assert!(given >= manifest.certificates - manifest.planted.certificates.uprn_missing);
    assert!(
        uprns
            .iter()
            .all(|uprn| uprn.is_empty() || truth.contains_key(*uprn))
    );
}

#[test]
fn nothing_can_be_taken_for_a_real_home() {
    let (folder, _) = demo();
    for row in read_rows(folder.path(), "truth.csv") {
        assert!(
            row["uprn"].len() == 12 && row["uprn"].starts_with("999"),
            "{row:?}"
        );
        assert!(row["postcode"].starts_with(['Q', 'V']), "{row:?}");
        assert!(row["authority"][1..].starts_with("0699"), "{row:?}");
        let (easting, northing) = (number(&row, "easting"), number(&row, "northing"));
        let inside = if row["authority"].starts_with('W') {
            (146_000.0..356_000.0).contains(&easting) && (165_000.0..396_000.0).contains(&northing)
        } else {
            (82_000.0..656_000.0).contains(&easting) && (5_000.0..657_500.0).contains(&northing)
        };
        assert!(inside, "{row:?}");
    }
}

#[test]
fn no_authority_repeats_another() {
    let (folder, _) = demo();
    let mut first: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in read_rows(folder.path(), "truth.csv") {
        first
            .entry(row["authority"].clone())
            .or_default()
            .push(row["floor_area_m2"].clone());
    }
    let beginnings: HashSet<_> = first.values().map(|areas| &areas[..30]).collect();
    assert_eq!(beginnings.len(), 6);
}

#[test]
fn no_postcode_area_is_a_real_one() {
    const REAL: &str = "postcodes/codepo_gb.zip";
    let Some(data) = downloads::folder("no_postcode_area_is_a_real_one", REAL) else {
        return;
    };
    let members = |path: &Path| -> HashSet<String> {
        let archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        archive
            .file_names()
            .filter_map(|name| Some(name.ok()?.into_owned()))
            .collect()
    };
    let real = members(&data.join(REAL));
    let (folder, _) = demo();
    let ours = members(&folder.path().join("codepo_gb.zip"));
    assert_eq!(ours.len(), 7);
    assert!(
        real.len() > 100 && real.is_disjoint(&ours),
        "{:?}",
        real.intersection(&ours).collect::<Vec<_>>()
    );
}

#[test]
fn an_impossible_world_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = small(1);
    world.size.welsh_authorities = 7;
    let refused = generate(&world, folder.path(), |_, _, _| ());
    assert!(matches!(
        refused,
        Err(SyntheticError::Parameter {
            parameter: "welsh_authorities",
            ..
        })
    ));
    let mut world = small(1);
    world.size = Size {
        authorities: 1,
        welsh_authorities: 0,
        properties: 200_000,
        sales: 0,
        certificates: 0,
        streets_per_sector: 4,
        ..Size::demo()
    };
    let refused = generate(&world, folder.path(), |_, _, _| ());
    assert!(
        matches!(refused, Err(SyntheticError::AreaFull { ref area, .. }) if area == "QA"),
        "{refused:?}"
    );
}

#[test]
fn progress_reaches_the_end_of_each_stage() {
    let folder = tempfile::tempdir().unwrap();
    let mut last = BTreeMap::new();
    generate(&small(3), folder.path(), |stage, done, total| {
        last.insert(stage.to_owned(), (done, total));
    })
    .unwrap();
    assert_eq!(last["homes and their sales"], (1_500, 1_500));
    assert_eq!(last["areas and indices"], (2, 2));
}

#[test]
fn a_lean_world_has_the_same_registers_and_no_truth() {
    let mut world = World::demo();
    world.size.properties = 1_500;
    world.size.sales = 3_000;
    world.size.certificates = 1_400;
    let (plain, lean) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = generate(&world, plain.path(), |_, _, _| ()).unwrap();
    let layout = Layout {
        zipped_certificates: true,
        truth: false,
        address_noise: false,
    };
    let manifest = generate_as(&world, lean.path(), layout, |_, _, _| ()).unwrap();
    assert_eq!(manifest.planted, whole.planted);
    let read = |folder: &tempfile::TempDir, name: &str| std::fs::read(folder.path().join(name));
    for name in ["price-paid.csv", "addresses.csv", "codepo_gb.zip"] {
        assert_eq!(read(&lean, name).unwrap(), read(&plain, name).unwrap());
    }
    let archive = std::fs::File::open(lean.path().join("certificates.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(archive).unwrap();
    let mut certificates = Vec::new();
    std::io::Read::read_to_end(
        &mut archive.by_name("certificates.csv").unwrap(),
        &mut certificates,
    )
    .unwrap();
    assert!(certificates == read(&plain, "certificates.csv").unwrap());
    for name in ["truth.csv", "truth-sales.csv", "certificates.csv"] {
        assert!(!lean.path().join(name).exists(), "{name}");
    }
}
