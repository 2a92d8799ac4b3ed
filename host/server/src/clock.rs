//! Time, ids and randomness come in from here, so that tests need neither sleep nor luck.

use chrono::{DateTime, Utc};
use domesday_state::UnixMillis;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::{NoContext, Timestamp, Uuid};

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now(&self) -> UnixMillis;

    /// Returns the current time as a calendar time.
    fn utc(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.now().0).unwrap_or_default()
    }
}

/// The machine's clock.
pub struct MachineClock;

impl Clock for MachineClock {
    #[allow(clippy::disallowed_methods)] // the one place that reads the clock
    fn now(&self) -> UnixMillis {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Creates an id of UUID version 7, so that later ids sort later.
pub fn new_id(clock: &dyn Clock) -> Uuid {
    new_id_at(clock.now())
}

/// Creates an id of UUID version 7 for this time.
pub fn new_id_at(now: UnixMillis) -> Uuid {
    let now = u64::try_from(now.0).unwrap_or(0);
    let (seconds, millis) = (now / 1000, u32::try_from(now % 1000).unwrap_or(0));
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, millis * 1_000_000))
}

/// Bytes that nobody can guess.
///
/// # Errors
/// [`getrandom::Error`] if the operating system has no randomness.
pub fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
