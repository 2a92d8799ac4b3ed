//! The packages that the sandbox serves, embedded in the program. `scripts/make-sandbox` makes
//! them.

use std::fs;
use std::io;
use std::path::Path;

/// The id of the release.
pub const RELEASE: &str = "sandbox-2027-01";

/// The public key that signed the packages. No folder of releases holds it, so that no other
/// command trusts them.
pub const PUBLIC_KEY: &str = include_str!("../../../sandbox/sandbox.pub");

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../sandbox/releases/", $path)))),+]
    };
}

/// The start of the name of each package.
const PACKAGE_PREFIX: &str = "sandbox-";

/// Every file of the packages, by its path.
const FILES: &[(&str, &[u8])] = files![
    "property/sandbox-2026-09/manifest.json",
    "property/sandbox-2026-09/manifest.sig",
    "property/sandbox-2026-09/rejects.csv",
    "property/sandbox-2026-09/report.json",
    "property/sandbox-2026-09/snapshot.redb",
    "valuation/sandbox-2027-01/backtest.json",
    "valuation/sandbox-2027-01/component.wasm",
    "valuation/sandbox-2027-01/fixtures.jsonl",
    "valuation/sandbox-2027-01/manifest.json",
    "valuation/sandbox-2027-01/manifest.sig",
];

/// Writes the packages into a folder, unless they are there already. Removes those of an earlier
/// program, and nothing else.
///
/// # Errors
/// The file system's error.
pub fn unpack(folder: &Path) -> io::Result<()> {
    let unpacked = |(path, bytes): &(&str, &[u8])| {
        fs::read(folder.join(path)).is_ok_and(|found| found == *bytes)
    };
    if FILES.iter().all(unpacked) {
        return Ok(());
    }
    // An earlier program's packages may have other files.
    for kind in ["property", "valuation"] {
        remove_packages(&folder.join(kind))?;
    }
    for (path, bytes) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Removes the sandbox's packages of one kind.
fn remove_packages(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for package in fs::read_dir(folder)? {
        let package = package?;
        if package
            .file_name()
            .to_string_lossy()
            .starts_with(PACKAGE_PREFIX)
        {
            fs::remove_dir_all(package.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_are_written_and_repaired() {
        let folder = tempfile::TempDir::new().unwrap();
        let releases = folder.path().join("releases");
        unpack(&releases).unwrap();
        let component = releases
            .join("valuation")
            .join(RELEASE)
            .join("component.wasm");
        let bytes = fs::read(&component).unwrap();
        fs::write(&component, "damaged").unwrap();
        fs::write(component.with_file_name("left-over"), "").unwrap();
        unpack(&releases).unwrap();
        assert_eq!(fs::read(&component).unwrap(), bytes);
        assert!(!component.with_file_name("left-over").exists());
    }

    #[test]
    fn only_packages_of_the_sandbox_are_removed() {
        let folder = tempfile::TempDir::new().unwrap();
        let earlier = folder.path().join("valuation/sandbox-2026-01");
        let foreign = [
            folder.path().join("keys/lender.pub"),
            folder
                .path()
                .join("valuation/hedonic-2026-09/manifest.json"),
        ];
        fs::create_dir_all(&earlier).unwrap();
        for file in &foreign {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        unpack(folder.path()).unwrap();
        assert!(!earlier.exists());
        for file in foreign {
            assert!(file.exists(), "{}", file.display());
        }
    }

    #[test]
    fn every_package_has_the_prefix_that_is_removed() {
        for (path, _) in FILES {
            let package = path.split('/').nth(1).unwrap();
            assert!(package.starts_with(PACKAGE_PREFIX), "{package}");
        }
    }

    #[test]
    fn every_file_of_the_packages_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sandbox/releases");
        let mut found = Vec::new();
        for kind in ["property", "valuation"] {
            for package in fs::read_dir(root.join(kind)).unwrap() {
                let package = package.unwrap();
                for file in fs::read_dir(package.path()).unwrap() {
                    let (package, file) = (package.file_name(), file.unwrap().file_name());
                    found.push(format!("{kind}/{}/{}", package.display(), file.display()));
                }
            }
        }
        found.sort();
        let embedded: Vec<_> = FILES.iter().map(|(path, _)| *path).collect();
        assert_eq!(found, embedded);
    }
}
