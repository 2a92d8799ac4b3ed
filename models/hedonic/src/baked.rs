//! Lists in the parameters. The build script writes parameters as one constant, and a constant's
//! lists are slices that live for ever.

/// A list that a constant can hold. Outside the sandbox, where parameters are read once in the life
/// of a program, reading one gives its memory to the program for good.
pub struct Baked<T: 'static>(pub &'static [T]);

impl<T> Clone for Baked<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Baked<T> {}

impl<T: PartialEq> PartialEq for Baked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// As Rust writes it, for the build script.
impl<T: std::fmt::Debug> std::fmt::Debug for Baked<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Baked(&{:?})", self.0)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T: serde::Serialize> serde::Serialize for Baked<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for Baked<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<T>::deserialize(deserializer).map(Baked::from)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T> From<Vec<T>> for Baked<T> {
    fn from(list: Vec<T>) -> Self {
        Baked(list.leak())
    }
}
