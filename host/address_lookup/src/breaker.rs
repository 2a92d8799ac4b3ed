//! A circuit breaker: it stops requests to a failing provider and tries again later.
//!
//! Its functions are pure: the caller passes the time, and a test needs no waiting. The breakers on
//! crates.io read the clock themselves and let every caller through when they try again. This one
//! lets one caller through, and the others wait for the result.

use std::time::{Duration, Instant};

/// The thresholds of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Consecutive failures that open it.
    pub failures: u32,
    /// Time that it stays open at first. The time doubles after each failed trial.
    pub open: Duration,
    /// The longest time that it stays open.
    pub open_max: Duration,
}

/// The state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// All requests pass.
    Closed,
    /// No request passes.
    Open,
    /// One trial request passes, and its result decides.
    HalfOpen,
}

#[derive(Debug, Clone, Copy)]
enum Position {
    Closed { failures: u32 },
    Open { until: Instant, length: Duration },
    HalfOpen { length: Duration },
}

/// A permit for one request. Its holder reports the result.
///
/// A result from before the last change of state has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit(u64);

/// A circuit breaker that counts consecutive failures.
#[derive(Debug)]
pub struct Breaker {
    rules: Rules,
    position: Position,
    /// The number of changes of state.
    turn: u64,
}

impl Breaker {
    /// Creates a closed breaker.
    pub fn new(rules: Rules) -> Breaker {
        Breaker {
            rules,
            position: Position::Closed { failures: 0 },
            turn: 0,
        }
    }

    /// Returns the state.
    pub fn state(&self) -> State {
        match self.position {
            Position::Closed { .. } => State::Closed,
            Position::Open { .. } => State::Open,
            Position::HalfOpen { .. } => State::HalfOpen,
        }
    }

    /// Returns a permit for one request.
    ///
    /// # Errors
    /// The time until the next permit.
    pub fn enter(&mut self, now: Instant) -> Result<Permit, Duration> {
        match self.position {
            Position::Closed { .. } => {}
            Position::Open { until, .. } if now < until => return Err(until - now),
            Position::Open { length, .. } => self.turn_to(Position::HalfOpen { length }),
            // The trial request may take a while; the others wait as if it had failed.
            Position::HalfOpen { length } => return Err(length),
        }
        Ok(Permit(self.turn))
    }

    /// Records a response.
    pub fn record_success(&mut self, permit: Permit) {
        if permit.0 != self.turn {
            return;
        }
        match self.position {
            Position::Closed { .. } => self.position = Position::Closed { failures: 0 },
            _ => self.turn_to(Position::Closed { failures: 0 }),
        }
    }

    /// Records a failure. A `wait` that the provider asked for is respected, up to `open_max`.
    pub fn record_failure(&mut self, permit: Permit, now: Instant, wait: Option<Duration>) {
        if permit.0 != self.turn {
            return;
        }
        let length = match self.position {
            Position::Closed { failures } if failures + 1 < self.rules.failures => {
                self.position = Position::Closed {
                    failures: failures + 1,
                };
                return;
            }
            Position::HalfOpen { length } => length * 2,
            Position::Closed { .. } | Position::Open { .. } => self.rules.open,
        };
        let length = length.min(self.rules.open_max);
        let open = length
            .max(wait.unwrap_or_default())
            .min(self.rules.open_max);
        self.turn_to(Position::Open {
            until: now + open,
            length,
        });
    }

    /// Records a request whose caller went away before its result.
    pub fn abandon(&mut self, permit: Permit, now: Instant) {
        if permit.0 != self.turn {
            return;
        }
        if let Position::HalfOpen { length } = self.position {
            // The next caller gets the trial request.
            self.turn_to(Position::Open { until: now, length });
        }
    }

