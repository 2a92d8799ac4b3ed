//! Any bytes as a register's file. Each reader ends, names a line for each row, and never gives
//! more rows than bytes. A file has the kind that one of the readers takes.
#![no_main]

use domesday_fuzz::write_folder;
use domesday_registers::address_file::AddressFile;
use domesday_registers::areas::{AreaFile, AuthorityCodeFile};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::code_point::CodePointFile;
use domesday_registers::diagnosis::Diagnosis;
use domesday_registers::house_price_index::IndexFile;
use domesday_registers::open_uprn::OpenUprnFile;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::recognise;
use domesday_registers::rows::{Register, Rows};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fn read<T: Register>(bytes: &[u8]) {
    let Ok(mut rows) = Rows::<T>::from_reader("file", Cursor::new(bytes.to_vec())) else {
        return;
    };
    let mut count = 0;
    while let Some(row) = rows.next() {
        let line = match row {
            Ok(Ok(_)) => rows.position().1,
            Ok(Err(reject)) => reject.line,
            Err(_) => break,
        };
        count += 1;
        // A quotation mark that never closes is read again, so a line may follow a later one.
        assert!(line > 0);
    }
    assert!(count <= bytes.len() + 1);
}

fuzz_target!(|bytes: &[u8]| {
    read::<AddressFile>(bytes);
    read::<AreaFile>(bytes);
    read::<AuthorityCodeFile>(bytes);
    read::<CertificateFile>(bytes);
    read::<CodePointFile>(bytes);
    read::<IndexFile>(bytes);
    read::<OpenUprnFile>(bytes);
    read::<PricePaidFile>(bytes);
    if let Some(diagnosis) = Diagnosis::of(bytes) {
        assert!(!diagnosis.to_string().is_empty());
        if let Some(repaired) = diagnosis.apply_repair(bytes) {
            assert_ne!(repaired, bytes);
        }
    }
    let folder = write_folder(&[("file.csv", bytes)]);
    if let Err(error) = recognise(&folder.path().join("file.csv")) {
        assert!(!error.to_string().is_empty());
    }
});
