//! The engine of this process, and the releases that run on it.

use crate::admission::{self, AdmissionError};
use crate::cache::Cache;
use crate::config::{
    Allocation, MAX_MEMORY_BYTES, MAX_STACK_BYTES, MAX_TABLE_ELEMENTS, configuration,
};
use crate::evidence::EvidenceSource;
use crate::failure::{classify, unreadable, unready};
use crate::outcome::{Cost, Row};
use crate::row_state::RowState;
use crate::shape::Profile;
use crate::subject::Subject;
use crate::{v1, v1_1, wasi};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Store};

/// A macro, because `concat!` takes no constant.
macro_rules! wasmtime_version {
    () => {
        "48.0.8"
    };
}

/// How often the epoch moves: deadlines are kept to within this.
const TICK: Duration = Duration::from_millis(10);
/// Host work for one row's data crossing the boundary, in wasmtime's units (about bytes): 5,000
/// sales fit many times over, and a guest's endless list does not.
const HOSTCALL_FUEL: usize = 16 << 20;

/// What one row of a release may use. Part of the release, so part of its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of fuel; a row that spends more fails for good.
    pub fuel_per_row: u64,
    /// Linear memory, bytes; at most [`MAX_MEMORY_BYTES`].
    pub memory_bytes: u64,
    /// Time on the clock; running out of it is the host's failure.
    pub deadline: Duration,
}

/// Time on the clock that a row has unless told otherwise.
const DEADLINE: Duration = Duration::from_secs(10);

impl Limits {
    /// Limits with the default deadline of ten seconds.
    pub fn new(fuel_per_row: u64, memory_bytes: u64) -> Limits {
        Limits {
            fuel_per_row,
            memory_bytes,
            deadline: DEADLINE,
        }
    }
}

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// wasmtime refuses the configuration on this machine.
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
    /// The same with WASI, for releases of that profile alone.
    wasi_linker: Arc<Linker<RowState>>,
    cache: Option<Arc<Cache>>,
    _clock: Arc<Clock>,
}

impl Runtime {
    /// An engine with the one configuration.
    ///
    /// # Errors
    /// Where this machine cannot give it the memory that it reserves.
    pub fn new(allocation: Allocation) -> Result<Runtime, RuntimeError> {
        Runtime::with_native_stack(allocation, MAX_STACK_BYTES)
    }

    /// The same with another native stack for guests, bytes: a release is checked with less than it will have, so that
    /// a row which comes near the end of it is known. Every other answer is the same.
    ///
    /// # Errors
    /// As [`Runtime::new`].
    pub fn with_native_stack(
        allocation: Allocation,
        stack_bytes: usize,
    ) -> Result<Runtime, RuntimeError> {
        let mut configuration = configuration(allocation);
        configuration.max_wasm_stack(stack_bytes);
        let engine = Engine::new(&configuration)
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let mut linker = Linker::new(&engine);
        v1::add_to_linker(&mut linker)
            .and_then(|()| v1_1::add_to_linker(&mut linker))
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let mut wasi_linker = linker.clone();
        wasi::add_to_linker(&mut wasi_linker)
            .map_err(|error| RuntimeError::Engine(format!("{error:#}")))?;
        let clock = Clock::start(engine.clone()).map_err(RuntimeError::Clock)?;
        Ok(Runtime {
            engine,
            linker: Arc::new(linker),
            wasi_linker: Arc::new(wasi_linker),
            cache: None,
            _clock: Arc::new(clock),
        })
    }

    /// Keeps compiled code in `cache`, so that a release is compiled once for this machine.
    pub fn with_cache(mut self, cache: Cache) -> Runtime {
        self.cache = Some(Arc::new(cache));
        self
    }

    /// The version of wasmtime, which this crate pins exactly.
    pub const WASMTIME: &str = wasmtime_version!();

