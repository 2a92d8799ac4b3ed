//! Random operations, compared with a simple model of their outcomes.

use std::cell::Cell;
use std::collections::HashMap;

use crate::test_support::{REQUEST, claimant, read_ledger};
use domesday_state::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use uuid::Uuid;

use super::jobs::purge_all;
use super::{JUNE, NOW, Store, id, job_of, key, used_units, wait};

const LEASE: i64 = 30_000;
const ALLOWANCE: u64 = 40;
const QUEUED: u32 = 3;
const BYTES: u64 = 60;
const CASES: u32 = 200;

#[derive(Debug, Clone)]
enum Op {
    Charge(usize, u32),
    Refund(usize, u32),
    Submit(usize, Option<(u8, u8)>, Vec<(u32, u8)>),
    Claim,
    Finish(usize, u32, u8),
    Fail(usize),
    Release(usize),
    Renew(usize),
    Withdraw(usize),
    Pass(i64),
    Purge,
    Pause(bool),
}

fn op() -> impl Strategy<Value = Op> {
    let who = 0..2_usize;
    let chunks = prop::collection::vec((0..6_u32, 0..20_u8), 1..4);
    let asked = prop::option::of((0..3_u8, 0..2_u8));
    let day = 86_400_000_i64;
    prop_oneof![
        2 => (who.clone(), 0..15_u32).prop_map(|(who, units)| Op::Charge(who, units)),
        1 => (who.clone(), 0..15_u32).prop_map(|(who, units)| Op::Refund(who, units)),
        6 => (who, asked, chunks).prop_map(|(who, asked, chunks)| Op::Submit(who, asked, chunks)),
        6 => Just(Op::Claim),
        8 => (0..4_usize, 0..3_u32, 0..30_u8).prop_map(|(n, refund, len)| Op::Finish(n, refund, len)),
        1 => (0..4_usize).prop_map(Op::Fail),
        1 => (0..4_usize).prop_map(Op::Release),
        1 => (0..4_usize).prop_map(Op::Renew),
        1 => (0..4_usize).prop_map(Op::Withdraw),
        3 => (1..LEASE).prop_map(Op::Pass),
        1 => prop_oneof![Just(3 * day), Just(8 * day), Just(24 * day)].prop_map(Op::Pass),
        1 => Just(Op::Purge),
        1 => any::<bool>().prop_map(Op::Pause),
    ]
}

/// A job as the model has it.
#[derive(Debug)]
struct ModelJob {
    id: Uuid,
    who: usize,
    has_key: bool,
    created: i64,
    /// The units of each chunk, less those that its end gave back.
    units: Vec<u32>,
    /// Bytes of the chunk's rows, then of its results; both are gone where they are nothing.
    bytes: Vec<u64>,
    next: usize,
    attempts: u32,
    fence: Option<u64>,
    leased_until: i64,
    status: JobStatus,
    /// True once it was withdrawn, too.
    purged: bool,
}

impl ModelJob {
    fn open(&self) -> bool {
        !self.purged && matches!(self.status, JobStatus::Queued | JobStatus::Running)
    }

    fn is_expired(&self, now: i64) -> bool {
        now >= self.created + JOB_RETENTION_MILLIS
    }

    fn unfinished_units(&self) -> u64 {
        self.units[self.next..].iter().copied().map(u64::from).sum()
    }
}

struct Model<'s, S> {
    state: &'s S,
    tenants: [TenantId; 2],
    now: i64,
    used: [u64; 2],
    paused: bool,
    jobs: Vec<ModelJob>,
    keys: HashMap<(usize, u8), (u8, usize)>,
    /// Every claim ever made, the last first.
    claims: Vec<(Lease, usize)>,
    first_id: u128,
}

