//! The demo's release for the unit tests, and the manifest terms of its model without flats and
//! without Wales.

use crate::build::Settings;
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_package::{Country, PropertyType, Trust};
use domesday_valuation::release_store::{OpenRelease, open_release, package_ids};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the folder of the demo's releases.
pub fn releases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases")
}

/// Opens the demo's release.
pub fn demo() -> OpenRelease {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let id = package_ids(&releases().join("valuation")).unwrap();
    let snapshots = &mut BTreeMap::new();
    open_release(&releases(), &id[0], &Trust::Unsigned, &runtime, snapshots).unwrap()
}

/// Reads the settings of the demo's model.
pub fn settings() -> Settings {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/hedonic");
    Settings::read(&model).unwrap()
}

/// Removes flats and Wales from the terms of a release.
pub fn narrow(property_types: &mut Vec<PropertyType>, countries: &mut Vec<Country>) {
    property_types.retain(|listed| *listed != PropertyType::Flat);
    countries.retain(|listed| *listed != Country::Wales);
}
