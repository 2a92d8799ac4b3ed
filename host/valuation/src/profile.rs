//! Conversion of a release's profile between its manifest and the engine.

use domesday_engine::Profile;
use domesday_package::Profile as ManifestProfile;

/// Converts a manifest's profile to the engine's.
pub fn engine_profile(profile: ManifestProfile) -> Profile {
    match profile {
        ManifestProfile::Pure => Profile::Pure,
        ManifestProfile::Wasi => Profile::Wasi,
    }
}

/// Converts the engine's profile to a manifest's.
pub fn manifest_profile(profile: Profile) -> ManifestProfile {
    match profile {
        Profile::Pure => ManifestProfile::Pure,
        Profile::Wasi => ManifestProfile::Wasi,
    }
}
