//! Any bytes as the body of a batch route, and then each row of it.
#![no_main]

use domesday_contract::v3::request::{Batch, Development, Kind, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    for kind in [Kind::Existing, Kind::Development] {
        let Ok(batch) = Batch::read(body, kind, 50) else {
            continue;
        };
        assert!((1..=50).contains(&batch.rows.len()));
        for row in batch.rows {
            let refused = match kind {
                Kind::Existing => Request::read_row(row, batch.settings).err(),
                Kind::Development => Development::read_row(row, batch.settings).err(),
            };
            assert!(refused.is_none_or(|refused| !refused.errors.is_empty()));
        }
    }
});
