//! Packages in an object store, in the layout of a folder of releases: `<kind>/<id>/<file>`.
//!
//! A folder of releases that other tools copied into a bucket has that layout too. The manifest is
//! written last, since a reader asks for it first.
//!
//! Two publishers of one id would mix their files. So a publisher first creates a claim, the hidden
//! object `<kind>/.<id>.claim` with the digest of its manifest. One of other bytes is refused then.

use crate::existing_file::{FileState, compare_file};
use crate::transfer::{Transfer, new_runtime};
use crate::{BucketError, Location};
use domesday_package::manifest::{LARGEST, MANIFEST, SIGNATURE};
use domesday_package::{
    ATTACHMENTS, Attachments, Kind, LARGEST_SIGNATURE, LARGEST_VERIFIED_AGAIN, Package, PackageId,
    PublicKey, PublishOutcome, ReceiveState, RemoteManifest, TransferControl, Trust,
};
use domesday_registers::Progress;
use futures_util::StreamExt;
use object_store::buffered::BufWriter;
use object_store::path::Path as Key;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;

/// Attempts to write a manifest that the store refuses and does not have.
const MANIFEST_ATTEMPTS: usize = 3;
/// The time limit of an operation without content.
const LIMIT: Duration = Duration::from_secs(60);
/// Bytes of one piece of an upload.
const PIECE: usize = 8 << 20;
/// The time between two looks whether a transfer was stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A folder of releases in an object store.
pub struct PackageBucket {
    transfer: Transfer,
    runtime: Runtime,
    control: Arc<TransferControl>,
    /// Size up to which a file that is there is read, to verify it.
    largest_verified: u64,
}

/// A package that is in the store.
struct ExistingPackage {
    signature: Option<Vec<u8>>,
    signer: Option<PublicKey>,
    attachments: Attachments,
}

domesday_package::implement_repository!(PackageBucket, BucketError);

impl PackageBucket {
    /// Opens the store at a location; it sends no request yet.
    ///
    /// # Errors
    /// The client cannot be made, or the runtime cannot be started.
    pub fn open(location: Location) -> Result<PackageBucket, BucketError> {
        Ok(PackageBucket {
            transfer: Transfer::open(location, LIMIT)?,
            runtime: new_runtime()?,
            control: Arc::default(),
            largest_verified: LARGEST_VERIFIED_AGAIN,
        })
    }

    /// Lets another thread stop what is fetched.
    #[must_use]
    pub fn with_control(self, control: Arc<TransferControl>) -> PackageBucket {
        PackageBucket { control, ..self }
    }

    /// Asks the store whether this machine may list the location.
    ///
    /// # Errors
    /// The store cannot be reached, or refuses the credentials.
    pub fn probe(&self) -> Result<(), BucketError> {
        let listing = async {
            let mut objects = self.transfer.store.list(None);
            objects.next().await.transpose().map(drop)
        };
        self.run(self.transfer.within(("listing releases", 0), listing))
    }

