//! The project's one HTTP client, for the requests that `object_store` makes and signs.
//!
//! The crate's own connector would bring HTTP/2 and AWS-LC.

use async_trait::async_trait;
use http_body_util::BodyExt;
use object_store::ClientConfigKey;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::redirect::Policy;
use std::time::Duration;

/// Timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of a silent connection.
const SILENCE: Duration = Duration::from_secs(30);
const USER_AGENT: &str = concat!("domesday/", env!("CARGO_PKG_VERSION"));

/// Makes clients for the stores.
#[derive(Debug)]
pub struct Connector;

/// A client, which follows no redirect: a store redirects nobody, and its answer is not trusted.
#[derive(Debug)]
struct Client(reqwest::Client);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // The client has no cryptography built in. A provider that the process chose before stays.
        let _chosen = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let plain = options.get_config_value(&ClientConfigKey::AllowHttp);
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .user_agent(USER_AGENT)
            .redirect(Policy::none())
            .https_only(plain.as_deref() != Some("true"))
            .build()
            .map_err(|error| object_store::Error::Generic {
                store: "HTTP",
                source: Box::new(error),
            })?;
        Ok(HttpClient::new(Client(client)))
    }
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string().parse::<reqwest::Url>();
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(reqwest::Body::wrap(body));
        let response = self.0.execute(request).await.map_err(http_error)?;
        let (parts, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        let body = HttpResponseBody::new(body.map_err(http_error));
        Ok(HttpResponse::from_parts(parts, body))
    }
}

/// Tells the kinds of errors apart, by which `object_store` retries. The URL is left out, since it
/// may be signed.
fn http_error(error: reqwest::Error) -> HttpError {
    let kind = if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_decode() {
        HttpErrorKind::Decode
    } else if error.is_request() || error.is_body() {
        HttpErrorKind::Interrupted
    } else {
        HttpErrorKind::Unknown
    };
    HttpError::new(kind, error.without_url())
}
