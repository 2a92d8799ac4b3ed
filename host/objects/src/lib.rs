//! Object stores: Amazon S3 and services like it, Google Cloud Storage, Azure Blob Storage, and a
//! folder.
//!
//! [`Location`] names a location in one on the command line. [`PackageBucket`] holds packages
//! there, in the layout of a folder of releases. [`ObjectBucket`] holds single objects for a
//! service.
//!
//! An object store's answer is never trusted: a package's signed manifest names its contents, and
//! the reader of an object knows its digest.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod arrivals;
mod connector;
mod error;
mod existing_file;
mod location;
mod object_bucket;
mod package_bucket;
mod transfer;

pub use arrivals::Arrivals;
pub use error::BucketError;
pub use location::Location;
pub use object_bucket::ObjectBucket;
pub use package_bucket::PackageBucket;
