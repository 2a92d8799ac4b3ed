//! Single objects, by their keys.

use crate::transfer::Transfer;
use crate::{BucketError, Location};
use futures_util::StreamExt;
use object_store::path::Path;
use std::time::Duration;

/// The time limit of one operation without content. A request waits for it.
const LIMIT: Duration = Duration::from_secs(10);

/// A location for the objects of a service.
pub struct ObjectBucket(Transfer);

impl ObjectBucket {
    /// Opens the store at a location; it sends no request yet.
    ///
    /// # Errors
    /// [`BucketError::Open`] where the client cannot be made.
    pub fn open(location: Location) -> Result<ObjectBucket, BucketError> {
        Ok(ObjectBucket(Transfer::open(location, LIMIT)?))
    }

    /// Writes an object. It is durable when this answers.
    ///
    /// # Errors
    /// The store refuses it, or does not answer within ten seconds.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), BucketError> {
        self.0.put(&Path::from(key), bytes).await
    }

    /// Reads an object of at most `largest` bytes; `None` where there is none.
    ///
    /// # Errors
    /// The object is larger, or the store does not answer in time.
    pub async fn get(&self, key: &str, largest: u64) -> Result<Option<Vec<u8>>, BucketError> {
        self.0.get(&Path::from(key), largest).await
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// The store refuses it, or does not answer within ten seconds.
    pub async fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.0.delete(&Path::from(key)).await
    }

    /// Lists keys below `folder` that are before `end` in order, at most `limit` of them.
    ///
    /// # Errors
    /// The store refuses it, or does not answer within ten seconds.
    pub async fn list(
        &self,
        folder: &str,
        end: &str,
        limit: usize,
    ) -> Result<Vec<String>, BucketError> {
        let folder = Path::from(folder);
        let listing = async {
            let mut keys = Vec::new();
            let mut objects = self.0.store.list(Some(&folder));
            while let Some(object) = objects.next().await {
                let key = object?.location.to_string();
                if key.as_str() < end {
                    keys.push(key);
                    if keys.len() == limit {
                        break;
                    }
                } else if self.0.location.is_listed_in_order() {
                    break;
                }
            }
            Ok(keys)
        };
        self.0.within(("listing objects", 0), listing).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(folder: &std::path::Path) -> ObjectBucket {
        let location = Location::parse(&format!("file://{}", folder.display())).unwrap();
        ObjectBucket::open(location).unwrap()
    }

    #[tokio::test]
    async fn an_object_is_read_as_it_was_written_until_it_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let bucket = bucket(place.path());
        assert_eq!(bucket.get("a/b", 9).await.unwrap(), None);
        bucket.put("a/b", b"rows".to_vec()).await.unwrap();
        assert_eq!(bucket.get("a/b", 4).await.unwrap().unwrap(), b"rows");
        let refused = bucket.get("a/b", 3).await.unwrap_err();
        assert!(matches!(refused, BucketError::TooLarge { bytes: 3, .. }));
        assert!(refused.is_too_large());
        for _ in 0..2 {
            bucket.delete("a/b").await.unwrap();
        }
        assert_eq!(bucket.get("a/b", 9).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_listing_ends_before_a_key_and_has_a_bound() {
        let place = tempfile::tempdir().unwrap();
        let bucket = bucket(place.path());
        for key in ["jobs/1/a", "jobs/2/a", "jobs/2/b", "jobs/3/a", "other/1"] {
            bucket.put(key, Vec::new()).await.unwrap();
        }
        let mut listed = bucket.list("jobs", "jobs/3", 9).await.unwrap();
        listed.sort();
        assert_eq!(listed, ["jobs/1/a", "jobs/2/a", "jobs/2/b"]);
        assert_eq!(bucket.list("jobs", "jobs/3", 2).await.unwrap().len(), 2);
        assert!(bucket.list("none", "none/3", 2).await.unwrap().is_empty());
    }
}
