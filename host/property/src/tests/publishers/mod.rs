//! The publishers' own files, where they are at hand.

#[path = "../../../../../tests/common/downloads.rs"]
mod downloads;

use domesday_property::build::Inputs;
use domesday_registers::MaxRejected;
use std::path::{Path, PathBuf};

pub(crate) const CERTIFICATES: &str = "epc/leicestershire-certificates.csv";

/// Returns the folder of the downloads; without it, says that the test is skipped.
pub(crate) fn folder(test: &str) -> Option<PathBuf> {
    downloads::folder(test, CERTIFICATES)
}

/// Returns every input of a snapshot, in the order of docs/how-to/run-on-real-data.md.
pub(crate) fn inputs(data: &Path) -> Inputs {
    let ppd = |name: &str| data.join("ppd").join(name);
    Inputs {
        price_paid: vec![
            ppd("pp-rg30-1995-2023.csv"),
            ppd("bristol-2021-2025-renamed-columns.csv"),
            ppd("greater-manchester-2019-linked-data-export.csv"),
            ppd("leicestershire-matched-ppd.csv"),
            ppd("pp-complete-head-1995.csv"),
        ],
        certificates: vec![data.join(CERTIFICATES)],
        code_point: data.join("postcodes/codepo_gb.zip"),
        areas: vec![data.join("areas/SAM_LAD_DEC_2023_UK.csv")],
        code_map: data.join("areas/local-authority-codes-past-and-current.csv"),
        price_index: vec![
            data.join("hpi/UK-HPI-regions-full-columns.csv"),
            data.join("hpi/UK-HPI-London-full-columns.csv"),
        ],
        addresses: Vec::new(),
        sold_addresses: Vec::new(),
        open_uprn: Vec::new(),
        by_rules: true,
        max_rejected: MaxRejected::default(),
    }
}
