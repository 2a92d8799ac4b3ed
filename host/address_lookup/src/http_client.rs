//! One HTTP request, bounded in time and size.

use crate::Failure;
use crate::endpoint::Key;
use reqwest::header::{ACCEPT, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use std::time::{Duration, SystemTime};
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring::default_provider;

/// Longest response that is read, bytes: a page of 100 addresses takes some 150 kB.
const RESPONSE_MAX: usize = 2 << 20;
/// Time that an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);
/// The header that carries the key.
const KEY: &str = "key";

/// A client that follows no redirects and uses no proxy of the environment.
///
/// The key is sent only to the address that the operator configured.
pub(crate) struct HttpClient {
    client: Client,
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
    ) -> Result<HttpClient, reqwest::Error> {
        // reqwest brings no cryptography. A provider that the process chose before stays.
        let _chosen = default_provider().install_default();
        let builder = Client::builder()
            .http1_only()
            .no_proxy()
            .redirect(Policy::none())
            .user_agent(concat!("domesday/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(idle);
        let builder = match secure {
            true => builder,
            // No certificate is checked, so that none need be on the machine.
            false => builder.tls_certs_only([]),
        };
        Ok(HttpClient {
            client: builder.build()?,
            key,
            wait,
            now,
        })
    }

    /// Sends a GET and returns the whole body of a 200.
    pub(crate) async fn get(&self, url: &str) -> Result<Vec<u8>, Failure> {
        timeout(self.wait, self.fetch_body(url))
            .await
            .unwrap_or(Err(Failure::TimedOut))
    }

    async fn fetch_body(&self, url: &str) -> Result<Vec<u8>, Failure> {
        let mut request = self.client.get(url).header(ACCEPT, "application/json");
        if let Some(key) = &self.key {
            request = request.header(KEY, key.header());
        }
        let mut response = request.send().await.map_err(|error| {
            // The URL contains the postcode.
            let error = error.without_url();
            tracing::debug!(%error, "request to the address provider failed");
            match error {
                error if error.is_builder() => Failure::Unreadable("the request is not valid"),
                error if error.is_connect() => Failure::Unreachable,
                _ => Failure::Closed,
            }
        })?;
        if let Some(failure) = status_failure(response.status(), response.headers(), (self.now)()) {
            return Err(failure);
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|_| Failure::Closed)? {
            if body.len() + piece.len() > RESPONSE_MAX {
                return Err(Failure::TooLarge);
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

/// Returns the failure of a status other than 200.
fn status_failure(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Option<Failure> {
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
            Some(Failure::KeyRejected { status: code })
        }
        _ if status.is_server_error() => Some(Failure::ServerError {
            status: code,
            after: after(),
        }),
        _ => Some(Failure::RequestRejected { status: code }),
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
        let of = |status: u16| status_failure(StatusCode::from_u16(status).unwrap(), &headers, now);
        let after = Some(Duration::from_secs(3));
        assert_eq!(of(200), None);
        assert_eq!(of(429), Some(Failure::Limited { after }));
        assert_eq!(of(503), Some(Failure::ServerError { status: 503, after }));
        for status in [401, 403] {
            assert_eq!(of(status), Some(Failure::KeyRejected { status }));
        }
        for other in [204, 301, 302, 400, 404, 418] {
            assert_eq!(of(other), Some(Failure::RequestRejected { status: other }));
        }
    }
}
