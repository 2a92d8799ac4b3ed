//! The keys of tenants that a host holds for a while.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::TenantKey;

/// Caching time of a key. After that time no receipts are begun under a key that another host
/// erased.
const CACHE_TIME: Duration = Duration::from_secs(60);

/// The cached keys of tenants.
#[derive(Default)]
pub struct KeyCache(Mutex<CachedKeys>);

#[derive(Default)]
struct CachedKeys {
    /// The keys by tenant, each with the time from which on it is cached.
    keys: HashMap<String, (TenantKey, Instant)>,
    /// The number of removals. A key that was read before the latest may be an erased one.
    removals: u64,
}

impl KeyCache {
    /// Returns the key of a tenant, where it is cached.
    pub fn get(&self, tenant: &str) -> Option<TenantKey> {
        let cached = self.lock();
        let (key, since) = cached.keys.get(tenant)?;
        (since.elapsed() < CACHE_TIME).then(|| key.clone())
    }

    /// Returns the number of removals, which a caller takes before it reads a key.
    pub fn removals(&self) -> u64 {
        self.lock().removals
    }

    /// Caches a key from `since` on, unless a key was removed after the number `removals` was
    /// taken.
    pub fn insert(&self, tenant: &str, key: &TenantKey, since: Instant, removals: u64) {
        let mut cached = self.lock();
        if cached.removals == removals {
            let entry = (key.clone(), since);
            cached.keys.insert(tenant.to_owned(), entry);
        }
    }

    /// Removes the key of a tenant.
    pub fn remove(&self, tenant: &str) {
        let mut cached = self.lock();
        cached.keys.remove(tenant);
        cached.removals += 1;
    }

    fn lock(&self) -> MutexGuard<'_, CachedKeys> {
        // Nothing can be left half done in it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_read_before_a_removal_is_not_cached() {
        let cache = KeyCache::default();
        let cached_id = || cache.get("acme").map(|key| key.id().to_owned());
        let [erased, fresh] = [1, 2].map(|byte| TenantKey::new([byte; 32]));
        let (since, removals) = (Instant::now(), cache.removals());
        cache.insert("acme", &erased, since, removals);
        assert_eq!(cached_id().as_deref(), Some(erased.id()));
        // Another request has read the key before it was erased.
        cache.remove("acme");
        cache.insert("acme", &erased, since, removals);
        assert_eq!(cached_id(), None);
        cache.insert("acme", &fresh, since, cache.removals());
        assert_eq!(cached_id().as_deref(), Some(fresh.id()));
    }

    #[test]
    fn a_cached_key_is_read_again_after_a_minute() {
        let cache = KeyCache::default();
        let key = TenantKey::new([1; 32]);
        for (seconds, is_cached) in [(30, true), (60, false)] {
            // A machine that has just started has no time so long ago.
            let since = Instant::now().checked_sub(Duration::from_secs(seconds));
            if let Some(since) = since {
                cache.insert("acme", &key, since, cache.removals());
                assert_eq!(cache.get("acme").is_some(), is_cached, "{seconds}");
            }
        }
    }
}
