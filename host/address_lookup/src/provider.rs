//! The provider: pages, retries, the cache and the breaker around single requests.

use crate::address::{ListedAddress, parse_address};
use crate::breaker::Rules;
use crate::cache::Cache;
use crate::endpoint::{Endpoint, Key};
use crate::http_client::HttpClient;
use crate::os_places::read;
use crate::shared_breaker::SharedBreaker;
use crate::{Failure, LookupObserver, LookupResult, Unavailable};
use backon::{ExponentialBuilder, Retryable};
use domesday_registers::Postcode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

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

/// One page of results whose addresses are parsed.
struct ParsedPage {
    /// Number of results over all pages.
    total: usize,
    /// Number of results of this page.
    results: usize,
    /// The addresses of this page that are in force in the postcode.
    addresses: Vec<ListedAddress>,
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
        let deadline = Instant::now() + self.limits.postcode;
        match self.pages(postcode, deadline).await {
            Ok(all) => Ok(Arc::new(LookupResult::of(all))),
            Err(why) => {
                // The breaker does not report these failures.
                if matches!(why, Failure::TimedOut) && Instant::now() >= deadline {
                    tracing::warn!("address lookup of one postcode exceeded its time");
                } else if !why.is_ill() && !matches!(why, Failure::BreakerOpen { .. }) {
                    tracing::warn!(%why, "address lookup of one postcode failed");
                }
                // The breaker asks again by then, whatever the provider demands.
                let longest = self.limits.breaker.open_max;
                Err(Unavailable::from(why).with_wait_of_at_most(longest))
            }
        }
    }

    /// Requests all pages. Every request and every wait ends by the deadline.
    async fn pages(
        &self,
        postcode: &Postcode,
        deadline: Instant,
    ) -> Result<Vec<ListedAddress>, Failure> {
        let mut all = Vec::new();
        let mut offset = 0;
        loop {
            let page = self.page(postcode, offset, deadline).await?;
            if page.total > self.limits.results {
                return Err(Failure::TooMany);
            }
            offset += page.results;
            all.extend(page.addresses);
            if offset >= page.total {
                return Ok(all);
            }
        }
    }

    /// Requests one page, and retries transient failures.
    async fn page(
        &self,
        postcode: &Postcode,
        offset: usize,
        deadline: Instant,
    ) -> Result<ParsedPage, Failure> {
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.limits.pause)
            .with_max_times(self.limits.tries.saturating_sub(1))
            .with_jitter()
            .with_jitter_seed(self.seed.fetch_add(1, Ordering::Relaxed));
        let url = self.endpoint.postcode(postcode, offset, self.limits.page);
        (|| self.request_page(&url, postcode, offset, deadline))
            .retry(waits)
            .sleep(tokio::time::sleep)
            .when(Failure::may_pass)
            .adjust(|failure, wait| {
                let wait = match (wait, failure.after()) {
                    (Some(wait), Some(after)) if after <= self.limits.retry_after => {
                        Some(wait + after)
                    }
                    // The provider demands a longer wait than the limit.
                    (Some(_), Some(_)) => None,
                    (wait, _) => wait,
                };
                // A retry begins within the time of the postcode.
                wait.filter(|wait| Instant::now() + *wait < deadline)
            })
            .notify(|_, _| self.observer.request_retried())
            .await
    }

    /// Requests and parses one page, and reports the result to the breaker and the observer.
    ///
    /// The deadline is set here and not around all pages. A request that it ends is reported as
    /// timed out, and not abandoned.
    async fn request_page(
        &self,
        url: &str,
        postcode: &Postcode,
        offset: usize,
        deadline: Instant,
    ) -> Result<ParsedPage, Failure> {
        let permit = self.breaker.enter()?;
        let start = Instant::now();
        let body = timeout_at(deadline, self.client.get(url)).await;
        let body = body.unwrap_or(Err(Failure::TimedOut));
        let page = body.and_then(|body| parse_page(&body, postcode, offset, self.limits.page));
        let failure = page.as_ref().err();
        let label = failure.map_or("answered", Failure::label);
        self.observer.request_finished(label, start.elapsed());
        permit.report(failure);
        page
    }
}

