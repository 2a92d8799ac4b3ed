//! The publishers' own files, from the download to a valuation. The program builds a snapshot and a
//! release, serves them, and values real homes by UPRN and by address alone.
//!
//! Homes are named by their rows in the files (the header is line 1), never by their addresses.

use crate::common::client::Client;
use crate::common::downloads::folder;
use crate::common::server::start;
use crate::real_place::RealPlace;
use domesday_registers::BytesRead;
use domesday_registers::certificates::CertificateFile;
use domesday_registers::codes::{PropertyType, Tenure};
use domesday_registers::house_price_index::IndexFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::records::{IndexRow, PricePaid};
use domesday_registers::rows::Rows;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const SALES: &str = "ppd/leicestershire-matched-ppd.csv";
const CERTIFICATES: &str = "epc/leicestershire-certificates.csv";
const INDEX: &str = "hpi/UK-HPI-regions-full-columns.csv";
const EAST_MIDLANDS: &str = "E12000004";
const VALUATION_DATE: &str = "2026-01-15";

/// Lines of a sale and of the same home's certificate, one home of each type.
const HOMES: [(usize, usize); 4] = [(988, 306), (1796, 848), (3009, 1059), (2237, 66)];

/// Makes keys, snapshot and release with the commands of docs/how-to/run-on-real-data.md.
fn build(data: &Path, work: &Path) -> RealPlace {
    let place = RealPlace::new(data, work);
    let files = [
        ("--price-paid", "ppd/pp-rg30-1995-2023.csv"),
        ("--price-paid", "ppd/bristol-2021-2025-renamed-columns.csv"),
        (
            "--price-paid",
            "ppd/greater-manchester-2019-linked-data-export.csv",
        ),
        ("--price-paid", SALES),
        ("--price-paid", "ppd/pp-complete-head-1995.csv"),
        ("--certificates", CERTIFICATES),
    ];
    place.add_snapshot("registers", &files);
    place.add_release("leicestershire", "registers", &[]);
    place
}

/// Returns the request for a sold home, by its address alone.
fn request(sale: &PricePaid) -> Value {
    let (kind, subtype) = match sale.property_type {
        PropertyType::Detached => ("D", "house_detached"),
        PropertyType::SemiDetached => ("S", "house_semi_detached"),
        PropertyType::Terraced => ("T", "house_mid_terrace"),
        PropertyType::Flat => ("F", "flat_purpose_built"),
        PropertyType::Other => panic!("no home"),
    };
    let mut request = json!({
        "property": {
            "valuation_date": VALUATION_DATE,
            "postcode": sale.postcode.as_ref().unwrap().to_string(),
            "building_number_or_name": sale.paon,
            "street": sale.street,
            "type": kind,
            "subtype": subtype,
            "title_tenure": "freehold",
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"bedrooms": 3},
        "options": {"use_stored_data": true, "include_comparables": true, "comparables_limit": 10},
    });
    if sale.tenure == Some(Tenure::Leasehold) {
        request["property"]["title_tenure"] = "leasehold".into();
        request["lease"] = json!({"years_remaining": 95});
    }
    request
}

/// Returns the home's last sale price, moved to the last month by the region's index of its type.
fn indexed(index: &[IndexRow], last: &PricePaid) -> f64 {
    let level = |row: &IndexRow| match last.property_type {
        PropertyType::Detached => row.detached,
        PropertyType::SemiDetached => row.semi_detached,
        PropertyType::Terraced => row.terraced,
        PropertyType::Flat => row.flat,
        PropertyType::Other => row.all,
    };
    let of_region = || index.iter().filter(|row| row.area_code == EAST_MIDLANDS);
    let then = of_region()
        .filter(|row| row.month <= last.day.month())
        .max_by_key(|row| row.month);
    let now = of_region().max_by_key(|row| row.month);
    last.price_gbp as f64 * now.and_then(level).unwrap() / then.and_then(level).unwrap()
}

fn estimate(result: &Value) -> f64 {
    assert_eq!(result["status"], "valued", "{result:#}");
    result["valuation"]["estimated_value_gbp"].as_f64().unwrap()
}

