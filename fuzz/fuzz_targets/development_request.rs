//! Any bytes as the body of the development route.
#![no_main]

use domesday_contract::error::ERRORS_LISTED;
use domesday_contract::v3::request::Development;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    match Development::read(body) {
        Ok(read) => {
            assert!(read.size.floor_area_m2.is_some());
            assert!(!read.options.use_stored_data);
            assert!(read.energy.construction_age_band.is_none());
        }
        Err(refused) => assert!((1..=ERRORS_LISTED).contains(&refused.errors.len())),
    }
});