impl<S: State> Model<'_, S> {
    fn at(&self) -> UnixMillis {
        UnixMillis(self.now)
    }

    fn bytes(&self, who: usize) -> u64 {
        let mine = self.jobs.iter().filter(|job| job.who == who && !job.purged);
        mine.flat_map(|job| &job.bytes).sum()
    }

    fn count_queued(&self, who: usize) -> usize {
        let mine = self.jobs.iter().filter(|job| job.who == who);
        mine.filter(|job| job.open()).count()
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Charge(who, units) => {
                let charge = Charge {
                    tenant: self.tenants[who].clone(),
                    month: JUNE,
                    units,
                    allowance: ALLOWANCE,
                    source: REQUEST,
                };
                let sum = self.used[who] + u64::from(units);
                let wanted = if units == 0 || sum <= ALLOWANCE {
                    self.used[who] = sum;
                    ChargeOutcome::Granted { used: sum }
                } else {
                    ChargeOutcome::Exhausted {
                        used: self.used[who],
                    }
                };
                assert_eq!(wait(self.state.charge(charge)), wanted);
            }
            Op::Refund(who, units) => {
                wait(
                    self.state
                        .refund(self.tenants[who].clone(), JUNE, units, REQUEST),
                );
                self.used[who] = self.used[who].saturating_sub(units.into());
            }
            Op::Submit(who, asked, chunks) => self.submit(who, asked, &chunks),
            Op::Claim => self.claim(),
            Op::Pass(millis) => self.now += millis,
            Op::Pause(paused) => {
                self.state.pause_jobs(paused).unwrap();
                self.paused = paused;
            }
            Op::Purge => {
                purge_all(self.state, self.at());
                for at in 0..self.jobs.len() {
                    if self.jobs[at].is_expired(self.now) && !self.jobs[at].purged {
                        if self.jobs[at].open() {
                            self.give_back(at, self.jobs[at].unfinished_units());
                        }
                        self.jobs[at].purged = true;
                    }
                }
            }
            Op::Withdraw(n) => self.withdraw(n),
            Op::Finish(..) | Op::Fail(_) | Op::Release(_) | Op::Renew(_) => self.work(&op),
        }
    }

    fn give_back(&mut self, job: usize, units: u64) {
        let who = self.jobs[job].who;
        self.used[who] = self.used[who].saturating_sub(units);
    }

    /// Withdraws one of the last jobs.
    fn withdraw(&mut self, n: usize) {
        let Some(at) = self.jobs.len().checked_sub(n + 1) else {
            return;
        };
        let job = &mut self.jobs[at];
        let tenant = self.tenants[job.who].clone();
        wait(self.state.withdraw(tenant, job.id));
        if job.has_key || job.purged {
            return;
        }
        let finished = job.units[..job.next].iter().copied().map(u64::from);
        let mut units: u64 = finished.sum();
        if job.open() {
            units += job.unfinished_units();
        }
        job.purged = true;
        self.give_back(at, units);
    }

    fn submit(&mut self, who: usize, asked: Option<(u8, u8)>, chunks: &[(u32, u8)]) {
        let text = [7_u8; 20];
        let rows: Vec<(u32, u32, &[u8])> = chunks
            .iter()
            .map(|&(units, len)| (units + 1, units, &text[..len.into()]))
            .collect();
        let number = self.first_id + self.jobs.len() as u128;
        let mut new = job_of(self.tenants[who].as_str(), number, &rows);
        (new.now, new.allowance) = (self.at(), ALLOWANCE);
        (new.queued_jobs, new.stored_bytes) = (QUEUED, BYTES);
        new.idempotency = asked.map(|(text, digest)| key(&format!("k{text}"), digest));
        let answer = wait(self.state.submit(new));

        let known = asked.and_then(|(text, digest)| {
            let (known, job) = self.keys.get(&(who, text))?;
            Some((*known == digest, *job))
        });
        let cost: u64 = chunks.iter().map(|chunk| u64::from(chunk.0)).sum();
        let bytes: u64 = chunks.iter().map(|chunk| u64::from(chunk.1)).sum();
        if let Some((same, job)) = known {
            let job = &self.jobs[job];
            if self.now >= job.created + IDEMPOTENCY_RETENTION_MILLIS {
                assert_eq!(answer, Submission::KeyExpired);
            } else if !same {
                assert_eq!(answer, Submission::Conflict);
            } else {
                assert!(matches!(answer, Submission::Known(found) if found.id == job.id));
            }
        } else if self.paused {
            assert_eq!(answer, Submission::Paused);
        } else if self.count_queued(who) >= QUEUED as usize {
            assert_eq!(answer, Submission::QueueFull);
        } else if self.bytes(who) + bytes > BYTES {
            assert_eq!(answer, Submission::StoreFull);
        } else if cost > 0 && self.used[who] + cost > ALLOWANCE {
            let used = self.used[who];
            assert_eq!(answer, Submission::Exhausted { used });
        } else {
            assert!(matches!(answer, Submission::Accepted(_)), "{answer:?}");
            self.used[who] += cost;
            if let Some((text, digest)) = asked {
                self.keys.insert((who, text), (digest, self.jobs.len()));
            }
            self.jobs.push(ModelJob {
                id: Uuid::from_u128(number),
                who,
                has_key: asked.is_some(),
                created: self.now,
                units: chunks.iter().map(|chunk| chunk.0).collect(),
                bytes: chunks.iter().map(|chunk| chunk.1.into()).collect(),
                next: 0,
                attempts: 0,
                fence: None,
                leased_until: i64::MIN,
                status: JobStatus::Queued,
                purged: false,
            });
        }
    }

    fn claim(&mut self) {
        let now = self.now;
        let free = |job: &ModelJob| job.open() && !job.is_expired(now) && job.leased_until <= now;
        let Some(claim) = wait(self.state.claim(claimant(), self.at(), LEASE)) else {
            assert!(!self.jobs.iter().any(free));
            return;
        };
        let at = self
            .jobs
            .iter()
            .position(|job| job.id == claim.lease.job)
            .unwrap();
        let who = self.jobs[at].who;
        // It is free, and the first of its tenant's that is.
        let first = self.jobs.iter().position(|job| job.who == who && free(job));
        assert_eq!(first, Some(at));
        let job = &mut self.jobs[at];
        job.attempts += 1;
        job.status = JobStatus::Running;
        job.leased_until = now + LEASE;
        assert_eq!(
            (claim.next as usize, claim.attempts),
            (job.next, job.attempts)
        );
        let highest = self.claims.iter().map(|(lease, _)| lease.fence).max();
        assert!(highest < Some(claim.lease.fence));
        job.fence = Some(claim.lease.fence);
        self.claims.insert(0, (claim.lease, at));
    }

    fn work(&mut self, op: &Op) {
        let (Op::Finish(n, ..) | Op::Fail(n) | Op::Release(n) | Op::Renew(n)) = *op else {
            return;
        };
        let Some(&(lease, at)) = self.claims.get(n) else {
            return;
        };
        let (now, time) = (self.now, self.at());
        let job = &mut self.jobs[at];
        let holds = job.fence == Some(lease.fence) && job.open();
        let kept = holds && !job.is_expired(now);
        let (answer, wanted, refund) = match *op {
            Op::Finish(_, refund, len) => {
                let chunk = u32::try_from(job.next).unwrap();
                let done = ChunkResults {
                    chunk,
                    output: vec![8; len.into()],
                    tally: Tally::default(),
                    refund,
                };
                let answer = wait(self.state.finish_chunk(lease, done, time, LEASE));
                let mut given = 0;
                if kept {
                    let refund = refund.min(job.units[job.next]);
                    job.units[job.next] -= refund;
                    given = refund.into();
                    job.bytes[job.next] = len.into();
                    (job.next, job.attempts) = (job.next + 1, 1);
                    job.leased_until = now + LEASE;
                    if job.next == job.units.len() {
                        job.status = JobStatus::Completed;
                    }
                }
                (answer, kept, given)
            }
            Op::Fail(_) => {
                let error = JobError {
                    code: "internal".into(),
                    message: "it broke".into(),
                    retryable: false,
                };
                let answer = wait(self.state.fail(lease, error, time));
                let mut given = 0;
                if kept {
                    given = job.unfinished_units();
                    job.bytes[job.next..].fill(0);
                    job.status = JobStatus::Failed;
                }
                (answer, kept, given)
            }
            Op::Release(_) => {
                if holds {
                    (job.fence, job.leased_until) = (None, i64::MIN);
                    job.attempts -= 1;
                }
                (wait(self.state.release_lease(lease)), holds, 0)
            }
            _ => {
                if kept {
                    job.leased_until = now + LEASE;
                }
                (wait(self.state.renew(lease, time, LEASE)), kept, 0)
            }
        };
        assert_eq!(answer == LeaseStatus::Held, wanted, "{op:?}");
        self.give_back(at, refund);
    }

    fn compare(&self) {
        for (who, tenant) in self.tenants.iter().enumerate() {
            assert_eq!(used_units(self.state, tenant.as_str()), self.used[who]);
            // The ledger adds up to it, and knows who used each unit.
            let entries = read_ledger(self.state, tenant, JUNE);
            let attributed = |entry: &UsageEntry| entry.source.kind != UsageKind::Unattributed;
            assert!(entries.iter().all(attributed), "{entries:?}");
        }
        let open = self.jobs.iter().filter(|job| job.open()).count();
        assert_eq!(wait(self.state.waiting()), open as u64);
        for job in &self.jobs {
            let tenant = || self.tenants[job.who].clone();
            let found = wait(self.state.job(tenant(), job.id, self.at()));
            let shown = !job.purged && !job.is_expired(self.now);
            assert_eq!(found.map(|job| job.status), shown.then_some(job.status));
            for (chunk, bytes) in job.bytes.iter().enumerate() {
                let number = u32::try_from(chunk).unwrap();
                let output = wait(self.state.output(tenant(), job.id, number, self.at()));
                let wanted = (shown && chunk < job.next).then_some(*bytes);
                assert_eq!(output.map(|output| output.len() as u64), wanted);
            }
        }
    }
}

