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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_and_the_engine_name_a_profile_alike() {
        for profile in [Profile::Pure, Profile::Wasi] {
            assert_eq!(engine_profile(manifest_profile(profile)), profile);
        }
        assert_eq!(engine_profile(ManifestProfile::Pure), Profile::Pure);
    }
}
