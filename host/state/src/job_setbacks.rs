//! The jobs that a host gave back, since it could not read them or store their results. It tries
//! each again, and says when nobody can finish it any more.
//!
//! One host may be unable to read what another reads, as with the wrong bucket. So a job is given
//! back at once. This host tries it again after a pause that grows, and other hosts meanwhile. The
//! job is lost once this host has tried for an hour, while no host finished the part in question.
//! Each attempt whose results are refused values the rows anew, so its pauses grow longer. A lost
//! job may stay, where the state refuses its end too. It is tried once a day then.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use uuid::Uuid;

/// The pause after the first attempt. It doubles with each, up to [`PAUSE_MAX`].
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause. A job goes on so soon after its cause is mended.
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// The longest pause of a job whose results are refused.
const REFUSED_PAUSE_MAX: Duration = Duration::from_secs(900);
/// The pause of a job that is lost and stays.
const LOST_PAUSE: Duration = Duration::from_secs(86_400);
/// The time for which a job is tried.
pub const SETBACK_TIME: Duration = Duration::from_secs(3_600);
/// Attempts of this host in that time, or else it had the job too seldom to judge.
const ATTEMPTS_MIN: u32 = 30;
/// These attempts of a job whose results are refused.
const REFUSED_ATTEMPTS_MIN: u32 = 10;

/// The time for which a host claims no job in a store that did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(15);

/// The reason why a host gave a job back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetbackCause {
    /// The store of jobs does not answer.
    NoAnswer,
    /// The store answered, and the rows are absent or damaged.
    Unreadable,
    /// The state refuses to store the results.
    Refused,
}

impl SetbackCause {
    /// Returns the longest pause before the next attempt, and the attempts that a judgement needs.
    fn limits(self) -> (Duration, u32) {
        match self {
            SetbackCause::NoAnswer | SetbackCause::Unreadable => (PAUSE_MAX, ATTEMPTS_MIN),
            SetbackCause::Refused => (REFUSED_PAUSE_MAX, REFUSED_ATTEMPTS_MIN),
        }
    }
}

/// A job that this host could not read or finish.
struct Setback {
    /// The part in question: the chunk that could not be read or finished.
    chunk: u32,
    last: Instant,
    attempts: u32,
    /// The longest pause by the last cause.
    pause_max: Duration,
    /// The first answer that the chunk cannot be read or finished, and the number of these answers.
    failures: (Instant, u32),
    /// True if the last attempt was the final one.
    is_lost: bool,
}

impl Setback {
    fn next(&self) -> Instant {
        if self.is_lost {
            return self.last + LOST_PAUSE;
        }
        let doublings = self.attempts.saturating_sub(1).min(16);
        self.last + (PAUSE * 2_u32.pow(doublings)).min(self.pause_max)
    }
}

/// The outcome of an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetbackOutcome {
    /// True if this is the first attempt at this part.
    pub is_first: bool,
    /// True if nobody could read or finish the part for [`SETBACK_TIME`].
    pub is_final: bool,
}

/// The jobs that this host could not read or finish.
#[derive(Default)]
pub struct JobSetbacks {
    jobs: HashMap<Uuid, Setback>,
    /// The last time at which the store of jobs did not answer.
    no_answer: Option<Instant>,
}

impl JobSetbacks {
    /// Records that a chunk of a claimed job could not be read or finished, and says whether the
    /// job is lost.
    pub fn record(
        &mut self,
        (job, chunk): (Uuid, u32),
        cause: SetbackCause,
        now: Instant,
    ) -> SetbackOutcome {
        if cause == SetbackCause::NoAnswer {
            self.no_answer = Some(now);
        }
        let (pause_max, attempts_min) = cause.limits();
        // A job that this host has not had for so long begins anew.
        self.jobs.retain(|_, it| {
            let pause = if it.is_lost {
                LOST_PAUSE
            } else {
                Duration::ZERO
            };
            now < it.last + pause + SETBACK_TIME
        });
        let fresh = || Setback {
            chunk,
            last: now,
            attempts: 0,
            pause_max,
            failures: (now, 0),
            is_lost: false,
        };
        let setback = self.jobs.entry(job).or_insert_with(fresh);
        if setback.chunk != chunk {
            // Some host finished the part before.
            *setback = fresh();
        }
        setback.last = now;
        setback.pause_max = pause_max;
        setback.attempts = setback.attempts.saturating_add(1);
        let (first, answers) = &mut setback.failures;
        if cause != SetbackCause::NoAnswer {
            if *answers == 0 {
                *first = now;
            }
            *answers = answers.saturating_add(1);
        }
        setback.is_lost = cause != SetbackCause::NoAnswer
            && *answers >= attempts_min
            && now >= *first + SETBACK_TIME;
        SetbackOutcome {
            is_first: setback.attempts == 1,
            is_final: setback.is_lost,
        }
    }

    /// Returns the jobs that this host does not try yet.
    pub fn list_excluded(&self, now: Instant) -> Vec<Uuid> {
        let waiting = self.jobs.iter().filter(|(_, setback)| now < setback.next());
        waiting.map(|(id, _)| *id).collect()
    }