/// All cases share one state, each with new tenants. The jobs of earlier cases are purged.
pub(crate) fn random_operations_match_the_model<S: Store>() {
    let store = S::empty();
    let state = store.open();
    let case = Cell::new(0_u32);
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    });
    let ops = prop::collection::vec(op(), 1..40);
    let outcome = runner.run(&ops, |ops| {
        case.set(case.get() + 1);
        let number = i64::from(case.get());
        let tenants = [id(&format!("a-{number}")), id(&format!("b-{number}"))];
        for tenant in &tenants {
            state.create_tenant(tenant, &Plan::default(), NOW).unwrap();
        }
        state.pause_jobs(false).unwrap();
        let begin = NOW.0 + number * 5_000 * 86_400_000;
        purge_all(&state, UnixMillis(begin));
        let mut model = Model {
            state: &state,
            tenants,
            now: begin,
            used: [0; 2],
            paused: false,
            jobs: Vec::new(),
            keys: HashMap::new(),
            claims: Vec::new(),
            first_id: u128::from(case.get()) << 32,
        };
        for op in ops {
            model.apply(op);
        }
        model.compare();
        Ok(())
    });
    outcome.unwrap();
    // After a restart too.
    drop(state);
    let state = store.open();
    for number in 1..=case.get() {
        read_ledger(&state, &id(&format!("a-{number}")), JUNE);
    }
}