/// Asserts the properties that a person expects of a list of comparables.
fn check_comparables(result: &Value, kind: &Value) {
    let comparables = result["comparables"].as_array().unwrap();
    let count = comparables.len();
    assert!((5..=10).contains(&count), "{count} comparables");
    let mut sales = BTreeSet::new();
    let mut similarity = 1.0;
    for (at, comparable) in comparables.iter().enumerate() {
        assert_eq!(comparable["rank"], at + 1);
        let day = comparable["sale_date"].as_str().unwrap();
        assert!(
            ("2021-12-01"..VALUATION_DATE).contains(&day),
            "{comparable}"
        );
        assert!(
            comparable["distance_m"].as_u64().unwrap() <= 15_000,
            "{comparable}"
        );
        let next = comparable["similarity"].as_f64().unwrap();
        assert!(next <= similarity && next > 0.0, "{comparable}");
        similarity = next;
        let mut sale = comparable.clone();
        sale.as_object_mut().unwrap().remove("rank");
        assert!(sales.insert(sale.to_string()), "twice: {comparable}");
    }
    let alike = comparables.iter().filter(|c| c["property_type"] == *kind);
    assert!(2 * alike.count() > count, "{result:#}");
    let near = comparables
        .iter()
        .filter(|c| c["distance_m"].as_u64() < Some(4_000));
    assert!(2 * near.count() > count, "{result:#}");
}

fn value(client: &Client, request: &Value) -> Value {
    client.post("/v3/value", request).ok()
}

#[test]
fn real_homes_are_valued_by_uprn_and_by_address_alone() {
    let Some(data) = folder("real_homes_are_valued_by_uprn_and_by_address_alone", SALES) else {
        return;
    };
    let work = tempfile::tempdir().unwrap();
    let place = build(&data, work.path());
    let server = start().releases(place.releases()).go();
    let client = server.demo();

    let quiet = BytesRead::default();
    let sales: Vec<_> = Rows::<PricePaidFile>::open(&data.join(SALES), &quiet)
        .unwrap()
        .map(|row| row.unwrap().unwrap())
        .collect();
    let certificates: Vec<_> = Rows::<CertificateFile>::open(&data.join(CERTIFICATES), &quiet)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let index: Vec<_> = Rows::<IndexFile>::open(&data.join(INDEX), &quiet)
        .unwrap()
        .filter_map(|row| row.unwrap().ok())
        .collect();
    for (line, certificate) in HOMES {
        let sale = &sales[line - 2];
        let uprn = certificates[certificate - 2].as_ref().unwrap().uprn;
        let uprn = uprn.unwrap().to_string();
        let by_address = request(sale);
        let mut by_uprn = by_address.clone();
        by_uprn["property"]["uprn"] = uprn.clone().into();
        let (alone, both) = (value(&client, &by_address), value(&client, &by_uprn));
        assert_eq!(alone["property"]["uprn"], *uprn);
        for part in ["property", "valuation", "confidence", "comparables"] {
            assert_eq!(alone[part], both[part], "line {line}");
        }
        check_comparables(&alone, &by_address["property"]["type"]);

        let same = |s: &&PricePaid| {
            (&s.postcode, &s.saon, &s.paon, &s.street)
                == (&sale.postcode, &sale.saon, &sale.paon, &sale.street)
        };
        let last = sales.iter().filter(same).max_by_key(|s| s.day.0).unwrap();
        let ratio = estimate(&alone) / indexed(&index, last);
        println!("line {line}: estimate over the last sale indexed: {ratio:.3}");
        assert!((0.7..1.4).contains(&ratio), "line {line}: {ratio}");
    }

    // A neighbour's UPRN is none of this address, and a sold home of a district without
    // certificates is not found.
    let mut mismatched = request(&sales[HOMES[0].0 - 2]);
    let other = certificates[HOMES[1].1 - 2].as_ref().unwrap().uprn.unwrap();
    mismatched["property"]["uprn"] = other.to_string().into();
    let (status, code, _) = client.post("/v3/value", &mismatched).refusal();
    assert_eq!((status, &*code), (422, "uprn_address_mismatch"));
    let rg30 = Rows::<PricePaidFile>::open(&data.join("ppd/pp-rg30-1995-2023.csv"), &quiet)
        .unwrap()
        .map(|row| row.unwrap().unwrap())
        .nth(12_505)
        .unwrap();
    let (status, code, _) = client.post("/v3/value", &request(&rg30)).refusal();
    assert_eq!((status, &*code), (422, "address_not_found"));
}
