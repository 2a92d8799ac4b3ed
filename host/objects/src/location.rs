//! `s3://BUCKET/PREFIX` and the like.

use crate::BucketError;
use crate::connector::Connector;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreScheme, RetryConfig};
use reqwest::Url;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The schemes of addresses.
const SCHEMES: [&str; 4] = ["s3", "gs", "az", "file"];
/// Retries of a request after a failure that may pass.
const RETRIES: usize = 3;
/// The time from the first attempt after which none is begun.
const RETRY_TIME: Duration = Duration::from_secs(8);

/// A location in an object store: a bucket and a prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    url: Url,
    prefix: Path,
    store: StoreKind,
}

/// The kind of an object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreKind {
    AmazonS3,
    GoogleCloudStorage,
    MicrosoftAzure,
    Folder,
}

impl Location {
    /// Returns whether a text is the address of an object store.
    pub fn is(text: &str) -> bool {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
    }

    /// Parses an address.
    ///
    /// # Errors
    /// [`BucketError::Address`] or [`BucketError::CredentialsInAddress`].
    pub fn parse(text: &str) -> Result<Location, BucketError> {
        let wrong = |problem: &dyn fmt::Display| BucketError::Address {
            text: text.to_owned(),
            problem: problem.to_string(),
        };
        if text.contains('@') {
            return Err(BucketError::CredentialsInAddress);
        }
        if !Location::is(text) {
            return Err(wrong(&"its scheme is another"));
        }
        let url: Url = text.parse().map_err(|error| wrong(&error))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(&"it ends with a query or a fragment"));
        }
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|error| wrong(&error))?;
        let store = match scheme {
            ObjectStoreScheme::AmazonS3 => StoreKind::AmazonS3,
            ObjectStoreScheme::GoogleCloudStorage => StoreKind::GoogleCloudStorage,
            ObjectStoreScheme::MicrosoftAzure => StoreKind::MicrosoftAzure,
            ObjectStoreScheme::Local => StoreKind::Folder,
            _ => return Err(wrong(&"its scheme is another")),
        };
        Ok(Location { url, prefix, store })
    }

    /// Makes the client, which sends no request yet. Credentials come from the environment, or from
    /// the machine's own service for them.
    ///
    /// # Errors
    /// [`BucketError::Open`] where a folder does not exist or a variable of the environment is
    /// wrong.
    pub(crate) fn open(&self) -> Result<Arc<dyn ObjectStore>, BucketError> {
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY_TIME,
            ..RetryConfig::default()
        };
        let url = self.url.as_str();
        let store: object_store::Result<Arc<dyn ObjectStore>> = match self.store {
            StoreKind::AmazonS3 => AmazonS3Builder::from_env()
                .with_url(url)
                .with_retry(retry)
                .with_http_connector(Connector)
                .build()
                .map(|store| Arc::new(store) as _),
            StoreKind::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
                .with_url(url)
                .with_retry(retry)
                .with_http_connector(Connector)
                .build()
                .map(|store| Arc::new(store) as _),
            StoreKind::MicrosoftAzure => MicrosoftAzureBuilder::from_env()
                .with_url(url)
                .with_retry(retry)
                .with_http_connector(Connector)
                .build()
                .map(|store| Arc::new(store) as _),
            // The prefix is the folder.
            StoreKind::Folder => {
                let folder = PathBuf::from(self.url.path());
                let folder = self.url.to_file_path().unwrap_or(folder);
                return LocalFileSystem::new_with_prefix(folder)
                    // A job leaves no empty folder.
                    .map(|store| store.with_fsync(true).with_automatic_cleanup(true))
                    .map(|store| Arc::new(store) as _)
                    .map_err(|source| self.open_error(source));
            }
        };
        let store = store.map_err(|source| self.open_error(source))?;
        Ok(Arc::new(PrefixStore::new(store, self.prefix.clone())))
    }

    fn open_error(&self, source: object_store::Error) -> BucketError {
        BucketError::Open {
            location: self.to_string(),
            source,
        }
    }

    /// Reports whether a listing of the store is in the order of the keys.
    pub(crate) fn is_listed_in_order(&self) -> bool {
        self.store != StoreKind::Folder
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.url.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_store_and_a_prefix() {
        for (text, store, prefix) in [
            ("s3://bucket/a/b", StoreKind::AmazonS3, "a/b"),
            ("s3://bucket", StoreKind::AmazonS3, ""),
            ("gs://bucket/a/", StoreKind::GoogleCloudStorage, "a"),
            ("az://container/a", StoreKind::MicrosoftAzure, "a"),
            ("file:///srv/jobs", StoreKind::Folder, "srv/jobs"),
        ] {
            let read = Location::parse(text).unwrap();
            assert_eq!(
                (read.store, read.prefix.as_ref()),
                (store, prefix),
                "{text}"
            );
            assert_eq!(read.to_string(), text.trim_end_matches('/'));
        }
    }

    #[test]
    fn another_address_is_refused_and_no_password_repeated() {
        for text in [
            "http://host/x",
            "oci://host/x",
            "/srv/jobs",
            "s3:",
            "s3://b/x?y=z",
        ] {
            let refused = Location::parse(text).unwrap_err().to_string();
            assert!(refused.contains("names no object store"), "{refused}");
        }
        let refused = Location::parse("s3://me:hunter2@bucket/x").unwrap_err();
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_no_store() {
        let place = tempfile::tempdir().unwrap();
        let there = format!("file://{}", place.path().display());
        assert!(Location::parse(&there).unwrap().open().is_ok());
        let gone = Location::parse(&format!("{there}/gone")).unwrap();
        assert!(matches!(gone.open(), Err(BucketError::Open { .. })));
    }
}
