//! `domesday demo-data`: register files of a made-up England and Wales.

use crate::commands::progress::ProgressLine;
use chrono::NaiveDate;
use clap::ValueEnum;
use domesday_synthetic::{Layout, RatesWorld, Size, World, generate_as, generate_rates};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct DemoData {
    /// Output folder.
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Size of the country.
    #[arg(long, value_enum, default_value_t = Preset::Demo)]
    size: Preset,
    /// Seed of the generator; equal seeds give equal bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Last day of the registers.
    #[arg(long, default_value = "2026-09-30", value_name = "DATE")]
    until: NaiveDate,
    /// Write sterling rates instead of registers.
    #[arg(long)]
    rates: bool,
    /// Zip the certificates and omit the true values, to need a third of the disk.
    #[arg(long, conflicts_with = "rates")]
    lean: bool,
    /// Vary the spelling of addresses between registers, to exercise address matching.
    #[arg(long, conflicts_with = "rates")]
    address_noise: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Preset {
    /// A few towns, as in the shipped demo.
    Demo,
    /// A whole country of 27 million homes.
    National,
}

impl DemoData {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.rates {
            return self.rates();
        }
        let size = match self.size {
            Preset::Demo => Size::demo(),
            Preset::National => Size::national(),
        };
        let world = World {
            seed: self.seed,
            size,
            through: self.until,
        };
        let mut progress = ProgressLine::new();
        let layout = Layout {
            zipped_certificates: self.lean,
            truth: !self.lean,
            address_noise: self.address_noise,
        };
        let manifest = generate_as(&world, &self.out, layout, |stage, done, total| {
            progress.show(stage, done, total);
        })?;
        drop(progress);
        println!(
            "{} homes, {} sales and {} certificates of no real household in {}",
            manifest.properties,
            manifest.sales,
            manifest.certificates,
            self.out.display()
        );
        Ok(ExitCode::SUCCESS)
    }

    fn rates(self) -> anyhow::Result<ExitCode> {
        let world =
            RatesWorld::ending(self.seed, self.until, matches!(self.size, Preset::National));
        let manifest = generate_rates(&world, &self.out)?;
        println!(
            "invented rates with curves of {} days in {}",
            manifest.snapshots,
            self.out.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
