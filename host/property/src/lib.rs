//! The property snapshot: homes, addresses and certificates of the registers, and sales with their
//! prices.
//!
//! A snapshot is one immutable redb file, built once from the publishers' own downloads and then
//! only read. It answers four kinds of query: which property an address means
//! ([`Snapshot::resolve`]), which facts are on record about it ([`Snapshot::property`]), which
//! sales are near a point ([`Snapshot::nearby_sales`]), and the figures of an area
//! ([`Snapshot::area_figures`], [`Snapshot::price_index`]).
//!
//! Two rules hold for every answer. It shows nothing later than the query's day: sales are strictly
//! before it, and a certificate counts only if lodged strictly before it. It has one stated order
//! that ends on a unique key, so that two machines agree to the bit.
//!
//! The first rule can be proved: [`leakage_test_data`] copies a snapshot with another future, and
//! no answer about the past may change.
//!
//! The modules: [`model`] holds the answers as plain data, `store` the tables and their packed
//! rows, `query` the queries, and [`build`] builds the file from the registers.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

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
    IndexSeries, NearbyQuery, Order, PostcodeLocation, Property, PropertyTypes, Resolution,
    RowCounts, Sale, SourceFile,
};
pub use query::address_list::{AddressList, ListedProperty};
pub use query::export::Export;
pub use snapshot::Snapshot;