    /// Which engine this is, for fixtures and receipts.
    pub fn version() -> &'static str {
        concat!(
            "domesday-engine ",
            env!("CARGO_PKG_VERSION"),
            ", wasmtime ",
            wasmtime_version!()
        )
    }

    /// Admits a component of the pure profile: checks what it imports, exports and needs, and compiles it.
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
            None => admission::compile(&self.engine, component)?,
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
        let pre = v1::ReleasePre::new(linked).map_err(admission::not_linked)?;
        Ok(Release { pre, limits })
    }
}

/// A release ready to run. Cheap to clone; every row gets an instance of its own.
#[derive(Clone)]
pub struct Release {
    pub(crate) pre: v1::ReleasePre<RowState>,
    pub(crate) limits: Limits,
}

impl Release {
    /// The longest that a row may take on the clock, whatever time it is given.
    pub fn row_time(&self) -> Duration {
        self.limits.deadline
    }

    /// What each row may use.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Linear memory that a row has before its first instruction, bytes.
    pub fn memory_at_start(&self) -> u64 {
        admission::memory_at_start(self.pre.instance_pre().component())
    }

    /// Values one property in a fresh sandbox. Blocks this thread for as long as the row takes,
    /// and never panics for anything that the guest does.
    pub fn value(&self, subject: &Arc<Subject>, evidence: Arc<dyn EvidenceSource>) -> Row {
        self.value_within(subject, evidence, self.limits.deadline)
    }

    /// The same within a time on the clock that is shorter than the row's own.
    pub fn value_within(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Row {
        let mut store = self.store(subject, evidence, time);
        let fuel = self.limits.fuel_per_row;
        // What goes wrong before the guest is called, and is not its start function's doing, is ours;
        // what goes wrong in the call may be an answer that cannot be read, which is the guest's.
        let answer = store
            .set_fuel(fuel)
            .and_then(|()| self.pre.instantiate(&mut store))
            .map_err(|error| classify(&error, fuel).unwrap_or_else(|| unready(&error)))
            .and_then(|instance| {
                instance
                    .call_value(&mut store, &v1::lower(subject))
                    .map_err(|error| classify(&error, fuel).unwrap_or_else(|| unreadable(&error)))
            });
        let spent = fuel - store.get_fuel().unwrap_or(0).min(fuel);
        let state = store.data();
        let cost = Cost {
            fuel: spent,
            memory_bytes: state.memory_peak as u64,
            questions: state.bounds.questions,
        };
        match answer.and_then(|outcome| v1::checked(outcome, &state.shown)) {
            Ok((outcome, comparables)) => Row {
                outcome: Ok(outcome),
                comparables,
                cost,
            },
            Err(failure) => Row {
                outcome: Err(failure),
                comparables: Vec::new(),
                cost,
            },
        }
    }

    /// A store for one row, but for its fuel.
    pub(crate) fn store(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Store<RowState> {
        let memory = usize::try_from(self.limits.memory_bytes).unwrap_or(MAX_MEMORY_BYTES);
        let state = RowState::new(subject.clone(), evidence, memory, MAX_TABLE_ELEMENTS);
        let mut store = Store::new(self.pre.engine(), state);
        store.limiter(|state| state);
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        let time = time.min(self.limits.deadline);
        // The first tick may come at once, and does not count.
        let ticks = time.as_millis().div_ceil(TICK.as_millis()) + 1;
        store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX));
        store
    }
}

/// Moves the engine's epoch on, so that a deadline on the clock can end a row.
struct Clock {
    stop: Arc<AtomicBool>,
}

impl Clock {
    fn start(engine: Engine) -> std::io::Result<Clock> {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        std::thread::Builder::new()
            .name("epoch".to_owned())
            .spawn(move || {
                while !seen.load(Ordering::Relaxed) {
                    std::thread::sleep(TICK);
                    engine.increment_epoch();
                }
            })?;
        Ok(Clock { stop })
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
