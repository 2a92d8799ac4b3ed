//! The exports of a component beside the valuation, which training, examination and proofs of a
//! release call.

use crate::evidence::EvidenceSource;
use crate::outcome::RowFailure;
use crate::release::Release;
use crate::subject::Subject;
use std::sync::Arc;
use wasmtime::component::{ComponentNamedList, Lift, Lower};

impl Release {
    /// Reports whether the component has an export of this name.
    pub(crate) fn has_export(&self, name: &str) -> bool {
        let component = self.entry.component();
        component.get_export_index(None, name).is_some()
    }

    /// Calls an export in a fresh sandbox, with the fuel and the time of a row.
    ///
    /// # Errors
    /// As a valuation: the release's own failure, or the host's. A component without the export
    /// fails.
    pub(crate) fn call_export<P, R>(
        &self,
        name: &str,
        (subject, evidence): (&Arc<Subject>, Arc<dyn EvidenceSource>),
        parameters: P,
    ) -> Result<R, RowFailure>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let mut store = self.store(subject, evidence, self.row_time());
        let (instance, _) = self.instantiate(&mut store)?;
        instance
            .get_typed_func::<P, R>(&mut store, name)
            .and_then(|export| export.call(&mut store, parameters))
            .map_err(|error| self.failure_in_the_call(&error))
    }
}
