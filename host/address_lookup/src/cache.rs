//! A cache of recent results, which also joins concurrent lookups of one postcode.

use crate::{LookupResult, Unavailable};
use domesday_registers::Postcode;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// A result and its time.
type Outcome = (Instant, Result<Arc<LookupResult>, Unavailable>);
/// A slot that the first caller fills while later callers wait for it.
type Slot = Arc<OnceCell<Outcome>>;

/// Results of limited number and age.
pub(crate) struct Cache {
    slots: Mutex<HashMap<Postcode, Slot>>,
    most: usize,
    life: Duration,
}

impl Cache {
    pub(crate) fn new(most: usize, life: Duration) -> Cache {
        Cache {
            slots: Mutex::default(),
            most,
            life,
        }
    }

    /// Returns the cached result or the one of `look_up`, and whether it was cached.
    ///
    /// Concurrent callers share one result, even a failure. A failure is not kept for later
    /// callers.
    pub(crate) async fn get_or_look_up<
        F: Future<Output = Result<Arc<LookupResult>, Unavailable>>,
    >(
        &self,
        postcode: &Postcode,
        look_up: impl FnOnce() -> F,
    ) -> (bool, Result<Arc<LookupResult>, Unavailable>) {
        let slot = self.slot(postcode);
        if let Some((_, result)) = slot.get() {
            return (true, result.clone());
        }
        // If the first caller is cancelled, the next one looks up.
        let result = slot.get_or_init(|| async {
            let result = look_up().await;
            (Instant::now(), result)
        });
        (false, result.await.1.clone())
    }

    fn slot(&self, postcode: &Postcode) -> Slot {
        let now = Instant::now();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |slot: &Slot| match slot.get() {
            Some((when, result)) => result.is_ok() && now.duration_since(*when) < self.life,
            // A lookup is under way.
            None => true,
        };
        if let Some(slot) = slots.get(postcode).filter(|slot| fresh(slot)) {
            return slot.clone();
        }
        if slots.len() >= self.most {
            // A slot without a result and without waiting callers was abandoned.
            slots.retain(|_, slot| match slot.get() {
                Some(_) => fresh(slot),
                None => Arc::strong_count(slot) > 1,
            });
        }
        if slots.len() >= self.most {
            // All are fresh: drop every slot that no caller waits for.
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        let slot = Slot::default();
        slots.insert(postcode.clone(), slot.clone());
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Failure;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn postcode(n: u32) -> Postcode {
        Postcode::parse(&format!("ZZ{} {}AA", n / 10, n % 10)).unwrap()
    }

    fn succeed() -> Result<Arc<LookupResult>, Unavailable> {
        Ok(Arc::default())
    }

    #[tokio::test]
    async fn concurrent_lookups_share_one_call_and_failures_are_not_cached() {
        let (cache, lookups) = (Cache::new(10, Duration::from_secs(60)), AtomicU32::new(0));
        let postcode = postcode(1);
        let fail = || async {
            lookups.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Err(Failure::Closed.into())
        };
        let both = tokio::join!(
            cache.get_or_look_up(&postcode, fail),
            cache.get_or_look_up(&postcode, fail)
        );
        assert!(both.0.1.is_err() && both.1.1.is_err());
        assert_eq!(lookups.load(Ordering::SeqCst), 1);
        let (cached, result) = cache
            .get_or_look_up(&postcode, || async { succeed() })
            .await;
        assert!(!cached && result.is_ok());
        let (cached, result) = cache.get_or_look_up(&postcode, fail).await;
        assert!(cached && result.is_ok());
        assert_eq!(lookups.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn an_answer_has_its_life_and_who_gives_up_leaves_the_next_to_ask() {
        let cache = Cache::new(10, Duration::ZERO);
        for _ in 0..2 {
            let (cached, _) = cache
                .get_or_look_up(&postcode(1), || async { succeed() })
                .await;
            assert!(!cached);
        }
        let cache = Cache::new(10, Duration::from_secs(60));
        let postcode = postcode(1);
        let never = cache.get_or_look_up(&postcode, std::future::pending);
        assert!(
            tokio::time::timeout(Duration::from_millis(5), never)
                .await
                .is_err()
        );
        let (_, result) = cache
            .get_or_look_up(&postcode, || async { succeed() })
            .await;
        assert!(result.is_ok());
    }

    #[tokio::test]
    async fn it_holds_no_more_than_it_may() {
        let cache = Cache::new(5, Duration::from_secs(60));
        for n in 0..50 {
            let result = cache
                .get_or_look_up(&postcode(n), || async { succeed() })
                .await;
            assert!(result.1.is_ok());
            assert!(cache.slots.lock().unwrap().len() <= 5);
        }
    }
}
