//! Reading and writing objects, each within a time limit.

use crate::{BucketError, Location};
use domesday_package::{join_causes, printable_within};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetResult, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use std::future::Future;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// The slowest rate of content, bytes a second. A store that sends or takes less is given up.
const SLOWEST: u64 = 32 << 10;
/// The longest error of a store that is repeated, characters. It holds the address of the object
/// beside the store's own text.
const LONGEST_PROBLEM: usize = 1000;

/// Makes the runtime of a command that waits for each of its transfers.
///
/// # Errors
/// [`BucketError::Machine`] if the system refuses the runtime.
pub fn new_runtime() -> Result<Runtime, BucketError> {
    let builder = &mut Builder::new_current_thread();
    builder.enable_all().build().map_err(BucketError::Machine)
}

/// An open object store, and the time limit of an operation without content.
pub struct Transfer {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) location: Location,
    pub(crate) limit: Duration,
}

impl Transfer {
    /// Opens the store at a location.
    ///
    /// # Errors
    /// [`BucketError::Open`] if the client of the store cannot be made.
    pub fn open(location: Location, limit: Duration) -> Result<Transfer, BucketError> {
        Ok(Transfer {
            store: location.open()?,
            location,
            limit,
        })
    }

    /// Runs an operation within the time that its bytes take.
    ///
    /// # Errors
    /// [`BucketError::Failed`] with the error of the operation, or [`BucketError::TimedOut`] if it
    /// takes longer.
    pub async fn within<T>(
        &self,
        (doing, bytes): (&str, u64),
        operation: impl Future<Output = object_store::Result<T>>,
    ) -> Result<T, BucketError> {
        let limit = self.limit + Duration::from_secs(bytes / SLOWEST);
        match timeout(limit, operation).await {
            Ok(outcome) => outcome.map_err(|error| self.failure(doing, &error)),
            Err(_) => Err(self.time_error(doing, limit)),
        }
    }

    /// Writes an object.
    ///
    /// # Errors
    /// [`BucketError::Failed`] if the store refuses the object, [`BucketError::TimedOut`] if it
    /// does not answer in time.
    pub async fn put(&self, key: &Path, bytes: Vec<u8>) -> Result<(), BucketError> {
        let doing = format!("writing {key}");
        let size = bytes.len() as u64;
        let put = self.store.put(key, bytes.into());
        self.within((&doing, size), put).await.map(drop)
    }

    /// Writes an object that does not exist, and returns false where it does. A store without
    /// conditional writes overwrites it.
    ///
    /// # Errors
    /// [`BucketError::Failed`] if the store refuses the object, [`BucketError::TimedOut`] if it
    /// does not answer in time.
    pub async fn create(&self, key: &Path, bytes: Vec<u8>) -> Result<bool, BucketError> {
        let doing = format!("writing {key}");
        let size = bytes.len() as u64;
        let bytes = PutPayload::from(bytes);
        let create = async {
            let put = |mode: PutMode| self.store.put_opts(key, bytes.clone(), mode.into());
            match put(PutMode::Create).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(object_store::Error::NotImplemented { .. }) => {
                    put(PutMode::Overwrite).await.map(|_| true)
                }
                Err(error) => Err(error),
            }
        };
        self.within((&doing, size), create).await
    }

    /// Reads an object of at most `largest` bytes; `None` where there is none.
    ///
    /// # Errors
    /// As [`Transfer::copy`].
    pub async fn get(&self, key: &Path, largest: u64) -> Result<Option<Vec<u8>>, BucketError> {
        let mut bytes = Vec::new();
        let read = self.copy(key, largest, &mut bytes, &mut |_| ()).await?;
        Ok(read.map(|_| bytes))
    }

    /// Copies an object of at most `largest` bytes into a writer, and returns the bytes that it
    /// has. Returns `None` where there is no such object. `progress` receives the bytes so far.
    ///
    /// # Errors
    /// [`BucketError::TooLarge`] if the object has more bytes, [`BucketError::File`] if the writer
    /// fails. [`BucketError::Failed`] or [`BucketError::TimedOut`] if the store does not deliver
    /// it.
    pub async fn copy(
        &self,
        key: &Path,
        largest: u64,
        sink: &mut impl Write,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<u64>, BucketError> {
        let doing = format!("reading {key}");
        let limit = self.limit + Duration::from_secs(largest / SLOWEST);
        let copy = async {
            let got = match self.store.get(key).await {
                Ok(got) => got,
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(self.failure(&doing, &error)),
            };
            self.copy_content(got, (key, largest), sink, progress).await
        };
        match timeout(limit, copy).await {
            Ok(copied) => copied,
            Err(_) => Err(self.time_error(&doing, limit)),
        }
    }

    async fn copy_content(
        &self,
        got: GetResult,
        (key, largest): (&Path, u64),
        sink: &mut impl Write,
        progress: &mut impl FnMut(u64),
    ) -> Result<Option<u64>, BucketError> {
        let mut pieces = got.into_stream();
        let mut read = 0_u64;
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| self.failure(&format!("reading {key}"), &error))?;
            read = read.saturating_add(piece.len() as u64);
            if read > largest {
                return Err(BucketError::TooLarge {
                    file: key.to_string(),
                    location: self.location.to_string(),
                    bytes: largest,
                });
            }
            sink.write_all(&piece).map_err(|source| BucketError::File {
                file: key.to_string(),
                source,
            })?;
            progress(read);
        }
        Ok(Some(read))
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// [`BucketError::Failed`] if the store refuses it, [`BucketError::TimedOut`] if it does not
    /// answer in time.
    pub async fn delete(&self, key: &Path) -> Result<(), BucketError> {
        let delete = async {
            match self.store.delete(key).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                other => other,
            }
        };
        self.within((&format!("removing {key}"), 0), delete).await
    }

    fn failure(&self, doing: &str, error: &object_store::Error) -> BucketError {
        BucketError::Failed {
            doing: doing.to_owned(),
            location: self.location.to_string(),
            problem: printable_within(&join_causes(error), LONGEST_PROBLEM),
        }
    }

    fn time_error(&self, doing: &str, limit: Duration) -> BucketError {
        BucketError::TimedOut {
            doing: doing.to_owned(),
            location: self.location.to_string(),
            limit,
        }
    }
}
