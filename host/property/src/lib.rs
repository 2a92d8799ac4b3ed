//! The property snapshot: who lives where in the registers, and what was sold for how much.
//!
//! A snapshot is one immutable redb file, built once from the publishers' own downloads and
//! then only read. It answers four kinds of question: which property an address means
//! ([`Snapshot::resolve`]), what is on record about it ([`Snapshot::property`]), what was
//! sold near a point ([`Snapshot::nearby_sales`]) and how an area's market stood
//! ([`Snapshot::area_figures`], [`Snapshot::price_index`]).
//!
//! Two habits run through every answer. Nothing later than the day asked about is ever
//! visible: sales are strictly before it, and a certificate counts only if lodged strictly
//! before it. And every answer has one stated order that ends on a unique key, so that two
//! machines agree to the bit.
//!
//! That the first habit is kept can be proved: [`leakage_test_data`] copies a snapshot with another
//! future, and no answer about the past may change.
//!
//! The rooms: [`model`] holds the answers as plain data, `store` the tables and their packed
//! rows, `query` the questions, and [`build`] the way from the registers to the file.
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
