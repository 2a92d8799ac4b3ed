//! Requests to a registry, with authentication and responses of bounded size.
//!
//! No response of a registry or its token service is read without a bound. A password is sent only
//! where others cannot read it, and nothing where the registry may not direct to ([`Reach`]).

use super::challenge::Challenge;
use super::error::of_request;
use super::reach::{self, DestinationError, Reach};
use super::resolver::GuardedResolver;
use super::user_agent::USER_AGENT;
use super::{Address, RegistryError, artifact};
use domesday_package::{Sha256Digest, printable};
use oci_client::errors::{OciEnvelope, OciErrorCode};
use oci_client::manifest::OCI_IMAGE_MEDIA_TYPE;
use oci_client::secrets::RegistryAuth;
use reqwest::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Largest manifest that is read, bytes: the most that registries accept.
const LARGEST_MANIFEST: usize = 4 << 20;
/// Largest token that is read, bytes.
const LARGEST_TOKEN: usize = 64 << 10;
/// Bytes that are read of an error response.
const LARGEST_ERROR_BODY: usize = 16 << 10;

/// The client of a repository.
pub struct RepositoryClient {
    pub(crate) http: reqwest::Client,
    pub(crate) address: Address,
    /// The scheme and the host.
    base: Url,
    pub(crate) reach: Arc<Reach>,
    auth: RegistryAuth,
    /// True if a password may be sent without TLS to another machine.
    plain: bool,
    state: Mutex<State>,
}

/// A scope and the token for it.
#[derive(Default)]
struct State {
    actions: &'static str,
    authorization: Option<Authorization>,
}

/// The authorization of a request.
#[derive(Clone)]
enum Authorization {
    Bearer(String),
    Basic,
}

/// A manifest as received.
pub struct Manifest {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their digest.
    pub digest: Sha256Digest,
    /// The media type that the registry states.
    pub media_type: String,
}

impl RepositoryClient {
    /// Creates a client; it sends no request yet.
    ///
    /// # Errors
    /// [`RegistryError::Address`] if the address makes no URL, [`RegistryError::Failed`] if the
    /// HTTP client cannot be made.
    pub fn new(
        address: Address,
        auth: RegistryAuth,
        (plain, http): (bool, bool),
        (connect, silence): (Duration, Duration),
    ) -> Result<RepositoryClient, RegistryError> {
        let scheme = if http { "http" } else { "https" };
        let base = format!(
            "{scheme}://{}",
            address.tag_reference("any").resolve_registry()
        );
        let base: Url = base.parse().map_err(|error| RegistryError::Address {
            text: address.host().to_owned(),
            problem: format!("{error}"),
        })?;
        let reach = Arc::new(Reach::new(base.clone()));
        let mut client = reqwest::Client::builder()
            .connect_timeout(connect)
            .read_timeout(silence)
            .user_agent(USER_AGENT)
            .redirect(reach::policy(Arc::clone(&reach)));
        if let Some(resolver) = GuardedResolver::unless_proxied(&reach) {
            client = client.dns_resolver(resolver);
        }
        let client = client
            .build()
            .map_err(|error| of_request(error, address.host(), "getting ready"))?;
        Ok(RepositoryClient {
            http: client,
            address,
            base,
            reach,
            auth,
            plain,
            state: Mutex::default(),
        })
    }

    /// Logs in where the registry requires it, for `actions`: `pull` or `pull,push`.
    ///
    /// # Errors
    /// [`RegistryError::PlainRealm`] or [`RegistryError::PrivateRealm`] if the token service may
    /// not have the password. [`RegistryError::Denied`] if it is refused. Otherwise the error of a
    /// connection.
    pub async fn log_in(&self, actions: &'static str) -> Result<(), RegistryError> {
        self.state().actions = actions;
        self.authenticate().await
    }

    /// Fetches a manifest by its tag or digest; `None` where the registry has none.
    ///
    /// # Errors
    /// [`RegistryError::Damaged`] if the bytes differ from their digest,
    /// [`RegistryError::TooLarge`] beyond the bound. Otherwise the refusal of the registry or the
    /// error of the connection.
    pub async fn manifest(&self, name: &str) -> Result<Option<Manifest>, RegistryError> {
        let reference = self.address.with_tag(name);
        let url = self.url("manifests", name)?;
        // A manifest has several forms.
        let get = || {
            self.http
                .get(url.clone())
                .header(ACCEPT, OCI_IMAGE_MEDIA_TYPE)
        };
        let response = self.request(get, &reference).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let response = self.require_success(response, &reference).await?;
        let stated = header(response.headers(), "docker-content-digest");
        let media_type = header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        let bytes = self
            .read_bounded(response, LARGEST_MANIFEST, &reference)
            .await?;
        let digest = Sha256Digest::of(&bytes);
        let expected = [stated.as_deref(), Some(name)];
        let of_256 = |name: &&str| name.starts_with("sha256:");
        if expected
            .into_iter()
            .flatten()
            .filter(of_256)
            .any(|expected| expected != artifact::blob(&digest))
        {
            return Err(RegistryError::Damaged {
                host: self.host(),
                file: reference,
            });
        }
        Ok(Some(Manifest {
            bytes,
            digest,
            media_type,
        }))
    }

