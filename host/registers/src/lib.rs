//! The publishers' register files: what each row says, and how an address is normalised.
//!
//! This crate uses no other crate. It turns the files that a user
//! downloads into typed rows or counted rejects, and knows nothing of where the rows go.
//!
//! - [`rows`] is the one loop behind every reader. A reader is an iterator over `Result<Result<Row,
//!   RejectedRow>, ReadError>`: the outer error ends the file, the inner one is a row that was
//!   refused, and nothing else ever happens to a row.
//! - [`price_paid`], [`certificates`], [`code_point`], [`areas`], [`house_price_index`],
//!   [`address_file`] (with `address_base`) and [`open_uprn`] say what each register looks like.
//! - [`records`] and [`codes`] are what comes out.
//! - [`sources`] lists and hashes a build's files, and reads each while it counts.
//! - [`address`] turns the many ways of writing one address into one key.
//! - [`matching`] says by which rules an address of one register may be a differently written one
//!   of another, for building alone.
//!
//! Memory is constant whatever a file's size, and whatever its damage.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod address;
mod address_base;
pub mod address_file;
pub mod areas;
mod bytes_read;
pub mod certificates;
pub mod code_point;
pub mod codes;
pub mod date;
mod error;
mod header;
pub mod house_price_index;
pub mod matching;
pub mod open_uprn;
pub mod postcode;
pub mod price_paid;
mod progress;
mod record;
pub mod records;
mod rejected_row;
pub mod rows;
pub mod sources;
mod uprn;
mod zip_source;

pub use address::AddressKey;
pub use address_file::AddressFileReader;
pub use areas::{AreaReader, AuthorityCodeReader};
pub use bytes_read::BytesRead;
pub use certificates::CertificateReader;
pub use code_point::CodePointReader;
pub use date::Day;
pub use error::ReadError;
pub use house_price_index::IndexReader;
pub use open_uprn::OpenUprnReader;
pub use postcode::Postcode;
pub use price_paid::PricePaidReader;
pub use progress::Progress;
pub use record::Record;
pub use rejected_row::{RejectReason, RejectedRow};