/// Parses the page at `offset`, of at most `most` results. An incomplete result rejects the page.
fn parse_page(
    body: &[u8],
    postcode: &Postcode,
    offset: usize,
    most: usize,
) -> Result<ParsedPage, Failure> {
    let page = read(body, offset, most)?;
    let mut addresses = Vec::new();
    for item in &page.results {
        addresses.extend(parse_address(item, postcode)?);
    }
    Ok(ParsedPage {
        total: page.total,
        results: page.results.len(),
        addresses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::sync::Mutex;

    /// Collects the outcomes of requests, and each time that the breaker opens.
    #[derive(Default)]
    struct EventRecorder(Mutex<Vec<&'static str>>);

    impl LookupObserver for EventRecorder {
        fn request_finished(&self, outcome: &'static str, _took: Duration) {
            self.0.lock().unwrap().push(outcome);
        }

        fn breaker_changed(&self, state: State) {
            if state == State::Open {
                self.0.lock().unwrap().push("open");
            }
        }
    }

    /// Looks up a postcode at a provider that sends this response, or none. Returns the failure and
    /// the recorded events.
    async fn fail(response: Option<String>, limits: Limits) -> (Unavailable, Vec<&'static str>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for _ in lines.take_while(|line| !line.as_ref().unwrap().is_empty()) {}
            match response {
                Some(response) => stream.write_all(response.as_bytes()).unwrap(),
                // Waits until the client closes the connection.
                None => drop(stream.read_to_end(&mut Vec::new())),
            }
        });
        let endpoint = Endpoint::parse(&endpoint).unwrap();
        let now = || SystemTime::UNIX_EPOCH;
        let recorder = Arc::new(EventRecorder::default());
        let provider = Provider::new(endpoint, None, limits, recorder.clone(), 1, now).unwrap();
        let postcode = Postcode::parse("ZZ1 1AA").unwrap();
        let failure = provider.addresses(&postcode).await.unwrap_err();
        let events = recorder.0.lock().unwrap().clone();
        (failure, events)
    }

    /// Returns a response with these lines and this body.
    fn response(lines: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
    }

    /// Returns the wait until a retry after a response with these lines.
    async fn wait_after(lines: &str) -> Option<Duration> {
        let limits = Limits {
            tries: 1,
            ..Limits::default()
        };
        let (failure, _) = fail(Some(response(lines, "")), limits).await;
        failure.retry_after
    }

    /// Returns limits whose breaker opens at the first failure.
    fn strict() -> Limits {
        let limits = Limits::default();
        Limits {
            breaker: Rules {
                failures: 1,
                ..limits.breaker
            },
            ..limits
        }
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

    #[tokio::test]
    async fn an_incomplete_result_fails_its_postcode_and_closes_the_provider_to_no_other() {
        let of = |result: &str| {
            let page = format!(r#"{{"header":{{"totalresults":1}},"results":[{result}]}}"#);
            fail(Some(response("200 OK\r\n", &page)), strict())
        };
        for result in [
            "{}",
            r#"{"DPA":{"POSTCODE":"ZZ1 1AA","UPRN":"12"}}"#,
            r#"{"LPI":{"POSTCODE_LOCATOR":"ZZ1 1AA","CLASSIFICATION_CODE":"RD"}}"#,
        ] {
            let (failure, events) = of(result).await;
            assert!(matches!(failure.why, Failure::Incomplete(_)), "{result}");
            assert_eq!(events, ["incomplete"], "{result}");
        }
    }

    #[tokio::test]
    async fn a_request_that_the_time_of_a_postcode_ends_has_timed_out() {
        let limits = Limits {
            postcode: Duration::from_millis(50),
            ..strict()
        };
        let (failure, events) = fail(None, limits).await;
        assert_eq!(failure.why, Failure::TimedOut);
        assert_eq!(events, ["timed_out", "open"]);
    }

    #[tokio::test]
    async fn a_retry_that_would_begin_after_the_time_of_a_postcode_is_not_made() {
        let limits = Limits {
            postcode: Duration::from_secs(2),
            ..Limits::default()
        };
        let lines = "503 Down\r\nRetry-After: 2\r\n";
        let (failure, events) = fail(Some(response(lines, "")), limits).await;
        assert_eq!(failure.retry_after, Some(Duration::from_secs(2)));
        assert_eq!(events, ["broken"]);
    }
}
