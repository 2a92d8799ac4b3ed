//! Whose packages a command opens.

use anyhow::Context;
use domesday_package::{PackageId, Trust, TrustList};
use std::path::Path;

/// The keys in `<releases>/keys`, and the packages that the operator takes unsigned by name.
///
/// # Errors
/// Where a key file is none, or an id is not written as one.
pub fn trust(releases: &Path, unsigned: &[String]) -> anyhow::Result<Trust> {
    let keys = releases.join("keys");
    let mut list = match keys.is_dir() {
        true => TrustList::load(&keys)
            .with_context(|| format!("the trusted keys in {}", keys.display()))?,
        false => TrustList::new(),
    };
    for id in unsigned {
        list.exempt(
            id.parse::<PackageId>()
                .with_context(|| format!("--allow-unsigned {id}"))?,
        );
    }
    Ok(Trust::Required(list))
}
