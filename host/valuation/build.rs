//! Writes the shifts of OSTN15 into one file of bytes, which the crate includes.
//!
//! The table comes as Rust source of 877,000 entries. As a dependency of this script it is compiled
//! once. As a dependency of the crate it would be compiled for each kind of build.

use ostn15_phf::ostn15_lookup;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// Points of the grid: 701 to a row, 1251 rows, numbered from 1.
const POINTS: i32 = 701 * 1_251;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut table = Vec::with_capacity(POINTS as usize * 8);
    for point in 1..=POINTS {
        let (east, north, _) =
            ostn15_lookup(&point).ok_or_else(|| format!("OSTN15 lacks point {point}"))?;
        table.extend_from_slice(&millimetres(east)?.to_le_bytes());
        table.extend_from_slice(&millimetres(north)?.to_le_bytes());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(folder.join("ostn15.bin"), table)?;
    Ok(())
}

/// Converts a shift to whole millimetres, its unit in the publisher's file.
///
/// # Errors
/// The shift times 1000, divided by 1000, is not the same number again.
fn millimetres(shift_m: f64) -> Result<i32, String> {
    let millimetres = (shift_m * 1_000.0).round();
    if millimetres / 1_000.0 == shift_m {
        Ok(millimetres as i32)
    } else {
        Err(format!(
            "a shift of {shift_m} m is not in whole millimetres"
        ))
    }
}
