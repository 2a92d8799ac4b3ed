//! A made-up England and Wales, written as the publishers' own register files.
//!
//! The real registers may not be distributed with this project, and tests need the true value
//! behind a price, which no register has. So this crate invents a country from one seed:
//! authorities, towns, streets, homes, their sales and certificates. The homes have hidden true
//! values. The files have the errors of real registers, each at a stated rate and counted. The
//! crate writes the publishers' file formats, for the same importers. It uses no crate of the
//! project, so it tests the importers independently.
//!
//! - [`World`] has the parameters, [`generate()`] writes the files, [`Manifest`] counts their
//!   content.
//! - `geography`, `names`, `land`, `postcodes`: the country.
//! - `street`, `housing`, `dwelling`: its buildings.
//! - `market`, `sales`, `lodgement`: its events.
//! - `spelling`, `noise`, `files`: the registers' records of them.
//! - `rates`: sterling rates of an invented history, apart from the rest.
//!
//! Nothing can be mistaken for a real home. Postcodes begin with letters of no real postcode, UPRNs
//! are in an unassigned range, and transaction identifiers begin with `SYNTH000`.
//!
//! All draws are from streams named by seed, purpose, authority and street, and a portable `libm`
//! computes the values. The same seed gives the same bytes on every machine.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod draw;
mod dwelling;
mod error;
mod files;
mod generate;
mod geography;
mod housing;
mod land;
mod lodgement;
mod manifest;
mod market;
mod names;
mod noise;
mod postcodes;
mod rates;
mod sales;
mod spelling;
mod street;
mod uprn;
mod world;

pub use error::SyntheticError;
pub use generate::{Layout, generate, generate_as};
pub use manifest::{
    AddressFaults, CertificateFaults, FileSize, Manifest, MonthlyChanges, PlantedFaults,
    PricePaidFaults,
};
pub use rates::{RatesManifest, RatesWorld, generate_rates};
pub use world::{Size, World};

#[cfg(test)]
extern crate self as domesday_synthetic;

#[cfg(test)]
mod tests;
