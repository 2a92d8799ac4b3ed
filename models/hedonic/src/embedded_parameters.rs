//! Lists within the parameters. The build script writes the parameters as one constant, so their
//! lists are static slices.

/// A list that a constant can hold. Outside the sandbox a program reads parameters once, so reading
/// leaks the list's memory.
pub struct StaticList<T: 'static>(pub &'static [T]);

impl<T> Clone for StaticList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StaticList<T> {}

impl<T: PartialEq> PartialEq for StaticList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Prints a Rust expression, for the build script.
impl<T: std::fmt::Debug> std::fmt::Debug for StaticList<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StaticList(&{:?})", self.0)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T: serde::Serialize> serde::Serialize for StaticList<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for StaticList<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<T>::deserialize(deserializer).map(StaticList::from)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T> From<Vec<T>> for StaticList<T> {
    fn from(list: Vec<T>) -> Self {
        StaticList(list.leak())
    }
}
