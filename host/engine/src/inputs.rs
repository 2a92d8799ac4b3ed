//! The inputs that a model's component makes of a subject, where it shows them: `wit/inputs`.
//!
//! Training and examination of a release read them. Valuations never do.

use crate::evidence::EvidenceSource;
use crate::failure::{classify, sandbox_failure, unreadable_outcome};
use crate::outcome::RowFailure;
use crate::runtime::Release;
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
        let component = self.entry.component();
        component.get_export_index(None, INPUTS).is_some()
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
        let mut store = self.store(subject, evidence, self.row_time());
        let fuel = self.limits.fuel_per_row;
        let instance = store
            .set_fuel(fuel)
            .and_then(|()| self.entry.instance_pre().instantiate(&mut store))
            .map_err(|error| classify(&error, fuel).unwrap_or_else(|| sandbox_failure(&error)))?;
        let wit_subject = v1::lower(subject);
        instance
            .get_typed_func::<(&v1::wit::Subject,), (Option<Vec<Input>>,)>(&mut store, INPUTS)
            .and_then(|inputs| inputs.call(&mut store, (&wit_subject,)))
            .map(|(inputs,)| inputs)
            .map_err(|error| classify(&error, fuel).unwrap_or_else(|| unreadable_outcome(&error)))
    }
}
