//! The property snapshot: homes, addresses and certificates of the registers, and sales with their
//! prices.
//!
//! A snapshot is one immutable redb file, built once from the publishers' own downloads and then
//! only read. [`Snapshot::resolve`] finds the property that an address means, and
//! [`Snapshot::property`] the facts on record about it. [`Snapshot::nearby_sales`] finds the sales
//! near a point. [`Snapshot::area_figures`] and [`Snapshot::price_index`] return the figures of an
//! area.
//!
//! Two rules hold for every answer. It shows nothing later than the query's day: sales are strictly
//! before it, and a certificate counts only if lodged strictly before it. It has one stated order
//! that ends on a unique key, so that two machines agree to the bit.
//!
//! The first rule can be proved: [`leakage_test_data`] copies a snapshot with another future, and
//! no answer about the past may change.
//!
//! [`model`] holds the answers as plain data, `store` the tables and their packed rows, and `query`
//! the queries. [`build`] builds the file from the registers. [`address_directory`] is a separate
//! file of addresses for people to search.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod address_directory;
pub mod build;
mod error;
pub mod leakage_test_data;
pub mod model;
mod query;
mod snapshot;
pub mod store;

pub use error::SnapshotError;
pub use model::{
    AreaFigures, AreaLevel, Attributes, Authority, ExportedSale, GssCode, Identity, IndexLevel,
    IndexPoints, IndexSeries, NearbyQuery, Order, PostcodeLocation, Property, PropertyTypes,
    Resolution, RowCounts, Sale, SourceFile,
};
pub use query::address_list::{AddressList, ListedProperty};
pub use query::export::Export;
pub use query::found_sales::{FoundSale, FoundSales};
pub use query::nearby::CELL_WORK;
pub use snapshot::Snapshot;
pub use store::postcode::PackedPostcode;
pub use store::sale::CertificateFacts;

#[cfg(test)]
extern crate self as domesday_property;

#[cfg(test)]
mod tests;
