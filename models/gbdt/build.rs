//! Checks the file of parameters, packs its trees and writes the rest as Rust constants, so that
//! the sandbox has nothing to parse.
//!
//! `DOMESDAY_PARAMETERS` names another file than `parameters.json`.

// The library uses more of these files than this script does. The reference model's files are
// included by path: as a build dependency its library would be built twice into one place.
#[allow(dead_code, unreachable_pub)]
#[path = "src/assembly.rs"]
mod assembly;
#[allow(dead_code, unreachable_pub)]
#[path = "../hedonic/src/bounds.rs"]
mod bounds;
#[allow(dead_code, unreachable_pub)]
#[path = "../hedonic/src/document.rs"]
mod document;
#[allow(dead_code, unreachable_pub)]
#[path = "src/embed_parameters.rs"]
mod embed_parameters;
#[allow(dead_code, unreachable_pub)]
#[path = "../hedonic/src/embedded_parameters.rs"]
mod embedded_parameters;
#[allow(dead_code, unreachable_pub)]
#[path = "src/expected.rs"]
mod expected;
#[allow(dead_code, unreachable_pub)]
#[path = "src/mapping.rs"]
mod mapping;
#[allow(dead_code, unreachable_pub)]
#[path = "../hedonic/src/parameters.rs"]
mod parameters;

#[allow(dead_code, unreachable_pub)]
#[path = "src/stack.rs"]
mod stack;

#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "src/features"]
mod features {
    pub mod table;
}

use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=DOMESDAY_PARAMETERS");
    for file in [
        "assembly",
        "embed_parameters",
        "expected",
        "mapping",
        "stack",
        "features/table",
    ] {
        println!("cargo:rerun-if-changed=src/{file}.rs");
    }
    for file in ["bounds", "document", "embedded_parameters", "parameters"] {
        println!("cargo:rerun-if-changed=../hedonic/src/{file}.rs");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let file = match env::var_os("DOMESDAY_PARAMETERS") {
        Some(file) => PathBuf::from(file),
        None => PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("parameters.json"),
    };
    println!("cargo:rerun-if-changed={}", file.display());
    let about = |error: &dyn Error| format!("{}: {error}", file.display());
    let text = fs::read_to_string(&file).map_err(|e| about(&e))?;
    let (document, trees) = assembly::read(&text).map_err(|e| about(&e))?;
    let words = domesday_trees::pack(&trees).map_err(|e| about(&e))?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(out.join("trees.bin"), bytes)?;
    let fingerprint = hex::encode(Sha256::digest(text.as_bytes()));
    let constants = embed_parameters::constants(&document, &trees.inputs, &fingerprint);
    fs::write(out.join("parameters.rs"), constants)?;
    Ok(())
}
