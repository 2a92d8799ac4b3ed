//! Any bytes as a zip archive. A member that is read whole has the length that the directory
//! states, and all members together are bounded by the file.
#![no_main]

use domesday_registers::BytesRead;
use domesday_registers::zip_source::{check_workbook, is_workbook, members_of, read_from};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read, copy, sink};

/// What members may unpack to, whatever the file's length.
const ALWAYS_ALLOWED: u64 = 64 << 20;
const MAX_RATIO: u64 = 100;

fuzz_target!(|bytes: &[u8]| {
    let _ = (
        check_workbook(Cursor::new(bytes)),
        is_workbook(Cursor::new(bytes)),
    );
    let Ok(members) = members_of(Cursor::new(bytes), |_| true) else {
        return;
    };
    let most = (bytes.len() as u64)
        .saturating_mul(MAX_RATIO)
        .max(ALWAYS_ALLOWED);
    assert!(members.iter().map(|member| member.size()).sum::<u64>() <= most);
    for member in &members {
        let Ok(reader) = read_from(Cursor::new(bytes), member, &BytesRead::default()) else {
            continue;
        };
        let mut bounded = reader.take(member.size() + 1);
        if let Ok(read) = copy(&mut bounded, &mut sink()) {
            assert_eq!(read, member.size());
        }
    }
});