    /// Requests a blob and returns the response.
    ///
    /// # Errors
    /// The refusal of the registry, or the error of the connection.
    pub async fn blob(&self, name: &str, doing: &str) -> Result<Response, RegistryError> {
        let url = self.url("blobs", name)?;
        let response = self.request(|| self.http.get(url.clone()), doing).await?;
        self.require_success(response, doing).await
    }

    /// Returns the size of a blob in bytes; `None` where the registry has no such blob.
    ///
    /// # Errors
    /// The refusal of the registry, or the error of the connection.
    pub async fn size(&self, name: &str) -> Result<Option<Option<u64>>, RegistryError> {
        let doing = "asking for a blob";
        let url = self.url("blobs", name)?;
        let response = self.request(|| self.http.head(url.clone()), doing).await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let response = self.require_success(response, doing).await?;
        let size = header(response.headers(), CONTENT_LENGTH.as_str());
        Ok(Some(size.and_then(|size| size.parse().ok())))
    }

    /// Sends a request to the registry, and once more with a fresh token after a 401.
    ///
    /// Tokens live for minutes, and a large package takes longer.
    pub(crate) async fn request(
        &self,
        make: impl Fn() -> RequestBuilder,
        doing: &str,
    ) -> Result<Response, RegistryError> {
        let send = || async {
            self.authorize(make())
                .send()
                .await
                .map_err(|error| of_request(error, self.address.host(), doing))
        };
        let response = send().await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        self.authenticate().await?;
        send().await
    }

    /// Returns the URL of the registry's API for `kind`, which is `manifests` or `blobs`.
    pub(crate) fn url(&self, kind: &str, name: &str) -> Result<Url, RegistryError> {
        self.join(&self.address.path(kind, name))
    }

    /// Returns a URL of the registry.
    fn join(&self, path: &str) -> Result<Url, RegistryError> {
        self.base.join(path).map_err(|error| RegistryError::Failed {
            doing: "making an address".to_owned(),
            host: self.host(),
            message: format!("{}: {error}", printable(path)),
            passing: false,
        })
    }

