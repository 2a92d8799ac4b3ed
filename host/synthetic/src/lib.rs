//! A made-up England and Wales, written as the publishers' own register files.
//!
//! The real registers may not be passed on with this project, and a test wants to know the truth
//! behind a price, which no register tells. So this crate invents a country: authorities, towns,
//! streets, homes, their sales and certificates, all from one seed, with hidden true values and
//! with the flaws that real registers have, each at a stated rate and counted. It writes the same
//! file formats as the publishers, so that the importers that read theirs read these. It depends on
//! nothing of the project: it is the importers' independent peer.
//!
//! - [`World`] says what to make; [`generate()`] makes it; [`Manifest`] counts what was made.
//! - `geography`, `names`, `land`, `postcodes`: the country.
//! - `street`, `housing`, `dwelling`: what stands in it.
//! - `market`, `sales`, `lodgement`: what happens there.
//! - `spelling`, `noise`, `files`: what the registers make of that.
//! - `rates`: sterling rates of an invented history, apart from the rest.
//!
//! Nothing can be mistaken for a real home. Postcodes begin with letters with which no postcode
//! begins, UPRNs lie in a range that is not given out, transaction identifiers say `SYNTH000`.
//!
//! Everything is drawn from streams named by seed, purpose, authority and street, and computed with
//! a portable `libm`, so that the same seed gives the same bytes on every machine.
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
mod world;

pub use error::SyntheticError;
pub use generate::{Layout, Stage, generate, generate_as};
pub use manifest::{
    AddressFaults, CertificateFaults, FileSize, Manifest, MonthlyChanges, PlantedFaults,
    PricePaidFaults,
};
pub use rates::{RatesManifest, RatesWorld, generate_rates};
pub use world::{Size, World};
