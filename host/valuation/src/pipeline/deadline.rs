//! The deadline of a request.

use std::time::{Duration, Instant};

/// The end of the time for the rows of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    end: Instant,
    time: Duration,
}

impl Deadline {
    /// Returns the deadline that is `time` from now.
    pub fn after(time: Duration) -> Deadline {
        Deadline {
            end: Instant::now() + time,
            time,
        }
    }

    /// Returns the end of the time.
    pub fn end(self) -> Instant {
        self.end
    }

    /// Returns the whole time in seconds, to the millisecond, for messages.
    pub fn seconds(self) -> f64 {
        self.time.as_millis() as f64 / 1_000.0
    }

    /// Returns the time that is left.
    pub fn remaining(self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Reports whether the deadline has passed.
    pub fn is_over(self) -> bool {
        self.remaining().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_states_its_time_in_seconds() {
        for (milliseconds, seconds) in [(25_000, "25"), (1_500, "1.5"), (24_123, "24.123")] {
            let deadline = Deadline::after(Duration::from_millis(milliseconds));
            assert_eq!(deadline.seconds().to_string(), seconds);
        }
    }

    #[test]
    fn a_deadline_of_no_time_is_over_at_once() {
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::from_secs(60)).is_over());
    }
}
