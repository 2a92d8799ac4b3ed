//! Group commit: one thread takes all operations that wait, applies them in one transaction, and
//! answers them when it has reached the disk. Where a group changes units alone, the log takes them
//! in place of the file.
//!
//! An operation checks everything before it writes anything. So a refused operation has changed
//! nothing and harms no other of its group. Where the store fails, the whole group fails. Whether
//! its operations took effect is then unknown, and their changes to memory are dropped. The file is
//! opened anew before anything else is done, and memory is read from it, so that the two cannot
//! differ.
//!
//! A file that was moved or deleted is another matter: the open file is sound. So the group fails
//! before anything is written, and the file stays open. The next group is taken once the path leads
//! to it again.
//!
//! Either way, the store remembers the units that it owes ([`owed`]). It gives them back before it
//! takes the next group.
//!
//! [`owed`]: super::owed_units

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::change::Change;
use super::claims::release_work;
use super::counts::{LogCounts, add_changes};
use super::operation::{Message, Work};
use super::owed_units::FailedGroup;
use super::source::Source;
use super::store::{OpenFiles, Store};
use super::tables::{GroupTransaction, Tables};
use super::usage_wal::replay::{DurableIn, UsageWal};
use crate::StateError;

/// The most operations of one group, so that the first does not wait for all of a flood.
const LARGEST: usize = 1_024;
/// Shortest time between the begins of two groups while operations come together. A group costs the
/// same however many operations it has, so a busy store makes fewer and larger ones.
const INTERVAL: Duration = Duration::from_micros(250);
/// Interval at which an idle thread checks the paths of the files.
const PATH_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The counter that is raised to see whether the file can be written.
pub(super) const PROBES: &str = "probes";

/// The state of the committing thread.
pub(super) struct Committer {
    pub(super) shared: Arc<Store>,
    pub(super) source: Source,
    pub(super) queue: Receiver<Message>,
    pub(super) opening: u64,
    pub(super) wal: UsageWal,
    /// The group that failed, until the files can be read again.
    pub(super) failed: Option<FailedGroup>,
}

/// Nobody can send any more.
pub(super) struct CommitterStopped;

/// A task of a group besides its operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum GroupTask {
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
        let _alarm = PanicReport(&shared);
        let mut group = Vec::new();
        let mut pause = Duration::ZERO;
        while let Ok(first) = self.next_after(pause) {
            let begun = Instant::now();
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
            let task = match suspect {
                true => GroupTask::Probe,
                false => GroupTask::Nothing,
            };
            let operations = group.len();
            match self.check_and_commit(&mut group, task) {
                Ok(()) => group.drain(..).for_each(|work| work.answer(Ok(()))),
                Err(failure) => self.fail(&failure, &mut group),
            }
            pause = pause_after(operations, begun.elapsed());
        }
        if let Err(moved) = self.source.check() {
            tracing::error!(
                %moved,
                "the state was moved before it was closed; the open files hold every acknowledged change"
            );
        }
        // It makes the file whole without its log. If it fails, the next opening does it.
        let unsettled = self.failed.take().map_or(0, |failed| failed.lost_units());
        if let Err(error) = self.commit(&mut Vec::new(), GroupTask::TakeOver) {
            let failed = self.failed.take().map_or(0, |failed| failed.lost_units());
            let owed = unsettled.saturating_add(failed);
            tracing::error!(%error, owed, "the log of units was not taken over at the end");
        }
    }

    /// Returns the next message as [`Committer::next`] does, after a pause. Operations queue up
    /// meanwhile and wake nobody.
    fn next_after(&self, pause: Duration) -> Result<Option<Message>, CommitterStopped> {
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        self.next()
    }

    /// Returns the next message, or none once the log is due or the paths are to be checked.
    fn next(&self) -> Result<Option<Message>, CommitterStopped> {
        let next_check = Instant::now() + PATH_CHECK_INTERVAL;
        let until = self.wal.due().map_or(next_check, |due| due.min(next_check));
        self.receive(until)
    }

    /// Returns the next message, or none where none comes in time.
    pub(super) fn receive(&self, until: Instant) -> Result<Option<Message>, CommitterStopped> {
        match self.queue.recv_deadline(until) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(CommitterStopped),
        }
    }

    /// Checks the paths, applies a group and makes it durable. All of this counts as the commit: a
    /// disk that stalls answers none of it.
    pub(super) fn check_and_commit(
        &mut self,
        group: &mut Vec<Box<dyn Work>>,
        task: GroupTask,
    ) -> Result<(), StateError> {
        let shared = Arc::clone(&self.shared);
        let _commit = shared.memory.commit.begin();
        if let Err(moved) = self.source.check() {
            shared.owed.add_refused(group);
            return Err(moved.into());
        }
        let changes = self.commit(group, task)?;
        shared.memory.apply(changes);
        Ok(())
    }

    /// Gives back what the store owes, applies a group, and makes both durable. Returns the changes
    /// for memory.
    pub(super) fn commit(
        &mut self,
        group: &mut Vec<Box<dyn Work>>,
        task: GroupTask,
    ) -> Result<Vec<Change>, StateError> {
        if let Some(refunds) = self.shared.owed.take() {
            group.insert(0, Box::new(refunds));
        }
        if let Some(releases) = release_work(&self.shared.undelivered) {
            group.insert(0, releases);
        }
        let before = self.wal.position();
        let (wal, opening) = (&mut self.wal, self.opening);
        let committed = self
            .shared
            .with_files(|files| apply(files, wal, group, task, opening));
        if committed.is_err() {
            self.failed = Some(FailedGroup::new(group, before));
        }
        committed
    }
}

