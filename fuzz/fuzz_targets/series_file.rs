//! Any bytes as the files that series are built from: tables of rates, and workbooks. The parts of
//! a workbook are parts of the input, so that its checksums are always right.
#![no_main]

use domesday_fuzz::{parts, write_folder, zip_archive};
use domesday_series::build::markets::count_rents;
use domesday_series::build::rates::{Inputs, read};
use libfuzzer_sys::fuzz_target;
use std::panic::{set_hook, take_hook};
use std::path::Path;

/// The parts of a workbook, in the order of the input's.
const PARTS: [&str; 7] = [
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
    "xl/worksheets/sheet1.xml",
    "xl/worksheets/sheet2.xml",
    "xl/styles.xml",
    "xl/sharedStrings.xml",
    "_rels/.rels",
];

fn read_all(path: &Path) {
    let paths = || vec![path.to_owned()];
    for (database, curves) in [(paths(), Vec::new()), (Vec::new(), paths())] {
        let inputs = Inputs {
            database,
            curves,
            synthetic: true,
        };
        match read(&inputs, &mut |_, _, _| ()) {
            Ok(published) => assert_eq!(published.sources.len(), 1),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    match count_rents(path) {
        Ok((rents, _)) => assert!(rents > 0),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Lets the reader of workbooks panic. `domesday_series` catches that and calls the workbook
/// damaged. A panic that nobody catches still ends the run.
fn permit_panics_of_reader() {
    let report_and_abort = take_hook();
    set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("", |location| location.file());
        if !place.contains("/calamine-") {
            report_and_abort(panic);
        }
    }));
}

fuzz_target!(init: permit_panics_of_reader(), |bytes: &[u8]| {
    let parts = parts(bytes);
    if parts.len() < 2 {
        let folder = write_folder(&[("file", bytes)]);
        return read_all(&folder.path().join("file"));
    }
    let named = PARTS.into_iter().zip(parts);
    let mut members: Vec<_> = named.filter(|(_, part)| !part.is_empty()).collect();
    members.push(("[Content_Types].xml", b"<Types/>"));
    let folder = write_folder(&[("file", &zip_archive(&members))]);
    read_all(&folder.path().join("file"));
});
