//! The inputs that a model's component makes of a subject, where it shows them: `wit/inputs`.
//!
//! Training and examination of a release read them. Valuations never do.

use crate::evidence::EvidenceSource;
use crate::outcome::RowFailure;
use crate::release::Release;
use crate::subject::Subject;
use crate::v1;
use std::sync::Arc;
use wasmtime::component::{ComponentType, Lift};

/// The export's name.
const INPUTS: &str = "inputs";

/// One input of a model.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift)]
#[component(record)]
pub struct Input {
    /// As the model calls it.
    pub name: String,
    /// No number where it is missing.
    pub value: f64,
}

impl Release {
    /// Reports whether the component shows its model's inputs.
    pub fn shows_inputs(&self) -> bool {
        self.has_export(INPUTS)
    }

    /// Returns the model's inputs for a subject, in the model's order, or `None` where the release
    /// would offer no value.
    ///
    /// # Errors
    /// As a valuation: the release's own failure, or the host's. A component that shows no inputs
    /// fails.
    pub fn inputs(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
    ) -> Result<Option<Vec<Input>>, RowFailure> {
        let (inputs,) = self.call_export(INPUTS, (subject, evidence), (&v1::lower(subject),))?;
        Ok(inputs)
    }
}
