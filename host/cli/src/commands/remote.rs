//! The location that `release publish`, `release pull` and `serve --release-source` name.

use super::objects::{Location, PackageBucket};
use super::oci::{Address, LogLine, Registry};
use domesday_package::{Kind, Remote, Repository, TransferControl};
use domesday_state::ReleaseKind;
use std::path::PathBuf;
use std::sync::Arc;

/// Parses a location: a folder of releases, a registry or an object store. `plain_http` allows HTTP
/// without TLS to another machine. `control` stops what is fetched from there.
///
/// # Errors
/// The text is not a location, or the client of the registry or store cannot be made.
pub fn parse_remote(
    location: &str,
    plain_http: bool,
    log: LogLine,
    control: Arc<TransferControl>,
) -> anyhow::Result<Remote> {
    if Location::is(location) {
        let bucket = PackageBucket::open(Location::parse(location)?);
        let bucket = bucket.map(|bucket| bucket.with_control(control.clone()));
        return repository(bucket, control);
    }
    if !Address::is(location) {
        Address::or_folder(location)?;
        return Ok(Remote::Folder(PathBuf::from(location), control));
    }
    let registry = Registry::new(Address::parse(location)?, plain_http, log);
    let registry = registry.map(|registry| registry.with_control(control.clone()));
    repository(registry, control)
}

/// Returns the repository that was made. A build without its kind of store makes none, and this
/// function keeps the compiler from calling what follows unreachable.
///
/// # Errors
/// It could not be made.
fn repository<R, E>(made: Result<R, E>, control: Arc<TransferControl>) -> anyhow::Result<Remote>
where
    R: Repository + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    Ok(Remote::Repository(Box::new(made?), control))
}

/// Returns the kind of the packages of a kind of release.
pub fn package_kind(kind: ReleaseKind) -> Kind {
    match kind {
        ReleaseKind::Valuation => Kind::Valuation,
        ReleaseKind::Markets => Kind::Markets,
        ReleaseKind::Rates => Kind::Rates,
    }
}
