//! Turns `parameters.json` into a Rust constant, so that the sandbox has nothing to parse.
//!
//! `DOMESDAY_PARAMETERS` names another file.

// The library uses more of these files than this script does.
#[allow(dead_code, unreachable_pub)]
#[path = "src/bounds.rs"]
mod bounds;
#[allow(dead_code, unreachable_pub)]
#[path = "src/document.rs"]
mod document;
#[allow(dead_code, unreachable_pub)]
#[path = "src/embedded_parameters.rs"]
mod embedded_parameters;
#[allow(dead_code, unreachable_pub)]
#[path = "src/parameters.rs"]
mod parameters;

use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=DOMESDAY_PARAMETERS");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/embedded_parameters.rs");
    println!("cargo:rerun-if-changed=src/bounds.rs");
    println!("cargo:rerun-if-changed=src/document.rs");
    println!("cargo:rerun-if-changed=src/parameters.rs");
    // As a part of another model, the crate ignores the variable: the file is the other model's.
    let named = match env::var_os("CARGO_FEATURE_PART") {
        Some(_) => None,
        None => env::var_os("DOMESDAY_PARAMETERS"),
    };
    let file = match named {
        Some(file) => PathBuf::from(file),
        None => PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("parameters.json"),
    };
    println!("cargo:rerun-if-changed={}", file.display());
    let text =
        fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let document = document::read(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    // Debug output of plain structs of numbers is a Rust expression. It prints every f64 so that it
    // reads back to the same bits.
    let constants = format!(
        "/// What this build was given.\n\
         pub const PARAMETERS: Parameters = {:?};\n\
         /// SHA-256 of the file of parameters, in hexadecimal.\n\
         pub const FINGERPRINT: &str = \"{}\";\n",
        document.parameters,
        hex::encode(Sha256::digest(text.as_bytes())),
    );
    let out = PathBuf::from(env::var("OUT_DIR")?).join("parameters.rs");
    fs::write(out, constants)?;
    Ok(())
}
