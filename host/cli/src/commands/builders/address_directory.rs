//! `domesday property address-directory`: the addresses that the console searches.

use super::wrong_kind::{GivenFiles, name_true_kind};
use crate::commands::progress::ProgressLine;
use domesday_property::address_directory::{DirectoryInputs, build};
use domesday_registers::{MaxRejected, RegisterKind};
use domesday_series::build::recognition::{Builder, InputKind};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct AddressDirectory {
    /// Licensed address file (docs/reference/address-file.md). Repeatable.
    #[arg(long, value_name = "CSV", required_unless_present = "price_paid")]
    addresses: Vec<PathBuf>,
    /// HM Land Registry Price Paid Data, for the addresses of sold homes. Repeatable.
    #[arg(long, value_name = "CSV")]
    price_paid: Vec<PathBuf>,
    /// Largest share of a file's rows that may be rejected, per cent. More stops the build.
    #[arg(long, value_name = "PERCENT", default_value_t)]
    max_rejected: MaxRejected,
    /// File to write, which must not exist.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl AddressDirectory {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let inputs = DirectoryInputs {
            addresses: self.addresses.clone(),
            price_paid: self.price_paid.clone(),
            max_rejected: self.max_rejected,
        };
        let mut progress = ProgressLine::new();
        let built = build(&inputs, &self.out, &mut |stage, done, total| {
            progress.show(stage, done, total);
        });
        drop(progress);
        let given: [GivenFiles<'_>; 2] = [
            (
                InputKind::Register(RegisterKind::Addresses),
                &self.addresses,
            ),
            (
                InputKind::Register(RegisterKind::PricePaid),
                &self.price_paid,
            ),
        ];
        let report = match built {
            Ok(report) => report,
            Err(error) => return Err(name_true_kind(error.into(), Builder::Snapshot, &given)),
        };
        println!("{}", serde_json::to_string_pretty(&report)?);
        eprintln!(
            "{} addresses are in {}. Serve them with --console-addresses {}.",
            report.addresses,
            self.out.display(),
            self.out.display()
        );
        Ok(ExitCode::SUCCESS)
    }
}
