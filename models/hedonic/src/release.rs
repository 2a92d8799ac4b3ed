//! The release itself: the model with the parameters that this build was given.

use crate::baked::Baked;
use crate::parameters::*;
use crate::value::value;
use domesday_sdk::{Evidence, Model, Outcome, Subject};

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// The model with this build's parameters.
pub struct Hedonic;

impl Model for Hedonic {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        value(&PARAMETERS, subject, evidence)
    }
}

// Only a guest is called through these exports, and only one that is this very model.
#[cfg(all(target_arch = "wasm32", not(feature = "part")))]
#[allow(missing_docs, unsafe_code, unreachable_pub)]
mod exports {
    domesday_sdk::release!(super::Hedonic);
    domesday_sdk::heap!(8 << 20);
}
