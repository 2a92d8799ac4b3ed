//! Measures a snapshot's look-ups, one thread and several.
//!
//! `cargo run -p domesday-property --example measure -- DIRECTORY/snapshot.redb`

#![allow(unused_crate_dependencies)]

use domesday_property::{AreaLevel, NearbyQuery, Order, PropertyTypes, Snapshot};
use domesday_registers::{Day, Postcode};
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("usage: measure SNAPSHOT")?;
    let started = Instant::now();
    let snapshot = Snapshot::open(&path)?;
    println!("open {:.0} us", started.elapsed().as_secs_f64() * 1e6);
    println!("{:?}", snapshot.identity());

    let started = Instant::now();
    let sales = snapshot.export()?.collect::<Result<Vec<_>, _>>()?;
    println!(
        "export {} sales in {:.2} s",
        sales.len(),
        started.elapsed().as_secs_f64()
    );
    let step = (sales.len() / 997).max(1);
    for area in ["", "M", "RG", "BS", "LE"] {
        let subjects: Vec<_> = sales
            .iter()
            .filter(|s| s.sale.postcode.area() == area || area.is_empty())
            .step_by(step)
            .collect();
        let Some(latest) = subjects.iter().map(|s| s.sale.day.0).max() else {
            continue;
        };
        let query = |at: usize, order| NearbyQuery {
            easting: subjects[at % subjects.len()].sale.easting,
            northing: subjects[at % subjects.len()].sale.northing,
            radius_m: 5_000,
            from: Day(latest - 5 * 365),
            before: Day(latest),
            types: PropertyTypes::RESIDENTIAL,
            limit: 50,
            order,
            standard_only: true,
            with_floor_area: false,
            exclude_uprn: None,
        };
        for order in [Order::Nearest, Order::Newest] {
            let mut rows = 0;
            let each = time(ROUNDS / 10, |at| {
                rows += snapshot
                    .nearby_sales(&query(at, order))
                    .map_or(0, |found| found.len())
            });
            println!(
                "{area:2} nearby 50 within 5 km {order:?}: {each:.1} us, {:.1} rows",
                rows as f64 / (ROUNDS / 10) as f64
            );
        }
    }
    let subjects: Vec<_> = sales.iter().filter(|s| s.sale.uprn.is_some()).collect();
    let homes: Vec<u64> = subjects.iter().filter_map(|s| s.sale.uprn).collect();
    let postcodes: Vec<&Postcode> = sales
        .iter()
        .map(|s| &s.sale.postcode)
        .step_by(step)
        .collect();
    println!(
        "resolve {:.2} us",
        time(ROUNDS, |at| {
            black_box(
                snapshot
                    .resolve(
                        &subjects[at % subjects.len()].sale.postcode,
                        "Flat 3, 12",
                        "High Street",
                    )
                    .ok(),
            );
        })
    );
    println!(
        "postcode {:.2} us",
        time(ROUNDS, |at| {
            black_box(snapshot.postcode(postcodes[at % postcodes.len()]).ok());
        })
    );
    println!(
        "property {:.2} us",
        time(ROUNDS, |at| {
            black_box(snapshot.property(homes[at % homes.len()]).ok());
        })
    );
    println!(
        "own sales {:.2} us",
        time(ROUNDS, |at| {
            black_box(
                snapshot
                    .own_sales(homes[at % homes.len()], Day(40_000), 10)
                    .ok(),
            );
        })
    );
    println!(
        "area figures {:.2} us",
        time(ROUNDS, |at| {
            let sector = postcodes[at % postcodes.len()].sector();
            black_box(
                snapshot
                    .area_figures(AreaLevel::PostcodeSector, sector, None, Day(19_000))
                    .ok(),
            );
        })
    );
    let authority = sales
        .iter()
        .find_map(|s| s.authority)
        .ok_or("no authority")?;
    println!(
        "price index {:.2} us",
        time(ROUNDS, |_| {
            black_box(snapshot.price_index(authority, None, Day(19_000)).ok());
        })
    );

    let latest = Day(subjects.last().map_or(0, |s| s.sale.day.0));
    for threads in [1, 2, 4] {
        let started = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (snapshot, sales) = (&snapshot, &sales);
                scope.spawn(move || {
                    for at in 0..ROUNDS / 10 {
                        let sale = &sales[(at * 31 + thread * 7) % sales.len()].sale;
                        black_box(
                            snapshot
                                .nearby_sales(&NearbyQuery {
                                    easting: sale.easting,
                                    northing: sale.northing,
                                    radius_m: 5_000,
                                    from: Day(latest.0 - 1_000),
                                    before: latest,
                                    types: PropertyTypes::RESIDENTIAL,
                                    limit: 50,
                                    order: Order::Nearest,
                                    standard_only: true,
                                    with_floor_area: false,
                                    exclude_uprn: None,
                                })
                                .ok(),
                        );
                    }
                });
            }
        });
        let done = (threads * ROUNDS / 10) as f64;
        println!(
            "{threads} threads: {:.0} nearby queries/s",
            done / started.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

fn time(rounds: usize, mut work: impl FnMut(usize)) -> f64 {
    let started = Instant::now();
    (0..rounds).for_each(&mut work);
    started.elapsed().as_secs_f64() * 1e6 / rounds as f64
}