/// Returns the pause after a group of operations, by their number and the time that they took. An
/// operation that came alone has none, so a single client is never held back.
fn pause_after(operations: usize, took: Duration) -> Duration {
    match operations {
        0 | 1 => Duration::ZERO,
        _ => INTERVAL.saturating_sub(took),
    }
}

/// Applies a group, makes it durable, and returns the changes for memory.
pub(super) fn apply(
    files: &OpenFiles,
    wal: &mut UsageWal,
    group: &mut [Box<dyn Work>],
    task: GroupTask,
    opening: u64,
) -> Result<Vec<Change>, StateError> {
    let writing = GroupTransaction::new(&files.database);
    let log_counts = files.log_counts();
    let mut tables = Tables::new(&writing, &log_counts.counts, opening);
    for work in group {
        work.apply(&mut tables)?;
    }
    if task == GroupTask::Probe {
        tables.next(PROBES)?;
    }
    let changes = std::mem::take(&mut tables.changes);
    let durable_in = wal.persist_changes(
        &mut tables,
        writing.has_changes(),
        task == GroupTask::TakeOver,
    )?;
    drop(tables);
    drop(log_counts);
    match durable_in {
        DurableIn::Nowhere => writing.abort()?,
        DurableIn::InLog(counts) => {
            writing.abort()?;
            files.change_log_counts(|log| add_changes(&mut log.counts, counts));
        }
        DurableIn::InFile => {
            writing.commit()?;
            if wal.after_commit() {
                let epoch = wal.position().epoch;
                files.change_log_counts(|log| *log = LogCounts::begin(epoch));
            }
        }
    }
    Ok(changes)
}

