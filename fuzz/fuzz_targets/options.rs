//! Any text as the options of a row and of its batch: each setting is the row's, else the batch's.
#![no_main]

use domesday_contract::v3::request::{Batch, Kind, Request};
use libfuzzer_sys::fuzz_target;

const ROW: &str = r#""property":{"valuation_date":"2026-10-15","postcode":"ZZ1 1AA","building_number_or_name":"1","street":"Larkspur Lane","type":"D","subtype":"house_detached","title_tenure":"freehold"},"occupancy":{"status":"vacant"},"size":{"floor_area_m2":90}"#;

fuzz_target!(|texts: (&str, &str)| {
    let (shared, own) = texts;
    let body = format!(r#"{{"options":{shared},"requests":[{{"options":{own},{ROW}}}]}}"#);
    let Ok(batch) = Batch::read(body.as_bytes(), Kind::Existing, 1) else {
        return;
    };
    let [row] = batch.rows[..] else { return };
    let (Ok(within), Ok(alone)) = (
        Request::read_row(row, batch.settings),
        Request::read_row(row, Default::default()),
    ) else {
        return;
    };
    assert!(within.options.comparables_limit <= 10);
    if own.trim() == "{}" || own.trim() == "null" {
        assert_eq!(within.options, batch.settings.within(Default::default()));
        assert_eq!(
            alone.options,
            domesday_contract::v3::options::Settings::default().within(Default::default())
        );
    }
});