    /// Reports whether the store of jobs did not answer a short while ago. Each job in it would
    /// hold up a runner for the time limit of the store, and other jobs would wait.
    pub fn is_store_paused(&self, now: Instant) -> bool {
        self.no_answer.is_some_and(|last| now < last + STORE_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::SetbackCause::{NoAnswer, Refused, Unreadable};
    use super::*;

    const JOB: Uuid = Uuid::from_u128(1);

    /// Tries a job as soon as it may be, and returns the times of the attempts up to the last.
    fn try_until_final(cause: SetbackCause) -> Vec<Duration> {
        let (mut setbacks, from) = (JobSetbacks::default(), Instant::now());
        let mut times = Vec::new();
        let mut now = from;
        loop {
            times.push(now - from);
            if setbacks.record((JOB, 0), cause, now).is_final {
                return times;
            }
            while !setbacks.list_excluded(now).is_empty() {
                now += Duration::from_millis(500);
            }
        }
    }

    #[test]
    fn a_job_is_tried_after_growing_pauses_and_is_lost_after_an_hour() {
        let times = try_until_final(Unreadable);
        let seconds: Vec<u64> = times.iter().map(Duration::as_secs).collect();
        assert_eq!(seconds[..7], [0, 1, 3, 7, 15, 30, 45]);
        assert_eq!(seconds.last(), Some(&3_600));
    }

    #[test]
    fn a_job_whose_results_are_refused_is_tried_seldom_and_is_lost_after_an_hour() {
        let times = try_until_final(Refused);
        let seconds: Vec<u64> = times.iter().map(Duration::as_secs).collect();
        let first = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511];
        assert_eq!(seconds[..10], first);
        assert_eq!(seconds[10..], [1_023, 1_923, 2_823, 3_723]);
    }

    #[test]
    fn a_job_that_is_lost_and_stays_is_tried_once_a_day() {
        let (mut setbacks, start) = (JobSetbacks::default(), Instant::now());
        let mut now = start;
        while !setbacks.record((JOB, 0), Refused, now).is_final {
            now += REFUSED_PAUSE_MAX;
        }
        for _ in 0..3 {
            let before = now + Duration::from_secs(86_399);
            assert_eq!(setbacks.list_excluded(before), [JOB]);
            now += Duration::from_secs(86_400);
            assert!(setbacks.list_excluded(now).is_empty());
            assert!(setbacks.record((JOB, 0), Refused, now).is_final);
        }
    }

    #[test]
    fn a_part_that_some_host_finished_begins_the_hour_anew() {
        let (mut setbacks, start) = (JobSetbacks::default(), Instant::now());
        let outcome = |is_first, is_final| SetbackOutcome { is_first, is_final };
        for second in 0..3_600 {
            let now = start + Duration::from_secs(second);
            assert_eq!(
                setbacks.record((JOB, 0), Unreadable, now),
                outcome(second == 0, false)
            );
        }
        let end = start + SETBACK_TIME;
        assert_eq!(
            setbacks.record((JOB, 1), Unreadable, end),
            outcome(true, false)
        );
        assert_eq!(
            setbacks.record((Uuid::from_u128(2), 0), Unreadable, end),
            outcome(true, false)
        );
    }

    #[test]
    fn a_job_that_this_host_seldom_had_is_not_lost() {
        let (mut setbacks, start) = (JobSetbacks::default(), Instant::now());
        let minutes = |minutes: u64| start + Duration::from_secs(60 * minutes);
        for at in [0, 50, 70] {
            assert!(!setbacks.record((JOB, 0), Unreadable, minutes(at)).is_final);
        }
        // It had the job last an hour ago.
        assert!(setbacks.record((JOB, 0), Unreadable, minutes(130)).is_first);
    }

    #[test]
    fn an_outage_of_the_store_loses_no_job() {
        let (mut setbacks, start) = (JobSetbacks::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        for second in 0..9_000 {
            let outcome = setbacks.record((JOB, 0), NoAnswer, at(second));
            assert!(!outcome.is_final);
        }
        assert!(!setbacks.record((JOB, 0), Unreadable, at(9_000)).is_final);
        let mut times = (9_001..).map(|second| (second, at(second)));
        let end = times.find(|(_, now)| setbacks.record((JOB, 0), Unreadable, *now).is_final);
        assert_eq!(end.map(|(second, _)| second), Some(9_000 + 3_600));
    }

    #[test]
    fn a_store_that_does_not_answer_is_left_alone_for_a_while() {
        let (mut setbacks, start) = (JobSetbacks::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        let paused = |setbacks: &JobSetbacks, second| setbacks.is_store_paused(at(second));
        setbacks.record((JOB, 0), Unreadable, at(0));
        assert!(!paused(&setbacks, 0));
        setbacks.record((JOB, 0), NoAnswer, at(1));
        assert_eq!(
            [1, 15, 16].map(|at| paused(&setbacks, at)),
            [true, true, false]
        );
        // Any job that meets the outage begins the pause anew.
        setbacks.record((Uuid::from_u128(2), 0), NoAnswer, at(20));
        assert_eq!([34, 35].map(|at| paused(&setbacks, at)), [true, false]);
    }
}
