//! OS Code-Point Open: a zip with one CSV file for each postcode area, ten columns, no header.

use crate::geography::Authority;
use crate::housing::Unit;
use crate::manifest::Manifest;
use crate::{SyntheticError, postcodes};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

/// codepo_gb.zip; one postcode area is held in memory at a time.
pub(crate) struct CodePoint {
    path: PathBuf,
    zip: zip::ZipWriter<BufWriter<File>>,
    area: String,
    lines: Vec<u8>,
    rows: u64,
}

impl CodePoint {
    /// Begins the archive.
    pub(crate) fn create(folder: &Path) -> Result<CodePoint, SyntheticError> {
        let path = folder.join("codepo_gb.zip");
        let file = File::create(&path).map_err(|source| SyntheticError::Write {
            path: path.clone(),
            source,
        })?;
        let zip = zip::ZipWriter::new(BufWriter::new(file));
        Ok(CodePoint {
            path,
            zip,
            area: String::new(),
            lines: Vec::new(),
            rows: 0,
        })
    }

    /// Adds the postcodes of a street.
    pub(crate) fn add(
        &mut self,
        authority: &Authority,
        units: &[Unit],
    ) -> Result<(), SyntheticError> {
        if self.area != authority.area {
            self.end_area()?;
            self.area.clone_from(&authority.area);
        }
        let country = if authority.welsh {
            "W92000004"
        } else {
            "E92000001"
        };
        for unit in units {
            self.line(unit, country, &authority.code);
        }
        Ok(())
    }

    /// Adds a few postcodes of an invented Scotland, which lie outside the service's geography.
    fn add_scotland(&mut self) -> Result<(), SyntheticError> {
        self.end_area()?;
        self.area = postcodes::SCOTTISH_AREA.to_owned();
        for n in 0..20_i64 {
            let letter = char::from(b"ABDEFGHJLNPQRSTUWXYZ"[n as usize]);
            let unit = Unit {
                postcode: format!("{}1 1A{letter}", postcodes::SCOTTISH_AREA),
                easting: 325_000 + n * 120,
                northing: 673_000 - n * 90,
            };
            self.line(&unit, "S92000003", "S12990001");
        }
        self.end_area()
    }

    fn line(&mut self, unit: &Unit, country: &str, authority: &str) {
        self.rows += 1;
        let Unit {
            postcode,
            easting,
            northing,
        } = unit;
        self.lines.extend_from_slice(
            format!("\"{postcode}\",10,{easting},{northing},\"{country}\",\"\",\"\",\"\",\"{authority}\",\"\"\n")
                .as_bytes(),
        );
    }

    /// Writes the area held as a member of the archive.
    fn end_area(&mut self) -> Result<(), SyntheticError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        // Not compressed, since a compressor may choose by processor: the archive's bytes are to be
        // the same everywhere. The default time stamp is a constant too.
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default());
        let name = format!("Data/CSV/{}.csv", self.area.to_lowercase());
        self.zip
            .start_file(name, options)
            .map_err(|source| SyntheticError::Archive {
                path: self.path.clone(),
                source,
            })?;
        self.zip
            .write_all(&self.lines)
            .map_err(|source| SyntheticError::Write {
                path: self.path.clone(),
                source,
            })?;
        self.lines.clear();
        Ok(())
    }

    /// Ends the archive.
    pub(crate) fn finish(mut self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.add_scotland()?;
        let path = self.path.clone();
        self.zip
            .finish()
            .map_err(|source| SyntheticError::Archive {
                path: path.clone(),
                source,
            })?
            .flush()
            .map_err(|source| SyntheticError::Write {
                path: path.clone(),
                source,
            })?;
        super::enter(manifest, &path, self.rows)
    }
}
