//! Group commit: one thread takes all operations that wait, applies them in one transaction, and
//! answers them when it has reached the disk. Where a group changes units alone, the log takes them
//! in place of the file.
//!
//! An operation looks at everything before it writes anything, so that one which refuses has
//! changed nothing and harms no other of its group. Where the store fails, the whole group fails:
//! of its operations it is then unknown whether they took effect, and what they would have told
//! memory is dropped. The file is opened anew before anything else is done, and memory is read
//! from it, so that the two cannot differ.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvError, RecvTimeoutError, Sender, bounded};

use super::file;
use super::ledger::{Kept, Ledger, open_aside, proven};
use super::log::Counts;
use super::memory::Change;
use super::shared::{Opened, Shared};
use super::source::Source;
use super::stopped;
use super::tables::{Tables, Writing};
use crate::StateError;

/// The most operations of one group, so that the first does not wait for all of a flood.
const LARGEST: usize = 1_024;
/// How long after a failure the file is first opened again.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest time between two such attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The counter that is raised to see whether the file can be written.
const PROBES: &str = "probes";

/// Why a group failed, for each of its operations.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct Broken(Arc<str>);

impl Broken {
    pub(super) fn new(reason: impl Into<Arc<str>>) -> Self {
        Broken(reason.into())
    }

    pub(super) fn error(&self) -> StateError {
        StateError::Storage {
            doing: "written",
            source: Box::new(self.clone()),
        }
    }
}

/// An operation that waits to be made durable.
pub(super) trait Work: Send {
    /// Does it. An error is the store's, and fails the group; a refusal is kept for the answer.
    fn apply(&mut self, tables: &mut Tables<'_>) -> Result<(), StateError>;

    /// Answers it, after the group is durable or has failed.
    fn answer(self: Box<Self>, group: Result<(), &Broken>);
}

/// An operation: what it does, and who is told what came of it.
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
        match run(tables) {
            Err(failure @ StateError::Storage { .. }) => Err(failure),
            outcome => {
                self.outcome = Some(outcome);
                Ok(())
            }
        }
    }

    fn answer(self: Box<Self>, group: Result<(), &Broken>) {
        let unanswered = || Broken::new("the operation was not reached").error();
        let outcome = match group {
            Ok(()) => self.outcome.unwrap_or_else(|| Err(unanswered())),
            Err(broken) => Err(broken.error()),
        };
        (self.answer)(outcome);
    }
}

/// What the committing thread is sent.
pub(super) enum Message {
    /// An operation.
    Work(Box<dyn Work>),
    /// A reader met a failure: see whether the file can still be used.
    Suspect,
}

/// Sends an operation and waits until it is durable.
pub(super) fn wait<T: Send + 'static>(
    queue: &Sender<Message>,
    run: impl FnOnce(&mut Tables<'_>) -> Result<T, StateError> + Send + 'static,
) -> Result<T, StateError> {
    let (answer, reply) = bounded(1);
    let work = Operation::new(run, move |outcome| drop(answer.send(outcome)));
    queue
        .send(Message::Work(Box::new(work)))
        .map_err(|_| stopped())?;
    reply.recv().map_err(|_| stopped())?
}

/// The committing thread's own.
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) source: Source,
    pub(super) queue: Receiver<Message>,
    pub(super) opening: u64,
    pub(super) ledger: Ledger,
}

/// What is done with a group besides its operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Also {
    Nothing,
    /// The file is written even where the group has nothing to write.
    Probe,
    /// The log is taken over.
    TakeOver,
}

