//! A release of rates that the builder computes from the publisher's layout.

use crate::v1_contract::fixture_releases::publication;
use domesday_series::build::rates::{Inputs, derive, read};
use domesday_series::build::write;
use domesday_series::catalogue::Family;
use std::fs;
use std::path::Path;

/// The release: two months of the reversion rate and of Bank Rate.
pub const RATES: &str = "made-rates-2026-03";

const DATABASE: &str = "DATE,IUDBEDR,IUMTLMV\n31 Jan 2026,3.75,6.77\n28 Feb 2026,3.75,3.6\n";

/// Writes it below a folder of releases, unsigned.
pub fn write_all(releases: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("database.csv");
    fs::write(&database, DATABASE).unwrap();
    let inputs = Inputs {
        database: vec![database],
        synthetic: true,
        ..Inputs::default()
    };
    let published = read(&inputs, &mut |_, _, _| ()).unwrap();
    let publication = publication(Family::Rates, RATES, "2026-03-31T00:00:00Z");
    write(&releases.join("rates"), derive(&published), publication).unwrap();
}
