//! The marker of the object store for jobs, by which hosts know that they have the same store.
//!
//! A host with another bucket or prefix finds no rows of the others' jobs, and they find none of
//! that host's. So the first host writes a marker, an object with a random id, and the state keeps
//! the id with the address. A later start compares them.

use crate::commands::objects::{BucketError, Location, ObjectBucket};
use anyhow::Context;
use domesday_server::config::Settings;
use domesday_state::{State, StateError};
use std::time::Duration;
use tokio::time::timeout;

/// The key of the marker.
const MARKER: &str = "domesday-job-store";
/// The longest marker that is read, bytes.
const LARGEST: u64 = 64;
/// Time limit of the comparison, since a store that does not answer must not hold up a start.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The object store for jobs could not be compared, or is another.
#[derive(Debug, thiserror::Error)]
enum MarkerError {
    #[error(transparent)]
    Bucket(#[from] BucketError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(
        "--job-store {own} is not the object store of this state's jobs, which is {kept}. Set \
         --job-store {kept}, with the same endpoint and account on all hosts. If the objects were \
         moved, copy the object {} with them",
        MARKER
    )]
    Other { own: String, kept: String },
}

/// Compares the object store that the settings name with the one that the state's jobs are in. The
/// first host with one marks it.
///
/// A store that does not answer is not compared. Its jobs wait, and the host serves all else.
///
/// # Errors
/// The jobs are in another object store, or the state does not answer.
pub async fn check_job_store(
    settings: &Settings,
    state: &dyn State,
    fresh: [u8; 16],
) -> anyhow::Result<()> {
    let Some(address) = &settings.job_store else {
        return Ok(());
    };
    let bucket = Location::parse(address).and_then(ObjectBucket::open);
    let bucket = bucket.context("--job-store")?;
    let own = address.trim_end_matches('/');
    let problem = match timeout(TIMEOUT, compare(&bucket, state, own, fresh)).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(MarkerError::Bucket(error))) => error.to_string(),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => format!("it took longer than {} s", TIMEOUT.as_secs()),
    };
    tracing::warn!(
        problem,
        "the object store for jobs does not answer, and is not compared with that of other hosts"
    );
    Ok(())
}

async fn compare(
    bucket: &ObjectBucket,
    state: &dyn State,
    own: &str,
    fresh: [u8; 16],
) -> Result<(), MarkerError> {
    let kept = state.job_objects(None).await?;
    let marker = read_marker(bucket).await?;
    let is_new = marker.is_none();
    let id = match (marker, &kept) {
        (Some(id), _) => id,
        (None, Some(kept)) => return Err(other_store(own, kept)),
        (None, None) => {
            let id = hex::encode(fresh);
            bucket.create(MARKER, id.clone().into_bytes()).await?;
            // Another host may have been first.
            read_marker(bucket).await?.unwrap_or(id)
        }
    };
    let kept = match kept {
        Some(kept) => kept,
        // The name in the state is set once. So the marker comes first, or a crash between the two
        // would leave a store that no host may use.
        None => {
            let name = state.job_objects(Some(format!("{id} {own}"))).await?;
            name.unwrap_or_default()
        }
    };
    match kept.split_once(' ') {
        Some((kept_id, _)) if kept_id == id => Ok(()),
        // Two hosts started at once on a store without conditional writes, and both wrote a marker.
        Some((kept_id, address)) if is_new && address == own => {
            Ok(bucket.put(MARKER, kept_id.as_bytes().to_vec()).await?)
        }
        _ => Err(other_store(own, &kept)),
    }
}

async fn read_marker(bucket: &ObjectBucket) -> Result<Option<String>, BucketError> {
    let bytes = bucket.get(MARKER, LARGEST).await?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
}

fn other_store(own: &str, kept: &str) -> MarkerError {
    let address = kept.split_once(' ').map_or(kept, |(_, address)| address);
    MarkerError::Other {
        own: own.to_owned(),
        kept: address.to_owned(),
    }
}

#[cfg(all(test, feature = "object-storage"))]
mod tests {
    use super::*;
    use domesday_state::EmbeddedState;
    use std::path::Path;
    use tokio::runtime::Builder;

    /// Starts a host whose jobs are in a folder.
    fn start(state: &EmbeddedState, folder: &Path, fresh: u8) -> Result<(), String> {
        let own = format!("file://{}", folder.display());
        let bucket = Location::parse(&own).and_then(ObjectBucket::open).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let compared = runtime.block_on(compare(&bucket, state, &own, [fresh; 16]));
        compared.map_err(|error| error.to_string())
    }

    fn open_state(folder: &Path) -> EmbeddedState {
        EmbeddedState::open(&folder.join("state.redb")).unwrap()
    }

    #[test]
    fn a_host_with_another_object_store_is_refused_with_both_addresses() {
        let [place, first, second] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let state = open_state(place.path());
        for fresh in [1, 2] {
            start(&state, first.path(), fresh).unwrap();
        }
        let marker = std::fs::read(first.path().join(MARKER)).unwrap();
        assert_eq!(marker, "01".repeat(16).as_bytes());
        let refused = start(&state, second.path(), 3).unwrap_err();
        for folder in [&first, &second] {
            let address = format!("file://{}", folder.path().display());
            assert!(refused.contains(&address), "{refused}");
        }
        // It marks nothing.
        assert!(!second.path().join(MARKER).exists());
        std::fs::write(second.path().join(MARKER), "02".repeat(16)).unwrap();
        assert!(start(&state, second.path(), 3).is_err());
        // The operator moved the objects, with the marker.
        std::fs::write(second.path().join(MARKER), marker).unwrap();
        start(&state, second.path(), 3).unwrap();
    }

    /// The first start ended before the state kept the name, or another state uses the store.
    #[test]
    fn a_marker_that_is_there_already_is_taken() {
        let [place, folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join(MARKER), "before\n").unwrap();
        let state = open_state(place.path());
        for fresh in [1, 2] {
            start(&state, folder.path(), fresh).unwrap();
        }
        std::fs::remove_file(folder.path().join(MARKER)).unwrap();
        assert!(start(&state, folder.path(), 3).is_err());
    }
}
