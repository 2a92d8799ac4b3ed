//! The one export of a release, whose type is compared with the interface once.

use super::bindings::ReleasePre;
use super::{VALUE, wit};
use crate::row_state::RowState;
use wasmtime::component::{Component, ComponentExportIndex, Instance, InstancePre, TypedFunc};
use wasmtime::{Engine, Store};

/// The function that a row calls.
pub(crate) type Value<'a> = TypedFunc<(&'a wit::Subject,), (wit::Outcome,)>;

/// A component that is linked, and whose export has the interface's type.
#[derive(Clone)]
pub(crate) struct EntryPoint {
    linked: InstancePre<RowState>,
    value: ComponentExportIndex,
}

impl EntryPoint {
    /// Compares the export of a component with the interface.
    ///
    /// # Errors
    /// The component has no such export, or one of another type.
    pub(crate) fn new(linked: InstancePre<RowState>) -> wasmtime::Result<EntryPoint> {
        let checked = ReleasePre::new(linked)?;
        let linked = checked.instance_pre().clone();
        let index = linked.component().get_export_index(None, VALUE);
        let value = index.ok_or_else(|| wasmtime::Error::msg("the export is missing"))?;
        Ok(EntryPoint { linked, value })
    }

    /// Makes an instance, and returns it with its function.
    ///
    /// # Errors
    /// The instance cannot be made, or its start function failed.
    pub(crate) fn instantiate<'a>(
        &self,
        store: &mut Store<RowState>,
    ) -> wasmtime::Result<(Instance, Value<'a>)> {
        let instance = self.linked.instantiate(&mut *store)?;
        let found = instance.get_func(&mut *store, self.value);
        let function = found.ok_or_else(|| wasmtime::Error::msg("the export is not a function"))?;
        // SAFETY: `ReleasePre::new` compared the type of this export of this component, as the
        // checked way does for each row, name by name. An instance cannot change the type, since
        // it names no resource.
        #[allow(unsafe_code)]
        let value = unsafe { TypedFunc::new_unchecked(function) };
        Ok((instance, value))
    }

    /// Returns the component.
    pub(crate) fn component(&self) -> &Component {
        self.linked.component()
    }

    /// Returns the engine of the component.
    pub(crate) fn engine(&self) -> &Engine {
        self.linked.engine()
    }
}
