//! TLS in front of a connection, and certificates that are read again while the service runs.

use arc_swap::ArcSwap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, rustls};
use x509_parser::prelude::{FromDer, X509Certificate};

/// Time limit of a handshake: the limit of a request's head.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// Certificates that cannot be served with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read or is not PEM of its kind.
    #[error("cannot read {path} as PEM: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The PEM reader's error.
        source: pem::Error,
    },
    /// The file holds no certificate.
    #[error("{path} holds no certificate; name a PEM file with the chain")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The first certificate of the file is not one of X.509.
    #[error(
        "the first certificate of {path} cannot be read as X.509; name a PEM file that begins with the server's own"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
    /// Certificate and key do not go together, or are of a kind that is not taken.
    #[error("the certificate {certificate} cannot be used with the key {key}: {source}")]
    Refused {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The TLS library's error.
        source: rustls::Error,
    },
}

/// The reason why a TLS handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The client speaks something else, or left.
    #[error(transparent)]
    Failed(#[from] std::io::Error),
    /// It took too long.
    #[error("the handshake took too long")]
    Late(#[from] tokio::time::error::Elapsed),
}

/// Speaks TLS with the certificate that was read last.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: ArcSwap<CertificateInUse>,
}

/// The certificate in use.
struct CertificateInUse {
    config: Arc<ServerConfig>,
    /// Its expiry, in seconds since 1970.
    expiry: i64,
}

impl Tls {
    /// Reads a certificate chain and its key, both PEM.
    ///
    /// # Errors
    /// [`TlsError`] if they cannot be read or do not go together.
    pub fn open(certificate: PathBuf, key: PathBuf) -> Result<Tls, TlsError> {
        let current = ArcSwap::from_pointee(read(&certificate, &key)?);
        Ok(Tls {
            certificate,
            key,
            current,
        })
    }

    /// Reads both files again. New connections get the new certificate, open ones keep theirs.
    ///
    /// # Errors
    /// As [`Tls::open`]. The previous certificate stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let current = read(&self.certificate, &self.key)?;
        self.current.store(Arc::new(current));
        Ok(())
    }

    /// Returns the time at which the certificate in use expires, in seconds since 1970.
    pub fn expiry(&self) -> i64 {
        self.current.load().expiry
    }

    /// Accepts a TLS connection: the server's side of the handshake.
    ///
    /// # Errors
    /// [`HandshakeError::Late`] if the client is too slow, [`HandshakeError::Failed`] for other
    /// failures.
    pub async fn accept<S>(&self, stream: S) -> Result<TlsStream<S>, HandshakeError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = TlsAcceptor::from(self.current.load().config.clone());
        Ok(tokio::time::timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await??)
    }
}

fn read(certificate: &PathBuf, key: &PathBuf) -> Result<CertificateInUse, TlsError> {
    let file = |path: &PathBuf| {
        let path = path.clone();
        move |source| TlsError::File { path, source }
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(file(certificate))?;
    let Some(first) = chain.first() else {
        return Err(TlsError::Empty {
            path: certificate.clone(),
        });
    };
    let expiry = expiry(first).ok_or_else(|| TlsError::Unreadable {
        path: certificate.clone(),
    })?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(file(key))?;
    let refused = |source| TlsError::Refused {
        certificate: certificate.clone(),
        key: key.clone(),
        source,
    };
    // The versions are rustls's safe ones: 1.2 and 1.3.
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(refused)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(refused)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(CertificateInUse {
        config: Arc::new(config),
        expiry,
    })
}

/// Returns the time at which a certificate expires, in seconds since 1970.
fn expiry(certificate: &CertificateDer<'_>) -> Option<i64> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    Some(certificate.validity().not_after.timestamp())
}
