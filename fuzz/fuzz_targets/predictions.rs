//! Any text as a model's recorded predictions. What is read is written and read again as the same.
#![no_main]

use domesday_engine::predictions::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(rows) = read(text) else { return };
    assert!(!rows.is_empty());
    let mut written = Vec::new();
    write(&rows, &mut written).unwrap();
    let mut again = Vec::new();
    write(&read(&written[..]).unwrap(), &mut again).unwrap();
    assert_eq!(written, again);
});
