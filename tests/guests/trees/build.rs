//! Packs the model that `DOMESDAY_TREES` names, or by default a model of one leaf.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const SILENT: &str = "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nmax_feature_idx=0\nobjective=regression\n\
    feature_names=x\n\nTree=0\nnum_leaves=1\nleaf_value=0\n\nend of trees\n";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=DOMESDAY_TREES");
    println!("cargo:rerun-if-changed=build.rs");
    let text = match env::var_os("DOMESDAY_TREES") {
        Some(file) => {
            println!("cargo:rerun-if-changed={}", PathBuf::from(&file).display());
            fs::read_to_string(file)?
        }
        None => SILENT.to_owned(),
    };
    let words = domesday_trees::pack(&domesday_trees::read(&text)?)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("trees.bin"), bytes)?;
    Ok(())
}
