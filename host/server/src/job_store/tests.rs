use super::measured_objects::MeasuredObjects;
use super::*;
use crate::telemetry::metrics::Metrics;
use domesday_state::{
    Claim, Claimant, EmbeddedState, Idempotency, Job, JobMode, Month, NewChunk, State, Tally,
};
use futures_util::future::{BoxFuture, FutureExt, pending};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);
const LEASE: i64 = 30_000;

/// Object storage in memory, which can be made to fail, or never to answer.
#[derive(Default)]
struct Memory {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    failing: AtomicBool,
    stalled: AtomicBool,
}

impl Memory {
    fn answer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut BTreeMap<String, Vec<u8>>) -> T,
    ) -> BoxFuture<'_, Result<T, ObjectsError>> {
        if self.stalled.load(Ordering::Relaxed) {
            return pending().boxed();
        }
        let answer = match self.failing.load(Ordering::Relaxed) {
            true => Err(ObjectsError::Failed("it does not answer".into())),
            false => Ok(work(&mut self.objects.lock().unwrap())),
        };
        async move { answer }.boxed()
    }

    fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    /// Waits until a removal in the background has happened.
    async fn await_names(&self, expected: &[String]) {
        for _ in 0..500 {
            if self.names() == expected {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{:?} instead of {expected:?}", self.names());
    }
}

impl JobObjects for Memory {
    fn put<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<(), ObjectsError>> {
        self.answer(|objects| drop(objects.insert(name.to_owned(), bytes)))
    }

    fn get<'a>(
        &'a self,
        name: &'a str,
        largest: u64,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, ObjectsError>> {
        let answer = self.answer(|objects| objects.get(name).cloned());
        async move {
            match answer.await? {
                Some(bytes) if bytes.len() as u64 > largest => Err(ObjectsError::TooLong),
                object => Ok(object),
            }
        }
        .boxed()
    }

    fn delete<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ObjectsError>> {
        self.answer(|objects| drop(objects.remove(name)))
    }

    fn list<'a>(
        &'a self,
        folder: &'a str,
        end: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, ObjectsError>> {
        self.answer(|objects| {
            let names = objects.range(folder.to_owned()..end.to_owned());
            names.take(limit).map(|(name, _)| name.clone()).collect()
        })
    }
}

/// A state and object storage in memory.
struct World {
    state: Arc<dyn State>,
    memory: Arc<Memory>,
    store: JobStore,
    place: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        let state = EmbeddedState::open(&place.path().join("state.redb")).unwrap();
        let (state, memory): (Arc<dyn State>, _) = (Arc::new(state), Arc::<Memory>::default());
        World {
            store: JobStore::new(state.clone(), Some(memory.clone())),
            state,
            memory,
            place,
        }
    }

    async fn accept(&self, job: NewJob) -> Job {
        match self.store.submit(job).await.unwrap() {
            Submission::Accepted(job) => job,
            other => panic!("{other:?}"),
        }
    }

    async fn claim(&self) -> Claim {
        let claimant = Claimant::of_releases(["release"]);
        self.state
            .claim(claimant, NOW, LEASE)
            .await
            .unwrap()
            .unwrap()
    }

    async fn finish(&self, lease: Lease, output: &[u8], input: Option<String>) -> LeaseStatus {
        let results = ChunkResults {
            chunk: 0,
            output: output.to_vec(),
            tally: Tally::default(),
            refund: 0,
        };
        let mut written = self.store.write_results(lease, results).await.unwrap();
        let finished = self
            .store
            .finish_chunk(lease, &mut written, input, (NOW, LEASE));
        finished.await.unwrap()
    }

    async fn output(&self, job: &Job) -> Result<Option<Vec<u8>>, JobStoreError> {
        self.store.output(job.tenant.clone(), job.id, 0, NOW).await
    }
}

fn large(byte: u8) -> Vec<u8> {
    vec![byte; KEPT_BYTES + 1]
}

/// Returns an id that begins with a time, as those of jobs do.
fn id(millis: i64, number: u8) -> Uuid {
    uuid::Builder::from_unix_timestamp_millis(millis.try_into().unwrap(), &[number; 10]).into_uuid()
}

pub(crate) fn job(inputs: &[Vec<u8>]) -> NewJob {
    let chunk = |input: &Vec<u8>| NewChunk {
        rows: 1,
        units: 1,
        input: input.clone(),
    };
    NewJob {
        id: id(NOW.0, 1),
        tenant: "acme".parse().unwrap(),
        mode: JobMode::Simple,
        release_id: "release".into(),
        shared: Vec::new(),
        chunks: inputs.iter().map(chunk).collect(),
        idempotency: None,
        month: Month::of(NOW),
        allowance: u64::MAX,
        queued_jobs: u32::MAX,
        stored_bytes: u64::MAX,
        now: NOW,
    }
}

