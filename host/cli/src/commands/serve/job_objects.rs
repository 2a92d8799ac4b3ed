//! The object store that the settings name for jobs.

use crate::commands::objects::{BucketError, Location, ObjectBucket};
use anyhow::Context;
use domesday_server::config::Settings;
use domesday_server::job_store::objects::{JobObjects, ObjectsError};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The reply of a store that is reached through a trait object.
type BoxedReply<'a, T> = Pin<Box<dyn Future<Output = Result<T, ObjectsError>> + Send + 'a>>;

/// An object store, as the server sees it.
struct Bucket(ObjectBucket);

/// Opens the object store that the settings name, where they name one. It sends no request yet.
///
/// # Errors
/// The setting names no object store, or its client cannot be made.
pub fn open_job_objects(settings: &Settings) -> anyhow::Result<Option<Arc<dyn JobObjects>>> {
    let Some(address) = &settings.job_store else {
        return Ok(None);
    };
    let bucket = Location::parse(address).and_then(ObjectBucket::open);
    let bucket = bucket.context("--job-store")?;
    Ok(Some(Arc::new(Bucket(bucket))))
}

fn answer<'a, T: 'a>(
    reply: impl Future<Output = Result<T, BucketError>> + Send + 'a,
) -> BoxedReply<'a, T> {
    Box::pin(async move {
        reply.await.map_err(|error| match error.is_too_large() {
            true => ObjectsError::TooLong,
            false => ObjectsError::Failed(Box::new(error)),
        })
    })
}

impl JobObjects for Bucket {
    fn put<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxedReply<'a, ()> {
        answer(self.0.put(name, bytes))
    }

    fn get<'a>(&'a self, name: &'a str, largest: u64) -> BoxedReply<'a, Option<Vec<u8>>> {
        answer(self.0.get(name, largest))
    }

    fn delete<'a>(&'a self, name: &'a str) -> BoxedReply<'a, ()> {
        answer(self.0.delete(name))
    }

    fn list<'a>(
        &'a self,
        folder: &'a str,
        end: &'a str,
        limit: usize,
    ) -> BoxedReply<'a, Vec<String>> {
        answer(self.0.list(folder, end, limit))
    }
}
