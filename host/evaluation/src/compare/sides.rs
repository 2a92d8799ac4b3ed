//! The same thing of both releases.

use serde::{Deserialize, Serialize};

/// Something of A, the first release, and the same of B, the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sides<T> {
    /// Of the first release.
    pub a: T,
    /// Of the second.
    pub b: T,
}

impl<T> Sides<T> {
    /// Applies a function to each side.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> Sides<U> {
        Sides {
            a: of(self.a),
            b: of(self.b),
        }
    }

    /// Borrows both sides.
    pub fn each(&self) -> Sides<&T> {
        Sides {
            a: &self.a,
            b: &self.b,
        }
    }
}

impl<T> Sides<Option<T>> {
    /// Returns both, or `None` where one is absent.
    pub fn both(self) -> Option<Sides<T>> {
        Some(Sides {
            a: self.a?,
            b: self.b?,
        })
    }
}
