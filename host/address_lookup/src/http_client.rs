//! One HTTP request, bounded in time and size.

use crate::Failure;
use crate::endpoint::Key;
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HeaderMap, RETRY_AFTER, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Longest response that is read, bytes: a page of 100 addresses takes some 150 kB.
const ANSWER_MAX: usize = 2 << 20;
/// Time that an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);
/// The header that carries the key.
const KEY: &str = "key";

/// A client that follows no redirects and uses no proxy of the environment.
///
/// The key is sent only to the address that the operator configured.
pub(crate) struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
    key: Option<Key>,
    wait: Duration,
    now: fn() -> SystemTime,
}

impl HttpClient {
    /// Creates a client with timeouts for connection and response, and a bound on idle connections.
    ///
    /// # Errors
    /// TLS is required (`secure`), and the machine has no certificate authorities.
    pub(crate) fn new(
        secure: bool,
        key: Option<Key>,
        connect: Duration,
        wait: Duration,
        idle: usize,
        now: fn() -> SystemTime,
    ) -> std::io::Result<HttpClient> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect));
        let crypto = Arc::new(default_provider());
        let connector = HttpsConnectorBuilder::new();
        let connector = match secure {
            true => connector.with_provider_and_native_roots(crypto)?,
            // Nobody's certificate is ever looked at.
            false => connector.with_tls_config(
                ClientConfig::builder_with_provider(crypto)
                    .with_safe_default_protocol_versions()
                    .map_err(std::io::Error::other)?
                    .with_root_certificates(RootCertStore::empty())
                    .with_no_client_auth(),
            ),
        };
        let connector = connector.https_or_http().enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle)
            .build(connector);
        Ok(HttpClient {
            client,
            key,
            wait,
            now,
        })
    }

    /// Sends a GET and returns the whole body of a 200.
    pub(crate) async fn get(&self, url: &str) -> Result<Bytes, Failure> {
        timeout(self.wait, self.whole(url))
            .await
            .unwrap_or(Err(Failure::TimedOut))
    }

    async fn whole(&self, url: &str) -> Result<Bytes, Failure> {
        let mut request = Request::get(url)
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("domesday/", env!("CARGO_PKG_VERSION")));
        if let Some(key) = &self.key {
            request = request.header(KEY, key.header());
        }
        let request = request
            .body(Empty::new())
            .map_err(|_| Failure::Unreadable("the request is not valid"))?;
        let answer = self.client.request(request).await.map_err(|error| {
            tracing::debug!(%error, "the identity provider");
            match error.is_connect() {
                true => Failure::Unreachable,
                false => Failure::Closed,
            }
        })?;
        let (head, body) = answer.into_parts();
        if let Some(failure) = refused(head.status, &head.headers, (self.now)()) {
            return Err(failure);
        }
        match Limited::new(body, ANSWER_MAX).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(Failure::TooLarge),
            Err(_) => Err(Failure::Closed),
        }
    }
}

/// Returns the failure of a status other than 200.
fn refused(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Failure> {
    let after = || {
        headers
            .get(RETRY_AFTER)?
            .to_str()
            .ok()
            .and_then(|text| wait(text, now))
    };
    let code = status.as_u16();
    match status {
        StatusCode::OK => None,
        StatusCode::TOO_MANY_REQUESTS => Some(Failure::Limited { after: after() }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Some(Failure::KeyRefused { status: code })
        }
        _ if status.is_server_error() => Some(Failure::Broken {
            status: code,
            after: after(),
        }),
        _ => Some(Failure::QuestionRefused { status: code }),
    }
}

/// Parses `Retry-After`: seconds or a date (RFC 9110, section 10.2.3).
fn wait(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        let seconds = |text| wait(text, now).map(|wait| wait.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(7));
        assert_eq!(seconds("Sun, 06 Nov 1988 08:49:37 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-1"), None);
    }

    #[test]
    fn a_status_says_whose_fault_it_is() {
        let now = UNIX_EPOCH;
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "3".parse().unwrap());
        let of = |status: u16| refused(StatusCode::from_u16(status).unwrap(), &headers, now);
        let after = Some(Duration::from_secs(3));
        assert_eq!(of(200), None);
        assert_eq!(of(429), Some(Failure::Limited { after }));
        assert_eq!(of(503), Some(Failure::Broken { status: 503, after }));
        for status in [401, 403] {
            assert_eq!(of(status), Some(Failure::KeyRefused { status }));
        }
        for other in [204, 301, 302, 400, 404, 418] {
            assert_eq!(of(other), Some(Failure::QuestionRefused { status: other }));
        }
    }
}
