//! The receipts on their way to the thread that writes, and those who wait for them.
//!
//! A receipt alone does not wake the thread. It is woken once somebody waits, or once enough bytes
//! are there. So the receipts of a batch, and those of values that end together, are one group.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::{JournalError, SealedReceipt};

/// Bytes that are written though nobody waits yet.
const DUE_BYTES: usize = 256 << 10;

/// Nothing once receipts are durable, or the error of the last that failed.
type Outcome = Result<(), JournalError>;

/// The queue of the writer.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    due: Condvar,
    /// Receipts that may wait.
    most: usize,
    /// Bytes that are taken at once.
    group_bytes: usize,
}

#[derive(Default)]
struct Inner {
    receipts: Vec<SealedReceipt>,
    bytes: usize,
    /// True if the thread is to take the receipts that are there.
    is_due: bool,
    /// True while the thread sleeps.
    is_asleep: bool,
    is_closed: bool,
    /// True once the thread has ended.
    is_abandoned: bool,
    last_ticket: u64,
    tickets: TicketState,
    waiting: Vec<Waiter>,
}

/// The progress of the writing thread, by tickets.
#[derive(Debug, Clone, Default)]
struct TicketState {
    /// Everything through this is durable or has failed.
    processed_through: u64,
    /// The last that failed, with its error.
    last_failure: Option<(u64, JournalError)>,
}

/// Somebody who waits for the receipt `to` and those before it.
struct Waiter {
    to: u64,
    wakes: Wakes,
}

enum Wakes {
    /// Somebody who wants to know whether the receipts from this one on are durable.
    Outcome(u64, oneshot::Sender<Outcome>),
    /// A call that is made whatever the outcome.
    Call(Box<dyn FnOnce() + Send>),
}

/// The next work of the thread.
pub(crate) enum Work {
    /// At least one receipt.
    Group(Vec<SealedReceipt>),
    /// Nobody handed anything in.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

impl TicketState {
    /// Returns the outcome of the receipts with these tickets, once that is known.
    fn outcome(&self, from: u64, to: u64) -> Option<Outcome> {
        (self.processed_through >= to).then(|| match &self.last_failure {
            Some((ticket, error)) if *ticket >= from => Err(error.clone()),
            _ => Ok(()),
        })
    }
}

impl Waiter {
    /// Tells the outcome of the receipts, where it is known.
    fn wake(self, tickets: &TicketState) {
        match self.wakes {
            Wakes::Outcome(from, done) => {
                if let Some(outcome) = tickets.outcome(from, self.to) {
                    // Whoever waited may have left.
                    let _ = done.send(outcome);
                }
            }
            Wakes::Call(call) => call(),
        }
    }
}

impl Queue {
    /// Makes a queue for `most` receipts. The writer takes up to `group_bytes` of them at once.
    pub(crate) fn new(most: usize, group_bytes: usize) -> Queue {
        Queue {
            inner: Mutex::default(),
            due: Condvar::new(),
            most,
            group_bytes,
        }
    }

    /// Adds a receipt and returns its ticket, or returns the receipt where too many wait.
    ///
    /// # Errors
    /// [`JournalError::Closed`].
    pub(crate) fn push(
        &self,
        receipt: SealedReceipt,
    ) -> Result<Result<u64, SealedReceipt>, JournalError> {
        let mut inner = self.inner();
        if inner.is_closed {
            return Err(JournalError::Closed);
        }
        if inner.receipts.len() >= self.most {
            self.wake(&mut inner);
            return Ok(Err(receipt));
        }
        inner.bytes += receipt.bytes();
        inner.receipts.push(receipt);
        inner.last_ticket += 1;
        if inner.bytes >= DUE_BYTES {
            self.wake(&mut inner);
        }
        Ok(Ok(inner.last_ticket))
    }

