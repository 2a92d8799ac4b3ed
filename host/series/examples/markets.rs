//! Builds a markets release from a folder that `domesday demo-data` wrote, and says what it took.
//!
//! `cargo run -p domesday-series --example markets -- WORLD PACKAGES [MATCHES]`
#![allow(
    clippy::unwrap_used,
    reason = "a measurement may stop at what is missing"
)]

use domesday_series::build::markets::{Inputs, ReleaseDetails, build};
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let file = |name: &str| arguments[0].join(name);
    let inputs = Inputs {
        price_paid: vec![
            file("price-paid.csv"),
            file("price-paid-monthly-change.csv"),
        ],
        certificates: vec![file("certificates.csv")],
        areas: vec![file("SAM_LAD_DEC_2023_UK.csv")],
        code_map: file("local-authority-codes-past-and-current.csv"),
        code_point: vec![file("codepo_gb.zip")],
        rents: vec![file("price-index-of-private-rents.xlsx")],
        price_index: vec![file("UK-HPI-full-file.csv")],
        matches: arguments.get(2).cloned(),
        ..Inputs::default()
    };
    let about = ReleaseDetails {
        release_id: "measured".parse().unwrap(),
        created: None,
        published_at: None,
        synthetic: true,
    };
    let begun = Instant::now();
    let mut stage = (String::new(), begun);
    let (_, report) = build(&arguments[1], (about, None), &inputs, &mut |name, _, _| {
        if stage.0 != name {
            println!("{:>8.1} s  {name}", begun.elapsed().as_secs_f64());
            stage = (name.to_owned(), Instant::now());
        }
    })
    .unwrap();
    println!("{:>8.1} s  written", begun.elapsed().as_secs_f64());
    println!("{:#?}", report.sales);
    println!(
        "{} series, {} observations, {} suppressed",
        report.series, report.observations, report.suppressed
    );
}
