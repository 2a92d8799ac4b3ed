//! The publishers' register files: typed rows, and normalised addresses.
//!
//! This crate uses no other crate. It turns downloaded files into typed rows or counted rejects,
//! and does not know the consumers of the rows.
//!
//! - [`rows`] is the one loop behind every reader. A reader is an iterator over `Result<Result<Row,
//!   RejectedRow>, ReadError>`: the outer error ends the file, and the inner one is a rejected row.
//!   Every row is one or the other.
//! - [`price_paid`], [`certificates`], [`code_point`], [`areas`], [`house_price_index`],
//!   [`address_file`] (with `address_base`) and [`open_uprn`] define the format of each register.
//! - [`records`] and [`codes`] define the rows.
//! - [`recognise`] finds the register that a file belongs to.
//! - [`sources`] lists and hashes a build's files, and reads each while it counts.
//! - [`address`] turns the many spellings of one address into one key.
//! - [`zip_source`] bounds and reads the members of zip archives and workbooks.
//! - [`matching`] has the rules by which two differently written addresses mean one home, for
//!   builds alone.
//!
//! Memory is constant for any file size and any damage.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod acceptance;
pub mod address;
mod address_base;
pub mod address_file;
pub mod areas;
mod bytes_read;
pub mod certificates;
pub mod code_point;
pub mod codes;
pub mod date;
pub mod diagnosis;
mod error;
mod file_report;
mod header;
pub mod house_price_index;
pub mod matching;
pub mod open_uprn;
pub mod postcode;
pub mod price_paid;
mod progress;
mod recognition;
mod record;
pub mod records;
mod rejected_row;
mod repairs;
pub mod rows;
mod signature;
pub mod sources;
mod text_encoding;
mod unused_rows;
mod uprn;
pub mod zip_source;

pub use address::AddressKey;
pub use bytes_read::BytesRead;
pub use date::Day;
pub use diagnosis::Diagnosis;
pub use error::ReadError;
pub use postcode::Postcode;
pub use progress::Progress;
pub use recognition::{RecognitionError, RegisterKind, recognise};
pub use record::Record;
pub use rejected_row::{RejectReason, RejectedRow};
pub use unused_rows::{MaxRejected, UnusedRows};

#[cfg(test)]
extern crate self as domesday_registers;

#[cfg(test)]
mod tests;
