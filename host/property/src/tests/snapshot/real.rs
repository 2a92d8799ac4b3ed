//! The publishers' own files, where they are at hand.

use crate::tests::publishers;
use domesday_property::build::{self, Report};
use domesday_property::{Resolution, Snapshot};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::rows::Rows;
use domesday_registers::{BytesRead, Day};
use std::path::Path;

#[test]
fn a_snapshot_of_the_real_registers() {
    let Some(data) = publishers::folder("a_snapshot_of_the_real_registers") else {
        return;
    };
    let certificates = data.join(publishers::CERTIFICATES);
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("real");
    let report = build::build(
        "real",
        &publishers::inputs(&data),
        &directory,
        &mut |_, _, _| {},
    )
    .unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/real-data.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    for line in figures(&report) {
        assert!(
            docs.contains(&line),
            "docs/reference/real-data.md has no line {line}"
        );
    }
    for file in &report.files {
        let refused: u64 = file.rejected.values().chain(file.left_out.values()).sum();
        assert_eq!(file.rows_read, file.rows_kept + refused, "{}", file.file);
    }
    let matched = report.sales.matching["one_property"];
    assert!(
        matched > 2_900,
        "of 3,030 sales with certificates, {matched} met their property"
    );

    border(&Snapshot::open(&directory.join(build::SNAPSHOT_FILE)).unwrap());

    // Every certificate's property is there, and was on record only after lodgement.
    let snapshot = Snapshot::open(&directory.join(build::SNAPSHOT_FILE)).unwrap();
    let rows: Rows<CertificateFile> = Rows::open(&certificates, &BytesRead::default()).unwrap();
    for row in rows.map(|row| row.unwrap().unwrap()) {
        let Some(uprn) = row.uprn else { continue };
        let property = snapshot.property(uprn).unwrap().unwrap();
        assert!(property.attributes_before(Day(row.lodged.0 + 1)).is_some());
        assert!(property.certificates.iter().any(|c| c.lodged == row.lodged));
        assert!(property.place.is_some());
        let (line, street) = (&row.lines[0], row.lines.get(1));
        if let Some((building, street)) = line
            .split_once(' ')
            .filter(|_| street.is_none() && line.starts_with(|c: char| c.is_ascii_digit()))
        {
            let found = snapshot.resolve(&row.postcode, building, street).unwrap();
            assert!(
                !matches!(found, Resolution::NotResidential),
                "a certified home"
            );
        }
    }
}

/// Checks places on both sides of the border, kilometres apart.
fn border(snapshot: &Snapshot) {
    let started = std::time::Instant::now();
    for (name, easting, northing, beyond) in [
        ("Coldstream", 384_300, 639_800, true),
        ("Cornhill-on-Tweed", 386_200, 639_400, false),
        ("Gretna", 331_900, 567_100, true),
        ("Longtown", 338_000, 568_600, false),
        ("Eyemouth", 394_400, 664_200, true),
        ("Berwick-upon-Tweed", 399_800, 652_900, false),
        ("Charing Cross", 530_000, 180_400, false),
    ] {
        let found = snapshot.beyond_border(easting, northing).unwrap();
        assert_eq!(found, beyond, "{name}");
    }
    println!("the border was read in {:?}", started.elapsed());
}

/// Returns the lines of the tables in docs/reference/real-data.md.
fn figures(report: &Report) -> Vec<String> {
    let files = report.files.iter().map(|file| {
        let refused: Vec<String> = file
            .rejected
            .iter()
            .chain(&file.left_out)
            .map(|(reason, count)| format!("{} `{reason}`", group_digits(*count)))
            .collect();
        format!(
            "| {} | {} | {} | {} |",
            file.file,
            group_digits(file.rows_read),
            group_digits(file.rows_kept),
            refused.join(", ")
        )
    });
    let (homes, sales) = (&report.homes, &report.sales);
    let matching = |how: &str| sales.matching[how];
    let counts = [
        ("postcodes", report.places.postcodes),
        ("properties, each with a certificate", homes.properties),
        ("certificates", homes.certificates),
        ("addresses of exactly one home", homes.addresses_of_one_home),
        ("addresses of several", homes.addresses_ambiguous),
        ("sales", sales.transactions),
        ("rows that repeat a sale", sales.repeated),
        ("sales with coordinates", sales.placed),
        ("sales of category A", sales.standard),
        ("sales of type O", sales.other_type),
        ("sales of exactly one property", matching("one_property")),
        (
            "sales in a postcode with certificates, at an address without",
            matching("address_unknown"),
        ),
        (
            "sales in a postcode without certificates",
            matching("postcode_without_addresses"),
        ),
        (
            "sales with a certificate lodged by their day",
            sales.certificates["lodged_by_sale_day"],
        ),
        (
            "sales whose first certificate came later",
            sales.certificates["first_lodged_later"],
        ),
    ];
    let counts = counts.map(|(what, count)| format!("| {what} | {} |", group_digits(count)));
    files.chain(counts).collect()
}

/// Formats 1234567 as "1,234,567".
fn group_digits(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", group_digits(count / 1_000), count % 1_000),
    }
}
