//! The file: its tables, and how a row is packed.
//!
//! Rows are packed by hand, little-endian, because there are tens of millions of them and each
//! query decodes hundreds. Keys are chosen so that a row depends only on the register rows of its
//! own place and time. So a monthly update rewrites only the affected rows, and ends with the same
//! file content as a full rebuild.
//!
//! | table | key | value |
//! |---|---|---|
//! | `facts` | name | schema version, latest sale, row counts |
//! | `authorities` | GSS code | name, region, area |
//! | `postcodes` | half a postcode sector | its units' places |
//! | `addresses` | postcode | address fingerprints and their meaning |
//! | `properties` | UPRN | place, certificates, sale days |
//! | `sales` | 500 m cell and year | sales ordered by day and id |
//! | `cells` | row of cells | which cells of the row hold sales |
//! | `postcode_sales` | postcode | days of its category A sales |
//! | `figures` | area level, area, type and year | one window for each month |
//! | `price_index` | GSS code and type | one entry for each month |
//! | `unmatched_sales` | postcode | sales that met no property, with their addresses: not part of the digest |
//! | `origin` | name | snapshot id, source files, content digest: not part of the digest |

pub(crate) mod address;
pub(crate) mod bytes;
pub(crate) mod cell;
pub(crate) mod codes;
mod digest;
pub(crate) mod dwelling;
pub(crate) mod figures;
pub(crate) mod index;
pub(crate) mod postcode;
pub(crate) mod sale;
pub(crate) mod stored_postcode;
pub(crate) mod tables;
pub(crate) mod unmatched;

pub use digest::content_digest;
pub use tables::SCHEMA;
