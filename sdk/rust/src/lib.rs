//! The SDK for model teams: a valuation release is one trait.
//!
//! Implement [`Model`], name the type in [`release!`], and build the crate as a `cdylib` for
//! `wasm32-unknown-unknown`. `domesday release build` makes a release of it. Evidence comes through
//! the [`Evidence`] trait. So the same model runs in the sandbox, in unit tests on synthetic
//! evidence, and natively in benchmarks.
//!
//! A model keeps no state between valuations: every row starts from the same memory. It has no
//! clock, randomness, files or network. It must not depend on the iteration order of a hash map.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

#[doc(hidden)]
#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        world: "domesday:valuation/release@1.1.0",
        path: ["../../wit/valuation.wit", "../../wit/packed"],
        pub_export_macro: true,
        default_bindings_module: "domesday_sdk::bindings",
        additional_derives: [PartialEq],
        generate_all,
    });
}

mod evidence;
mod heap;
mod sales;

pub use bindings::domesday::valuation1_0_0::evidence::{
    AreaLevel, Figures, IndexPoint, IndexSeries, Nearness, Refusal, Sale, SalesOrder, SalesQuery,
};
pub use bindings::domesday::valuation1_0_0::types::*;
pub use evidence::{Evidence, HostEvidence};
pub use sales::{PackedSale, Sales};
/// Used by [`heap!`].
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use talc;

/// A valuation model: one property in, one outcome out.
pub trait Model {
    /// Values one property from the evidence known before its valuation day.
    ///
    /// The host has already checked identity, geography, the valuation date and the request. A
    /// panic fails this row only, and for good.
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome;
}

/// Exports `value` of the named [`Model`] to the host, which makes the crate a release.
///
/// ```ignore
/// struct Mine;
/// impl domesday_sdk::Model for Mine { /* … */ }
/// domesday_sdk::release!(Mine);
/// ```
#[macro_export]
macro_rules! release {
    ($model:ty) => {
        struct DomesdayRelease;
        impl $crate::bindings::Guest for DomesdayRelease {
            fn value(subject: $crate::Subject) -> $crate::Outcome {
                <$model as $crate::Model>::value(&subject, &$crate::HostEvidence)
            }
        }
        $crate::bindings::export!(DomesdayRelease with_types_in $crate::bindings);
    };
}
