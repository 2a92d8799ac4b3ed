//! Transfers to and from a registry: bounded, verified and retried after transient failures.

use super::artifact::blob;
use super::client::RepositoryClient;
use super::error::of_request;
use super::{Address, LogLine, RegistryError, artifact, credentials};
use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use domesday_package::{FileEntry, Sha256Digest, printable};
use domesday_registers::Progress;
use futures_util::stream;
use oci_client::RegistryOperation;
use oci_client::manifest::{OCI_IMAGE_MEDIA_TYPE, OciImageManifest};
use reqwest::Body;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(10);
/// Timeout of a silent connection.
const SILENCE: Duration = Duration::from_secs(60);
/// Time limit of an attempt without content.
const ATTEMPT: Duration = Duration::from_secs(300);
/// The slowest rate of content, bytes a second. A registry that sends or takes less is given up.
const SLOWEST: u64 = 32 << 10;
/// Retries after a transient failure.
const RETRIES: usize = 3;
/// Wait before the first retry; it doubles each time.
const PAUSE: Duration = Duration::from_millis(250);
/// Bytes of one chunk of an upload.
const PIECE: usize = 256 << 10;

/// A repository and the client for it.
pub struct Transfer {
    client: RepositoryClient,
    log: LogLine,
    address: Address,
}

impl Transfer {
    /// Creates a transfer with the credentials of this machine for the registry.
    ///
    /// # Errors
    /// [`RegistryError::Credentials`] if the credentials cannot be read. Otherwise as
    /// [`RepositoryClient::new`].
    pub fn new(
        address: Address,
        plain_http: bool,
        log: LogLine,
    ) -> Result<Transfer, RegistryError> {
        // The client has no cryptography built in. A provider that the process chose before stays.
        let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let auth = credentials::of(address.host())?;
        let http = plain_http || address.is_loopback();
        let client = RepositoryClient::new(
            address.clone(),
            auth,
            (plain_http, http),
            (CONNECT, SILENCE),
        )?;
        Ok(Transfer {
            client,
            log,
            address,
        })
    }

    /// Returns the address of the repository.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Logs in where the registry requires it. A refusal is known before anything is sent.
    ///
    /// # Errors
    /// As [`RepositoryClient::log_in`], after the retries.
    pub async fn log_in(&self, operation: RegistryOperation) -> Result<(), RegistryError> {
        let actions = match operation {
            RegistryOperation::Pull => "pull",
            RegistryOperation::Push => "pull,push",
        };
        self.retry_transient("logging in", 0, || self.client.log_in(actions))
            .await
    }

    /// Fetches an artifact's manifest and its digest, by tag or digest; `None` without such a tag.
    ///
    /// # Errors
    /// [`RegistryError::NotAPackage`] for an artifact of another form. Otherwise as
    /// [`RepositoryClient::manifest`], after the retries.
    pub async fn manifest(
        &self,
        name: &str,
    ) -> Result<Option<(OciImageManifest, String)>, RegistryError> {
        let Some(received) = self
            .retry_transient("fetching the manifest", 0, || self.client.manifest(name))
            .await?
        else {
            return Ok(None);
        };
        let manifest =
            serde_json::from_slice(&received.bytes).map_err(|_| RegistryError::NotAPackage {
                reference: self.address.with_tag(name),
                problem: match received.media_type.as_str() {
                    OCI_IMAGE_MEDIA_TYPE => "it is an artifact of another form".to_owned(),
                    other => format!(
                        "the response is {:?}, not an artifact's manifest. Check that the host is \
                         a registry and not a login page",
                        printable(other)
                    ),
                },
            })?;
        Ok(Some((manifest, blob(&received.digest))))
    }

    /// Puts an artifact's manifest under a tag.
    ///
    /// # Errors
    /// The refusal of the registry or the error of the connection, after the retries.
    pub async fn put_manifest(&self, tag: &str, bytes: &[u8]) -> Result<(), RegistryError> {
        let doing = format!("putting the tag {}", self.address.tag_reference(tag));
        self.retry_transient(&doing, bytes.len() as u64, || {
            self.client.put_manifest(tag, bytes, &doing)
        })
        .await
    }

