//! Any text as a release's recorded rows. What is read is written and read again as the same.
#![no_main]

use domesday_engine::fixture::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(fixtures) = read(text) else { return };
    assert!(!fixtures.is_empty());
    let mut written = Vec::new();
    write(&fixtures, &mut written).unwrap();
    let mut again = Vec::new();
    write(&read(&written[..]).unwrap(), &mut again).unwrap();
    assert_eq!(written, again);
});
