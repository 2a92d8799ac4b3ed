//! The project's one HTTP client, for the requests that `object_store` makes and signs.
//!
//! The crate's own connector would bring HTTP/2 and AWS-LC, and the crate reads refusals and
//! listings whole. So the client bounds them.

use async_trait::async_trait;
use domesday_package::printable;
use http::Method;
use http_body_util::{BodyExt, Limited};
use object_store::ClientConfigKey;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::redirect::Policy;
use std::error::Error;
use std::time::Duration;

/// Timeout of a connection attempt.
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of a silent connection.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes that are read of a refusal.
const LARGEST_REFUSAL: usize = 16 << 10;
/// Largest answer that is no object, bytes. The largest one is a page of a listing, which has at
/// most 5,000 keys of a kilobyte.
const LARGEST_ANSWER: usize = 16 << 20;
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

/// An answer that is no object is longer than its bound.
#[derive(Debug, thiserror::Error)]
#[error("the store answers with more than {} bytes", LARGEST_ANSWER)]
struct TooLargeAnswer;

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = parts.uri.to_string().parse::<reqwest::Url>();
        let url = url.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        // The reader of an object bounds it.
        let is_object = parts.method == Method::GET && !asks_for_listing(&url);
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(reqwest::Body::wrap(body));
        let mut response = self.0.execute(request).await.map_err(http_error)?;
        let refusal = match response.status().is_success() {
            true => None,
            false => Some(read_refusal(&mut response).await),
        };
        let (parts, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        let body = body.map_err(http_error);
        let body = match refusal {
            Some(text) => HttpResponseBody::from(text),
            None if is_object => HttpResponseBody::new(body),
            None => HttpResponseBody::new(Limited::new(body, LARGEST_ANSWER).map_err(bound_error)),
        };
        Ok(HttpResponse::from_parts(parts, body))
    }
}

/// Reports whether a request asks for a list of objects, in the interface of S3, which Google's
/// store has too, or of Azure.
fn asks_for_listing(url: &reqwest::Url) -> bool {
    url.query_pairs()
        .any(|(name, value)| name == "list-type" || (name == "comp" && value == "list"))
}

/// Reads the beginning of a refusal, in a form that is safe on a terminal. What came before the
/// connection broke off is enough.
async fn read_refusal(response: &mut reqwest::Response) -> String {
    let mut body = Vec::new();
    while body.len() < LARGEST_REFUSAL {
        match response.chunk().await {
            Ok(Some(piece)) => body.extend_from_slice(&piece),
            Ok(None) | Err(_) => break,
        }
    }
    body.truncate(LARGEST_REFUSAL);
    printable(&String::from_utf8_lossy(&body))
}

/// Tells an answer beyond its bound from an error of the connection.
fn bound_error(error: Box<dyn Error + Send + Sync>) -> HttpError {
    match error.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(_) => HttpError::new(HttpErrorKind::Unknown, TooLargeAnswer),
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

#[cfg(test)]
#[path = "connector_tests.rs"]
mod tests;