    /// Uploads bytes unless the repository has them, and returns whether it uploaded them.
    ///
    /// # Errors
    /// As [`Transfer::has`]. Otherwise the refusal of the registry or the error of the connection,
    /// after the retries.
    pub async fn put_bytes(&self, bytes: &[u8], file: &str) -> Result<bool, RegistryError> {
        let entry = artifact::entry(bytes);
        let (name, doing) = (blob(&entry.sha256), format!("sending {file}"));
        if self.has(file, &entry).await? {
            return Ok(false);
        }
        let put = || {
            let body = Body::from(bytes.to_owned());
            self.client.put_blob(&name, (entry.bytes, body), &doing)
        };
        self.retry_transient(&doing, entry.bytes, put)
            .await
            .map(|()| true)
    }

    /// Uploads a file unless the repository has it, and returns whether it uploaded it.
    ///
    /// The registry refuses a file whose bytes changed meanwhile.
    ///
    /// # Errors
    /// [`RegistryError::File`] if the file cannot be read. Otherwise as [`Transfer::put_bytes`].
    pub async fn put_file(
        &self,
        path: &Path,
        file: &str,
        entry: &FileEntry,
        progress: &mut Progress<'_>,
    ) -> Result<bool, RegistryError> {
        let (name, doing) = (blob(&entry.sha256), format!("sending {file}"));
        if self.has(file, entry).await? {
            progress(file, entry.bytes, entry.bytes);
            return Ok(false);
        }
        let progress = RefCell::new(progress);
        let put = || async {
            let source = File::open(path).map_err(|error| RegistryError::File {
                file: path.display().to_string(),
                error,
            })?;
            let (sender, bytes_sent) = watch::channel(0);
            let body = Body::wrap_stream(pieces(source, sender));
            let upload = self.client.put_blob(&name, (entry.bytes, body), &doing);
            let report = |bytes| (*progress.borrow_mut())(file, bytes, entry.bytes);
            report_while(upload, bytes_sent, report).await
        };
        self.retry_transient(&doing, entry.bytes, put)
            .await
            .map(|()| true)
    }

    /// Downloads a blob into the writer of `sink`, which opens anew for every attempt.
    ///
    /// It hashes the bytes as they come, and reads no more of them than `entry` states.
    ///
    /// # Errors
    /// [`RegistryError::TooLarge`], [`RegistryError::BrokeOff`] or [`RegistryError::Damaged`] if
    /// the bytes are not those of `entry`. [`RegistryError::File`] if the writer fails. Otherwise
    /// the error of `sink`, of the registry or of the connection, after the retries.
    pub async fn fetch<W: Write>(
        &self,
        file: &str,
        entry: &FileEntry,
        progress: &mut Progress<'_>,
        sink: impl Fn() -> Result<W, RegistryError>,
    ) -> Result<W, RegistryError> {
        let doing = format!("fetching {file}");
        let progress = RefCell::new(progress);
        let fetch = || async {
            let mut sink = sink()?;
            let mut response = self.client.blob(&blob(&entry.sha256), &doing).await?;
            let (mut bytes_read, mut hasher) = (0_u64, Sha256::new());
            while let Some(piece) = response
                .chunk()
                .await
                .map_err(|error| of_request(error, self.address.host(), &doing))?
            {
                bytes_read = bytes_read.saturating_add(piece.len() as u64);
                if bytes_read > entry.bytes {
                    return Err(RegistryError::TooLarge {
                        host: self.host(),
                        file: file.to_owned(),
                        bytes: entry.bytes,
                    });
                }
                hasher.update(&piece);
                sink.write_all(&piece)
                    .map_err(|error| RegistryError::File {
                        file: file.to_owned(),
                        error,
                    })?;
                (*progress.borrow_mut())(file, bytes_read, entry.bytes);
            }
            if bytes_read < entry.bytes {
                return Err(RegistryError::BrokeOff {
                    doing: doing.clone(),
                    host: self.host(),
                    problem: format!("received {bytes_read} of {} bytes", entry.bytes),
                });
            }
            if Sha256Digest::from_bytes(hasher.finalize().into()) != entry.sha256 {
                return Err(RegistryError::Damaged {
                    host: self.host(),
                    file: file.to_owned(),
                });
            }
            Ok(sink)
        };
        self.retry_transient(&doing, entry.bytes, fetch).await
    }

    /// Returns whether the repository has a blob. One of another size cannot be repaired from here.
    ///
    /// # Errors
    /// [`RegistryError::Altered`] if the blob has another size. Otherwise the refusal of the
    /// registry or the error of the connection, after the retries.
    pub async fn has(&self, file: &str, entry: &FileEntry) -> Result<bool, RegistryError> {
        let name = blob(&entry.sha256);
        let doing = format!("asking for {file}");
        let size = self.retry_transient(&doing, 0, || self.client.size(&name));
        match size.await? {
            None => Ok(false),
            Some(Some(bytes)) if bytes != entry.bytes => Err(RegistryError::Altered {
                reference: format!("{file} of {}", self.address.with_tag(&name)),
                problem: format!("it has {bytes} bytes there and {} here", entry.bytes),
            }),
            Some(_) => Ok(true),
        }
    }

