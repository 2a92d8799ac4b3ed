//! The two profiles of a release and the imports that each allows.

use crate::{v1, v1_1, wasi};

/// The imports of every profile.
const ALLOWED: [&str; 3] = [v1::TYPES, v1::EVIDENCE, v1_1::PACKED_EVIDENCE];

/// The set of imports that a release may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Evidence only.
    Pure,
    /// Evidence and a WASI with nothing behind it, for languages whose runtime needs one.
    ///
    /// The clocks stand still, random numbers come from one seed, and there are no files, no
    /// network and no environment.
    Wasi,
}

impl Profile {
    pub(crate) fn allows(self, name: &str) -> bool {
        ALLOWED.contains(&name) || (self == Profile::Wasi && wasi::allows(name))
    }
}