impl Committer {
    /// Commits until nobody can send any more.
    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let _alarm = Alarm(&shared);
        let mut group = Vec::new();
        while let Ok(first) = self.next() {
            let mut suspect = false;
            for message in first
                .into_iter()
                .chain(self.queue.try_iter().take(LARGEST - 1))
            {
                match message {
                    Message::Work(work) => group.push(work),
                    Message::Suspect => suspect = true,
                }
            }
            let also = match suspect {
                true => Also::Probe,
                false => Also::Nothing,
            };
            if let Err(failure) = self.commit(&mut group, also) {
                let broken = Broken::new(reason(&failure));
                // First, so that whoever is told of the failure also finds the trouble, and no file.
                self.shared.memory.fail(broken.error().to_string());
                self.shared.close();
                group.drain(..).for_each(|work| work.answer(Err(&broken)));
                self.recover(broken);
            } else {
                group.drain(..).for_each(|work| work.answer(Ok(())));
            }
        }
        // So that the file is whole without its log. Should it fail, the next opening does it.
        if let Err(error) = self.commit(&mut [], Also::TakeOver) {
            tracing::error!(%error, "the log of units was not taken over at the end");
        }
    }

    /// The next message, or nothing once the log is due.
    fn next(&self) -> Result<Option<Message>, RecvError> {
        let Some(due) = self.ledger.due() else {
            return self.queue.recv().map(Some);
        };
        match self.queue.recv_deadline(due) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(RecvError),
        }
    }

    /// Applies a group and makes it durable.
    fn commit(&mut self, group: &mut [Box<dyn Work>], also: Also) -> Result<(), StateError> {
        let (ledger, opening) = (&mut self.ledger, self.opening);
        let changes = self
            .shared
            .with_opened(|opened| apply(opened, ledger, group, also, opening))?;
        self.shared.memory.apply(changes);
        Ok(())
    }

    /// Opens the file, which is closed, anew until it can be written again. Operations that come
    /// meanwhile fail at once; what only reads is answered from the file, read aside.
    fn recover(&mut self, mut broken: Broken) {
        let mut pause = FIRST_PAUSE;
        loop {
            let until = Instant::now() + pause;
            loop {
                match self.queue.recv_deadline(until) {
                    Ok(Message::Work(work)) => work.answer(Err(&broken)),
                    Ok(Message::Suspect) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        // What is read aside takes nothing over.
                        self.shared.close();
                        return;
                    }
                }
            }
            match self.reopen() {
                Ok(()) => return,
                Err(failure) => broken = Broken::new(reason(&failure)),
            }
            self.read_aside();
            self.shared.memory.fail(broken.error().to_string());
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A file that opens may still be one that cannot be written, so something is, to the log first:
    /// an opening changes the file, which must not happen below what is read aside for a log's sake.
    fn reopen(&mut self) -> Result<(), StateError> {
        self.source.distrust()?;
        let log = proven(&self.source)?;
        let database = file::open(&self.source)?;
        match Ledger::open(&self.source, log, &database, PROBES) {
            Ok((ledger, _)) => self.ledger = ledger,
            Err(failure) => {
                // What was read aside ends before the file is closed, which writes to it.
                self.shared.close();
                return Err(failure);
            }
        }
        let memory = &self.shared.memory;
        // Whoever finds the trouble over also finds the file.
        self.shared.put(Opened::new(database, Counts::new()));
        let loaded = self
            .shared
            .with_opened(|opened| memory.load(&opened.database));
        if loaded.is_err() {
            self.shared.close();
        }
        loaded
    }

    /// What was read aside until now may have been changed by the attempt to write, so it is opened
    /// anew after each.
    fn read_aside(&self) {
        let opened = self.source.distrust();
        match opened.and_then(|()| open_aside(&self.source)) {
            Ok(opened) => self.shared.put(opened),
            Err(_) => self.shared.close(),
        }
    }
}

/// Applies a group, makes it durable, and gives what memory is to be told.
pub(super) fn apply(
    opened: &Opened,
    ledger: &mut Ledger,
    group: &mut [Box<dyn Work>],
    also: Also,
    opening: u64,
) -> Result<Vec<Change>, StateError> {
    let writing = Writing::new(&opened.database);
    let logged = opened.logged();
    let mut tables = Tables::new(&writing, &logged, opening);
    for work in group {
        work.apply(&mut tables)?;
    }
    if also == Also::Probe {
        tables.next(PROBES)?;
    }
    let changes = std::mem::take(&mut tables.changes);
    let kept = ledger.settle(&mut tables, writing.changed(), also == Also::TakeOver)?;
    drop(tables);
    drop(logged);
    match kept {
        Kept::Nowhere => writing.abort()?,
        Kept::InLog(counts) => {
            writing.abort()?;
            opened.change_logged(|logged| logged.extend(counts));
        }
        Kept::InFile => {
            writing.commit()?;
            if ledger.committed() {
                opened.change_logged(Counts::clear);
            }
        }
    }
    Ok(changes)
}

/// Says so should the committing thread ever end by a panic, for it answers nothing after that.
struct Alarm<'s>(&'s Shared);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let stopped = "the committing thread stopped";
            self.0.memory.fail(stopped.to_owned());
        }
    }
}

/// What the failure came from, without the words that every failure of the store begins with.
pub(super) fn reason(failure: &StateError) -> String {
    use std::error::Error;
    match (failure, failure.source()) {
        (StateError::Storage { source, .. }, _) => source.to_string(),
        (_, Some(source)) => format!("{failure}: {source}"),
        (_, None) => failure.to_string(),
    }
}
