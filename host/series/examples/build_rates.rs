//! Builds a release of rates from a folder and tells how long each step took:
//! `cargo run -p domesday-series --example build_rates -- FOLDER OUT`. CSV files that begin with a
//! curve dataset's name are curve tables, other CSV files the Bank's database.
#![allow(clippy::unwrap_used, clippy::expect_used, unused_crate_dependencies)]

use domesday_package::{Full, Trust};
use domesday_series::build::rates::{Inputs, derive, read};
use domesday_series::build::{Publication, write};
use domesday_series::catalogue::Family;
use domesday_series::store::Release;
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (folder, out) = (
        arguments.next().expect("FOLDER"),
        arguments.next().expect("OUT"),
    );
    let mut inputs = Inputs::default();
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".csv") && !name.contains("curve") && !name.contains("inflation") {
            inputs.database.push(path);
        } else if [".csv", ".xlsx", ".zip"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            inputs.curves.push(path);
        }
    }
    let clock = Instant::now();
    let published = read(&inputs, &mut |name, _, _| println!("reading {name}"))
        .unwrap_or_else(|e| panic!("{e}"));
    println!("read in {:?}", clock.elapsed());
    for warning in &published.warnings {
        println!("{}: {}", warning.location, warning.reason);
    }
    let clock = Instant::now();
    let draft = derive(&published);
    println!("derived in {:?}", clock.elapsed());
    let publication = Publication {
        family: Family::Rates,
        release_id: "rates-measured".parse().unwrap(),
        created: None,
        published_at: None,
        preview_bounds: None,
        sources: published.sources,
        synthetic: true,
        notes: Vec::new(),
    };
    let clock = Instant::now();
    let manifest = write(&out, draft, publication).unwrap_or_else(|error| panic!("{error}"));
    println!("written in {:?}", clock.elapsed());
    println!(
        "{} bytes",
        manifest.files.values().map(|file| file.bytes).sum::<u64>()
    );
    let directory = out.join("rates-measured");
    let clock = Instant::now();
    let release = Release::open(&directory, Family::Rates, &Trust::Unsigned, &Full).unwrap();
    println!("opened in {:?}", clock.elapsed());
    println!(
        "{} series, {} observations",
        release.body().series,
        release.body().observations
    );
    for dataset in Family::Rates.datasets() {
        let of = release
            .series()
            .iter()
            .filter(|series| series.dataset().id == dataset.id);
        let (mut series, mut rows) = (0, 0);
        for one in of {
            series += 1;
            rows += one.rows().len();
        }
        println!("{:36} {series:6} series {rows:9} observations", dataset.id);
    }
}
