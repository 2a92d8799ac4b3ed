//! Opening a package that may be moved or replaced while its files are read.

use crate::{FileFacts, Package, PackageError, Trust, Verification, open_with};
use std::fs;
use std::path::Path;

/// The attempts to open a package that is moved or replaced each time.
const ATTEMPTS: usize = 3;

/// Opens a package as [`open_with`] does, and again where that fails while the directory is moved
/// or replaced. The files may have been those of two packages then.
///
/// # Errors
/// As [`open_with`], for a directory that stayed as it was, or at the last of three attempts.
pub fn open_at_rest(
    directory: &Path,
    trust: &Trust,
    verification: &dyn Verification,
) -> Result<Package, PackageError> {
    let facts = || {
        let metadata = fs::metadata(directory).ok();
        metadata.map(|metadata| FileFacts::of(&metadata))
    };
    for _ in 1..ATTEMPTS {
        let before = facts();
        let opened = open_with(directory, trust, verification);
        if opened.is_ok() || before == facts() {
            return opened;
        }
    }
    open_with(directory, trust, verification)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_package::{ID, write_package};
    use crate::{PackageErrorKind, Sha256Digest};
    use std::io;
    use std::sync::Mutex;

    const FILE: &str = "snapshot.redb";

    /// Hashes every byte, and changes the folder of packages while the first piece is read.
    struct Disturbed<'a> {
        change: Mutex<Option<&'a (dyn Fn() + Sync)>>,
        reads: Mutex<usize>,
    }

    impl Verification for Disturbed<'_> {
        fn is_proved(&self, _: &FileFacts, _: &Sha256Digest) -> bool {
            false
        }

        fn record_proof(&self, _: &FileFacts, _: &Sha256Digest) {}

        fn pace(&self, _: usize) -> io::Result<()> {
            *self.reads.lock().unwrap() += 1;
            if let Some(change) = self.change.lock().unwrap().take() {
                change();
            }
            Ok(())
        }
    }

    fn open(directory: &Path, change: &(dyn Fn() + Sync)) -> (Option<PackageErrorKind>, usize) {
        let disturbed = Disturbed {
            change: Mutex::new(Some(change)),
            reads: Mutex::new(0),
        };
        let opened = open_at_rest(directory, &Trust::Unsigned, &disturbed);
        let reads = *disturbed.reads.lock().unwrap();
        (opened.err().map(|error| error.kind), reads)
    }

    #[test]
    fn a_package_that_is_put_in_place_meanwhile_is_opened_again() {
        let (folder, good) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for packages in [folder.path(), good.path()] {
            write_package(packages, FILE, b"whole");
        }
        let place = folder.path().join(ID);
        fs::write(place.join(FILE), "harm!").unwrap();
        // As the swap of a fetch does.
        let swap = || {
            fs::rename(&place, folder.path().join(".aside")).unwrap();
            fs::rename(good.path().join(ID), &place).unwrap();
        };
        let (error, reads) = open(&place, &swap);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(reads, 2);
    }

    #[test]
    fn a_package_that_is_damaged_in_its_place_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        write_package(folder.path(), FILE, b"whole");
        let place = folder.path().join(ID);
        fs::write(place.join(FILE), "harm!").unwrap();
        let (error, reads) = open(&place, &|| {});
        assert!(
            matches!(error, Some(PackageErrorKind::Digest { .. })),
            "{error:?}"
        );
        assert_eq!(reads, 1);
    }
}
