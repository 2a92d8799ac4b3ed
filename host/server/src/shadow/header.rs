//! The header of a folder of pairs. A report needs neither release.

use domesday_evaluation::compare::header::{Exclusions, Header, Source};
use domesday_evaluation::compare::sides::Sides;
use domesday_valuation::comparison_header::header;
use domesday_valuation::release_store::OpenRelease;
use domesday_valuation::sample_rate::SampleRate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The releases whose rows a folder holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderHeader {
    /// The header of the report.
    pub header: Header,
    /// Names of local authorities by their codes.
    pub authorities: BTreeMap<String, String>,
}

/// Returns the header of a candidate that runs on a share of the current release's rows.
pub fn folder_header(
    current: &OpenRelease,
    candidate: &OpenRelease,
    share: SampleRate,
) -> FolderHeader {
    let rows = Source::Live {
        first: String::new(),
        last: String::new(),
        share: share.part(),
        shares: None,
        truncated: false,
        counted_since: None,
        left_out: Exclusions::default(),
    };
    let releases = Sides {
        a: current,
        b: candidate,
    };
    let authorities = [candidate, current].into_iter().flat_map(|release| {
        let authorities = release.snapshot.authorities().into_iter();
        authorities.map(|authority| (authority.code.to_string(), authority.name.clone()))
    });
    FolderHeader {
        header: header(releases, rows, None),
        authorities: authorities.collect(),
    }
}