    /// Wakes the thread, and returns the outcome of the tickets, or the place where it will be.
    pub(crate) fn wait(&self, from: u64, to: u64) -> Result<Outcome, oneshot::Receiver<Outcome>> {
        let mut inner = self.inner();
        if let Some(known) = inner.tickets.outcome(from, to) {
            return Ok(known);
        }
        if inner.is_abandoned {
            return Ok(Err(JournalError::Closed));
        }
        let (done, outcome) = oneshot::channel();
        let wakes = Wakes::Outcome(from, done);
        inner.waiting.push(Waiter { to, wakes });
        self.wake(&mut inner);
        Err(outcome)
    }

    /// Wakes the thread, which makes a call once the receipt and those before it are durable or
    /// have failed.
    pub(crate) fn call_after(&self, to: u64, call: Box<dyn FnOnce() + Send>) {
        let mut inner = self.inner();
        if inner.is_abandoned || inner.tickets.processed_through >= to {
            drop(inner);
            return call();
        }
        let wakes = Wakes::Call(call);
        inner.waiting.push(Waiter { to, wakes });
        self.wake(&mut inner);
    }

    /// Makes the calls that wait for the receipt `to`.
    pub(crate) fn call_now(&self, to: u64) {
        let is_call =
            |waiter: &mut Waiter| waiter.to == to && matches!(waiter.wakes, Wakes::Call(_));
        let calls: Vec<_> = (self.inner().waiting).extract_if(.., is_call).collect();
        for waiter in calls {
            waiter.wake(&TicketState::default());
        }
    }

    /// Takes the receipts of the next group. Sleeps until one is due, but no longer than `most`.
    pub(crate) fn take(&self, most: Duration) -> Work {
        let until = Instant::now() + most;
        let mut inner = self.inner();
        while !inner.is_due && !inner.is_closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            inner.is_asleep = true;
            inner = (self.due.wait_timeout(inner, left))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            inner.is_asleep = false;
        }
        inner.is_due = false;
        if inner.receipts.is_empty() {
            return match inner.is_closed {
                true => Work::Closed,
                false => Work::Nothing,
            };
        }
        let mut bytes = 0;
        let fills = |receipt: &SealedReceipt| {
            bytes += receipt.bytes();
            bytes >= self.group_bytes
        };
        let end = inner.receipts.iter().position(fills);
        let rest = end.map(|end| inner.receipts.split_off(end + 1));
        let group = std::mem::replace(&mut inner.receipts, rest.unwrap_or_default());
        inner.bytes -= bytes;
        inner.is_due = !inner.receipts.is_empty();
        Work::Group(group)
    }

    /// Tells those who wait that the next `count` receipts are durable, or that they failed.
    pub(crate) fn finish(&self, count: usize, outcome: Outcome) {
        let mut inner = self.inner();
        inner.tickets.processed_through += count as u64;
        if let Err(error) = outcome {
            inner.tickets.last_failure = Some((inner.tickets.processed_through, error));
        }
        let through = inner.tickets.processed_through;
        let finished: Vec<_> = (inner.waiting)
            .extract_if(.., |waiter| waiter.to <= through)
            .collect();
        let tickets = inner.tickets.clone();
        drop(inner);
        for waiter in finished {
            waiter.wake(&tickets);
        }
    }

    /// Takes no more receipts. The thread takes those that are there.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.is_closed = true;
        self.wake(&mut inner);
    }

    /// Ends every wait, since the thread has ended.
    pub(crate) fn abandon(&self) {
        let mut inner = self.inner();
        (inner.is_closed, inner.is_abandoned) = (true, true);
        let waiting = std::mem::take(&mut inner.waiting);
        drop(inner);
        for waiter in waiting {
            waiter.wake(&TicketState::default());
        }
    }

    /// Wakes the thread for the receipts that are there. Those in its hands need no other turn.
    fn wake(&self, inner: &mut Inner) {
        inner.is_due |= !inner.receipts.is_empty();
        // A thread that works looks again by itself.
        if (inner.is_due || inner.is_closed) && std::mem::take(&mut inner.is_asleep) {
            self.due.notify_one();
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