    /// Runs an operation until it ends or is stopped.
    ///
    /// `domesday_oci::Registry` has the same lines. Neither crate may use the other, and the
    /// crates that both use have no async runtime.
    ///
    /// # Errors
    /// [`BucketError::Stopped`], or the error of the operation.
    fn run<T>(
        &self,
        operation: impl Future<Output = Result<T, BucketError>>,
    ) -> Result<T, BucketError> {
        let stopped = async {
            while !self.control.is_stopped() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = stopped => Err(BucketError::Stopped),
                outcome = operation => outcome,
            }
        })
    }

    /// Returns the address of a package in the store, for messages.
    pub fn reference(&self, kind: Kind, id: &PackageId) -> String {
        format!("{}/{}/{id}", self.transfer.location, kind.as_str())
    }

    /// Fetches the manifest and the signature of a package and judges them.
    ///
    /// # Errors
    /// [`BucketError::Absent`] where the store has no such package, or the package's error where
    /// its signature is not trusted.
    pub fn fetch_manifest(
        &self,
        kind: Kind,
        id: &PackageId,
        trust: &Trust,
    ) -> Result<RemoteManifest, BucketError> {
        self.run(async {
            let location = self.reference(kind, id);
            let stored = self.fetch_small((kind, id), MANIFEST, LARGEST).await?;
            let absent = || BucketError::Absent {
                location: location.clone(),
            };
            let stored = stored.ok_or_else(absent)?;
            let signature = self
                .fetch_small((kind, id), SIGNATURE, LARGEST_SIGNATURE)
                .await?;
            let origin = Path::new(&location);
            let remote = RemoteManifest::judge((kind, id), stored, signature, trust, origin)?;
            let attachments = self.fetch_attachments((kind, id)).await?;
            Ok(remote.with_attachments(attachments))
        })
    }

    /// Fetches the files of a package and puts it on `packages_dir`, unless it is there already.
    /// `progress` receives the name of the file, the bytes fetched and the bytes in all.
    ///
    /// # Errors
    /// A file cannot be fetched or differs from the manifest. Nothing is kept then.
    pub fn pull(
        &self,
        remote: RemoteManifest,
        packages_dir: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<PublishOutcome, BucketError> {
        let arriving = match remote.begin_receiving(packages_dir, &self.control)? {
            ReceiveState::Existing(published) => return Ok(published),
            ReceiveState::Receiving(arriving) => arriving,
        };
        let manifest = arriving.remote_manifest().manifest();
        let package = (manifest.kind, &manifest.id);
        for (file, entry) in &manifest.files {
            let mut sink = arriving.create(file)?;
            let report = &mut |bytes| progress(file.as_str(), bytes, entry.bytes);
            let key = key(package, file.as_str());
            let copy = self.transfer.copy(&key, entry.bytes, &mut sink, report);
            let missing = || BucketError::FileMissing {
                file: file.to_string(),
                location: self.reference(manifest.kind, &manifest.id),
            };
            self.run(copy)?.ok_or_else(missing)?;
        }
        Ok(arriving.finish(&self.control)?)
    }

    /// Publishes an opened package, unless it is there already. Files that are missing or damaged
    /// are sent then. `progress` receives the name of the file, the bytes sent or verified and the
    /// bytes in all.
    ///
    /// # Errors
    /// [`BucketError::Republished`] where the id is there with other bytes,
    /// [`BucketError::Claimed`] where another publisher sends other bytes, or the reason of a
    /// failed transfer.
    pub fn publish(
        &self,
        package: &Package,
        progress: &mut Progress<'_>,
    ) -> Result<PublishOutcome, BucketError> {
        self.runtime.block_on(async {
            let (stored, signature) = package.heads()?;
            let heads = (stored.as_slice(), signature);
            if let Some(there) = self.find_existing(package, &stored).await? {
                return self
                    .put_package(package, heads, Some(there), progress)
                    .await;
            }
            let claimed = self.claim(package).await;
            let is_claimed = claimed.is_ok();
            // Another publisher may have finished and removed its claim meanwhile.
            let published = match (self.find_existing(package, &stored).await, claimed) {
                (Ok(None), Err(error)) | (Err(error), _) => Err(error),
                (Ok(there), _) => self.put_package(package, heads, there, progress).await,
            };
            if is_claimed && let Ok(_) | Err(BucketError::Republished { .. }) = published {
                // The manifest refuses other bytes from here on. So a claim that stays does no
                // harm.
                let _ = self.transfer.delete(&claim_key(package)).await;
            }
            published
        })
    }

    /// Claims the id for these bytes, or joins a publisher of the same ones.
    async fn claim(&self, package: &Package) -> Result<(), BucketError> {
        let key = claim_key(package);
        let claim = package.digest().to_string().into_bytes();
        if self.transfer.create(&key, claim.clone()).await? {
            return Ok(());
        }
        let largest = claim.len() as u64;
        match self.transfer.get(&key, largest).await? {
            Some(found) if found == claim => Ok(()),
            _ => Err(BucketError::Claimed {
                location: self.reference(package.manifest().kind, &package.manifest().id),
                claim: format!("{}/{key}", self.transfer.location),
            }),
        }
    }

    async fn put_package(
        &self,
        package: &Package,
        (stored, signature): (&[u8], Option<Vec<u8>>),
        there: Option<ExistingPackage>,
        progress: &mut Progress<'_>,
    ) -> Result<PublishOutcome, BucketError> {
        let manifest = package.manifest();
        let name = (manifest.kind, &manifest.id);
        let mut sent = false;
        let mut states = Vec::new();
        for (file, entry) in &manifest.files {
            let key = key(name, file.as_str());
            let mut report = |bytes: u64| progress(file.as_str(), bytes, entry.bytes);
            // Without a manifest, a file of the same size may be left of another package.
            let state = match there.is_some() {
                true => {
                    let largest = self.largest_verified;
                    compare_file(&self.transfer, (&key, entry), largest, &mut report).await?
                }
                false => FileState::Missing,
            };
            if let FileState::Missing | FileState::Damaged = state {
                let path = package.path(file.as_str())?;
                self.put_file(&path, (&key, entry.bytes), &mut report)
                    .await?;
                sent = true;
            }
            states.push(state);
        }
        let attachments = Attachments::read(package.directory())?;
        let before = there.as_ref().map(|there| &there.attachments);
        if before.is_none_or(|before| attachments.outweigh(before, package, &Trust::Unsigned)) {
            for (file, bytes) in attachments.iter() {
                self.transfer.put(&key(name, file), bytes.to_vec()).await?;
                sent = true;
            }
        }
        let has_signature = |there: &ExistingPackage| there.signature.is_some();
        if let Some(signature) = signature
            && !there.as_ref().is_some_and(has_signature)
        {
            self.transfer.put(&key(name, SIGNATURE), signature).await?;
            sent = true;
        }
        Ok(match there {
            None => {
                self.put_manifest(package, stored).await?;
                PublishOutcome::Copied
            }
            Some(there) if states.contains(&FileState::SameSize) => PublishOutcome::SizesCompared {
                signer: there.signer.or(package.signer().copied()),
                sent,
            },
            Some(_) if states.contains(&FileState::Damaged) => PublishOutcome::Repaired,
            Some(_) if sent => PublishOutcome::Completed,
            Some(there) => PublishOutcome::AlreadyThere(there.signer),
        })
    }

    /// Writes the manifest, unless it is there already.
    async fn put_manifest(&self, package: &Package, stored: &[u8]) -> Result<(), BucketError> {
        let manifest = package.manifest();
        let key = key((manifest.kind, &manifest.id), MANIFEST);
        for _ in 0..MANIFEST_ATTEMPTS {
            if self.transfer.create(&key, stored.to_owned()).await? {
                return Ok(());
            }
            // A publisher that makes no claims, or this one before a repetition. A store may also
            // refuse a write because another one is under way, which may fail.
            if self.find_existing(package, stored).await?.is_some() {
                return Ok(());
            }
        }
        Err(BucketError::ManifestRefused {
            location: self.reference(manifest.kind, &manifest.id),
        })
    }

    /// Looks for the package in the store.
    async fn find_existing(
        &self,
        package: &Package,
        stored: &[u8],
    ) -> Result<Option<ExistingPackage>, BucketError> {
        let manifest = package.manifest();
        let name = (manifest.kind, &manifest.id);
        let location = self.reference(manifest.kind, &manifest.id);
        match self.fetch_small(name, MANIFEST, LARGEST).await? {
            None => return Ok(None),
            Some(found) if found != stored => return Err(BucketError::Republished { location }),
            Some(_) => {}
        }
        let signature = self.fetch_small(name, SIGNATURE, LARGEST_SIGNATURE).await?;
        let judged = RemoteManifest::judge(
            name,
            stored.to_owned(),
            signature.clone(),
            &Trust::Unsigned,
            Path::new(&location),
        )?;
        Ok(Some(ExistingPackage {
            signature,
            signer: judged.signer().copied(),
            attachments: self.fetch_attachments(name).await?,
        }))
    }

    async fn fetch_small(
        &self,
        package: (Kind, &PackageId),
        file: &str,
        largest: u64,
    ) -> Result<Option<Vec<u8>>, BucketError> {
        self.transfer.get(&key(package, file), largest).await
    }

    async fn fetch_attachments(
        &self,
        package: (Kind, &PackageId),
    ) -> Result<Attachments, BucketError> {
        let mut attachments = Attachments::default();
        for (name, largest) in ATTACHMENTS {
            if let Some(bytes) = self.fetch_small(package, name, largest).await? {
                attachments.insert(name, bytes);
            }
        }
        Ok(attachments)
    }

    /// Sends a file in pieces. The object appears whole or not at all.
    async fn put_file(
        &self,
        path: &Path,
        (key, bytes): (&Key, u64),
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), BucketError> {
        let file_error = |source| BucketError::File {
            file: path.display().to_string(),
            source,
        };
        let mut source = File::open(path).map_err(file_error)?;
        let mut piece = vec![0; PIECE];
        let mut sent = 0;
        let store = self.transfer.store.clone();
        let mut upload = BufWriter::with_capacity(store, key.clone(), PIECE);
        let sending = async {
            loop {
                let read = source.read(&mut piece)?;
                if read == 0 {
                    return upload.shutdown().await;
                }
                upload.write_all(&piece[..read]).await?;
                sent += read as u64;
                progress(sent);
            }
        };
        let sending = async {
            let failed = |error: std::io::Error| object_store::Error::Generic {
                store: "upload",
                source: Box::new(error),
            };
            sending.await.map_err(failed)
        };
        let doing = format!("sending {key}");
        self.transfer.within((&doing, bytes), sending).await
    }
}

/// Returns the key of a package's claim. The id of a package begins with no dot.
fn claim_key(package: &Package) -> Key {
    let manifest = package.manifest();
    Key::from(format!("{}/.{}.claim", manifest.kind.as_str(), manifest.id))
}

fn key((kind, id): (Kind, &PackageId), file: &str) -> Key {
    Key::from(format!("{}/{id}/{file}", kind.as_str()))
}

#[cfg(test)]
#[path = "package_bucket_tests.rs"]
mod tests;
