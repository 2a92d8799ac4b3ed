//! Checking files before a build.

use crate::command_line::making::registers;
use crate::common::program::{ProcessOutput, run};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Every register of the made-up country, with the flag that takes its file.
pub(super) const REGISTERS: [(&str, &str); 7] = [
    ("price-paid.csv", "--price-paid"),
    ("certificates.csv", "--certificates"),
    ("codepo_gb.zip", "--code-point"),
    ("SAM_LAD_DEC_2023_UK.csv", "--areas"),
    (
        "local-authority-codes-past-and-current.csv",
        "--authority-codes",
    ),
    ("UK-HPI-full-file.csv", "--house-price-index"),
    ("addresses.csv", "--addresses"),
];

fn check(files: &[PathBuf]) -> ProcessOutput {
    let files = files.iter().map(|file| file.display().to_string());
    run(["data".to_owned(), "check".to_owned()]
        .into_iter()
        .chain(files))
}

/// Returns what is said of a file with this content.
pub(super) fn check_content(folder: &Path, name: &str, content: &[u8]) -> ProcessOutput {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    check(&[path])
}

/// Returns the first rows of a register.
pub(super) fn rows(file: &str) -> String {
    let text = fs::read_to_string(registers().join(file)).unwrap();
    text.split_inclusive('\n').take(100).collect()
}

pub(super) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn every_register_is_named_with_its_flag_and_its_rows() {
    let files: Vec<PathBuf> = REGISTERS
        .iter()
        .map(|(file, _)| registers().join(file))
        .collect();
    let output = check(&files).ok().stdout;
    for (file, flag) in REGISTERS {
        let line = output.lines().find(|line| line.contains(file)).unwrap();
        assert!(line.ends_with(&format!("({flag})")), "{line}");
    }
    assert_eq!(output.matches(" kept by a snapshot").count(), 7, "{output}");
    // Market statistics take no address file.
    assert_eq!(
        output.matches(" by market statistics").count(),
        6,
        "{output}"
    );
    assert!(
        output.ends_with("A build takes 7 of 7 files.\n"),
        "{output}"
    );
}

#[test]
fn every_rates_file_is_named_with_its_flag() {
    let folder = folder();
    let sources = folder.path().join("sources");
    run(["demo-data", &sources.display().to_string(), "--rates"]).ok();
    let entries = fs::read_dir(&sources).unwrap();
    let files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "csv"))
        .collect();
    let output = check(&files).ok().stdout;
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let flag = match name.contains("curve") || name.contains("inflation") {
            true => "(--curves)",
            false => "(--bank-csv)",
        };
        let line = output.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.ends_with(flag), "{line}");
    }
    let unknown = b"DATE,XUDNONE\n18 Dec 2025,3.75\n";
    let refused = check_content(folder.path(), "codes.csv", unknown);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for part in ["(--bank-csv)", "Looked for: ", "Found: XUDNONE"] {
        assert!(refused.stdout.contains(part), "{refused:?}");
    }
    let damaged = b"DATE,IUDBEDR\n18 Dec 2025,3.75\n18 Dec 2025,4\n";
    let refused = check_content(folder.path(), "rates.csv", damaged);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stdout.contains("rates.csv, line 3, column IUDBEDR"),
        "{refused:?}"
    );
}

#[test]
fn a_workbook_of_rents_is_named_with_its_flag() {
    let workbook = registers().join("price-index-of-private-rents.xlsx");
    let output = check(&[workbook]).ok().stdout;
    assert!(output.contains("private rents (--rents)"), "{output}");
    assert!(output.contains(" rents read, "), "{output}");
    assert!(
        output.ends_with("A build takes 1 of 1 files.\n"),
        "{output}"
    );
}

