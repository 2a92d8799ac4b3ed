//! HTTP clients without TLS, for the admin socket and for an OpenTelemetry collector beside the
//! server.

use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, Error, RootCertStore};

/// Returns a TLS configuration that trusts nobody.
///
/// reqwest builds no client without a configuration, and its own needs the certificate authorities
/// of the machine.
///
/// # Errors
/// `ring` lacks the protocol versions.
pub fn no_tls() -> Result<ClientConfig, Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    Ok(config)
}
