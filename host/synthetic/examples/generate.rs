//! Writes a synthetic world: `generate OUT [demo|national] [SEED] [PROPERTIES] [lean|noise]`.
//!
//! With `PROPERTIES`, sales and certificates shrink or grow in proportion. With `lean`,
//! certificates are zipped and the truth is left out, so that a whole country needs a third of the
//! disk. With `noise`, registers write addresses in different ways.

use domesday_synthetic::{Layout, Size, World, generate_as};
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let out = PathBuf::from(
        words
            .next()
            .ok_or("generate OUT [demo|national] [SEED] [PROPERTIES] [lean|noise]")?,
    );
    let mut world = World::demo();
    if words.next().as_deref() == Some("national") {
        world.size = Size::national();
    }
    if let Some(seed) = words.next() {
        world.seed = seed.parse()?;
    }
    if let Some(properties) = words.next() {
        let properties: u32 = properties.parse()?;
        let factor = f64::from(properties) / f64::from(world.size.properties);
        world.size.sales = (f64::from(world.size.sales) * factor) as u32;
        world.size.certificates = (f64::from(world.size.certificates) * factor) as u32;
        world.size.properties = properties;
    }
    let manner = words.next();
    let lean = manner.as_deref() == Some("lean");
    let layout = Layout {
        zipped_certificates: lean,
        truth: !lean,
        address_noise: manner.as_deref() == Some("noise"),
    };
    let start = Instant::now();
    let mut last_tenth = 0;
    let manifest = generate_as(&world, &out, layout, |stage, done, total| {
        let percent = done * 100 / total.max(1);
        if percent / 10 != last_tenth {
            last_tenth = percent / 10;
            eprintln!("{stage}: {percent} %");
        }
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let rows: u64 = manifest.files.values().map(|file| file.rows).sum();
    println!("{}", serde_json::to_string_pretty(&manifest)?);
    eprintln!(
        "{rows} rows in {seconds:.2} s, {:.0} rows a second",
        rows as f64 / seconds
    );
    Ok(())
}
