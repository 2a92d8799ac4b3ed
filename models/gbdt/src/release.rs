//! The release: the model with the parameters of this build.

use crate::columns::{Codes, Column, Target};
use crate::features::Feature;
use crate::model::{self, Gbdt};
use crate::stack::*;
use crate::valuation::{inputs, value};
use domesday_hedonic::embedded_parameters::StaticList;
use domesday_hedonic::parameters::*;
use domesday_sdk::{Evidence, Model, Outcome, Subject};

include!(concat!(env!("OUT_DIR"), "/parameters.rs"));

/// Bytes of a file, aligned as words of eight bytes.
#[repr(align(8))]
struct Aligned<const N: usize>([u8; N]);

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin"));
/// The packed trees lie in the component's data, which the host maps copy-on-write. An instance
/// starts with them, and reads a tree only when a row walks it.
static TREES: Aligned<{ PACKED.len() }> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin")));

/// Returns the packed trees of this build.
pub fn trees() -> &'static [u64] {
    bytemuck::cast_slice(&TREES.0)
}

/// The model of this build.
pub struct Release;

impl Release {
    /// Returns the parts of the model.
    pub fn model() -> Gbdt<'static> {
        Gbdt {
            reference: &REFERENCE,
            columns: COLUMNS,
            target: TARGET,
            offset: OFFSET,
            trees: trees(),
            stack: STACK.as_ref(),
        }
    }

    /// Returns the trees' inputs for a subject: the model's columns by name, then the offset.
    pub fn inputs(subject: &Subject, evidence: &dyn Evidence) -> Option<Vec<(&'static str, f64)>> {
        inputs(&Release::model(), subject, evidence)
    }

    /// Returns the trees' prediction for a row of their inputs, without the offset.
    pub fn predict(inputs: &[f64]) -> Option<f64> {
        model::predict(&Release::model(), inputs)
    }
}

impl Model for Release {
    fn value(subject: &Subject, evidence: &dyn Evidence) -> Outcome {
        value(&Release::model(), subject, evidence)
    }
}

// Only a component exports a release.
#[cfg(target_arch = "wasm32")]
#[allow(missing_docs, unsafe_code, unreachable_pub)]
mod exports {
    domesday_sdk::release!(super::Release);
    domesday_sdk::heap!(8 << 20);
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    /// Bytes of a component's memory beside its trees: the heap, the stack and the constants.
    const OTHER_BYTES: usize = 10 << 20;

    /// The terms of every release of this model.
    #[derive(Deserialize)]
    struct Terms {
        memory_bytes: usize,
    }

    #[test]
    fn the_largest_trees_fit_into_the_memory_of_a_release() {
        let terms: Terms = toml::from_str(include_str!("../release.toml")).unwrap();
        let needed = domesday_trees::MAX_WORDS * size_of::<u64>() + OTHER_BYTES;
        let found = terms.memory_bytes;
        assert!(found >= needed, "{found} {needed}");
    }
}
