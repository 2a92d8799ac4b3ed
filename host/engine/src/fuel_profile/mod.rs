//! A profile of a release's fuel by function.
//!
//! A [`FuelProfiler`] runs rows as [`Release::value`] does, on a component with a check at the
//! beginning of each function and after each call ([`instrument`]). At each check it reads the fuel
//! and the stack. Between two checks one function runs, so all fuel has an owner, to the unit.
//! Nothing depends on time: the same rows give the same profile.

mod call_tree;
mod instrument;
mod names;

use crate::admission_error::AdmissionError;
use crate::config::{Allocation, MAX_STACK_BYTES, configuration};
use crate::evidence::{Bounds, EvidenceSource};
use crate::limits::Limits;
use crate::outcome::Row;
use crate::profile::Profile;
use crate::release::Release;
use crate::row_state::RowState;
use crate::runtime::{Runtime, RuntimeError};
use crate::subject::Subject;
use call_tree::{CallTree, Function, HOST};
pub use names::{FunctionNames, NamesError};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use wasmtime::{FrameInfo, StoreContextMut, UpdateDeadline, WasmBacktrace};

/// The innermost calls of a stack that a profile looks at.
pub const MAX_DEPTH: usize = 1_000;

/// The reason why a release cannot be profiled.
#[derive(Debug, thiserror::Error)]
pub enum FuelProfileError {
    /// The component is not admitted.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// The engine cannot be set up.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// A release that counts the fuel of each of its functions.
pub struct FuelProfiler {
    release: Release,
    first_instructions: Arc<[Vec<usize>]>,
    tree: Arc<Mutex<CallTree>>,
    rows: u64,
}

/// The fuel of some rows by function and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuelProfile {
    /// Rows that ran.
    pub rows: u64,
    /// The called functions, each after its caller.
    pub calls: Vec<CallPath>,
}

/// A function that was called along one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPath {
    /// The place of the caller in [`FuelProfile::calls`]. The host called a function without one.
    pub caller: Option<usize>,
    /// The function's name.
    pub function: String,
    /// Units of fuel of its own instructions.
    pub self_fuel: u64,
    /// Calls along this path.
    pub calls: u64,
}

impl FuelProfiler {
    /// Prepares a component to be profiled, and compiles it.
    ///
    /// # Errors
    /// [`FuelProfileError`] if the component is not admitted or the engine cannot be set up.
    pub fn new(
        profile: Profile,
        component: &[u8],
        limits: Limits,
    ) -> Result<FuelProfiler, FuelProfileError> {
        let instrumented = instrument::instrument(component)?;
        let mut settings = configuration(Allocation::OnDemand);
        settings.wasm_backtrace_max_frames(NonZeroUsize::new(MAX_DEPTH));
        // The checks may take stack of a function, which must not end a row sooner.
        settings.max_wasm_stack(2 * MAX_STACK_BYTES);
        let runtime = Runtime::with_configuration(&settings)?;
        let release = runtime.admit_as(profile, &instrumented.component, limits)?;
        Ok(FuelProfiler {
            release,
            first_instructions: instrumented.first_instructions.into(),
            tree: Arc::new(Mutex::new(CallTree::new())),
            rows: 0,
        })
    }

    /// Values one property as [`Release::value`] does, and adds its fuel to the profile.
    ///
    /// It takes some hundred times as long, so no deadline but the fuel bounds the row.
    pub fn value(&mut self, subject: &Arc<Subject>, evidence: Arc<dyn EvidenceSource>) -> Row {
        let limits = self.release.limits();
        lock(&self.tree).begin(limits.fuel_per_row);
        let mut store = self.release.store(subject, evidence, limits.deadline);
        let (tree, firsts) = (self.tree.clone(), self.first_instructions.clone());
        store.data_mut().bounds = Bounds::default();
        store.set_epoch_deadline(0);
        store.epoch_deadline_callback(move |store| {
            note(store, &mut lock(&tree), &firsts)?;
            // The next check reports too.
            Ok(UpdateDeadline::Continue(0))
        });
        let row = self.release.value_in(store, subject);
        lock(&self.tree).charge(limits.fuel_per_row.saturating_sub(row.cost.fuel));
        self.rows += 1;
        row
    }

    /// Returns the profile of the rows so far.
    pub fn profile(&self, names: &FunctionNames) -> FuelProfile {
        let tree = lock(&self.tree);
        let calls = tree.nodes.iter().skip(1).map(|node| CallPath {
            caller: (node.parent != HOST).then(|| node.parent - 1),
            function: names.name(node.function),
            self_fuel: node.self_fuel,
            calls: node.calls,
        });
        FuelProfile {
            rows: self.rows,
            calls: calls.collect(),
        }
    }
}

impl FuelProfile {
    /// Returns the fuel of all rows.
    pub fn fuel(&self) -> u64 {
        self.calls.iter().map(|call| call.self_fuel).sum()
    }
}

/// Charges the fuel since the last check, and notes which function runs from this one on.
fn note(
    store: StoreContextMut<'_, RowState>,
    tree: &mut CallTree,
    first_instructions: &[Vec<usize>],
) -> wasmtime::Result<()> {
    tree.charge(store.get_fuel()?);
    let trace = WasmBacktrace::force_capture(&store);
    let frames = trace.frames();
    let is_new_call = frames
        .first()
        .is_some_and(|frame| is_beginning(frame, first_instructions));
    let mut stack = Vec::with_capacity(frames.len() + 1);
    match frames.len() {
        0 => stack.push(Function::Initialization),
        MAX_DEPTH => stack.push(Function::OuterCalls),
        _ => {}
    }
    stack.extend(frames.iter().rev().map(|frame| Function::Defined {
        module: module_number(frame),
        index: frame.func_index(),
    }));
    tree.run(&stack, is_new_call);
    Ok(())
}

/// Returns the number that [`instrument`] gave the module of a frame.
fn module_number(frame: &FrameInfo) -> u32 {
    let name = frame.module().name().and_then(|name| name.parse().ok());
    name.unwrap_or(u32::MAX)
}

/// Reports whether a frame is before the first instruction of its function.
fn is_beginning(frame: &FrameInfo, first_instructions: &[Vec<usize>]) -> bool {
    let module = usize::try_from(module_number(frame)).ok();
    let index = usize::try_from(frame.func_index()).ok();
    let first = module
        .zip(index)
        .and_then(|(module, index)| first_instructions.get(module)?.get(index));
    first.is_some_and(|first| frame.func_offset().is_some_and(|offset| offset < *first))
}

fn lock(tree: &Mutex<CallTree>) -> std::sync::MutexGuard<'_, CallTree> {
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}
