//! Every real file, as it is and as users spoil it: the sentences of `data check`, in snapshots.
//!
//! The variants are made from the publishers' files when the test runs. A snapshot holds the
//! program's sentences and counts, and no row of a file.

mod damage;
mod workbooks;

use crate::common::downloads;
use crate::common::program::run;
use damage::text_variants;
use std::fs;
use std::path::{Path, PathBuf};
use workbooks::{archive_variants, workbook_variants};

/// The files by folder. Each has its own snapshot.
const FILES: [(&str, &[&str]); 8] = [
    (
        "areas",
        &[
            "SAM_LAD_DEC_2023_UK.csv",
            "local-authority-codes-past-and-current.csv",
        ],
    ),
    ("benchmarks", &["price-per-sqm-by-postcode-district.csv"]),
    (
        "epc",
        &[
            "leicestershire-certificates.csv",
            "leicestershire-epc-ppd-mapping.csv",
        ],
    ),
    (
        "hpi",
        &[
            "UK-HPI-London-full-columns.csv",
            "UK-HPI-regions-full-columns.csv",
        ],
    ),
    ("postcodes", &["codepo_gb.zip"]),
    (
        "ppd",
        &[
            "bristol-2021-2025-renamed-columns.csv",
            "greater-manchester-2019-linked-data-export.csv",
            "leicestershire-matched-ppd.csv",
            "pp-complete-head-1995.csv",
            "pp-rg30-1995-2023.csv",
        ],
    ),
    (
        "rates",
        &[
            "GLC Inflation daily data current month.xlsx",
            "GLC Nominal daily data current month.xlsx",
            "GLC Nominal daily data_2025 to present.xlsx",
            "GLC Real daily data current month.xlsx",
            "IADB_daily_gilt_spot_par_bankrate_2026-09_2026-10.csv",
            "IADB_monthly_IUMBV34_IUMBV37_IUMBV42_IUMTLMV_IUMAMNPY_2025-01_2026-09.csv",
            "OIS daily data current month.xlsx",
            "bank-rate-history.csv",
            "sonia-daily-1997-2021.csv",
        ],
    ),
    ("rents", &["privaterentalmarketstatistics231220.xls"]),
];

/// One damaged form of a file.
struct Variant {
    /// How it is damaged.
    name: String,
    content: Vec<u8>,
}

/// Returns the forms of a file, by its extension.
fn variants(path: &Path) -> Vec<Variant> {
    let bytes = fs::read(path).unwrap();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => text_variants(&String::from_utf8(bytes).unwrap()),
        Some("zip") => archive_variants(&bytes),
        _ => workbook_variants(&bytes),
    }
}

/// Checks a file in all its forms, and returns a paragraph for each.
fn describe(path: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let extension = path.extension().unwrap().to_str().unwrap();
    let mut described = check(path, &format!("{}/", path.parent().unwrap().display()));
    for variant in variants(path) {
        let file = folder.path().join(format!("{}.{extension}", variant.name));
        fs::write(&file, &variant.content).unwrap();
        described += &check(&file, &format!("{}/", folder.path().display()));
    }
    format!("# {name}\n{described}")
}

/// Returns what the program prints of one file: without its folder, the closing count and the cells
/// that it quotes.
fn check(file: &Path, folder: &str) -> String {
    let output = run(["data", "check", &file.display().to_string()]);
    assert!(
        output.code == Some(0) || output.code == Some(1),
        "{output:?}"
    );
    assert_eq!(output.stderr, "", "{}", file.display());
    let closing = match output.code {
        Some(0) => "A build takes 1 of 1 files.\n",
        _ => "A build takes 0 of 1 files.\n",
    };
    let lines = output.stdout.strip_suffix(closing);
    let lines = lines.unwrap_or_else(|| panic!("{output:?}")).lines();
    let masked = lines.map(|line| without_cells(&line.replace(folder, "")) + "\n");
    masked.collect()
}

/// What precedes the quoted cells of a line.
const BEFORE_CELLS: [&str; 2] = ["(the first: ", "no register begins with "];

/// Replaces the rows that a line quotes, which are the publisher's, by a mark. A quoted cell of a
/// few characters stays.
fn without_cells(line: &str) -> String {
    let mut parts = BEFORE_CELLS.iter();
    let quoted = parts.find_map(|before| Some((before, line.split_once(before)?)));
    let Some((before, (kept, mut rest))) = quoted else {
        return line.to_owned();
    };
    let mut masked = format!("{kept}{before}");
    while let Some((before, quoted)) = rest.split_once('"') {
        let mut escaped = false;
        let end = quoted.find(|c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let (cell, after) = quoted.split_at(end.unwrap_or(quoted.len()));
        let short = cell.len() <= 20 && !cell.contains(',');
        masked += &format!("{before}\"{}\"", if short { cell } else { "..." });
        rest = after.strip_prefix('"').unwrap_or_default();
    }
    masked + rest
}

/// Compares every file of a folder with its snapshot.
fn assert_folder(folder: &str) {
    let (_, files) = FILES.iter().find(|(name, _)| *name == folder).unwrap();
    for file in *files {
        let Some(data) = downloads::folder("the forms of a real file", &format!("{folder}/{file}"))
        else {
            continue;
        };
        let stem = file.rsplit_once('.').unwrap().0.replace([' ', '_'], "-");
        insta::assert_snapshot!(
            format!("real_{folder}_{stem}"),
            describe(&data.join(folder).join(file))
        );
    }
}

#[test]
fn every_form_of_the_real_areas_has_its_sentence() {
    assert_folder("areas");
}

#[test]
fn every_form_of_the_real_benchmarks_has_its_sentence() {
    assert_folder("benchmarks");
}

#[test]
fn every_form_of_the_real_certificates_has_its_sentence() {
    assert_folder("epc");
}

#[test]
fn every_form_of_the_real_price_index_has_its_sentence() {
    assert_folder("hpi");
}

#[test]
fn every_form_of_the_real_postcodes_has_its_sentence() {
    assert_folder("postcodes");
}

#[test]
fn every_form_of_the_real_price_paid_data_has_its_sentence() {
    assert_folder("ppd");
}

#[test]
fn every_form_of_the_real_rates_has_its_sentence() {
    assert_folder("rates");
}

#[test]
fn every_form_of_the_real_rents_has_its_sentence() {
    assert_folder("rents");
}

#[test]
fn every_real_file_is_in_the_list() {
    let Some(data) = downloads::folder("the list of real files", "areas") else {
        return;
    };
    let listed = |path: &Path| {
        FILES.iter().any(|(folder, files)| {
            let files = files.iter();
            files
                .map(|file| data.join(folder).join(file))
                .any(|file| file == *path)
        })
    };
    let folders = fs::read_dir(&data)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let missing: Vec<PathBuf> = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| {
            fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
        })
        .filter(|path| !listed(path))
        .collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
}
