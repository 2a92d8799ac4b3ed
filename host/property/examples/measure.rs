//! Measures a snapshot's lookups: each question once for every home of a price paid file, twice
//! over.
//!
//! `cargo run -p domesday-property --example measure -- SNAPSHOT PRICE_PAID [MOST]`
//!
//! PRICE_PAID is any file of price paid data from the snapshot's world, such as a month's. MOST
//! bounds how many of its sales are queried. The first turn is cold if the system holds nothing
//! of the snapshot, as after `dd if=SNAPSHOT iflag=nocache count=0`.

#![allow(unused_crate_dependencies)]

use domesday_property::{AreaLevel, NearbyQuery, Order, PropertyTypes, Resolution, Snapshot};
use domesday_registers::codes::PropertyType;
use domesday_registers::price_paid::PricePaidFile;
use domesday_registers::rows::Rows;
use domesday_registers::{BytesRead, Day, Postcode};
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), Some(price_paid)) = (arguments.next(), arguments.next()) else {
        return Err("usage: measure SNAPSHOT PRICE_PAID [MOST]".into());
    };
    let (path, price_paid) = (PathBuf::from(path), PathBuf::from(price_paid));
    let most = match arguments.next() {
        Some(most) => most.to_string_lossy().parse()?,
        None => 20_000,
    };
    let homes = addresses(&price_paid, most)?;
    let started = Instant::now();
    let snapshot = Snapshot::open(&path)?;
    println!("open {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let identity = snapshot.identity();
    let bytes = std::fs::metadata(&path)?.len();
    println!(
        "{bytes} bytes, {:.1} a property; {:?}",
        bytes as f64 / identity.rows.properties as f64,
        identity.rows
    );
    let latest = identity.latest_sale.ok_or("no sale")?;
    let mut found = Vec::new();
    for turn in ["first", "second"] {
        println!(
            "{turn} turn, {} homes: mean, p50, p99 in microseconds",
            homes.len()
        );
        found = ask_all(&snapshot, &homes, Day(latest.0 + 1));
    }
    threads(&snapshot, &found, Day(latest.0 + 1));
    Ok(())
}

/// An address as a client gives it.
struct Address {
    postcode: Postcode,
    building: String,
    street: String,
}

/// Returns the addresses of dwellings on a street, in an order that jumps about.
fn addresses(path: &std::path::Path, most: usize) -> Result<Vec<Address>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for row in Rows::<PricePaidFile>::open(path, &BytesRead::default())? {
        rows.extend(row?);
    }
    rows.retain(|row| row.property_type != PropertyType::Other && !row.street.is_empty());
    // A multiplication that scatters neighbours; the same on every machine.
    let scattered = |at: usize| at.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| scattered(*at));
    let chosen = order.into_iter().map(|at| &rows[at]);
    Ok(chosen
        .filter_map(|row| {
            Some(Address {
                postcode: row.postcode.clone()?,
                building: format!("{} {}", row.saon, row.paon),
                street: row.street.clone(),
            })
        })
        .take(most)
        .collect())
}

/// A home that an address turned out to mean.
struct Home {
    uprn: u64,
    place: (i32, i32),
    postcode: Postcode,
}

fn ask_all(snapshot: &Snapshot, addresses: &[Address], before: Day) -> Vec<Home> {
    let mut uprns = Vec::new();
    time("resolve an address", addresses, |address| {
        let Address {
            postcode,
            building,
            street,
        } = address;
        if let Ok(Resolution::Exact(uprn)) = snapshot.resolve(postcode, building, street) {
            uprns.push(uprn);
        }
    });
    let mut homes = Vec::new();
    time("a property", &uprns, |uprn| {
        let found = snapshot.property(*uprn).ok().flatten();
        homes.extend(found.and_then(|home| {
            Some(Home {
                uprn: home.uprn,
                place: home.place?,
                postcode: home.postcode,
            })
        }));
    });
    let (mut sales, mut own) = (0, 0);
    time(
        "90 nearest sales within 1.2 km, five years",
        &homes,
        |home| {
            sales += snapshot
                .nearby_sales(&nearest(home, before))
                .map_or(0, |found| found.len());
        },
    );
    time("own sales", &homes, |home| {
        own += snapshot
            .own_sales(home.uprn, before, 10)
            .map_or(0, |found| found.len());
    });
    time("figures of a sector", &homes, |home| {
        let sector = home.postcode.sector();
        let level = AreaLevel::PostcodeSector;
        black_box(snapshot.area_figures(level, sector, None, before).ok());
    });
    println!(
        "  resolved exactly {:.1} %, sales found {:.1} and {:.2} of their own",
        homes.len() as f64 * 100.0 / addresses.len() as f64,
        sales as f64 / homes.len() as f64,
        own as f64 / homes.len() as f64
    );
    homes
}

fn nearest(home: &Home, before: Day) -> NearbyQuery {
    NearbyQuery {
        easting: home.place.0,
        northing: home.place.1,
        radius_m: 1_200,
        from: Day(before.0 - 5 * 365),
        before,
        types: PropertyTypes::RESIDENTIAL,
        limit: 90,
        order: Order::Nearest,
        standard_only: true,
        with_floor_area: false,
        exclude_uprn: Some(home.uprn),
    }
}

fn time<T>(what: &str, queries: &[T], mut run: impl FnMut(&T)) {
    let mut each: Vec<f64> = queries
        .iter()
        .map(|one| {
            let started = Instant::now();
            run(one);
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    each.sort_by(f64::total_cmp);
    let at = |share: f64| each.get((each.len() as f64 * share) as usize).copied();
    println!(
        "  {what:45} {:9.1} {:9.1} {:9.1}",
        each.iter().sum::<f64>() / each.len() as f64,
        at(0.5).unwrap_or_default(),
        at(0.99).unwrap_or_default()
    );
}

fn threads(snapshot: &Snapshot, homes: &[Home], before: Day) {
    for threads in [1, 2] {
        let started = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for home in homes {
                        black_box(snapshot.nearby_sales(&nearest(home, before)).ok());
                    }
                });
            }
        });
        let searches = (threads * homes.len()) as f64;
        println!(
            "{threads} threads: {:.0} searches a second",
            searches / started.elapsed().as_secs_f64()
        );
    }
}
