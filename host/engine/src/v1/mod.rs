//! The adapter for releases of `domesday:valuation@1.0.0`.
//!
//! A published release keeps its interface permanently, so this adapter is never removed. A later
//! version gets a sibling.

mod entry;
mod evidence_query;
mod evidence_response;
mod host;
mod outcome;
mod price_index;
mod subject;

/// Names of the interface as a component imports it.
pub(crate) const TYPES: &str = "domesday:valuation/types@1.0.0";
/// The one import with functions in it.
pub(crate) const EVIDENCE: &str = "domesday:valuation/evidence@1.0.0";
/// The one export that a release must have.
pub(crate) const VALUE: &str = "value";

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "release",
        // The evidence may fail on our side; that ends the row, and must not look like an answer.
        imports: { default: trappable },
    });
}

/// Public in name alone, so that the bindings of later versions can build upon them.
#[allow(unreachable_pub)]
pub use bindings::domesday::valuation::{evidence as wit_evidence, types as wit};

pub(crate) use entry::{EntryPoint, Value};
pub(crate) use evidence_query::nearby_sales;
pub(crate) use evidence_response::nearness;
pub(crate) use host::{add_to_linker, refusal};
pub(crate) use outcome::check;
pub(crate) use subject::{age_band, lower, precision, property_type, rating, subtype, tenure};
