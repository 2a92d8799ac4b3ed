//! The engine of this process, and the releases that run on it.

use crate::admission;
use crate::admission_error::AdmissionError;
use crate::cache::Cache;
use crate::clock::{Clock, ticks};
use crate::compile::compile;
use crate::config::{
    Allocation, MAX_MEMORY_BYTES, MAX_STACK_BYTES, MAX_TABLE_ELEMENTS, configuration,
};
use crate::evidence::{Bounds, EvidenceSource};
use crate::failure::{classify, sandbox_failure, unreadable_outcome};
use crate::limits::Limits;
use crate::outcome::{Cost, Row};
use crate::profile::Profile;
use crate::row_state::RowState;
use crate::subject::Subject;
use crate::{v1, v1_1, wasi_linker};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

/// A macro, because `concat!` takes no constant.
macro_rules! wasmtime_version {
    () => {
        "48.0.8"
    };
}

/// Host work for the data of one row, in wasmtime's units (about bytes).
///
/// 5,000 sales fit many times over; an endless list of a guest does not.
const HOSTCALL_FUEL: usize = 16 << 20;

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

/// The sandbox engine of this process.
#[derive(Clone)]
pub struct Runtime {
    engine: Engine,
    linker: Arc<Linker<RowState>>,
    /// The linker with WASI, for releases of that profile only.
    wasi_linker: Arc<Linker<RowState>>,
    cache: Option<Arc<Cache>>,
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
        Runtime::with_configuration(&configuration)
    }

    /// Creates an engine with the one configuration, after a change that affects no answer.
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
            clock: Arc::new(clock),
        })
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
        let component = match &self.cache {
            Some(cache) => cache.component(&self.engine, component)?,
            None => compile(&self.engine, component)?,
        };
        self.link(profile, &component, limits)
    }

    fn link(
        &self,
        profile: Profile,
        component: &Component,
        limits: Limits,
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
        let clock = self.clock.clone();
        Ok(Release {
            entry,
            limits,
            clock,
        })
    }
}

/// A release that is ready to run. It is cheap to clone, and every row gets a fresh instance.
#[derive(Clone)]
pub struct Release {
    pub(crate) entry: v1::EntryPoint,
    pub(crate) limits: Limits,
    /// Runs for as long as the release can: without it no deadline would pass.
    clock: Arc<Clock>,
}

impl Release {
    /// Returns the longest wall-clock time of a row, whatever time its caller gives it.
    pub fn row_time(&self) -> Duration {
        self.limits.deadline
    }

    /// Returns the limits of a row.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the linear memory of a row before its first instruction, bytes.
    pub fn memory_at_start(&self) -> u64 {
        admission::memory_at_start(self.entry.component())
    }

    /// Values one property in a fresh sandbox.
    ///
    /// It blocks this thread while the row runs, and never panics because of the guest.
    pub fn value(&self, subject: &Arc<Subject>, evidence: Arc<dyn EvidenceSource>) -> Row {
        self.value_within(subject, evidence, self.limits.deadline)
    }

    /// Values one property within a wall-clock time that is shorter than the row's limit.
    pub fn value_within(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Row {
        self.value_in(self.store(subject, evidence, time), subject)
    }

    /// Values one property as [`Release::value_within`] does, and digests the answers that the
    /// release is given.
    pub fn value_with_digests(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Row {
        let mut store = self.store(subject, evidence, time);
        store.data_mut().digest_answers(v1_1::pack);
        self.value_in(store, subject)
    }

    /// Values one property in a store that was created for it.
    pub(crate) fn value_in(&self, mut store: Store<RowState>, subject: &Subject) -> Row {
        let fuel = self.limits.fuel_per_row;
        let lowered = v1::lower(subject);
        // A failure before the call is the host's, unless the start function caused it. A failure
        // in the call may be an unreadable answer, which is the guest's.
        let answer = store
            .set_fuel(fuel)
            .and_then(|()| self.entry.instantiate(&mut store))
            .map_err(|error| classify(&error, fuel).unwrap_or_else(|| sandbox_failure(&error)))
            .and_then(|value| {
                value
                    .call(&mut store, (&lowered,))
                    .map(|(outcome,)| outcome)
                    .map_err(|error| {
                        classify(&error, fuel).unwrap_or_else(|| unreadable_outcome(&error))
                    })
            });
        let spent = fuel - store.get_fuel().unwrap_or(0).min(fuel);
        let mut state = store.into_data();
        let cost = Cost {
            fuel: spent,
            memory_bytes: state.memory_peak as u64,
            questions: state.bounds.questions,
        };
        let digests = state.take_digests();
        let shown_sales = state.shown_sales;
        let outcome = answer.and_then(|given| v1::check(given, |id| shown_sales.contains(id)));
        Row {
            outcome,
            shown_sales,
            digests,
            cost,
        }
    }

    /// Creates a store for one row, without its fuel.
    pub(crate) fn store(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Store<RowState> {
        let memory = usize::try_from(self.limits.memory_bytes).unwrap_or(MAX_MEMORY_BYTES);
        let time = time.min(self.limits.deadline);
        let bounds = Bounds::until(self.clock.deadline(time));
        let subject = subject.clone();
        let state = RowState::new(subject, evidence, memory, MAX_TABLE_ELEMENTS, bounds);
        let mut store = Store::new(self.entry.engine(), state);
        store.limiter(|state| state);
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        store.set_epoch_deadline(ticks(time));
        store
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
