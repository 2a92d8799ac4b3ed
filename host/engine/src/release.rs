//! A release that is ready to run, and its rows.

use crate::admission;
use crate::clock::{Clock, ticks};
use crate::config::{MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS};
use crate::evidence::{Bounds, EvidenceSource};
use crate::failure::{classify, sandbox_failure, unreadable_outcome};
use crate::kept_instance::{KeptInstance, ReleaseInstances};
use crate::limits::Limits;
use crate::outcome::{Cost, Row, RowFailure};
use crate::row_state::RowState;
use crate::subject::Subject;
use crate::{v1, v1_1};
use std::sync::Arc;
use std::time::Duration;
use wasmtime::Store;
use wasmtime::component::Instance;

/// Host work for the data of one row, in wasmtime's units (about bytes).
///
/// 5,000 sales fit many times over; an endless list of a guest does not.
const HOSTCALL_FUEL: usize = 16 << 20;

/// A release that is ready to run. It is cheap to clone, and every row gets an instance that is as
/// a new one.
#[derive(Clone)]
pub struct Release {
    pub(crate) entry: v1::EntryPoint,
    pub(crate) limits: Limits,
    /// Instances that wait for the next row. None where each row has a new one.
    pub(crate) kept: Option<Arc<ReleaseInstances>>,
    /// Runs for as long as the release can: without it no deadline would pass.
    pub(crate) clock: Arc<Clock>,
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

    /// Values one property in a sandbox that is as new.
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
        self.run(self.row_state(subject, evidence, time), time, subject)
    }

    /// Values one property as [`Release::value_within`] does, and digests the answers that the
    /// release is given.
    pub fn value_with_digests(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> Row {
        let mut state = self.row_state(subject, evidence, time);
        state.digest_answers(v1_1::pack);
        self.run(state, time, subject)
    }

    /// Values one property in an instance that was set back, or in a new one.
    fn run(&self, state: RowState, time: Duration, subject: &Subject) -> Row {
        let Some(kept) = &self.kept else {
            return self.value_in(self.new_store(state, time), subject);
        };
        let mut instance = match self.instance(kept, state, time) {
            Ok(instance) => instance,
            Err((failure, mut store)) => return self.end_row(&mut store, Err(failure)),
        };
        let answer = self.call(&mut instance.store, instance.value, subject);
        let row = self.end_row(&mut instance.store, answer);
        if row.outcome.is_ok() {
            kept.keep(instance);
        }
        row
    }

    /// Returns an instance that is ready for a row.
    fn instance(
        &self,
        kept: &ReleaseInstances,
        state: RowState,
        time: Duration,
    ) -> Result<KeptInstance, (RowFailure, Store<RowState>)> {
        if let Some(mut instance) = kept.take() {
            self.limit(&mut instance.store, time);
            return match instance.begin(state, self.limits.fuel_per_row) {
                Ok(()) => Ok(instance),
                Err(error) => Err((sandbox_failure(&error), instance.store)),
            };
        }
        let mut store = self.new_store(state, time);
        let made = match self.instantiate(&mut store) {
            Ok(made) => made,
            Err(failure) => return Err((failure, store)),
        };
        kept.prepare(store, made, self.limits.fuel_per_row)
            .map_err(|(error, store)| (self.failure_before_the_call(&error), store))
    }

    /// Values one property in a store that was created for it.
    pub(crate) fn value_in(&self, mut store: Store<RowState>, subject: &Subject) -> Row {
        let answer = self
            .instantiate(&mut store)
            .and_then(|(_, value)| self.call(&mut store, value, subject));
        self.end_row(&mut store, answer)
    }

    /// Makes an instance with the fuel of a row.
    pub(crate) fn instantiate(
        &self,
        store: &mut Store<RowState>,
    ) -> Result<(Instance, v1::Value<'static>), RowFailure> {
        store
            .set_fuel(self.limits.fuel_per_row)
            .and_then(|()| self.entry.instantiate(store))
            .map_err(|error| self.failure_before_the_call(&error))
    }

    /// Returns a failure before the call. It is the host's, unless the start function caused it.
    fn failure_before_the_call(&self, error: &wasmtime::Error) -> RowFailure {
        classify(error, self.limits.fuel_per_row).unwrap_or_else(|| sandbox_failure(error))
    }

    /// Returns a failure in a call. It may be an unreadable answer, which is the guest's.
    pub(crate) fn failure_in_the_call(&self, error: &wasmtime::Error) -> RowFailure {
        classify(error, self.limits.fuel_per_row).unwrap_or_else(|| unreadable_outcome(error))
    }

    /// Calls the release.
    pub(crate) fn call(
        &self,
        store: &mut Store<RowState>,
        value: v1::Value<'static>,
        subject: &Subject,
    ) -> Result<v1::wit::Outcome, RowFailure> {
        let lowered = v1::lower(subject);
        let value: v1::Value<'_> = value;
        match value.call(store, (&lowered,)) {
            Ok((outcome,)) => Ok(outcome),
            Err(error) => Err(self.failure_in_the_call(&error)),
        }
    }

    /// Ends the row of a store: checks its answer, and counts what it took.
    pub(crate) fn end_row(
        &self,
        store: &mut Store<RowState>,
        answer: Result<v1::wit::Outcome, RowFailure>,
    ) -> Row {
        let fuel = self.limits.fuel_per_row;
        let spent = fuel - store.get_fuel().unwrap_or(0).min(fuel);
        let mut state = store.data_mut().end_row();
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
        self.new_store(self.row_state(subject, evidence, time), time)
    }

    /// Returns the state of a row that begins now.
    pub(crate) fn row_state(
        &self,
        subject: &Arc<Subject>,
        evidence: Arc<dyn EvidenceSource>,
        time: Duration,
    ) -> RowState {
        let memory = usize::try_from(self.limits.memory_bytes).unwrap_or(MAX_MEMORY_BYTES);
        let bounds = Bounds::until(self.clock.deadline(time.min(self.limits.deadline)));
        RowState::new(
            subject.clone(),
            evidence,
            memory,
            MAX_TABLE_ELEMENTS,
            bounds,
        )
    }

    fn new_store(&self, state: RowState, time: Duration) -> Store<RowState> {
        let mut store = Store::new(self.entry.engine(), state);
        store.limiter(|state| state);
        self.limit(&mut store, time);
        store
    }

    /// Limits the host's work for the data of a row that begins now, and its time.
    pub(crate) fn limit(&self, store: &mut Store<RowState>, time: Duration) {
        store.set_hostcall_fuel(HOSTCALL_FUEL);
        store.set_epoch_deadline(ticks(time.min(self.limits.deadline)));
    }
}
