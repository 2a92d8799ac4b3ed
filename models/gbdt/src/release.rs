//! The release itself: the model with what this build was given.

use crate::columns::{Codes, Column, Target};
use crate::features::Feature;
use crate::value::{Gbdt, inputs, value};
use domesday_hedonic::baked::Baked;
use domesday_hedonic::parameters::*;
use domesday_sdk::{Evidence, Model, Outcome, Subject};

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// Bytes of a file where words of eight bytes may begin.
#[repr(align(8))]
struct Aligned<const N: usize>([u8; N]);

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin"));
/// The packed trees lie in the component's data, which the host maps copy-on-write: an instance begins with them,
/// and none of them is read before a row walks there.
static TREES: Aligned<{ PACKED.len() }> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin")));

/// The packed trees of this build.
pub fn trees() -> &'static [u64] {
    bytemuck::cast_slice(&TREES.0)
}

/// The model of this build.
pub struct Release;

impl Release {
    /// All that it is made of.
    pub fn model() -> Gbdt<'static> {
        Gbdt {
            reference: &REFERENCE,
            columns: COLUMNS,
            target: TARGET,
            offset: OFFSET,
            trees: trees(),
        }
    }

    /// What the trees are given for a subject: the model's columns by name, then the offset.
    pub fn inputs(subject: &Subject, evidence: &dyn Evidence) -> Option<Vec<(&'static str, f64)>> {
        inputs(&Release::model(), subject, evidence)
    }
}

impl Model for Release {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        value(&Release::model(), subject, evidence)
    }
}

// Only a guest is called through these exports.
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, unsafe_code, unreachable_pub)]
mod exports {
    domesday_sdk::release!(super::Release);
    domesday_sdk::heap!(8 << 20);
}
