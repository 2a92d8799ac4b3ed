//! The shape of a component: its imports and exports, and the instances within it.

use crate::admission_error::{AdmissionError, invalid, within};
use crate::config::{
    MAX_CORE_INSTANCES, MAX_GLOBALS, MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS, MAX_TABLES, PAGE_BYTES,
};
use crate::profile::Profile;
use crate::v1;
use wasmparser::{ComponentInstance, ComponentType, ComponentTypeRef, Instance, Parser, Payload};

/// The instances of one component, without those of nested components.
#[derive(Default)]
struct InstanceCounts {
    core_instances: u64,
    component_instances: u64,
}

/// Checks the names of a valid component, and that the size of its contents has a bound.
///
/// A nested component can reach only the instances that the outermost one hands in: the outermost
/// names alone matter. Components are instantiated at the outermost level only, because a few
/// nested lines would multiply to millions. Each instance counts even without a module, since
/// compilation inlines all of them. The declarations of each module are compared with the limits
/// here, which gives both allocators the same error. A resource type of the component would keep
/// its handles in the host's memory, outside of every limit.
///
/// Returns the imports that the component can call, in its own order.
pub(crate) fn check(component: &[u8], profile: Profile) -> Result<Vec<String>, AdmissionError> {
    let (mut imports, mut exported) = (Vec::new(), false);
    // Those that are open, the outermost first; a module within counts as one, and has nothing to
    // count.
    let mut open = vec![InstanceCounts::default()];
    let (mut largest_nested, mut tables, mut globals) = (0, 0, 0);
    for payload in Parser::new(0).parse_all(component) {
        let outermost = open.len() == 1;
        let Some(inner) = open.last_mut() else { break };
        match payload.map_err(invalid)? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                open.push(InstanceCounts::default());
            }
            Payload::End(_) if !outermost => {
                largest_nested = largest_nested.max(inner.core_instances);
                open.pop();
            }
            Payload::ComponentImportSection(section) if outermost => {
                for import in section {
                    let import = import.map_err(invalid)?;
                    // A world's own types come in as type imports, which nothing can call.
                    if matches!(import.ty, ComponentTypeRef::Type(_)) {
                        continue;
                    }
                    let name = import.name.name.to_owned();
                    if !profile.allows(&name) {
                        return Err(AdmissionError::ForbiddenImport { name, profile });
                    }
                    imports.push(name);
                }
            }
            Payload::ComponentExportSection(section) if outermost => {
                for export in section {
                    exported |= export.map_err(invalid)?.name.name == v1::VALUE;
                }
            }
            Payload::TableSection(section) => {
                for table in section {
                    tables += 1;
                    let elements = table.map_err(invalid)?.ty.initial;
                    let limit = MAX_TABLE_ELEMENTS as u64;
                    within("table elements at the start", elements, limit)?;
                }
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    let pages = memory.map_err(invalid)?.initial;
                    let bytes = pages.saturating_mul(PAGE_BYTES);
                    let limit = MAX_MEMORY_BYTES as u64;
                    within("bytes of memory at the start", bytes, limit)?;
                }
            }
            Payload::GlobalSection(section) => globals += u64::from(section.count()),
            Payload::InstanceSection(section) => {
                for instance in section {
                    let instantiates =
                        matches!(instance.map_err(invalid)?, Instance::Instantiate { .. });
                    inner.core_instances += u64::from(instantiates);
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section {
                    let instantiates = matches!(
                        instance.map_err(invalid)?,
                        ComponentInstance::Instantiate { .. }
                    );
                    if instantiates && !outermost {
                        return Err(AdmissionError::NestedInstances);
                    }
                    inner.component_instances += u64::from(instantiates);
                }
            }
            Payload::ComponentTypeSection(section) => {
                for ty in section.into_iter_with_offsets() {
                    let (offset, ty) = ty.map_err(invalid)?;
                    if matches!(ty, ComponentType::Resource { .. }) {
                        return Err(AdmissionError::OwnResource { offset });
                    }
                }
            }
            _ => {}
        }
    }
    if !exported {
        return Err(AdmissionError::NoExport);
    }
    // Calls between two components go through a module that the sandbox makes for each.
    let all = open.first().map_or(0, |outermost| {
        outermost.core_instances + outermost.component_instances * (largest_nested + 1)
    });
    within("core instances", all, MAX_CORE_INSTANCES.into())?;
    within("tables", tables, MAX_TABLES.into())?;
    within("globals", globals, MAX_GLOBALS)?;
    Ok(imports)
}
