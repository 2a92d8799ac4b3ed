//! Opens the address provider that the settings name.

use crate::config::Settings;
use domesday_address_lookup::{
    Endpoint, EndpointError, Key, KeyError, Limits, LookupObserver, Provider, ProviderError,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The variable that may hold the key. It differs from the other settings: those can be given by a
/// flag, which every process of the machine can read, and are printed.
const KEY_VARIABLE: &str = "DOMESDAY_ADDRESS_KEY";
/// Longest file that is taken for a key, bytes.
const KEY_FILE_MAX: u64 = 4_096;

/// A configuration error of the provider. It never contains a key.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The URL is not accepted.
    #[error("--address-provider {0}")]
    Address(#[from] EndpointError),
    /// The file of the key cannot be read.
    #[error("cannot read the key of the address provider from {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file's content is not a key.
    #[error("invalid key of the address provider in {path}: {source}")]
    NoKey {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: KeyError,
    },
    /// The variable's value is not a key.
    #[error("invalid key of the address provider in {KEY_VARIABLE}: {0}")]
    NoKeyInVariable(KeyError),
    /// Both are given.
    #[error("--address-key-file and {KEY_VARIABLE} both give a key; leave one out")]
    TwoKeys,
    /// A key without a provider.
    #[error("--address-key-file goes with --address-provider")]
    KeyAlone,
    /// The client.
    #[error(transparent)]
    Client(#[from] ProviderError),
}

/// Opens the provider, if one is configured. `seed` is any number, different on every host.
///
/// No request is made: a service starts while the provider is down.
///
/// # Errors
/// [`SetUpError`], if the URL or the key cannot be used.
pub fn open(
    settings: &Settings,
    observer: Arc<dyn LookupObserver>,
    seed: u64,
) -> Result<Option<Arc<Provider>>, SetUpError> {
    let file = settings.address_key_file.as_deref();
    let Some(address) = &settings.address_provider else {
        return match file {
            Some(_) => Err(SetUpError::KeyAlone),
            None => Ok(None),
        };
    };
    let endpoint = Endpoint::parse(address)?;
    let key = key(file, std::env::var_os(KEY_VARIABLE))?;
    let provider = Provider::new(endpoint, key, Limits::default(), observer, seed, now)?;
    Ok(Some(Arc::new(provider)))
}

fn key(
    file: Option<&Path>,
    variable: Option<std::ffi::OsString>,
) -> Result<Option<Key>, SetUpError> {
    match (file, variable) {
        (Some(_), Some(_)) => Err(SetUpError::TwoKeys),
        (None, None) => Ok(None),
        (None, Some(text)) => {
            let text = text.to_str().unwrap_or_default();
            let key = Key::parse(text).map_err(SetUpError::NoKeyInVariable)?;
            Ok(Some(key))
        }
        (Some(path), None) => {
            let unreadable = |source| SetUpError::Unreadable {
                path: path.to_owned(),
                source,
            };
            let no_key = |source| SetUpError::NoKey {
                path: path.to_owned(),
                source,
            };
            if std::fs::metadata(path).map_err(unreadable)?.len() > KEY_FILE_MAX {
                return Err(no_key(KeyError));
            }
            let text = std::fs::read(path).map_err(unreadable)?;
            let text = String::from_utf8(text).unwrap_or_default();
            Ok(Some(Key::parse(&text).map_err(no_key)?))
        }
    }
}

/// Returns the time that a `Retry-After` date is compared with.
#[allow(clippy::disallowed_methods)] // of somebody else's clock; nothing here depends on it
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_from_one_place_and_is_in_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "s3cret\n").unwrap();
        assert!(key(Some(&path), None).unwrap().is_some());
        assert!(key(None, Some("s3cret".into())).unwrap().is_some());
        assert!(key(None, None).unwrap().is_none());
        assert!(matches!(
            key(Some(&path), Some("other".into())),
            Err(SetUpError::TwoKeys)
        ));
        for bad in ["", "s3cret key", "s3cret\u{1}"] {
            std::fs::write(&path, bad).unwrap();
            let errors = [
                key(Some(&path), None).unwrap_err(),
                key(None, Some(bad.into())).unwrap_err(),
            ];
            for error in errors {
                assert!(!error.to_string().contains("s3cret"), "{error}");
            }
        }
        std::fs::write(&path, "x".repeat(5_000)).unwrap();
        assert!(key(Some(&path), None).is_err());
        assert!(key(Some(&folder.path().join("none")), None).is_err());
    }
}
