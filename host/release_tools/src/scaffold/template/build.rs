//! Turns the parameters that `fit` wrote into a Rust constant, so that the sandbox has nothing to
//! parse.
//!
//! `domesday release build` names their file in `DOMESDAY_PARAMETERS`. Without it, as in `cargo
//! test`, there are none.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// The order of the ranges.
const TYPES: [&str; 4] = ["detached", "semi_detached", "terraced", "flat"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=DOMESDAY_PARAMETERS");
    println!("cargo:rerun-if-changed=build.rs");
    let ranges = match env::var_os("DOMESDAY_PARAMETERS") {
        Some(file) => {
            println!("cargo:rerun-if-changed={}", file.display());
            let parameters: serde_json::Value = serde_json::from_str(&fs::read_to_string(file)?)?;
            TYPES.map(|kind| {
                let end = |at: usize| parameters["range"][kind][at].as_f64();
                end(0).zip(end(1))
            })
        }
        None => [None; 4],
    };
    // The debug output of numbers is Rust, and reads back to the same bits.
    let constant = format!("pub const RANGES: [Option<(f64, f64)>; 4] = {ranges:?};\n");
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("parameters.rs"),
        constant,
    )?;
    Ok(())
}
