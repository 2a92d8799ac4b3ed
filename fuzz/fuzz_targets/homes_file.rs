//! Any bytes as a file of homes for the console: a request for each row, or a reason.
#![no_main]

use domesday_console::homes_file::HomesFile;
use domesday_console::homes_text::decode;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = decode(bytes);
    match HomesFile::read(&text) {
        Ok(homes) => {
            assert!(
                homes
                    .rows
                    .iter()
                    .all(|row| row.len() <= homes.headings.len())
            );
            let requests: usize = homes.parts(100, true).map(|part| part.len()).sum();
            assert_eq!(requests, homes.rows.len());
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
});
