//! For model teams: a valuation release is one trait.
//!
//! Implement [`Model`], name the type in [`release!`], build the crate as a `cdylib` for
//! `wasm32-unknown-unknown`, and `domesday release build` makes a release of it. Evidence comes
//! through the [`Evidence`] trait, so the same model runs in the sandbox, in a unit test against
//! evidence that the test made up, and natively in a benchmark.
//!
//! A model keeps nothing between valuations: every row starts from the same memory. It has no
//! clock, no randomness, no files and no network, and must not depend on the order in which a
//! hash map yields its entries.
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
/// For [`heap!`].
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use talc;

/// A valuation model: one property in, one outcome out.
pub trait Model {
    /// Values one property from the evidence known before its valuation day.
    ///
    /// The host has already checked identity, geography, the valuation date's window and the
    /// request itself. A panic is a failure of this row alone, and final.
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome;
}

/// Makes the crate a release: exports `value` of the named [`Model`] to the host.
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
