//! Updates a snapshot with monthly price paid files and prints the report.
//!
//! `cargo run -p domesday-property --example update -- SNAPSHOT DIRECTORY MONTHLY…`

#![allow(unused_crate_dependencies)]

mod stages;

use domesday_property::build;
use domesday_registers::MaxRejected;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(from), Some(directory)) = (arguments.next(), arguments.next()) else {
        return Err("usage: update SNAPSHOT DIRECTORY MONTHLY…".into());
    };
    let months: Vec<PathBuf> = arguments.collect();
    let started = std::time::Instant::now();
    let report = build::update(
        "example",
        &from,
        &months,
        MaxRejected::default(),
        None,
        &directory,
        &mut stages::print_stages(),
    )?;
    eprintln!("{:8.2} s  done", started.elapsed().as_secs_f64());
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
