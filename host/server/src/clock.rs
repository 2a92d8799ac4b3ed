//! Time, ids and randomness come in from here, so that tests need neither sleep nor luck.

use chrono::{DateTime, Utc};
use domesday_state::UnixMillis;
use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::{Builder, NoContext, Timestamp, Uuid};

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
    match ID_BYTES.with_borrow_mut(IdBytes::take) {
        Ok(random) => Builder::from_unix_timestamp_millis(now, &random).into_uuid(),
        // Reads the system's randomness by itself, and ends the request where there is none.
        Err(_) => {
            let (seconds, millis) = (now / 1000, u32::try_from(now % 1000).unwrap_or(0));
            Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, millis * 1_000_000))
        }
    }
}

/// Bytes of the random part of an id.
const ID_RANDOM: usize = 10;
/// Ids whose random parts are read at once. A request has three, and each read is a system call.
const IDS_AT_ONCE: usize = 32;

thread_local! {
    static ID_BYTES: RefCell<IdBytes> = const { RefCell::new(IdBytes::NONE) };
}

/// Random bytes for ids that were read ahead. Each is used once.
struct IdBytes {
    bytes: [[u8; ID_RANDOM]; IDS_AT_ONCE],
    left: usize,
}

impl IdBytes {
    const NONE: IdBytes = IdBytes {
        bytes: [[0; ID_RANDOM]; IDS_AT_ONCE],
        left: 0,
    };

    fn take(&mut self) -> Result<[u8; ID_RANDOM], getrandom::Error> {
        if self.left == 0 {
            fill(self.bytes.as_flattened_mut())?;
            self.left = IDS_AT_ONCE;
        }
        self.left -= 1;
        Ok(self.bytes[self.left])
    }
}

/// Bytes that nobody can guess.
///
/// # Errors
/// [`getrandom::Error`] if the operating system has no randomness.
pub fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

#[allow(clippy::disallowed_methods)] // the server's source of randomness
fn fill(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    getrandom::fill(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_of_version_7_and_of_their_time_and_never_twice_the_same() {
        let now = UnixMillis(1_800_000_000_123);
        let ids: HashSet<Uuid> = (0..IDS_AT_ONCE * 3).map(|_| new_id_at(now)).collect();
        assert_eq!(ids.len(), IDS_AT_ONCE * 3);
        for id in ids {
            assert_eq!(
                (id.get_version_num(), id.get_variant()),
                (7, uuid::Variant::RFC4122)
            );
            let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
            assert_eq!((seconds, nanos), (1_800_000_000, 123_000_000));
        }
    }
}
