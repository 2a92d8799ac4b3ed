//! The provider: what a postcode's addresses are, as often as it is asked and as seldom as it needs to
//! be told.

use crate::address::{Told, told};
use crate::breaker::Rules;
use crate::endpoint::{Endpoint, Key};
use crate::exchange::Exchange;
use crate::gate::Gate;
use crate::memory::Memory;
use crate::wire::{Page, read};
use crate::{Failure, Unavailable, Watch};
use backon::{ExponentialBuilder, Retryable};
use domesday_property::{AddressBook, Listed};
use domesday_registers::Postcode;
use domesday_registers::records::Country;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

/// How much is asked of a provider at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To make a connection.
    pub connect: Duration,
    /// For one request, from its first byte to the answer's last.
    pub request: Duration,
    /// For one postcode, with its pages, retries and the waits between them.
    pub postcode: Duration,
    /// How often one page is asked for.
    pub tries: usize,
    /// The wait before the second try; twice as long before each later one, and up to as much again
    /// by chance, so that those who failed together do not come back together.
    pub pause: Duration,
    /// The longest that the provider's own `Retry-After` is waited for.
    pub retry_after: Duration,
    /// Results of a page.
    pub page: usize,
    /// Results of a postcode.
    pub results: usize,
    /// Postcodes asked for at the same time.
    pub concurrent: usize,
    /// Postcodes whose addresses are remembered, and for how long.
    pub remembered: usize,
    /// For how long they are.
    pub memory: Duration,
    /// When it is left alone.
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
            remembered: 10_000,
            memory: Duration::from_secs(300),
            breaker: Rules {
                failures: 5,
                open: Duration::from_secs(5),
                open_max: Duration::from_secs(60),
            },
        }
    }
}

/// What the provider says of a postcode.
#[derive(Debug, Default)]
pub struct Answer {
    /// Which property each address means.
    pub book: AddressBook,
    places: BTreeMap<u64, Place>,
    homes: BTreeMap<u64, bool>,
}

/// Where a property is, as the provider says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// National Grid, metres: the property's own point.
    pub point: Option<(i32, i32)>,
    /// In which country.
    pub country: Option<Country>,
}

impl Answer {
    /// Where a property of the answer is.
    pub fn place(&self, uprn: u64) -> Place {
        self.places.get(&uprn).copied().unwrap_or_default()
    }

    /// Whether somebody lives there.
    pub fn residential(&self, uprn: u64) -> bool {
        self.homes.get(&uprn).copied().unwrap_or_default()
    }

    /// What all results of a postcode say together. A property that comes several times is a home only
    /// where every result says so, and one that is told two ways is told the same way always.
    fn of(mut all: Vec<Told>) -> Answer {
        all.sort_by_key(|told| (told.listed.uprn, told.point.is_none(), told.point));
        let mut places: BTreeMap<u64, Place> = BTreeMap::new();
        let mut homes: BTreeMap<u64, bool> = BTreeMap::new();
        for told in &all {
            let place = places.entry(told.listed.uprn).or_default();
            place.point = place.point.or(told.point);
            place.country = place.country.or(told.country);
            *homes.entry(told.listed.uprn).or_insert(true) &= told.listed.residential;
        }
        let listed: Vec<Listed> = all
            .into_iter()
            .map(|told| Listed {
                residential: homes.get(&told.listed.uprn).copied().unwrap_or_default(),
                ..told.listed
            })
            .collect();
        Answer {
            book: AddressBook::new(&listed),
            places,
            homes,
        }
    }
}

/// Why no provider can be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// No certificate authorities.
    #[error("this machine has no certificate authorities to trust: {0}")]
    Authorities(#[from] std::io::Error),
}

/// Asks a provider.
pub struct Provider {
    endpoint: Endpoint,
    exchange: Exchange,
    limits: Limits,
    gate: Gate,
    room: Semaphore,
    memory: Memory,
    watch: Arc<dyn Watch>,
    /// What the next waits are drawn from.
    chance: AtomicU64,
}

impl Provider {
    /// A provider that nobody was asked of yet. `chance` is any number, another one on every host;
    /// `now` is asked where the provider names a date.
    ///
    /// # Errors
    /// It is asked over TLS, and the machine trusts nobody.
    pub fn new(
        endpoint: Endpoint,
        key: Option<Key>,
        limits: Limits,
        watch: Arc<dyn Watch>,
        chance: u64,
        now: fn() -> SystemTime,
    ) -> Result<Provider, ProviderError> {
        let exchange = Exchange::new(
            endpoint.is_secure(),
            key,
            limits.connect,
            limits.request,
            limits.concurrent,
            now,
        )?;
        Ok(Provider {
            exchange,
            gate: Gate::new(limits.breaker, watch.clone()),
            room: Semaphore::new(limits.concurrent),
            memory: Memory::new(limits.remembered, limits.memory),
            endpoint,
            limits,
            watch,
            chance: AtomicU64::new(chance),
        })
    }

