//! What several targets share: parts of an input, and inputs as files.

use std::io::{Cursor, Write};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A line that divides an input, where a parser reads several things.
const DIVIDER: &[u8] = b"\n--8<--\n";

/// Returns the parts of an input: one at least.
pub fn parts(input: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(at) = rest
        .windows(DIVIDER.len())
        .position(|bytes| bytes == DIVIDER)
    {
        parts.push(&rest[..at]);
        rest = &rest[at + DIVIDER.len()..];
    }
    parts.push(rest);
    parts
}

/// Writes files into a folder that goes with its handle.
pub fn write_folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Returns an archive of these members, stored.
pub fn zip_archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
