//! The text of `domesday --version`.

use domesday_engine::Runtime;
use std::sync::LazyLock;

/// The versions of the HTTP interface that the program serves.
const HTTP_INTERFACES: &str = "v1 v3";

/// The version and the commit, on one line.
pub const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("DOMESDAY_COMMIT"));

/// The version, the commit, and the versions of the engine and of the interfaces, on a line each.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{}\ncommit              {}\nengine              {}\nrelease interfaces  {}\nHTTP interfaces     {HTTP_INTERFACES}",
        env!("CARGO_PKG_VERSION"),
        env!("DOMESDAY_COMMIT"),
        Runtime::version(),
        Runtime::INTERFACES.join(" "),
    )
});