#[tokio::test]
async fn large_chunks_are_sealed_objects_and_small_ones_stay_in_the_state() {
    let world = World::new();
    let accepted = world.accept(job(&[large(b'a'), b"small".to_vec()])).await;
    let name = input_name(accepted.id, 0);
    assert_eq!(world.memory.names(), std::slice::from_ref(&name));
    let sealed = world.memory.objects.lock().unwrap()[&name].clone();
    assert!(!sealed.windows(8).any(|part| part == [b'a'; 8]));

    let lease = world.claim().await.lease;
    let input = world.store.input(lease, 0).await.unwrap().unwrap();
    assert_eq!(input.bytes, large(b'a'));
    let small = world.store.input(lease, 1).await.unwrap().unwrap();
    assert_eq!((small.bytes, small.object), (b"small".to_vec(), None));

    let status = world.finish(lease, &large(b'b'), input.object).await;
    assert_eq!(status, LeaseStatus::Held);
    let output = world.output(&accepted).await.unwrap();
    assert_eq!(output.unwrap(), large(b'b'));
    // The rows are gone, and the results are there.
    let names = world.memory.names();
    let results = names.into_iter().filter(|name| name.contains("/output-0-"));
    world.memory.await_names(&results.collect::<Vec<_>>()).await;
}

#[tokio::test]
async fn storage_that_does_not_answer_refuses_a_submission_and_loses_no_job() {
    let world = World::new();
    let accepted = world.accept(job(&[large(b'a')])).await;
    world.memory.failing.store(true, Ordering::Relaxed);
    let mut other = job(&[large(b'b')]);
    other.id = id(NOW.0, 2);
    let refused = world.store.submit(other).await.unwrap_err();
    assert!(matches!(refused, JobStoreError::Objects(_)), "{refused}");
    let used = world
        .state
        .used_units(accepted.tenant.clone(), Month::of(NOW));
    assert_eq!(used.await.unwrap(), 1);
    let lease = world.claim().await.lease;
    let unread = world.store.input(lease, 0).await.err().unwrap();
    assert!(matches!(unread, JobStoreError::Objects(_)), "{unread}");
    world.memory.failing.store(false, Ordering::Relaxed);
    let input = world.store.input(lease, 0).await.unwrap().unwrap();
    assert_eq!(input.bytes, large(b'a'));
}

/// The answer to the first attempt is lost.
#[tokio::test]
async fn a_chunk_that_is_finished_again_is_held_and_its_job_completed() {
    let world = World::new();
    let accepted = world.accept(job(&[large(b'a')])).await;
    let lease = world.claim().await.lease;
    let input = world.store.input(lease, 0).await.unwrap().unwrap();
    for _ in 0..2 {
        let status = world
            .finish(lease, &large(b'b'), input.object.clone())
            .await;
        assert_eq!(status, LeaseStatus::Held);
    }
    let found = world.state.job(accepted.tenant.clone(), accepted.id, NOW);
    let found = found.await.unwrap().unwrap();
    assert_eq!(found.status, domesday_state::JobStatus::Completed);
    assert_eq!(world.output(&accepted).await.unwrap(), Some(large(b'b')));
}

#[tokio::test]
async fn results_that_a_failed_attempt_may_have_stored_are_not_removed() {
    let world = World::new();
    world.accept(job(&[large(b'a')])).await;
    let lease = world.claim().await.lease;
    let results = ChunkResults {
        chunk: 0,
        output: large(b'b'),
        tally: Tally::default(),
        refund: 0,
    };
    let mut written = world.store.write_results(lease, results).await.unwrap();
    let names = world.memory.names();
    let [path, aside] = ["state.redb", "aside"].map(|name| world.place.path().join(name));
    std::fs::rename(&path, &aside).unwrap();
    let failed = world
        .store
        .finish_chunk(lease, &mut written, None, (NOW, LEASE))
        .await;
    assert!(matches!(failed, Err(JobStoreError::State(_))), "{failed:?}");
    std::fs::rename(&aside, &path).unwrap();
    while world.state.release_lease(lease).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let status = world
        .store
        .finish_chunk(lease, &mut written, None, (NOW, LEASE))
        .await;
    assert_eq!(status.unwrap(), LeaseStatus::Lost);
    // A removal would be in the background.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.memory.names(), names);
}

#[tokio::test]
async fn a_missing_or_altered_object_is_damaged() {
    let world = World::new();
    let accepted = world.accept(job(&[large(b'a')])).await;
    let lease = world.claim().await.lease;
    world.finish(lease, &large(b'b'), None).await;
    let names = world.memory.names();
    for name in &names {
        world.memory.objects.lock().unwrap().get_mut(name).unwrap()[9] ^= 1;
    }
    let altered = world.output(&accepted).await.unwrap_err().to_string();
    assert!(
        altered.contains("is damaged: its bytes are not"),
        "{altered}"
    );
    for name in &names {
        world
            .memory
            .objects
            .lock()
            .unwrap()
            .get_mut(name)
            .unwrap()
            .push(0);
    }
    let longer = world.output(&accepted).await.unwrap_err().to_string();
    assert!(longer.contains("is damaged: it is longer"), "{longer}");
    world.memory.objects.lock().unwrap().clear();
    let missing = world.output(&accepted).await.unwrap_err().to_string();
    assert!(missing.contains("is damaged: it is not there"), "{missing}");
    let unset = JobStore::new(world.state.clone(), None);
    let unset = unset.output(accepted.tenant, accepted.id, 0, NOW).await;
    assert!(matches!(unset, Err(JobStoreError::NotSet)));
}

