//! Any bytes as the answer of an address provider: read within its bounds, or refused.
#![no_main]

use domesday_address_lookup::Failure;
use libfuzzer_sys::fuzz_target;

#[path = "../../host/address_lookup/src/os_places.rs"]
#[allow(dead_code)]
mod os_places;

/// Results asked of a provider at once.
const MOST: usize = 100;

fuzz_target!(|body: &[u8]| {
    match os_places::read(body, 0, MOST) {
        Ok(page) => {
            assert!(page.results.len() <= MOST.min(page.total));
            assert_eq!(page.results.is_empty(), page.total == 0);
        }
        Err(failure) => assert!(matches!(failure, Failure::Unreadable(_)), "{failure}"),
    }
});
