//! The release: the model with the parameters of this build.

use crate::embedded_parameters::StaticList;
use crate::parameters::*;
use crate::valuation::value;
use domesday_sdk::{Evidence, Model, Outcome, Subject};

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// The model with the parameters of this build.
pub struct Hedonic;

impl Model for Hedonic {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        value(&PARAMETERS, subject, evidence)
    }
}

// Only a component exports a release, and only if this crate is the whole model.
#[cfg(all(target_arch = "wasm32", not(feature = "part")))]
#[allow(missing_docs, unsafe_code, unreachable_pub)]
mod exports {
    domesday_sdk::release!(super::Hedonic);
    domesday_sdk::heap!(8 << 20);
}
