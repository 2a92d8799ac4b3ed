//! Resolution judged on real addresses, each labelled by hand from the registers.
//!
//! labels/README.md says how the addresses were chosen and labelled. The labels name rows of the
//! publishers' files, never an address. What is still wrong is listed in
//! docs/reference/real-data.md.

mod forms;

use super::publishers;
use domesday_property::{Resolution, Snapshot, build};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::PricePaid;
use domesday_registers::rows::Rows;
use domesday_registers::{BytesRead, RejectedRow};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Cases that the resolver still gets wrong; docs/reference/real-data.md describes each.
const STILL_WRONG: [u32; 2] = [84, 196];

const FILES: [(&str, usize); 2] = [
    // The first row's line.
    ("leicestershire-matched-ppd.csv", 2),
    ("pp-rg30-1995-2023.csv", 1),
];

struct Label<'a> {
    case: u32,
    file: &'a str,
    line: usize,
    form: &'a str,
    expected: &'a str,
    certificate_line: Option<usize>,
}

fn labels() -> Vec<Label<'static>> {
    let cells = |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        let [case, file, line, form, expected, certificate] = cells[..] else {
            panic!("not six cells: {line}");
        };
        Label {
            case: case.parse().unwrap(),
            file,
            line: line.parse().unwrap(),
            form,
            expected,
            certificate_line: certificate.parse().ok(),
        }
    };
    let text = include_str!("../labels/addresses.csv");
    text.lines().skip(1).map(cells).collect()
}

fn sales(path: &Path) -> Vec<Result<PricePaid, RejectedRow>> {
    let rows = Rows::<PricePaidFile>::open(path, &BytesRead::default()).unwrap();
    rows.map(Result::unwrap).collect()
}

fn outcome(found: Resolution) -> &'static str {
    match found {
        Resolution::Exact(_) => "exact",
        Resolution::NotFound => "not_found",
        Resolution::NotResidential => "not_residential",
        Resolution::Ambiguous {
            needs_unit: true, ..
        } => "needs_unit",
        Resolution::Ambiguous {
            needs_unit: false, ..
        } => "ambiguous",
    }
}

#[test]
fn two_hundred_labels_name_distinct_cases() {
    let labels = labels();
    assert_eq!(labels.len(), 200);
    let cases: BTreeSet<_> = labels.iter().map(|l| (l.file, l.line, l.form)).collect();
    assert_eq!(cases.len(), 200);
    for label in &labels {
        assert_eq!(
            label.certificate_line.is_some(),
            label.expected == "exact",
            "case {}",
            label.case
        );
    }
}

#[test]
fn the_resolver_agrees_with_the_labels() {
    let Some(data) = publishers::folder("the_resolver_agrees_with_the_labels") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("real");
    build::build(
        "real",
        &publishers::inputs(&data),
        &directory,
        &mut |_, _, _| {},
    )
    .unwrap();
    let snapshot = Snapshot::open(&directory.join(build::SNAPSHOT_FILE)).unwrap();
    let certificates: Vec<_> =
        Rows::<CertificateFile>::open(&data.join(publishers::CERTIFICATES), &BytesRead::default())
            .unwrap()
            .map(Result::unwrap)
            .collect();
    let sold: BTreeMap<&str, (usize, Vec<_>)> = FILES
        .iter()
        .map(|(file, first)| (*file, (*first, sales(&data.join("ppd").join(file)))))
        .collect();

    let mut table: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for label in labels() {
        let (first, rows) = &sold[label.file];
        let sale = rows[label.line - first].as_ref().unwrap();
        let request = forms::request(label.form, sale);
        let postcode = sale.postcode.as_ref().unwrap();
        let found = snapshot
            .resolve(postcode, &request.building, &request.street)
            .unwrap();
        let meant = label.certificate_line.map(|line| {
            let certificate = certificates[line - 2].as_ref().unwrap();
            certificate.uprn.unwrap()
        });
        let got = match found {
            Resolution::Exact(uprn) if meant.is_some_and(|meant| meant != uprn) => "another home",
            found => outcome(found),
        };
        *table.entry((label.expected, got)).or_default() += 1;
        if got != label.expected {
            println!(
                "case {}: {} line {}, {}: {} expected, {got}",
                label.case, label.file, label.line, label.form, label.expected
            );
            wrong.push(label.case);
        }
    }
    println!("{:<16} {:<16} cases", "expected", "found");
    for ((expected, got), cases) in &table {
        println!("{expected:<16} {got:<16} {cases:>5}");
    }

    // Every sold address of the two files, as the register writes it.
    for (file, (_, rows)) in &sold {
        let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for sale in rows.iter().filter_map(|row| row.as_ref().ok()) {
            let Some(postcode) = &sale.postcode else {
                continue;
            };
            let request = forms::request("written", sale);
            if seen.insert((
                postcode.clone(),
                request.building.clone(),
                request.street.clone(),
            )) {
                let found = snapshot.resolve(postcode, &request.building, &request.street);
                *outcomes.entry(outcome(found.unwrap())).or_default() += 1;
            }
        }
        println!("{file}: {} addresses as written: {outcomes:?}", seen.len());
    }
    assert_eq!(wrong, STILL_WRONG);
}
