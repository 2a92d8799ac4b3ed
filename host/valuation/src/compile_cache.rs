//! Compiled code that outlives a process: `compiled/` in a folder of this user's own, under the
//! secret `host.secret` beside it.
//!
//! A server has both in its data folder. A command with a folder option does the same there, so
//! that one may be the other.

use crate::private_file;
use anyhow::{Context, bail};
use domesday_engine::Runtime;
use domesday_engine::cache::Cache;
use domesday_engine::config::Allocation;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// The name of a command's folder in messages.
pub const TOLD: &str = "the folder of compiled code";

/// The compiled code in `folder`, both made where they are not there yet. `what` names the folder
/// in messages.
///
/// # Errors
/// Where the folder cannot be made, or somebody else could put files into it.
pub fn kept(folder: &Path, what: &str) -> anyhow::Result<Cache> {
    own_folder(folder, what)?;
    let secret = host_secret(&folder.join("host.secret"))?;
    Ok(Cache::open(&folder.join("compiled"), secret)?)
}

/// An engine that keeps compiled code in the folder that a command's option names, if it names one.
///
/// # Errors
/// As [`kept`], and where the engine cannot be made.
pub fn runtime(allocation: Allocation, folder: Option<&Path>) -> anyhow::Result<Runtime> {
    let runtime = Runtime::new(allocation)?;
    Ok(match folder {
        Some(folder) => runtime.with_cache(kept(folder, TOLD)?),
        None => runtime,
    })
}

/// Makes a folder, or refuses one in which somebody else could put or take files.
///
/// # Errors
/// Where it cannot be made or is refused.
pub fn own_folder(folder: &Path, what: &str) -> anyhow::Result<()> {
    let named = || format!("{what} {}", folder.display());
    if folder.exists() && !folder.is_dir() {
        bail!("{} is not a directory", named());
    }
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(named)?;
    let found = fs::metadata(folder).with_context(named)?;
    if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
        bail!(
            "{} must belong to this user, and nobody else may write into it",
            named()
        );
    }
    Ok(())
}

/// The secret under which this host keeps compiled code; made at the first start.
fn host_secret(path: &Path) -> anyhow::Result<[u8; 32]> {
    let named = || format!("the host's secret {}", path.display());
    match fs::read(path) {
        Ok(bytes) => match <[u8; 32]>::try_from(bytes.as_slice()) {
            Ok(secret) => Ok(secret),
            Err(_) => bail!(
                "{} must hold 32 bytes; remove it to have a new one made",
                named()
            ),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut secret = [0; 32];
            getrandom::fill(&mut secret).with_context(named)?;
            private_file::write(path, &secret).with_context(named)?;
            Ok(secret)
        }
        Err(error) => Err(error).with_context(named),
    }
}
