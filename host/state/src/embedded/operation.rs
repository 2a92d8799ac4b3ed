//! The operations that wait for the committing thread, and the messages that carry them.

use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use super::counts::OwedRefund;
use super::error::{StoreError, stopped_error};
use super::tables::Tables;
use crate::StateError;

/// Time limit of a caller that waits for a commit or a read, or for the state to close.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// An operation that waits to be made durable.
pub(super) trait Work: Send {
    /// Does it. An error is the store's, and fails the group. A refusal and a damaged record are
    /// kept for the answer ([`separate_failure`]).
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError>;

    /// Answers it, after the group is durable or has failed.
    fn answer(self: Box<Self>, group: Result<(), &StoreError>);

    /// Adds the units that the store owes for it where its group failed. Operations of jobs owe
    /// none: their units are durable with their jobs or not at all.
    fn owe(&self, _is_durable: bool, _owed: &mut Vec<OwedRefund>) {}
}

/// An operation, and the receiver of its result.
pub(super) struct Operation<T, F, A> {
    run: Option<F>,
    outcome: Option<Result<T, StateError>>,
    answer: A,
}

impl<T, F, A> Operation<T, F, A> {
    pub(super) fn new(run: F, answer: A) -> Self {
        Operation {
            run: Some(run),
            outcome: None,
            answer,
        }
    }
}

impl<T, F, A> Work for Operation<T, F, A>
where
    T: Send,
    F: FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send,
    A: FnOnce(Result<T, StateError>) + Send,
{
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError> {
        let Some(run) = self.run.take() else {
            return Ok(());
        };
        self.outcome = Some(separate_failure(run(tables))?);
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), &StoreError>) {
        let outcome = match group {
            Ok(()) => self.outcome.unwrap_or_else(|| Err(not_reached_error())),
            Err(broken) => Err(broken.error()),
        };
        (self.answer)(outcome);
    }
}

/// Returns the outcome of one operation, where the store did not fail. Any other error is of that
/// operation alone, and the rest of its group goes on.
///
/// # Errors
/// [`StateError::Storage`] if the store failed.
pub(super) fn separate_failure<T>(
    outcome: Result<T, StateError>,
) -> Result<Result<T, StateError>, StateError> {
    match outcome {
        Err(failure @ StateError::Storage { .. }) => Err(failure),
        outcome => Ok(outcome),
    }
}

/// Returns the error of an operation of a durable group that was not applied.
pub(super) fn not_reached_error() -> StateError {
    StoreError::new("the operation was not reached").error()
}

/// A message to the committing thread.
pub(super) enum Message {
    /// An operation.
    Work(Box<dyn Work>),
    /// A reader met a failure: see whether the file can still be used.
    Suspect,
}

/// Sends an operation and waits until it is durable, within a bound.
pub(super) fn wait<T: Send + 'static>(
    queue: &Sender<Message>,
    run: impl FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send + 'static,
) -> Result<T, StateError> {
    let (answer, reply) = bounded(1);
    let work = Operation::new(run, move |outcome| drop(answer.send(outcome)));
    let until = Instant::now() + LONGEST_WAIT;
    let sent = queue.send_deadline(Message::Work(Box::new(work)), until);
    sent.map_err(|error| match error.is_timeout() {
        true => timeout_error(),
        false => stopped_error(),
    })?;
    match reply.recv_deadline(until) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Err(timeout_error()),
        Err(RecvTimeoutError::Disconnected) => Err(stopped_error()),
    }
}

/// Returns the error of a disk that neither works nor fails.
pub(super) fn timeout_error() -> StateError {
    let seconds = LONGEST_WAIT.as_secs();
    StoreError::new(format!(
        "the disk did not answer within {seconds} s; whether the change was kept is unknown"
    ))
    .error()
}
