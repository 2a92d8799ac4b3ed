//! Nothing: a build script is needed for the build dependencies of this crate to count.

fn main() {}