#[tokio::test]
async fn a_refused_or_repeated_submission_leaves_no_object() {
    let world = World::new();
    let mut first = job(&[large(b'a')]);
    first.idempotency = Some(Idempotency {
        key: "k".into(),
        digest: [1; 32],
    });
    let accepted = world.accept(first.clone()).await;
    let names = world.memory.names();
    first.id = id(NOW.0, 2);
    let repeated = world.store.submit(first.clone()).await.unwrap();
    assert_eq!(repeated, Submission::Known(accepted));
    assert_eq!(world.memory.names(), names);
    (first.id, first.idempotency, first.allowance) = (id(NOW.0, 3), None, 1);
    let refused = world.store.submit(first).await.unwrap();
    assert_eq!(refused, Submission::Exhausted { used: 1 });
    world.memory.await_names(&names).await;
}

/// Another host took the job over and finished the chunk.
#[tokio::test]
async fn a_host_without_the_lease_changes_no_result() {
    let world = World::new();
    let accepted = world.accept(job(&[large(b'a')])).await;
    let lost = world.claim().await.lease;
    world.state.release_lease(lost).await.unwrap();
    let held = world.claim().await.lease;
    let status = world.finish(held, &large(b'b'), None).await;
    assert_eq!(status, LeaseStatus::Held);
    let names = world.memory.names();
    let status = world.finish(lost, &large(b'c'), None).await;
    assert_eq!(status, LeaseStatus::Lost);
    let output = world.output(&accepted).await.unwrap();
    assert_eq!(output.unwrap(), large(b'b'));
    world.memory.await_names(&names).await;
}

#[tokio::test]
async fn a_sweep_removes_objects_of_expired_jobs_alone() {
    let world = World::new();
    let expired = NOW.0 - JOB_RETENTION_MILLIS - SWEEP_MARGIN_MILLIS;
    let old = input_name(id(expired - 1, 1), 0);
    let kept = [input_name(id(expired, 1), 0), input_name(id(NOW.0, 1), 0)];
    let foreign = format!("{FOLDER}/0-notes");
    for name in kept.iter().chain([&old, &foreign]) {
        world.memory.put(name, Vec::new()).await.unwrap();
    }
    assert_eq!(world.store.sweep(NOW).await.unwrap(), 1);
    let left = [vec![foreign], kept.to_vec()].concat();
    assert_eq!(world.memory.names(), left);
    assert_eq!(world.store.sweep(NOW).await.unwrap(), 0);
}

const OPERATIONS: [&str; 4] = ["put", "get", "delete", "list"];

/// Returns how many of each operation a metric counts. None is a line that the page lacks.
fn counts(metrics: &Metrics, name: &str) -> [Option<u64>; 4] {
    let page = metrics.write().unwrap();
    OPERATIONS.map(|operation| {
        let line = format!("domesday_job_object_operation_{name}{{operation=\"{operation}\"}} ");
        let count = page.lines().find_map(|it| it.strip_prefix(&line));
        count.map(|count| count.parse().unwrap())
    })
}

/// Polls each operation once. None is one that did not answer at once, and is given up.
fn poll_each(objects: &dyn JobObjects) -> [Option<bool>; 4] {
    [
        (objects.put("jobs/a", vec![1]).now_or_never()).map(|answer| answer.is_ok()),
        (objects.get("jobs/a", 9).now_or_never()).map(|answer| answer.is_ok()),
        (objects.delete("jobs/a").now_or_never()).map(|answer| answer.is_ok()),
        (objects.list("jobs", "jobs/b", 9).now_or_never()).map(|answer| answer.is_ok()),
    ]
}

#[test]
fn each_operation_is_measured_and_counted_by_how_it_ended() {
    let (metrics, memory) = (Metrics::new(0), Arc::<Memory>::default());
    assert_eq!(counts(&metrics, "failures_total"), [None; 4]);
    let measured = MeasuredObjects::new(memory.clone(), metrics.job_objects.clone());
    let ended =
        || ["seconds_count", "failures_total", "given_up_total"].map(|name| counts(&metrics, name));
    // An increase is seen from 0 on.
    assert_eq!(ended(), [[None; 4], [Some(0); 4], [Some(0); 4]]);
    assert_eq!(poll_each(&measured), [Some(true); 4]);
    assert_eq!(ended(), [[Some(1); 4], [Some(0); 4], [Some(0); 4]]);
    memory.failing.store(true, Ordering::Relaxed);
    assert_eq!(poll_each(&measured), [Some(false); 4]);
    assert_eq!(ended(), [[Some(2); 4], [Some(1); 4], [Some(0); 4]]);
    memory.stalled.store(true, Ordering::Relaxed);
    assert_eq!(poll_each(&measured), [None; 4]);
    assert_eq!(ended(), [[Some(3); 4], [Some(1); 4], [Some(1); 4]]);
}
