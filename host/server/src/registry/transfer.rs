//! Bytes to and from a registry: bounded, proved, and tried again where it may have been chance.

use super::artifact::blob;
use super::{Address, RegistryError, Told, credentials};
use backon::{ExponentialBuilder, Retryable};
use domesday_package::FileEntry;
use futures_util::{StreamExt, stream};
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use oci_client::client::{ClientConfig, ClientProtocol};
use oci_client::errors::{OciDistributionError, OciErrorCode};
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciDescriptor, OciImageManifest};
use oci_client::secrets::RegistryAuth;
use oci_client::{Client, Reference, RegistryOperation};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a registry may be silent.
const SILENCE: Duration = Duration::from_secs(60);
/// How often a thing is tried again.
const AGAIN: usize = 3;
/// How long before it is tried again first; twice as long each time after.
const PAUSE: Duration = Duration::from_millis(250);
/// The largest manifest that is read: what registries take at most.
const LARGEST_MANIFEST: usize = 4 << 20;
/// What is sent at once, bytes.
const PIECE: usize = 256 << 10;

/// A repository, and a client for it.
pub struct Transfer {
    client: Client,
    auth: RegistryAuth,
    address: Address,
}

impl Transfer {
    /// With the credentials that this machine keeps for the registry.
    pub fn new(address: Address, plain_http: bool) -> Result<Transfer, RegistryError> {
        // The client has no cryptography of its own. Where the process has chosen already, that stands.
        let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let auth = credentials::of(address.host())?;
        let protocol = match plain_http || address.is_loopback() {
            true => ClientProtocol::Http,
            false => ClientProtocol::Https,
        };
        let config = ClientConfig {
            protocol,
            // One request a blob, whose size is said: what every registry takes.
            use_monolithic_push: true,
            platform_resolver: None,
            connect_timeout: Some(CONNECT),
            read_timeout: Some(SILENCE),
            user_agent: concat!("domesday/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        };
        let client = Client::try_from(config)
            .map_err(|error| RegistryError::of(error, address.host(), "getting ready"))?;
        Ok(Transfer {
            client,
            auth,
            address,
        })
    }

    /// The repository.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Logs in where the registry asks for it, so that a refusal is known before anything is sent.
    pub async fn log_in(&self, operation: RegistryOperation) -> Result<(), RegistryError> {
        let any = self.address.tagged("any");
        let log_in = || async {
            self.client
                .auth(&any, &self.auth, operation)
                .await
                .map_err(|error| self.fault(error, "logging in"))
        };
        again(log_in).await.map(drop)
    }

    /// An artifact's manifest with its digest; none where there is no such tag.
    pub async fn manifest(
        &self,
        what: &Reference,
    ) -> Result<Option<(OciImageManifest, String)>, RegistryError> {
        let place = || format!("{}{}", super::address::SCHEME, what.whole());
        let fetch = || async {
            self.client
                .pull_manifest_raw(what, &self.auth, &[OCI_IMAGE_MEDIA_TYPE])
                .await
                .map(Some)
                .or_else(|error| match is_absent(&error) {
                    true => Ok(None),
                    false => Err(self.fault(error, &place())),
                })
        };
        let Some((bytes, digest)) = again(fetch).await? else {
            return Ok(None);
        };
        if bytes.len() > LARGEST_MANIFEST {
            return Err(RegistryError::TooLarge {
                host: self.address.host().to_owned(),
                file: place(),
                bytes: LARGEST_MANIFEST as u64,
            });
        }
        let manifest = serde_json::from_slice(&bytes).map_err(|_| RegistryError::NotAPackage {
            place: place(),
            problem: "it is an artifact of another form".to_owned(),
        })?;
        Ok(Some((manifest, digest)))
    }

    /// Puts an artifact's manifest under a tag.
    pub async fn put_manifest(&self, what: &Reference, bytes: &[u8]) -> Result<(), RegistryError> {
        let put = || async {
            let kind = HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE);
            self.client
                .push_manifest_raw(what, Bytes::copy_from_slice(bytes), kind)
                .await
                .map_err(|error| self.fault(error, &format!("putting the tag {what}")))
        };
        again(put).await.map(drop)
    }

    /// Sends some bytes, unless the repository has them.
    pub async fn put_bytes(&self, bytes: &[u8], entry: &FileEntry) -> Result<(), RegistryError> {
        let (any, digest) = (self.address.tagged("any"), blob(&entry.sha256));
        if self.has(&any, &digest).await? {
            return Ok(());
        }
        let put = || async {
            self.client
                .push_blob(&any, Bytes::copy_from_slice(bytes), &digest)
                .await
                .map_err(|error| self.fault(error, "sending a manifest"))
        };
        again(put).await.map(drop)
    }

    /// Sends a file, unless the repository has it. The registry refuses it where its bytes have changed meanwhile.
    pub async fn put_file(
        &self,
        path: &Path,
        file: &str,
        entry: &FileEntry,
        told: &Told,
    ) -> Result<(), RegistryError> {
        let (any, digest) = (self.address.tagged("any"), blob(&entry.sha256));
        if self.has(&any, &digest).await? {
            told(file, entry.bytes, entry.bytes);
            return Ok(());
        }
        let put = || async {
            let source = File::open(path).map_err(|error| RegistryError::File {
                file: path.display().to_string(),
                error,
            })?;
            let pieces = pieces(source, file.to_owned(), entry.bytes, told.clone());
            self.client
                .push_blob_stream(&any, pieces, &digest, Some(entry.bytes))
                .await
                .map_err(|error| self.fault(error, &format!("sending {file}")))
        };
        again(put).await.map(drop)
    }

    /// Fetches a blob into what `sink` opens, anew for every try. Its bytes are proved as they come, and never more
    /// of them taken than `entry` says.
    pub async fn fetch<W: Write>(
        &self,
        file: &str,
        entry: &FileEntry,
        told: &Told,
        sink: impl Fn() -> Result<W, RegistryError>,
    ) -> Result<W, RegistryError> {
        let any = self.address.tagged("any");
        let layer = OciDescriptor {
            digest: blob(&entry.sha256),
            ..OciDescriptor::default()
        };
        let host = || self.address.host().to_owned();
        let fetch = || async {
            let mut sink = sink()?;
            self.client
                .store_auth_if_needed(self.address.host(), &self.auth)
                .await;
            let mut stream = self
                .client
                .pull_blob_stream(&any, &layer)
                .await
                .map_err(|error| self.fault(error, &format!("fetching {file}")))?;
            let mut done = 0_u64;
            while let Some(piece) = stream.next().await {
                let piece = piece.map_err(|error| self.broken(error, file))?;
                done = done.saturating_add(piece.len() as u64);
                if done > entry.bytes {
                    return Err(RegistryError::TooLarge {
                        host: host(),
                        file: file.to_owned(),
                        bytes: entry.bytes,
                    });
                }
                sink.write_all(&piece)
                    .map_err(|error| RegistryError::File {
                        file: file.to_owned(),
                        error,
                    })?;
                told(file, done, entry.bytes);
            }
            Ok(sink)
        };
        again(fetch).await
    }

    async fn has(&self, any: &Reference, digest: &str) -> Result<bool, RegistryError> {
        let ask = || async {
            self.client
                .blob_exists(any, digest)
                .await
                .map_err(|error| self.fault(error, "asking for a blob"))
        };
        again(ask).await
    }

    fn fault(&self, error: OciDistributionError, doing: &str) -> RegistryError {
        RegistryError::of(error, self.address.host(), doing)
    }

    /// What ended a stream: other bytes than the digest says, or the connection.
    fn broken(&self, error: io::Error, file: &str) -> RegistryError {
        let digest = error
            .get_ref()
            .is_some_and(|inner| inner.is::<oci_client::errors::DigestError>());
        match digest {
            true => RegistryError::Damaged {
                host: self.address.host().to_owned(),
                file: file.to_owned(),
            },
            false => self.fault(error.into(), &format!("fetching {file}")),
        }
    }
}

/// Tries again what may have failed by chance, at intervals that are the same every time.
async fn again<T, F>(attempt: impl FnMut() -> F) -> Result<T, RegistryError>
where
    F: Future<Output = Result<T, RegistryError>>,
{
    attempt
        .retry(
            ExponentialBuilder::default()
                .with_min_delay(PAUSE)
                .with_max_times(AGAIN),
        )
        .when(RegistryError::may_pass)
        .await
}

fn is_absent(error: &OciDistributionError) -> bool {
    match error {
        OciDistributionError::ImageManifestNotFoundError(_)
        | OciDistributionError::ServerError { code: 404, .. } => true,
        OciDistributionError::RegistryError { envelope, .. } => envelope.errors.iter().any(|e| {
            matches!(
                e.code,
                OciErrorCode::ManifestUnknown | OciErrorCode::NameUnknown | OciErrorCode::NotFound
            )
        }),
        _ => false,
    }
}

/// A file piece by piece, each reported as it is asked for.
fn pieces(
    source: File,
    file: String,
    bytes: u64,
    told: Told,
) -> impl futures_util::Stream<Item = Result<Bytes, OciDistributionError>> + Send + 'static {
    stream::unfold((source, 0_u64), move |(mut source, done)| {
        told(&file, done, bytes);
        async move {
            let mut piece = vec![0; PIECE];
            match source.read(&mut piece) {
                Ok(0) => None,
                Ok(read) => {
                    piece.truncate(read);
                    Some((Ok(Bytes::from(piece)), (source, done + read as u64)))
                }
                Err(error) => Some((Err(error.into()), (source, done))),
            }
        }
    })
}
