//! The readers over the publishers' own files, where they are at hand.

use super::downloads;
use domesday_registers::address::{keys_of_lines, keys_of_parts};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::rows::{Register, Rows};
use domesday_registers::{AddressKey, BytesRead, areas, certificates, code_point};
use domesday_registers::{house_price_index, price_paid};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Returns a real file, or `None` and one line that says so.
fn real(test: &str, file: &str) -> Option<PathBuf> {
    Some(downloads::folder(test, file)?.join(file))
}

/// Counts the rows kept and rejected, and checks that every byte of the file was read.
fn count<T: Register>(test: &str, file: &str) -> Option<(usize, usize)> {
    let path = real(test, file)?;
    let bytes_read = BytesRead::default();
    let rows = Rows::<T>::open(&path, &bytes_read).unwrap();
    let (kept, lost): (Vec<bool>, _) = rows.map(|row| row.unwrap().is_ok()).partition(|kept| *kept);
    if !file.ends_with(".zip") {
        assert_eq!(bytes_read.bytes(), std::fs::metadata(&path).unwrap().len());
    }
    Some((kept.len(), lost.len()))
}

#[test]
fn price_paid_data_in_all_its_layouts() {
    for (file, expected) in [
        ("ppd/pp-rg30-1995-2023.csv", (24_077, 0)),
        ("ppd/pp-complete-head-1995.csv", (10_298, 0)),
        (
            "ppd/greater-manchester-2019-linked-data-export.csv",
            (15_374, 0),
        ),
        ("ppd/leicestershire-matched-ppd.csv", (3_030, 0)),
        // "NAN" stands in the place of 68 postcodes.
        ("ppd/bristol-2021-2025-renamed-columns.csv", (34_543, 0)),
    ] {
        let Some(counted) = count::<price_paid::PricePaidFile>("price paid data", file) else {
            continue;
        };
        assert_eq!(counted, expected, "{file}");
    }
}

#[test]
fn the_other_registers() {
    let test = "the other registers";
    let expect = |counted: Option<(usize, usize)>, expected| {
        if let Some(counted) = counted {
            assert_eq!(counted, expected);
        }
    };
    expect(
        count::<certificates::CertificateFile>(test, "epc/leicestershire-certificates.csv"),
        (2_214, 0),
    );
    expect(
        count::<code_point::CodePointFile>(test, "postcodes/codepo_gb.zip"),
        (1_745_013, 836),
    );
    expect(
        count::<areas::AreaFile>(test, "areas/SAM_LAD_DEC_2023_UK.csv"),
        (361, 0),
    );
    expect(
        count::<areas::AuthorityCodeFile>(test, "areas/local-authority-codes-past-and-current.csv"),
        (415, 0),
    );
    expect(
        count::<house_price_index::IndexFile>(test, "hpi/UK-HPI-London-full-columns.csv"),
        (682, 0),
    );
    expect(
        count::<house_price_index::IndexFile>(test, "hpi/UK-HPI-regions-full-columns.csv"),
        (6_284, 0),
    );
}

#[test]
fn certificates_leave_nothing_aside() {
    let Some(path) = real("certificates", "epc/leicestershire-certificates.csv") else {
        return;
    };
    let mut rows = Rows::<CertificateFile>::open(&path, &BytesRead::default()).unwrap();
    assert_eq!(
        rows.by_ref().filter(|row| matches!(row, Ok(Ok(_)))).count(),
        2_214
    );
    assert!(rows.warnings().is_empty(), "{:?}", rows.warnings());
}

/// Sales that share a postcode with their certificate find it by key.
#[test]
fn leicestershire_sales_find_their_certificates() {
    let Some(certificates) = real("address keys", "epc/leicestershire-certificates.csv") else {
        return;
    };
    let Some(sales) = real("address keys", "ppd/leicestershire-matched-ppd.csv") else {
        return;
    };
    let mut homes: HashMap<(String, AddressKey), HashSet<Option<u64>>> = HashMap::new();
    for row in Rows::<CertificateFile>::open(&certificates, &BytesRead::default()).unwrap() {
        let row = row.unwrap().unwrap();
        for key in keys_of_lines(&row.lines, &row.town, &row.postcode) {
            homes
                .entry((row.postcode.to_string(), key))
                .or_default()
                .insert(row.uprn);
        }
    }
    assert!(
        homes.values().all(|uprns| uprns.len() == 1),
        "one key of two homes"
    );
    let found = |row: &domesday_registers::records::PricePaid| {
        let postcode = row
            .postcode
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let keys = keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality);
        keys.into_iter()
            .any(|key| homes.contains_key(&(postcode.clone(), key)))
    };
    let rows = Rows::<PricePaidFile>::open(&sales, &BytesRead::default()).unwrap();
    let matched = rows
        .filter(|row| matches!(row, Ok(Ok(row)) if found(row)))
        .count();
    assert_eq!(matched, 3_029, "of 3,030");
}

/// The keys of a sale include the key that a client would write from the register's own cells.
#[test]
fn a_sale_is_found_as_a_client_would_write_it() {
    for file in [
        "ppd/pp-rg30-1995-2023.csv",
        "ppd/bristol-2021-2025-renamed-columns.csv",
    ] {
        let Some(path) = real("address keys as asked", file) else {
            continue;
        };
        let (mut asked, mut found) = (0.0, 0.0);
        for row in Rows::<PricePaidFile>::open(&path, &BytesRead::default()).unwrap() {
            let Ok(row) = row.unwrap() else { continue };
            let building = format!("{}, {}", row.saon, row.paon);
            let Some(key) = AddressKey::of_request(&building, &row.street) else {
                continue;
            };
            asked += 1.0;
            let keys = keys_of_parts(&row.saon, &row.paon, &row.street, &row.locality);
            found += f64::from(u8::from(keys.contains(&key)));
        }
        assert!(found / asked > 0.995, "{file}: {found} of {asked}");
    }
}
