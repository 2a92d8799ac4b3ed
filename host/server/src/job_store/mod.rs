//! The store of jobs: the state, and object storage for large chunks where a setting names one.
//!
//! **Order.** An object is written before the state commits to it. So a reference in the state has
//! its object, whatever crashes. An object without a reference is harmless: nothing opens it, since
//! its key is in the reference alone.
//!
//! **Names.** `jobs/<job>/input-<chunk>` holds rows. The host that accepts a job writes them once.
//! `jobs/<job>/output-<chunk>-<digest>` holds results. A host that lost its lease writes another
//! name than the holder, so that it changes no result.
//!
//! **Removal.** The rows of a chunk are removed when it is finished. Everything else goes when its
//! job has expired ([`JobStore::sweep`]). The id of a job begins with its time, so that the state
//! need not know old objects.

pub mod measured_objects;
pub mod objects;
pub(crate) mod submission;

use crate::clock::random;
use domesday_state::{
    ChunkResults, JOB_RETENTION_MILLIS, Jobs, Lease, LeaseStatus, NewChunk, NewJob,
    ObjectReference, StateError, Submission, TenantId, UnixMillis,
};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use objects::{JobObjects, ObjectsError, SEAL_BYTES, SealError, seal, unseal};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// Bytes of a chunk that the state keeps. A larger one is an object.
const KEPT_BYTES: usize = 8 << 10;
/// Objects of one job that are written at once, or old ones that are removed at once.
const AT_ONCE: usize = 8;
/// Time limit of writing the rows of a job. The client has had its answer by then.
const PUT_TIMEOUT: Duration = Duration::from_secs(30);
/// Objects that a sweep removes.
pub const SWEPT: usize = 1_000;
/// The time after the expiry of a job that its objects are removed, for hosts whose clocks differ.
const SWEEP_MARGIN_MILLIS: i64 = 600_000;
const FOLDER: &str = "jobs";