/// Records a panic of the committing thread, which answers nothing after that.
struct PanicReport<'s>(&'s Store);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let reason = "the committing thread stopped";
            self.0.memory.fail(reason.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::counts::StoredEntry;
    use crate::embedded::error::StoreError;
    use crate::embedded::file;
    use crate::embedded::operation::Operation;
    use crate::embedded::test_disk::Disk;
    use crate::embedded::usage_wal::replay::{FoundLog, open_writable_log};
    use crate::{Month, UsageSource};
    use crossbeam_channel::{Sender, bounded};

    const PAUSE: Duration = Duration::from_millis(50);

    /// Makes a committer that takes its log over after [`PAUSE`], and the sender of its queue.
    fn committer() -> (Committer, Sender<Message>) {
        let mut source = Disk::new(1).source();
        source.take_over_after = PAUSE;
        let database = file::open(&source).unwrap();
        let log = open_writable_log(&source).unwrap();
        let found = FoundLog::read(&source, log, &database).unwrap();
        let (wal, opening) = found.take_over(&database, PROBES).unwrap();
        let shared = Arc::new(Store::default());
        shared.put(OpenFiles::new(database, LogCounts::begin(1)));
        let (sender, queue) = bounded(4);
        let committer = Committer {
            shared,
            source,
            queue,
            opening,
            wal,
            failed: None,
        };
        (committer, sender)
    }

    #[test]
    fn the_thread_sleeps_until_the_log_is_due() {
        let (mut committer, _sender) = committer();
        let run = |tables: &mut Tables<'_>| {
            let month = Month {
                year: 2031,
                month: 6,
            };
            let entry = StoredEntry::new(UsageSource::without_request(month), 5);
            tables.change_used(&"acme".parse().unwrap(), month, 5, entry);
            Ok(())
        };
        let work: Box<dyn Work> = Box::new(Operation::new(run, drop));
        let mut group = vec![work];
        committer.commit(&mut group, GroupTask::Nothing).unwrap();
        let due = committer.wal.due().unwrap();
        assert!(matches!(committer.next(), Ok(None)));
        assert!(Instant::now() >= due);
    }

    #[test]
    fn groups_of_several_operations_begin_an_interval_apart_and_a_lone_one_at_once() {
        let took = INTERVAL / 5;
        assert_eq!(pause_after(1, took), Duration::ZERO);
        assert_eq!(pause_after(2, took), INTERVAL - took);
        // A slow disk gathers by itself.
        assert_eq!(pause_after(1_024, INTERVAL * 2), Duration::ZERO);
        let (committer, sender) = committer();
        assert!(sender.send(Message::Suspect).is_ok());
        let begun = Instant::now();
        assert!(matches!(committer.next_after(PAUSE), Ok(Some(_))));
        assert!(begun.elapsed() >= PAUSE);
    }

    /// Queues two operations. The answer to the first queues two more, until this many groups are
    /// queued. Each group sends the time of its first operation.
    fn queue_pairs(queue: &Sender<Message>, groups: u32, applied: Sender<Instant>) {
        if groups == 0 {
            return;
        }
        let further = (queue.clone(), applied.clone());
        let apply = move |_: &mut Tables<'_>| {
            assert!(applied.send(Instant::now()).is_ok());
            Ok(())
        };
        let answer = move |outcome: Result<(), StateError>| {
            assert!(outcome.is_ok());
            queue_pairs(&further.0, groups - 1, further.1);
        };
        let first = Operation::new(apply, answer);
        let second = Operation::new(|_: &mut Tables<'_>| Ok(()), drop::<Result<(), StateError>>);
        assert!(queue.send(Message::Work(Box::new(first))).is_ok());
        assert!(queue.send(Message::Work(Box::new(second))).is_ok());
    }

    #[test]
    fn a_busy_thread_begins_its_groups_an_interval_apart() {
        const GROUPS: u32 = 8;
        let (committer, sender) = committer();
        let (applied, times) = bounded(8);
        queue_pairs(&sender, GROUPS, applied);
        drop(sender);
        let begun = Instant::now();
        committer.run();
        let times: Vec<Instant> = times.try_iter().collect();
        assert_eq!(times.len(), 8);
        for (groups_before, time) in (0..GROUPS).zip(times) {
            let elapsed = time - begun;
            assert!(
                elapsed >= INTERVAL * groups_before,
                "{groups_before}: {elapsed:?}"
            );
        }
    }

    #[test]
    fn operations_are_refused_for_the_whole_pause() {
        let (committer, sender) = committer();
        let (answer, reply) = bounded::<Result<(), StateError>>(1);
        let run = |_: &mut Tables<'_>| Ok(());
        let work = Operation::new(run, move |outcome| drop(answer.send(outcome)));
        assert!(sender.send(Message::Work(Box::new(work))).is_ok());
        let begun = Instant::now();
        let refused = committer.refuse(&StoreError::new("on purpose"), PAUSE);
        assert!(refused.is_ok() && begun.elapsed() >= PAUSE);
        let error = reply.try_recv().unwrap().unwrap_err();
        assert!(error.to_string().contains("on purpose"), "{error}");
    }
}
