//! README.txt of the output folder.

use crate::manifest::Manifest;
use crate::{SyntheticError, World};
use std::fmt::Write as _;
use std::path::Path;

/// Writes a description of the folder and its files.
pub(crate) fn write(
    folder: &Path,
    world: &World,
    manifest: &Manifest,
) -> Result<(), SyntheticError> {
    let mut text = format!(
        "EVERYTHING IN THIS FOLDER IS INVENTED.\n\n\
         No home, street, town, authority, sale or certificate in these files exists, and no figure says\n\
         anything about a real place. The files have the formats of the public registers of England and\n\
         Wales, so that whatever reads those can read these. Tell-tale marks:\n\
         - transaction identifiers begin with SYNTH000, certificate keys with SYNTH;\n\
         - UPRNs are 999 and nine more digits;\n\
         - postcodes begin with Q, V or X, with which no postcode area begins;\n\
         - codes of authorities and regions end in 99xxxx.\n\
         Grid references lie on dry land in England and Wales, at places chosen without regard to what is there.\n\n\
         Seed {}, {} authorities, through {}. The same seed, size and last day give the same bytes.\n\n",
        world.seed, world.size.authorities, world.through
    );
    for (name, size) in &manifest.files {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name:44} {:>12} rows {:>14} bytes",
            size.rows, size.bytes
        );
    }
    if !manifest.files.contains_key("truth.csv") {
        text.push_str("\nThe truth behind these files was not written.\n");
        return save(folder, &text);
    }
    text.push_str(
        "\ntruth.csv holds, for every UPRN, what is true of it and its value on the reference date;\n\
         truth-sales.csv, for every sale that happened, the true value on that day and how the sale came\n\
         about. Neither is for an importer: they are what a valuation is judged by.\n",
    );
    save(folder, &text)
}

fn save(folder: &Path, text: &str) -> Result<(), SyntheticError> {
    let path = folder.join("README.txt");
    std::fs::write(&path, text).map_err(|source| SyntheticError::Write { path, source })
}
