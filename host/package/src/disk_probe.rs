//! A look at a disk that nothing is written to at the moment.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// The file's name in its folder.
const NAME: &str = "disk-probe";
/// Its content.
const CONTENT: &[u8] = b"written again and again, to see that the disk answers\n";

/// A small file in a folder. Writing it shows whether the folder's disk still answers, since the
/// kernel alone answers reads of names and of recent bytes.
#[derive(Debug)]
pub struct DiskProbe(File);

impl DiskProbe {
    /// Creates the file in a folder, or opens it there.
    ///
    /// # Errors
    /// The operating system cannot create or open it.
    pub fn open(folder: &Path) -> io::Result<DiskProbe> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(folder.join(NAME))?;
        Ok(DiskProbe(file))
    }

    /// Writes the file in place, and waits until it is durable. Blocks while the disk stalls.
    ///
    /// # Errors
    /// The disk fails.
    pub fn write(&self) -> io::Result<()> {
        self.0.write_all_at(CONTENT, 0)?;
        self.0.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_written_in_place_and_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let probe = DiskProbe::open(folder.path()).unwrap();
            probe.write().unwrap();
            probe.write().unwrap();
        }
        let content = std::fs::read(folder.path().join(NAME)).unwrap();
        assert_eq!(content, CONTENT);
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_probe() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DiskProbe::open(&folder.path().join("absent")).is_err());
    }
}
