//! Builds a snapshot from a folder of publishers' downloads and prints the report.
//!
//! `cargo run -p domesday-property --example build -- DATA DIRECTORY`
//!
//! DATA has the subfolders `ppd`, `epc`, `postcodes`, `areas` and `hpi`.

#![allow(unused_crate_dependencies)]

use domesday_property::build::{self, Inputs};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(data), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: build DATA DIRECTORY".into());
    };
    let inputs = inputs(&data)?;
    let mut stage = String::new();
    let started = std::time::Instant::now();
    let report = build::build("example", &inputs, &directory, &mut |name, _, _| {
        if stage != name {
            eprintln!("{:8.2} s  {name}", started.elapsed().as_secs_f64());
            stage = name.to_owned();
        }
    })?;
    eprintln!("{:8.2} s  done", started.elapsed().as_secs_f64());
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

fn inputs(data: &Path) -> Result<Inputs, Box<dyn Error>> {
    let list = |folder: &str, wanted: &str| -> std::io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(data.join(folder))?;
        let paths: std::io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        Ok(paths?
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(wanted))
            .collect())
    };
    Ok(Inputs {
        price_paid: list("ppd", ".csv")?,
        certificates: list("epc", "certificates.csv")?,
        code_point: data.join("postcodes/codepo_gb.zip"),
        areas: list("areas", "SAM_LAD")?,
        code_map: data.join("areas/local-authority-codes-past-and-current.csv"),
        price_index: list("hpi", "UK-HPI")?,
        addresses: Vec::new(),
    })
}