    fn turn_to(&mut self, position: Position) {
        self.position = position;
        self.turn += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: Rules = Rules {
        failures: 3,
        open: Duration::from_secs(5),
        open_max: Duration::from_secs(60),
    };

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn fail(breaker: &mut Breaker, now: Instant) {
        let permit = breaker.enter(now).unwrap();
        breaker.record_failure(permit, now, None);
    }

    #[test]
    fn a_run_of_failures_opens_it_and_one_success_breaks_the_run() {
        let (mut breaker, now) = (Breaker::new(RULES), Instant::now());
        fail(&mut breaker, now);
        fail(&mut breaker, now);
        let permit = breaker.enter(now).unwrap();
        breaker.record_success(permit);
        fail(&mut breaker, now);
        fail(&mut breaker, now);
        assert_eq!(breaker.state(), State::Closed);
        fail(&mut breaker, now);
        assert_eq!(breaker.state(), State::Open);
        assert_eq!(breaker.enter(now + seconds(2)), Err(seconds(3)));
    }

    #[test]
    fn after_its_time_one_goes_first_and_decides() {
        let (mut breaker, now) = (Breaker::new(RULES), Instant::now());
        (0..3).for_each(|_| fail(&mut breaker, now));
        let later = now + seconds(5);
        let first = breaker.enter(later).unwrap();
        assert_eq!(breaker.state(), State::HalfOpen);
        assert!(breaker.enter(later).is_err(), "one alone");
        breaker.record_failure(first, later, None);
        assert_eq!(breaker.enter(later), Err(seconds(10)), "twice as long");

        let later = later + seconds(10);
        let first = breaker.enter(later).unwrap();
        breaker.record_success(first);
        assert_eq!(breaker.state(), State::Closed);
        assert!(breaker.enter(later).is_ok() && breaker.enter(later).is_ok());
    }

    #[test]
    fn it_never_stays_open_longer_than_its_maximum() {
        let (mut breaker, mut now) = (Breaker::new(RULES), Instant::now());
        for _ in 0..2 {
            fail(&mut breaker, now);
        }
        let permit = breaker.enter(now).unwrap();
        breaker.record_failure(permit, now, Some(seconds(30)));
        assert_eq!(breaker.enter(now), Err(seconds(30)), "as it wished");
        for _ in 0..10 {
            now += seconds(60);
            let permit = breaker.enter(now).unwrap();
            breaker.record_failure(permit, now, Some(seconds(86_400)));
            assert!(breaker.enter(now).unwrap_err() <= RULES.open_max);
        }
    }

    #[test]
    fn one_who_left_makes_room_for_the_next_and_one_who_is_late_changes_nothing() {
        let (mut breaker, now) = (Breaker::new(RULES), Instant::now());
        let late = breaker.enter(now).unwrap();
        (0..3).for_each(|_| fail(&mut breaker, now));
        breaker.record_success(late);
        assert_eq!(breaker.state(), State::Open);
        let later = now + seconds(5);
        let first = breaker.enter(later).unwrap();
        breaker.abandon(first, later);
        breaker.record_failure(first, later, None);
        assert!(breaker.enter(later).is_ok());
    }

    proptest! {
        /// Whatever the order of calls and results, the breaker gives a permit after its longest
        /// time. While half open it gives no second one.
        #[test]
        fn it_never_stays_shut(steps in prop::collection::vec((0_u8..4, 0_u64..20), 0..200)) {
            let (mut breaker, mut now) = (Breaker::new(RULES), Instant::now());
            let mut under_way = Vec::new();
            for (what, pause) in steps {
                now += seconds(pause);
                match (what, under_way.pop()) {
                    (0, Some(permit)) => breaker.record_success(permit),
                    (1, Some(permit)) => breaker.record_failure(permit, now, None),
                    (2, Some(permit)) => breaker.abandon(permit, now),
                    (_, permit) => {
                        under_way.extend(permit);
                        let half = breaker.state() == State::HalfOpen;
                        let entered = breaker.enter(now);
                        prop_assert!(!(half && entered.is_ok()));
                        under_way.extend(entered);
                    }
                }
            }
            for permit in under_way {
                breaker.abandon(permit, now);
            }
            prop_assert!(breaker.enter(now + RULES.open_max).is_ok());
        }
    }
}