    /// The addresses of a postcode. Those who ask for one postcode together are told together, by one
    /// question; a failure is not remembered.
    ///
    /// # Errors
    /// The provider gave no answer that can be used, or is left alone.
    pub async fn addresses(&self, postcode: &Postcode) -> Result<Arc<Answer>, Unavailable> {
        let (remembered, told) = self.memory.answer(postcode, || self.ask(postcode)).await;
        self.watch.asked(match (remembered, &told) {
            (_, Err(_)) => "unavailable",
            (true, _) => "remembered",
            (false, _) => "answered",
        });
        told
    }

    async fn ask(&self, postcode: &Postcode) -> Result<Arc<Answer>, Unavailable> {
        // The time begins when there is room, so that a crowd here is not taken for a slow provider.
        let _room = self.room.acquire().await;
        let whole = timeout(self.limits.postcode, self.pages(postcode)).await;
        match whole.unwrap_or(Err(Failure::TimedOut)) {
            Ok(all) => Ok(Arc::new(Answer::of(all))),
            Err(why) => {
                // What the breaker never hears of would otherwise be heard of nowhere.
                if !why.is_ill() && !matches!(why, Failure::NotAsked { .. }) {
                    tracing::warn!(%why, "the identity provider, on one postcode");
                }
                Err(why.into())
            }
        }
    }

    async fn pages(&self, postcode: &Postcode) -> Result<Vec<Told>, Failure> {
        let mut all = Vec::new();
        let mut offset = 0;
        loop {
            let page = self.page(postcode, offset).await?;
            if page.total > self.limits.results {
                return Err(Failure::TooMany);
            }
            offset += page.results.len();
            for item in &page.results {
                all.extend(told(item, postcode)?);
            }
            if offset >= page.total {
                return Ok(all);
            }
        }
    }

    /// One page, tried again where that may help.
    async fn page(&self, postcode: &Postcode, offset: usize) -> Result<Page, Failure> {
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.limits.pause)
            .with_max_times(self.limits.tries.saturating_sub(1))
            .with_jitter()
            .with_jitter_seed(self.chance.fetch_add(1, Ordering::Relaxed));
        let url = self.endpoint.postcode(postcode, offset, self.limits.page);
        (|| self.once(&url, offset))
            .retry(waits)
            .sleep(tokio::time::sleep)
            .when(Failure::may_pass)
            .adjust(|failure, wait| match (wait, failure.after()) {
                (Some(wait), Some(after)) if after <= self.limits.retry_after => Some(wait + after),
                // It wishes to be left alone for longer than anybody waits here.
                (Some(_), Some(_)) => None,
                (wait, _) => wait,
            })
            .notify(|_, _| self.watch.retried())
            .await
    }

    async fn once(&self, url: &str, offset: usize) -> Result<Page, Failure> {
        let pass = self.gate.enter()?;
        let began = Instant::now();
        let page = match self.exchange.get(url).await {
            Ok(body) => read(&body, offset, self.limits.page),
            Err(failure) => Err(failure),
        };
        let failure = page.as_ref().err();
        let label = failure.map_or("answered", Failure::label);
        self.watch.tried(label, began.elapsed());
        pass.report(failure);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_property::Resolution;
    use domesday_registers::address::keys_of_parts;

    fn told(uprn: u64, residential: bool, point: Option<(i32, i32)>) -> Told {
        Told {
            listed: Listed {
                uprn,
                residential,
                keys: keys_of_parts("", "12", "MILL LANE", ""),
            },
            point,
            country: None,
        }
    }

    #[test]
    fn a_property_that_is_told_two_ways_is_a_home_only_where_all_say_so_in_any_order() {
        let all = [
            told(1, true, Some((5, 5))),
            told(1, false, Some((4, 9))),
            told(1, true, None),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let again = order.map(|at| {
                let Told { listed, point, .. } = &all[at];
                told(listed.uprn, listed.residential, *point)
            });
            let answer = Answer::of(again.into());
            assert!(!answer.residential(1) && !answer.residential(2));
            assert_eq!(
                answer.book.resolve("12", "Mill Lane"),
                Resolution::NotResidential
            );
            assert_eq!(answer.place(1).point, Some((4, 9)));
        }
        let home = Answer::of(vec![told(1, true, None), told(1, true, Some((5, 5)))]);
        assert!(home.residential(1));
        assert_eq!(home.book.resolve("12", "Mill Ln"), Resolution::Exact(1));
        assert_eq!(home.place(1).point, Some((5, 5)));
    }
}