    /// Adds the authorization, which is for the registry itself alone.
    pub(crate) fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        let authorization = self.state().authorization.clone();
        match (authorization, &self.auth) {
            (Some(Authorization::Bearer(token)), _) => request.bearer_auth(token),
            (Some(Authorization::Basic), RegistryAuth::Basic(user, password)) => {
                request.basic_auth(user, Some(password))
            }
            _ => request,
        }
    }

    /// Asks the registry for its challenge and keeps the authorization that answers it.
    async fn authenticate(&self) -> Result<(), RegistryError> {
        let doing = "logging in";
        let url = self.join("/v2/")?;
        let response = self
            .http
            .get(url)
            .send()
            .await
            .map_err(|error| of_request(error, self.address.host(), doing))?;
        if is_passing(response.status()) {
            return Err(self.refusal(response, doing).await);
        }
        let authorization = match Challenge::of(response.headers()) {
            None => None,
            Some(Challenge::Basic) => Some(Authorization::Basic),
            Some(Challenge::Bearer { realm, service }) => {
                Some(Authorization::Bearer(self.token(&realm, service).await?))
            }
        };
        self.state().authorization = authorization;
        Ok(())
    }

    /// Fetches a token from the service that the registry names.
    async fn token(&self, realm: &str, service: Option<String>) -> Result<String, RegistryError> {
        let doing = "asking the token service";
        let printable_realm = printable(realm);
        let failed = |message: String| RegistryError::Failed {
            doing: doing.to_owned(),
            host: self.host(),
            message,
            passing: false,
        };
        let mut url = Url::parse(realm)
            .map_err(|error| failed(format!("invalid address {printable_realm:?}: {error}")))?;
        match self.reach.check_login(&url, self.plain) {
            Ok(()) => {}
            Err(DestinationError::NotSecure(_)) => {
                return Err(RegistryError::PlainRealm {
                    host: self.host(),
                    realm: printable_realm,
                });
            }
            Err(_) => {
                return Err(RegistryError::PrivateRealm {
                    host: self.host(),
                    realm: printable_realm,
                });
            }
        }
        let actions = self.state().actions;
        let scope = format!("repository:{}:{actions}", self.address.repository());
        url.query_pairs_mut()
            .append_pair("scope", &scope)
            .extend_pairs(service.map(|service| ("service", service)));
        let request = self.http.get(url);
        let request = match &self.auth {
            RegistryAuth::Basic(user, password) => request.basic_auth(user, Some(password)),
            _ => request,
        };
        let response = request
            .send()
            .await
            .map_err(|error| of_request(error, self.address.host(), doing))?;
        let response = self.require_success(response, doing).await?;
        let bytes = self
            .read_bounded(response, LARGEST_TOKEN, "a token")
            .await?;
        #[derive(Deserialize)]
        struct TokenResponse {
            token: Option<String>,
            access_token: Option<String>,
        }
        let response: Option<TokenResponse> = serde_json::from_slice(&bytes).ok();
        response
            .and_then(|response| response.token.or(response.access_token))
            .ok_or_else(|| failed(format!("{printable_realm} returned no token")))
    }

    /// Returns the response, or an error for a refusal.
    pub(crate) async fn require_success(
        &self,
        response: Response,
        doing: &str,
    ) -> Result<Response, RegistryError> {
        match response.status().is_success() {
            true => Ok(response),
            false => Err(self.refusal(response, doing).await),
        }
    }

    /// Makes an error of a refusal, with the beginning of its text.
    async fn refusal(&self, mut response: Response, doing: &str) -> RegistryError {
        let status = response.status();
        let mut body = Vec::new();
        while body.len() < LARGEST_ERROR_BODY {
            match response.chunk().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(LARGEST_ERROR_BODY);
        let envelope: Option<OciEnvelope> = serde_json::from_slice(&body).ok();
        let busy = envelope.iter().flat_map(|envelope| &envelope.errors);
        let busy = busy
            .into_iter()
            .any(|error| error.code == OciErrorCode::Toomanyrequests);
        let text = match envelope {
            Some(envelope) => {
                let messages = envelope.errors.into_iter().map(|error| error.message);
                messages.collect::<Vec<_>>().join("; ")
            }
            None => String::from_utf8_lossy(&body).into_owned(),
        };
        let message = match text.trim() {
            "" => format!("status {}", status.as_u16()),
            text => format!("status {}: {}", status.as_u16(), printable(text)),
        };
        let host = self.host();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                RegistryError::Denied { host, message }
            }
            _ => RegistryError::Failed {
                doing: doing.to_owned(),
                host,
                message,
                passing: busy || is_passing(status),
            },
        }
    }

    /// Reads a response of at most `most` bytes.
    async fn read_bounded(
        &self,
        mut response: Response,
        most: usize,
        what: &str,
    ) -> Result<Vec<u8>, RegistryError> {
        let mut bytes = Vec::new();
        while let Some(piece) = response
            .chunk()
            .await
            .map_err(|error| of_request(error, self.address.host(), &format!("fetching {what}")))?
        {
            if bytes.len() + piece.len() > most {
                return Err(RegistryError::TooLarge {
                    host: self.host(),
                    file: what.to_owned(),
                    bytes: most as u64,
                });
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    pub(crate) fn host(&self) -> String {
        self.address.host().to_owned()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the status is that of a transient failure.
fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(host: &str) -> RepositoryClient {
        let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let address = Address::parse(&format!("oci://{host}/models/homes")).unwrap();
        let second = Duration::from_secs(1);
        let auth = RegistryAuth::Anonymous;
        RepositoryClient::new(address, auth, (true, true), (second, second)).unwrap()
    }

    #[tokio::test]
    async fn a_client_connects_to_no_name_that_its_registry_may_not_direct_to() {
        let client = client("192.0.2.1:5000");
        if GuardedResolver::unless_proxied(&client.reach).is_none() {
            eprintln!("skipped: the environment names a proxy");
            return;
        }
        let error = client.http.get("http://localhost:9/").send().await;
        let error = of_request(error.unwrap_err(), "192.0.2.1:5000", "fetching");
        assert!(!error.may_pass(), "{error}");
        let expected = "fetching at 192.0.2.1:5000 failed: ";
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(
            error.to_string().contains("directed to localhost"),
            "{error}"
        );
    }
}
