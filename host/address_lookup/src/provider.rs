//! The provider: pages, retries, the cache and the breaker around single requests.

use crate::address::{ListedAddress, parse_address};
use crate::breaker::Rules;
use crate::cache::Cache;
use crate::endpoint::{Endpoint, Key};
use crate::http_client::HttpClient;
use crate::os_places::{Page, read};
use crate::shared_breaker::SharedBreaker;
use crate::{Failure, LookupObserver, LookupResult, Unavailable};
use backon::{ExponentialBuilder, Retryable};
use domesday_registers::Postcode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

/// The bounds of a provider's use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time for a connection.
    pub connect: Duration,
    /// Time for one request, to the last byte of its response.
    pub request: Duration,
    /// Time for one postcode, with its pages, retries and waits.
    pub postcode: Duration,
    /// Attempts for one page.
    pub tries: usize,
    /// The wait before the second attempt. It doubles for each later one.
    ///
    /// A random part of up to the same length keeps clients that failed together apart.
    pub pause: Duration,
    /// The longest `Retry-After` of the provider that is waited for.
    pub retry_after: Duration,
    /// Results of a page.
    pub page: usize,
    /// Results of a postcode.
    pub results: usize,
    /// Concurrent lookups.
    pub concurrent: usize,
    /// Postcodes in the cache.
    pub cache_entries: usize,
    /// Lifetime of a cached result.
    pub cache_lifetime: Duration,
    /// The thresholds of the breaker.
    pub breaker: Rules,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(1),
            request: Duration::from_secs(3),
            postcode: Duration::from_secs(8),
            tries: 3,
            pause: Duration::from_millis(100),
            retry_after: Duration::from_secs(2),
            // The most that OS Places gives at once.
            page: 100,
            results: 2_000,
            concurrent: 32,
            cache_entries: 10_000,
            cache_lifetime: Duration::from_secs(300),
            breaker: Rules {
                failures: 5,
                open: Duration::from_secs(5),
                open_max: Duration::from_secs(60),
            },
        }
    }
}

/// The reason why no provider can be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The machine has no certificate authorities.
    #[error("this machine has no certificate authorities to trust; install ca-certificates")]
    Authorities(#[from] reqwest::Error),
}

/// A client of one address provider.
pub struct Provider {
    endpoint: Endpoint,
    client: HttpClient,
    limits: Limits,
    breaker: SharedBreaker,
    permits: Semaphore,
    cache: Cache,
    observer: Arc<dyn LookupObserver>,
    /// The seed of the next waits.
    seed: AtomicU64,
}

impl Provider {
    /// Creates a provider.
    ///
    /// `seed` is a random number, different on every host. `now` is called where the provider
    /// names a date.
    ///
    /// # Errors
    /// The endpoint uses TLS, and the machine has no certificate authorities.
    pub fn new(
        endpoint: Endpoint,
        key: Option<Key>,
        limits: Limits,
        observer: Arc<dyn LookupObserver>,
        seed: u64,
        now: fn() -> SystemTime,
    ) -> Result<Provider, ProviderError> {
        let client = HttpClient::new(
            endpoint.is_secure(),
            key,
            limits.connect,
            limits.request,
            limits.concurrent,
            now,
        )?;
        Ok(Provider {
            client,
            breaker: SharedBreaker::new(limits.breaker, observer.clone()),
            permits: Semaphore::new(limits.concurrent),
            cache: Cache::new(limits.cache_entries, limits.cache_lifetime),
            endpoint,
            limits,
            observer,
            seed: AtomicU64::new(seed),
        })
    }

    /// Looks up the addresses of a postcode.
    ///
    /// Concurrent lookups of one postcode share one request. A failure is not cached.
    ///
    /// # Errors
    /// The provider gave no valid response, or the breaker is open.
    pub async fn addresses(&self, postcode: &Postcode) -> Result<Arc<LookupResult>, Unavailable> {
        let (cached, result) = self
            .cache
            .get_or_look_up(postcode, || self.look_up(postcode))
            .await;
        self.observer.lookup_finished(match (cached, &result) {
            (_, Err(_)) => "unavailable",
            (true, _) => "remembered",
            (false, _) => "answered",
        });
        result
    }

