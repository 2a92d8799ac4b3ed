//! Register files as users spoil them: the outcome of each, made from the publishers' own files.

use super::downloads;
use domesday_registers::certificates::CertificateFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::rows::Register;
use domesday_registers::sources::{Kind, Verdict, list};
use domesday_registers::{MaxRejected, ReadError};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct File;

impl Kind for File {
    fn name(self) -> &'static str {
        "file"
    }
}

/// Returns the counts of a build from a file with this content, or its error.
fn outcome<T: Register>(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.csv");
    std::fs::write(&path, content).unwrap();
    let given: [PathBuf; 1] = [path];
    let mut sources = list(&[(File, &given[..])], &mut |_, _, _| ()).unwrap();
    let read = sources[0].read::<T, (), ReadError>(
        MaxRejected::default(),
        &mut |_, _, _| (),
        |_| Verdict::Kept,
        |_, _| Ok(()),
    );
    let report = &sources[0].report;
    match read {
        Ok(()) => format!("{} kept, rejected {:?}", report.rows_kept, report.rejected),
        Err(error) => error
            .to_string()
            .replace(&format!("{}/", folder.path().display()), ""),
    }
}

/// Returns the file in each damaged form, by name. Only the first 400 lines are used.
fn variants(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&str> = text.lines().take(400).collect();
    let whole = lines.join("\n") + "\n";
    let delimited = |delimiter: &str| {
        let mut quoted = false;
        let cells = whole.chars().map(|c| {
            quoted ^= c == '"';
            match c {
                ',' if !quoted => delimiter.to_owned(),
                c => c.to_string(),
            }
        });
        cells.collect::<String>().into_bytes()
    };
    let marked = format!("\u{feff}{whole}");
    let utf16 = |text: &str, to: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to).collect()
    };
    // The days of both registers: 2019-04-11 becomes 11/04/2019.
    let mut dates = String::new();
    let mut rest = whole.as_str();
    while let Some(at) = rest.find('-') {
        let day = at.checked_sub(4).and_then(|from| rest.get(from..from + 10));
        let is_day = |day: &&str| {
            let shape = |(at, c): (usize, char)| (c == '-') == (at == 4 || at == 7);
            day.char_indices().all(shape) && day.chars().all(|c| c == '-' || c.is_ascii_digit())
        };
        match day.filter(is_day) {
            Some(day) => {
                dates.push_str(&rest[..at - 4]);
                write!(dates, "{}/{}/{}", &day[8..], &day[5..7], &day[..4]).unwrap();
                rest = &rest[at + 6..];
            }
            None => {
                dates.push_str(&rest[..=at]);
                rest = &rest[at + 1..];
            }
        }
    }
    dates.push_str(rest);
    let half = lines.len() / 2;
    vec![
        ("as published", whole.clone().into_bytes()),
        ("semicolons", delimited(";")),
        ("tabs", delimited("\t")),
        ("UTF-16, little end first", utf16(&marked, u16::to_le_bytes)),
        ("UTF-16, big end first", utf16(&marked, u16::to_be_bytes)),
        (
            "UTF-16 without a mark, little end first",
            utf16(&whole, u16::to_le_bytes),
        ),
        (
            "UTF-16 without a mark, big end first",
            utf16(&whole, u16::to_be_bytes),
        ),
        ("joined header", whole.replacen('\n', "", 1).into_bytes()),
        ("truncated", whole.as_bytes()[..whole.len() - 60].to_vec()),
        ("days as DD/MM/YYYY", dates.into_bytes()),
        ("first half", lines[..half].join("\n").into_bytes()),
        ("second half", lines[half..].join("\n").into_bytes()),
        ("first line alone", lines[0].as_bytes().to_vec()),
        (
            "a web page",
            b"<!DOCTYPE html>\n<title>404</title>\n".to_vec(),
        ),
        ("nothing", Vec::new()),
    ]
}

fn describe_variants<T: Register>(test: &str, file: &str) -> Option<String> {
    let path = downloads::folder(test, file)?.join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let outcomes = variants(&text)
        .into_iter()
        .map(|(name, content)| format!("{name}: {}\n", outcome::<T>(&content)));
    Some(outcomes.collect())
}

#[test]
fn every_damaged_form_of_the_linked_data_export_is_named() {
    let file = "ppd/greater-manchester-2019-linked-data-export.csv";
    if let Some(outcomes) = describe_variants::<PricePaidFile>("damaged linked data", file) {
        insta::assert_snapshot!(outcomes);
    }
}

#[test]
fn every_damaged_form_of_the_official_file_is_named() {
    let file = "ppd/pp-complete-head-1995.csv";
    if let Some(outcomes) = describe_variants::<PricePaidFile>("damaged price paid data", file) {
        insta::assert_snapshot!(outcomes);
    }
}

#[test]
fn every_damaged_form_of_the_certificates_is_named() {
    let file = "epc/leicestershire-certificates.csv";
    if let Some(outcomes) = describe_variants::<CertificateFile>("damaged certificates", file) {
        insta::assert_snapshot!(outcomes);
    }
}
