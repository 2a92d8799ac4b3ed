//! Builds a snapshot from a folder of publishers' downloads and prints the report.
//!
//! `cargo run -p domesday-property --example build -- DATA DIRECTORY [MEBIBYTES [complete]]`
//!
//! DATA is a folder that the generator wrote, or has the subfolders `ppd`, `epc`, `postcodes`,
//! `areas` and `hpi`. MEBIBYTES bound the memory for seeds. With `complete`, the monthly price paid
//! file is left out, for an update to bring.

#![allow(unused_crate_dependencies)]

mod stages;

use domesday_property::build::{self, Inputs};
use domesday_registers::MaxRejected;
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(data), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: build DATA DIRECTORY [MEBIBYTES [complete]]".into());
    };
    let memory = match arguments.next() {
        Some(mebibytes) => mebibytes.to_string_lossy().parse::<usize>()? << 20,
        None => build::DEFAULT_MEMORY,
    };
    let mut inputs = inputs(&data)?;
    if arguments.next().is_some() {
        inputs
            .price_paid
            .retain(|path| !path.to_string_lossy().contains("monthly"));
    }
    let started = std::time::Instant::now();
    let report = build::build_within(
        "example",
        &inputs,
        &directory,
        memory,
        None,
        &mut stages::print_stages(),
    )?;
    eprintln!("{:8.2} s  done", started.elapsed().as_secs_f64());
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

fn inputs(data: &Path) -> Result<Inputs, Box<dyn Error>> {
    if data.join("price-paid.csv").exists() {
        return Ok(generate(data));
    }
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
        sold_addresses: Vec::new(),
        open_uprn: Vec::new(),
        by_rules: true,
        max_rejected: MaxRejected::default(),
    })
}

/// Returns the files of a generated world.
fn generate(data: &Path) -> Inputs {
    let there = |names: &[&str]| -> Vec<PathBuf> {
        let paths = names.iter().map(|name| data.join(name));
        paths.filter(|path| path.exists()).collect()
    };
    Inputs {
        price_paid: there(&["price-paid.csv", "price-paid-monthly-change.csv"]),
        certificates: there(&["certificates.csv", "certificates.zip"]),
        code_point: data.join("codepo_gb.zip"),
        areas: there(&["SAM_LAD_DEC_2023_UK.csv"]),
        code_map: data.join("local-authority-codes-past-and-current.csv"),
        price_index: there(&["UK-HPI-full-file.csv"]),
        addresses: there(&["addresses.csv"]),
        sold_addresses: Vec::new(),
        open_uprn: Vec::new(),
        by_rules: true,
        max_rejected: MaxRejected::default(),
    }
}