#[test]
fn every_damaged_form_is_named_with_its_register_and_its_repair() {
    let folder = folder();
    let text = rows("certificates.csv");
    let utf16 = |to: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let text = format!("\u{feff}{text}");
        text.encode_utf16().flat_map(to).collect()
    };
    for (name, content, repair) in [
        (
            "semicolons.csv",
            text.replace(',', ";").into_bytes(),
            "delimiter=';'",
        ),
        (
            "tabs.csv",
            text.replace(',', "\t").into_bytes(),
            "delimiter='\\t'",
        ),
        ("little.csv", utf16(u16::to_le_bytes), "iconv -f UTF-16"),
        ("big.csv", utf16(u16::to_be_bytes), "iconv -f UTF-16"),
    ] {
        let output = check_content(folder.path(), name, &content);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stdout.contains("(--certificates)"), "{output:?}");
        assert!(output.stdout.contains("a build stops: "), "{output:?}");
        assert!(output.stdout.contains(repair), "{output:?}");
        assert!(
            output.stdout.ends_with("A build takes 0 of 1 files.\n"),
            "{output:?}"
        );
    }
    let header = text.lines().next().unwrap();
    for (name, content, reason) in [
        ("joined.csv", text.replacen('\n', "", 1), "share line 1"),
        (
            "headless.csv",
            text.replacen(header, "", 1),
            "line 1 is a row",
        ),
        ("header.csv", format!("{header}\n"), "no row follows"),
        (
            "page.csv",
            "<!DOCTYPE html>\n<title>404</title>\n".to_owned(),
            "is a web page",
        ),
        ("nothing.csv", String::new(), "is empty"),
        ("other.csv", "name,colour\nrose,red\n".to_owned(), "unknown"),
    ] {
        let output = check_content(folder.path(), name, content.as_bytes());
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stdout.contains(reason), "{output:?}");
    }
    let absent = check(&[folder.path().join("absent.csv")]);
    assert_eq!(absent.code, Some(1), "{absent:?}");
    assert!(absent.stdout.contains("cannot be opened"), "{absent:?}");
}

#[test]
fn sales_without_a_postcode_are_kept_by_market_statistics_alone() {
    let folder = folder();
    let text = rows("price-paid.csv");
    let mut without = 0;
    let content: String = text
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if without < 30 {
                cells[3] = "NAN";
                without += 1;
            }
            cells.join(",") + "\n"
        })
        .collect();
    let output = check_content(folder.path(), "pp.csv", content.as_bytes()).ok();
    for part in [
        "100 rows read, 100 sound, 70 kept by a snapshot, 100 by market statistics",
        "left out by a snapshot: no_postcode 30 (the first: line 1)",
    ] {
        assert!(output.stdout.contains(part), "{output:?}");
    }
    let rates = b"DATE,IUDBEDR,IUDSOIA\n01 Sep 2026,3.75,3.7\n02 Sep 2026,3.75,\n03 Sep 2026,,\n";
    let output = check_content(folder.path(), "bank.csv", rates).ok();
    let counts = "2 rows with values, 3 values kept by a build";
    assert!(output.stdout.contains(counts), "{output:?}");
}

#[test]
fn rejected_rows_are_counted_by_reason_with_the_first_line() {
    let folder = folder();
    let text = rows("price-paid.csv");
    let lines: Vec<String> = (1..)
        .zip(text.lines())
        .map(|(number, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if number == 3 || number == 5 {
                cells[1] = "12.5";
            }
            cells.join(",")
        })
        .collect();
    let content = lines.join("\n") + "\n";
    let output = check_content(folder.path(), "pp.csv", content.as_bytes()).ok();
    assert!(
        output.stdout.contains("100 rows read, 98 sound, "),
        "{output:?}"
    );
    assert!(
        output
            .stdout
            .contains("rejected: bad_price 2 (the first: line 3: "),
        "{output:?}"
    );
    assert!(output.stdout.contains("whole pounds"), "{output:?}");
    let path = folder.path().join("pp.csv").display().to_string();
    let strict = run(["data", "check", "--max-rejected", "1", &path]);
    assert_eq!(strict.code, Some(1), "{strict:?}");
    assert!(
        strict.stdout.contains("2 of 100 rows are rejected"),
        "{strict:?}"
    );
    let cut = &text.as_bytes()[..text.len() - 40];
    let cut = check_content(folder.path(), "cut.csv", cut).ok();
    assert!(
        cut.stdout
            .contains("rejected: cut_short 1 (the first: line 100: "),
        "{cut:?}"
    );
}
