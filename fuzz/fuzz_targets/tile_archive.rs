//! Any bytes as a file of map tiles: opened with bounds on the globe, or refused.
#![no_main]

use domesday_console::tile_archive::TileArchive;
use domesday_fuzz::write_folder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = write_folder(&[("map.pmtiles", bytes)]);
    match TileArchive::open(&folder.path().join("map.pmtiles")) {
        Ok(archive) => {
            assert_eq!(archive.bytes(), bytes.len() as u64);
            assert!(!archive.covers(f64::NAN, f64::NAN) && !archive.covers(0.0, 1e9));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
