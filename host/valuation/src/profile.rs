//! What a release may import, as its manifest says it and as the engine knows it.

use domesday_engine::Profile;
use domesday_package::Profile as Stated;

/// The engine's, of a manifest's.
pub fn of(profile: Stated) -> Profile {
    match profile {
        Stated::Pure => Profile::Pure,
        Stated::Wasi => Profile::Wasi,
    }
}

/// A manifest's, of the engine's.
pub fn stated(profile: Profile) -> Stated {
    match profile {
        Profile::Pure => Stated::Pure,
        Profile::Wasi => Stated::Wasi,
    }
}