/// An operation on the store of jobs failed.
#[derive(Debug, thiserror::Error)]
pub enum JobStoreError {
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// Object storage failed.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// The rows of a job were not written in time.
    #[error("object storage took longer than {} seconds for the rows of a job", PUT_TIMEOUT.as_secs())]
    Slow,
    /// A chunk is in object storage, and this host has none.
    #[error("the job is in object storage. Set job_store as on the host that accepted it")]
    NotSet,
    /// An object differs from the digest or size that the state has of it.
    #[error("the object {name} is damaged: {problem}. Submit the job again")]
    Damaged {
        /// The name of the object.
        name: String,
        /// The problem.
        problem: String,
    },
    /// The state cannot read the rows of a chunk, now or later.
    #[error("the rows of the chunk cannot be read: {0}")]
    Unreadable(#[source] StateError),
    /// There is no key for the seal of an object.
    #[error("cannot draw a key for an object: {0}")]
    Randomness(#[from] getrandom::Error),
}

/// The rows of a chunk.
pub struct ChunkInput {
    /// The rows, in the server's own form.
    pub bytes: Vec<u8>,
    /// The object that holds them, where one does.
    pub object: Option<String>,
}

/// Results of a chunk, the large ones written.
pub struct WrittenResults {
    results: ChunkResults,
    /// The object that holds them, where one does.
    object: Option<String>,
}

/// The store of jobs.
pub struct JobStore {
    state: Arc<dyn Jobs>,
    objects: Option<Arc<dyn JobObjects>>,
}

impl JobStore {
    /// Returns the store of a state, with object storage for large chunks where there is one.
    pub fn new(state: Arc<dyn Jobs>, objects: Option<Arc<dyn JobObjects>>) -> JobStore {
        JobStore { state, objects }
    }

    /// Reports whether there is object storage, where rows of jobs may be.
    pub fn reads_objects(&self) -> bool {
        self.objects.is_some()
    }

    /// Submits a job, whose large chunks are written first. The caller runs this to its end.
    ///
    /// # Errors
    /// The error of the state or of object storage. A job is accepted after an error of the state
    /// alone, and then withdrawn as [`submission::submit`] says.
    pub async fn submit(&self, mut job: NewJob) -> Result<Submission, JobStoreError> {
        let Some(objects) = &self.objects else {
            return Ok(submission::submit(&self.state, job).await?);
        };
        // A repetition writes no object.
        if let Some(key) = job.idempotency.clone() {
            let known = self.state.find_submission(job.tenant.clone(), key, job.now);
            if let Some(known) = known.await? {
                return Ok(known);
            }
        }
        let names: Vec<_> = large_inputs(&job).collect();
        let written = timeout(PUT_TIMEOUT, put_inputs(objects, &mut job)).await;
        if let Err(error) = written.unwrap_or(Err(JobStoreError::Slow)) {
            remove(objects, names);
            return Err(error);
        }
        let outcome = submission::submit(&self.state, job).await?;
        if !matches!(outcome, Submission::Accepted(_)) {
            remove(objects, names);
        }
        Ok(outcome)
    }

    /// Returns the rows of a chunk without results, or none where the lease is lost.
    ///
    /// # Errors
    /// [`JobStoreError::Damaged`] where their object is gone or another, or the store's error.
    pub async fn input(
        &self,
        lease: Lease,
        chunk: u32,
    ) -> Result<Option<ChunkInput>, JobStoreError> {
        let bytes = match self.state.input(lease, chunk).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(refusal @ StateError::RefusedRows { .. }) => {
                return Err(JobStoreError::Unreadable(refusal));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(reference) = ObjectReference::from_bytes(&bytes) else {
            return Ok(Some(ChunkInput {
                bytes,
                object: None,
            }));
        };
        let name = input_name(lease.job, chunk);
        Ok(Some(ChunkInput {
            bytes: self.read(&name, &reference).await?,
            object: Some(name),
        }))
    }

    /// Writes large results of a chunk, which [`JobStore::finish_chunk`] then finishes. The caller
    /// renews the lease meanwhile.
    ///
    /// # Errors
    /// The error of object storage.
    pub async fn write_results(
        &self,
        lease: Lease,
        mut results: ChunkResults,
    ) -> Result<WrittenResults, JobStoreError> {
        let mut object = None;
        if let Some(objects) = &self.objects
            && results.output.len() > KEPT_BYTES
        {
            let place = format!("{FOLDER}/{}/output-{}", lease.job, results.chunk);
            let (sealed, reference) = seal_fresh(&place, &results.output)?;
            let name = output_name(lease.job, results.chunk, &reference);
            objects.put(&name, sealed).await?;
            results.output = reference.to_bytes();
            object = Some(name);
        }
        Ok(WrittenResults { results, object })
    }

    /// Finishes a chunk, whose rows were in `input_object`. The holder of the lease may repeat this
    /// after an error of the state.
    ///
    /// # Errors
    /// The error of the state.
    pub async fn finish_chunk(
        &self,
        lease: Lease,
        written: &mut WrittenResults,
        input_object: Option<String>,
        (now, lease_millis): (UnixMillis, i64),
    ) -> Result<LeaseStatus, JobStoreError> {
        let results = written.results.clone();
        let finished = self.state.finish_chunk(lease, results, now, lease_millis);
        let status = match finished.await {
            Ok(status) => status,
            Err(error) => {
                // The state may refer to the object, so that no later attempt may remove it.
                written.object = None;
                return Err(error.into());
            }
        };
        let unused = match status {
            LeaseStatus::Held => input_object,
            LeaseStatus::Lost => written.object.take(),
        };
        if let Some(objects) = &self.objects {
            remove(objects, unused.into_iter().collect());
        }
        Ok(status)
    }

    /// Returns the results of a finished chunk.
    ///
    /// # Errors
    /// [`JobStoreError::Damaged`] where their object is gone or another, or the store's error.
    pub async fn output(
        &self,
        tenant: TenantId,
        job: Uuid,
        chunk: u32,
        now: UnixMillis,
    ) -> Result<Option<Vec<u8>>, JobStoreError> {
        let stored = self.state.output(tenant, job, chunk, now).await?;
        let reference = stored.as_deref().and_then(ObjectReference::from_bytes);
        let Some(reference) = reference else {
            return Ok(stored);
        };
        let name = output_name(job, chunk, &reference);
        Ok(Some(self.read(&name, &reference).await?))
    }

    /// Removes objects of jobs that have expired, at most a thousand, and returns how many.
    ///
    /// # Errors
    /// The error of object storage.
    pub async fn sweep(&self, now: UnixMillis) -> Result<usize, ObjectsError> {
        let before = now
            .0
            .saturating_sub(JOB_RETENTION_MILLIS + SWEEP_MARGIN_MILLIS);
        let (Some(objects), Ok(before)) = (&self.objects, u64::try_from(before)) else {
            return Ok(0);
        };
        let end = first_name(before);
        let names = objects.list(FOLDER, &end, SWEPT).await?;
        let names: Vec<_> = names.into_iter().filter(|name| is_of_a_job(name)).collect();
        let swept = names.len();
        stream::iter(names.iter().map(Ok))
            .try_for_each_concurrent(AT_ONCE, |name| objects.delete(name))
            .await?;
        Ok(swept)
    }

    async fn read(
        &self,
        name: &str,
        reference: &ObjectReference,
    ) -> Result<Vec<u8>, JobStoreError> {
        let objects = self.objects.as_deref().ok_or(JobStoreError::NotSet)?;
        let damaged = |problem: &str| JobStoreError::Damaged {
            name: name.to_owned(),
            problem: problem.to_owned(),
        };
        let largest = reference.bytes.saturating_add(SEAL_BYTES);
        let sealed = objects.get(name, largest).await;
        let sealed = sealed.map_err(|error| match error {
            ObjectsError::TooLong => damaged("it is longer than it was"),
            error => error.into(),
        })?;
        let sealed = sealed.ok_or_else(|| damaged("it is not there"))?;
        // The place of results is their name without the digest.
        let digest = format!("-{}", hex::encode(reference.digest));
        let place = name.strip_suffix(&digest).unwrap_or(name);
        unseal(place, reference, &sealed).map_err(|error| damaged(&error.to_string()))
    }
}

/// Returns the names of the objects for the large inputs of a job.
fn large_inputs(job: &NewJob) -> impl Iterator<Item = String> {
    let large = (0_u32..)
        .zip(&job.chunks)
        .filter(|(_, chunk)| is_large(chunk));
    large.map(|(number, _)| input_name(job.id, number))
}

fn is_large(chunk: &NewChunk) -> bool {
    chunk.input.len() > KEPT_BYTES
}

/// Writes the large inputs of a job, which then holds their references.
async fn put_inputs(objects: &Arc<dyn JobObjects>, job: &mut NewJob) -> Result<(), JobStoreError> {
    let id = job.id;
    let large = (0_u32..).zip(&mut job.chunks);
    let large = large.filter(|(_, chunk)| is_large(chunk));
    let writes: Vec<_> = large
        .map(|(number, chunk)| async move {
            let name = input_name(id, number);
            let (sealed, reference) = seal_fresh(&name, &chunk.input)?;
            objects.put(&name, sealed).await?;
            chunk.input = reference.to_bytes();
            Ok::<(), JobStoreError>(())
        })
        .collect();
    let mut writes = stream::iter(writes).buffer_unordered(AT_ONCE);
    while let Some(written) = writes.next().await {
        written?;
    }
    Ok(())
}

/// Seals bytes by a fresh key.
fn seal_fresh(place: &str, bytes: &[u8]) -> Result<(Vec<u8>, ObjectReference), JobStoreError> {
    seal(place, random()?, bytes).map_err(|error: SealError| JobStoreError::Damaged {
        name: place.to_owned(),
        problem: error.to_string(),
    })
}

/// Removes objects in the background. A sweep finds those that stay.
fn remove(objects: &Arc<dyn JobObjects>, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let objects = Arc::clone(objects);
    tokio::spawn(async move {
        for name in names {
            if let Err(error) = objects.delete(&name).await {
                tracing::warn!(name, %error, "an object stays until its job has expired");
                return;
            }
        }
    });
}

fn input_name(job: Uuid, chunk: u32) -> String {
    format!("{FOLDER}/{job}/input-{chunk}")
}

fn output_name(job: Uuid, chunk: u32, reference: &ObjectReference) -> String {
    let digest = hex::encode(reference.digest);
    format!("{FOLDER}/{job}/output-{chunk}-{digest}")
}

/// Returns a text that is, in order, before the names of all jobs from this time on. The id of a
/// job begins with its milliseconds.
fn first_name(millis: u64) -> String {
    format!("{FOLDER}/{:08x}-{:04x}", millis >> 16, millis & 0xffff)
}

fn is_of_a_job(name: &str) -> bool {
    let mut parts = name.split('/');
    let id = (parts.next() == Some(FOLDER)).then(|| parts.next());
    id.flatten().is_some_and(|id| Uuid::try_parse(id).is_ok())
}

#[cfg(test)]
pub(crate) mod tests;