    /// Retries transient failures with growing waits, and logs each retry. Each attempt has a time
    /// limit for the `bytes` that it moves.
    async fn retry_transient<T, F>(
        &self,
        doing: &str,
        bytes: u64,
        attempt: impl FnMut() -> F,
    ) -> Result<T, RegistryError>
    where
        F: Future<Output = Result<T, RegistryError>>,
    {
        self.retry_within(time_limit(bytes), doing, attempt).await
    }

    async fn retry_within<T, F>(
        &self,
        limit: Duration,
        doing: &str,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, RegistryError>
    where
        F: Future<Output = Result<T, RegistryError>>,
    {
        let bounded = || {
            let attempt = attempt();
            async move {
                timeout(limit, attempt)
                    .await
                    .unwrap_or_else(|_| Err(self.too_slow(doing, limit)))
            }
        };
        bounded
            .retry(
                ExponentialBuilder::default()
                    .with_min_delay(PAUSE)
                    .with_max_times(RETRIES),
            )
            .when(RegistryError::may_pass)
            .notify(|error, _| (self.log)(&format!("{}; trying again", error.briefly())))
            .await
    }

    fn too_slow(&self, doing: &str, limit: Duration) -> RegistryError {
        RegistryError::BrokeOff {
            doing: doing.to_owned(),
            host: self.host(),
            problem: format!(
                "it took more than {} s, which is less than {SLOWEST} bytes a second",
                limit.as_secs()
            ),
        }
    }

    fn host(&self) -> String {
        self.address.host().to_owned()
    }
}

/// Returns the time limit of an attempt that moves this many bytes.
fn time_limit(bytes: u64) -> Duration {
    ATTEMPT + Duration::from_secs(bytes / SLOWEST)
}

/// Waits for an upload, and reports the bytes sent meanwhile.
///
/// The upload needs a stream that borrows nothing, and `report` borrows the caller's callback.
async fn report_while<T>(
    upload: impl Future<Output = T>,
    mut bytes_sent: watch::Receiver<u64>,
    report: impl Fn(u64),
) -> T {
    let mut upload = pin!(upload);
    report(0);
    loop {
        tokio::select! {
            outcome = &mut upload => return outcome,
            Ok(()) = bytes_sent.changed() => {
                let bytes = *bytes_sent.borrow_and_update();
                report(bytes);
            }
        }
    }
}

/// Streams a file in chunks, and counts the bytes in `bytes_sent`.
fn pieces(
    source: File,
    bytes_sent: watch::Sender<u64>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::unfold(
        (source, bytes_sent),
        |(mut source, bytes_sent)| async move {
            let mut piece = vec![0; PIECE];
            match source.read(&mut piece) {
                Ok(0) => None,
                Ok(read) => {
                    piece.truncate(read);
                    bytes_sent.send_modify(|bytes| *bytes += read as u64);
                    Some((Ok(Bytes::from(piece)), (source, bytes_sent)))
                }
                Err(error) => Some((Err(error), (source, bytes_sent))),
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_registry_that_trickles_is_given_up_after_its_retries() {
        let logged = Arc::new(AtomicUsize::new(0));
        let count = logged.clone();
        let log: LogLine = Arc::new(move |_: &str| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let address = Address::parse("127.0.0.1:1/releases").unwrap();
        let transfer = Transfer::new(address, true, log).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let limit = Duration::from_millis(10);
        let endless = || std::future::pending::<Result<(), RegistryError>>();
        let refused = runtime.block_on(transfer.retry_within(limit, "fetching a file", endless));
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.starts_with("fetching a file at 127.0.0.1:1 broke off"),
            "{refused}"
        );
        assert!(
            refused.contains("less than 32768 bytes a second"),
            "{refused}"
        );
        assert_eq!(logged.load(Ordering::Relaxed), RETRIES);
    }

    #[test]
    fn a_large_file_has_more_time() {
        assert_eq!(time_limit(0), ATTEMPT);
        assert_eq!(time_limit(SLOWEST * 60), ATTEMPT + Duration::from_secs(60));
    }
}
