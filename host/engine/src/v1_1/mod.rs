//! The adapter for the additions of `domesday:valuation@1.1.0`: sales as plain numbers.
//!
//! Everything else of a 1.1.0 release is 1.0.0, and `v1` serves it.

mod host;
mod packed;

/// The import with functions in it that 1.1.0 adds.
pub(crate) const PACKED_EVIDENCE: &str = "domesday:valuation/packed-evidence@1.1.0";

#[allow(missing_docs, unreachable_pub, clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: ["../../wit/valuation.wit", "../../wit/packed"],
        world: "domesday:valuation/release@1.1.0",
        with: {
            "domesday:valuation/types@1.0.0": crate::v1::wit,
            "domesday:valuation/evidence@1.0.0": crate::v1::wit_evidence,
        },
        imports: { default: trappable },
    });
}

pub(crate) use host::add_to_linker;
pub(crate) use packed::pack;
