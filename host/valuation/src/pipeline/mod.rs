//! The pipeline of one row, one file per stage:
//!
//! [`authorize`] → [`resolve`] → [`merge`] → [`eligibility`] → [`value`] → [`render`].
//!
//! [`address_lookup`] looks up the addresses that [`resolve`] does not find in the snapshot.
//! [`development_site`] takes the place of resolve and merge for a proposed property.
//! [`response_size`] bounds the response of a batch, before and after its rows run. [`row`] runs
//! the stages for one row, and [`batch`] runs many rows. [`without_own_sales`] runs a release again
//! for an explanation, and [`batch_subjects`] reads rows for tools.
//!
//! A stage takes a value and returns a value. Nothing calls back up. The host owns identity,
//! precedence and status, and the release owns judgement.

pub mod address_lookup;
pub mod authorize;
pub mod batch;
pub mod batch_subjects;
mod conflicts;
mod convert;
pub mod deadline;
mod development_site;
pub mod eligibility;
mod location_context;
mod merge;
pub mod osgb36;
mod render;
mod rendered_row;
mod request_context;
pub(crate) mod resolve;
pub mod response_size;
pub mod row;
mod row_outcome;
mod value;
pub mod without_own_sales;