    async fn look_up(&self, postcode: &Postcode) -> Result<Arc<LookupResult>, Unavailable> {
        // The time starts with the permit, so that a queue here does not count as a slow provider.
        let _permit = self.permits.acquire().await;
        let whole = timeout(self.limits.postcode, self.pages(postcode)).await;
        match whole.unwrap_or(Err(Failure::TimedOut)) {
            Ok(all) => Ok(Arc::new(LookupResult::of(all))),
            Err(why) => {
                // The breaker does not report these failures.
                if !why.is_ill() && !matches!(why, Failure::BreakerOpen { .. }) {
                    tracing::warn!(%why, "address lookup of one postcode failed");
                }
                // The breaker asks again by then, whatever the provider demands.
                let longest = self.limits.breaker.open_max;
                Err(Unavailable::from(why).with_wait_of_at_most(longest))
            }
        }
    }

    async fn pages(&self, postcode: &Postcode) -> Result<Vec<ListedAddress>, Failure> {
        let mut all = Vec::new();
        let mut offset = 0;
        loop {
            let page = self.page(postcode, offset).await?;
            if page.total > self.limits.results {
                return Err(Failure::TooMany);
            }
            offset += page.results.len();
            for item in &page.results {
                all.extend(parse_address(item, postcode)?);
            }
            if offset >= page.total {
                return Ok(all);
            }
        }
    }

    /// Requests one page, and retries transient failures.
    async fn page(&self, postcode: &Postcode, offset: usize) -> Result<Page, Failure> {
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.limits.pause)
            .with_max_times(self.limits.tries.saturating_sub(1))
            .with_jitter()
            .with_jitter_seed(self.seed.fetch_add(1, Ordering::Relaxed));
        let url = self.endpoint.postcode(postcode, offset, self.limits.page);
        (|| self.request_page(&url, offset))
            .retry(waits)
            .sleep(tokio::time::sleep)
            .when(Failure::may_pass)
            .adjust(|failure, wait| match (wait, failure.after()) {
                (Some(wait), Some(after)) if after <= self.limits.retry_after => Some(wait + after),
                // The provider demands a longer wait than the limit.
                (Some(_), Some(_)) => None,
                (wait, _) => wait,
            })
            .notify(|_, _| self.observer.request_retried())
            .await
    }

    async fn request_page(&self, url: &str, offset: usize) -> Result<Page, Failure> {
        let permit = self.breaker.enter()?;
        let start = Instant::now();
        let page = match self.client.get(url).await {
            Ok(body) => read(&body, offset, self.limits.page),
            Err(failure) => Err(failure),
        };
        let failure = page.as_ref().err();
        let label = failure.map_or("answered", Failure::label);
        self.observer.request_finished(label, start.elapsed());
        permit.report(failure);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    /// Ignores what happens.
    struct Unobserved;

    impl LookupObserver for Unobserved {}

    /// Looks up a postcode at a provider that responds with these lines. Returns the wait until a
    /// retry.
    async fn wait_after(response: &'static str) -> Option<Duration> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for _ in lines.take_while(|line| !line.as_ref().unwrap().is_empty()) {}
            let rest = "Content-Length: 0\r\nConnection: close\r\n\r\n";
            write!(stream, "HTTP/1.1 {response}{rest}").unwrap();
        });
        let limits = Limits {
            tries: 1,
            ..Limits::default()
        };
        let endpoint = Endpoint::parse(&endpoint).unwrap();
        let now = || SystemTime::UNIX_EPOCH;
        let provider = Provider::new(endpoint, None, limits, Arc::new(Unobserved), 1, now).unwrap();
        let postcode = Postcode::parse("ZZ1 1AA").unwrap();
        provider.addresses(&postcode).await.unwrap_err().retry_after
    }

    #[tokio::test]
    async fn a_provider_does_not_make_customers_wait_longer_than_the_breaker() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let day = "503 Down\r\nRetry-After: 86400\r\n";
        assert_eq!(wait_after(day).await, seconds(60));
        let short = "429 Limited\r\nRetry-After: 7\r\n";
        assert_eq!(wait_after(short).await, seconds(7));
        assert_eq!(wait_after("404 None\r\n").await, None);
    }
}
