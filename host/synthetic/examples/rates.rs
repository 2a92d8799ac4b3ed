//! Writes invented rates: `rates OUT [demo|full]`.

use domesday_synthetic::{RatesWorld, generate_rates};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let out = PathBuf::from(words.next().ok_or("rates OUT [demo|full]")?);
    let demo = RatesWorld::demo();
    let full = words.next().as_deref() == Some("full");
    let world = RatesWorld::ending(demo.seed, demo.through, full);
    let written = generate_rates(&world, &out)?;
    println!("{} days with curves", written.snapshots);
    Ok(())
}
