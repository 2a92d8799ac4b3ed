//! The engine of this process, which admits releases.

use crate::admission;
use crate::admission_error::AdmissionError;
use crate::cache::Cache;
use crate::clock::Clock;
use crate::compile::compile;
use crate::config::{Allocation, MAX_STACK_BYTES, configuration};
use crate::kept_instance::{KeptInstances, ReleaseInstances, resettable};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::release::Release;
use crate::row_state::RowState;
use crate::{v1, v1_1, wasi_linker};
use std::sync::Arc;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine};

/// A macro, because `concat!` takes no constant.
macro_rules! wasmtime_version {
    () => {
        "48.0.8"
    };
}

/// The reason why the engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// wasmtime rejects the configuration on this machine.
    #[error("the sandbox could not be set up: {0}")]
    Engine(String),
    /// The clock's thread could not be started.
    #[error("the sandbox's clock could not be started: {0}")]
    Clock(std::io::Error),
}

/// A feature of the kernel that makes rows cheaper. Their answers are the same without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFeature {
    /// It tells which pages of a memory were written.
    PageMap,
    /// It tracks the writes to a memory.
    WriteTracking,
}

impl std::fmt::Display for KernelFeature {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str(match self {
            KernelFeature::PageMap => {
                "each row has a new sandbox, which is dearer: the kernel does not tell which pages \
                 a row wrote (Linux 6.7 or later does), or this process may not read its page map"
            }
            KernelFeature::WriteTracking => {
                "rows of a release with much data are dearer: the kernel does not track writes, or \
                 a filter of system calls refuses userfaultfd or its requests"
            }
        })
    }
}

/// The sandbox engine of this process.
#[derive(Clone)]
pub struct Runtime {
    engine: Engine,
    linker: Arc<Linker<RowState>>,
    /// The linker with WASI, for releases of that profile only.
    wasi_linker: Arc<Linker<RowState>>,
    cache: Option<Arc<Cache>>,
    /// Instances that wait for the next row. None where each row has a new one.
    pub(crate) kept: Option<Arc<KeptInstances>>,
    clock: Arc<Clock>,
}

impl Runtime {
    /// Creates an engine with the one configuration.
    ///
    /// # Errors
    /// This machine cannot reserve the memory.
    pub fn new(allocation: Allocation) -> Result<Runtime, RuntimeError> {
        Runtime::with_native_stack(allocation, MAX_STACK_BYTES)
    }

    /// Creates an engine whose guests have another native stack, in bytes.
    ///
    /// A release is checked with less stack than it will have, which reveals rows that come near
    /// its end. Every other answer is the same.
    ///
    /// # Errors
    /// As [`Runtime::new`].
    pub fn with_native_stack(
        allocation: Allocation,
        stack_bytes: usize,
    ) -> Result<Runtime, RuntimeError> {
        let mut configuration = configuration(allocation);
        configuration.max_wasm_stack(stack_bytes);
        let runtime = Runtime::with_configuration(&configuration)?;
        let kept = match allocation {
            Allocation::Pooling { instances } => usize::try_from(instances).ok(),
            Allocation::OnDemand => None,
        };
        Ok(Runtime {
            kept: kept.and_then(KeptInstances::new).map(Arc::new),
            ..runtime
        })
    }

    /// Creates an engine with the one configuration, after a change that affects no answer. Each
    /// row has a new instance.
    pub(crate) fn with_configuration(configuration: &Config) -> Result<Runtime, RuntimeError> {
        let engine = Engine::new(configuration)
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let mut linker = Linker::new(&engine);
        v1::add_to_linker(&mut linker)
            .and_then(|()| v1_1::add_to_linker(&mut linker))
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let mut wasi_linker = linker.clone();
        wasi_linker::add_to_linker(&mut wasi_linker)
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let clock = Clock::start(engine.clone()).map_err(RuntimeError::Clock)?;
        Ok(Runtime {
            engine,
            linker: Arc::new(linker),
            wasi_linker: Arc::new(wasi_linker),
            cache: None,
            kept: None,
            clock: Arc::new(clock),
        })
    }

    /// Returns the feature of the kernel whose absence makes the rows of an engine with slots
    /// dearer.
    pub fn find_missing_feature(&self) -> Option<KernelFeature> {
        match &self.kept {
            None => Some(KernelFeature::PageMap),
            Some(kept) if !kept.tracks_writes() => Some(KernelFeature::WriteTracking),
            Some(_) => None,
        }
    }

    /// Sets the cache of compiled code: a release is then compiled once for this machine.
    pub fn with_cache(mut self, cache: Cache) -> Runtime {
        self.cache = Some(Arc::new(cache));
        self
    }

    /// The version of wasmtime, which this crate pins exactly.
    pub const WASMTIME: &str = wasmtime_version!();

    /// The versions of the release interface that components may be built against.
    pub const INTERFACES: [&str; 4] = [
        "domesday:valuation@1.0.0",
        "domesday:valuation@1.1.0",
        "domesday:inputs@0.1.0",
        "domesday:predictions@0.1.0",
    ];

    /// Returns the name of this engine, for fixtures and receipts.
    pub fn version() -> &'static str {
        concat!(
            "domesday-engine ",
            env!("CARGO_PKG_VERSION"),
            ", wasmtime ",
            wasmtime_version!()
        )
    }

    /// Admits a component of the pure profile: checks its imports, exports and resources, and
    /// compiles it.
    ///
    /// # Errors
    /// The first rule that it breaks, in the order of [`admission`].
    pub fn admit(&self, component: &[u8], limits: Limits) -> Result<Release, AdmissionError> {
        self.admit_as(Profile::Pure, component, limits)
    }

    /// Admits a component of a profile.
    ///
    /// # Errors
    /// As [`Runtime::admit`].
    pub fn admit_as(
        &self,
        profile: Profile,
        component: &[u8],
        limits: Limits,
    ) -> Result<Release, AdmissionError> {
        admission::examine(component, profile)?;
        let kept = self.kept.as_ref().filter(|_| profile == Profile::Pure);
        let kept = kept.and_then(|kept| Some((kept, resettable(component)?)));
        let code = kept.as_ref().map_or(component, |(_, changed)| changed);
        let component = match &self.cache {
            Some(cache) => cache.component(&self.engine, code)?,
            None => compile(&self.engine, code)?,
        };
        self.link(profile, &component, limits, kept.map(|(kept, _)| kept))
    }

    fn link(
        &self,
        profile: Profile,
        component: &Component,
        limits: Limits,
        kept: Option<&Arc<KeptInstances>>,
    ) -> Result<Release, AdmissionError> {
        admission::resources(component, &limits)?;
        let linker = match profile {
            Profile::Pure => &self.linker,
            Profile::Wasi => &self.wasi_linker,
        };
        let linked = linker
            .instantiate_pre(component)
            .map_err(admission::not_linked)?;
        let entry = v1::EntryPoint::new(linked).map_err(admission::not_linked)?;
        let kept = kept.and_then(|all| ReleaseInstances::new(all, &entry));
        let clock = self.clock.clone();
        Ok(Release {
            entry,
            limits,
            kept: kept.map(Arc::new),
            clock,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_engine_holds_both_versions() {
        let (own, wasmtime) = (env!("CARGO_PKG_VERSION"), Runtime::WASMTIME);
        let name = format!("domesday-engine {own}, wasmtime {wasmtime}");
        assert_eq!(Runtime::version(), name);
    }
}
