//! Claims, and the jobs that a claimant passes over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};
use uuid::Uuid;

use crate::claim_delivery::{ClaimDelivery, UndeliveredLeases};
use crate::damaged_jobs::DamagedJobs;
use crate::object_reference::is_reference_of;
use crate::postgres::error::{reading, refuses_rows, writing};
use crate::postgres::records;
use crate::{Claim, Claimant, Lease, PassedOverJobs, StateError, UnixMillis};

/// Time after which a claim meets no further damaged job. The next claim begins behind those.
const PASSING: Duration = Duration::from_secs(1);

/// A job `j` that nobody works on. $1 is the time.
macro_rules! unclaimed {
    () => {
        "j.status IN ('queued', 'running') AND NOT j.gone AND j.expires_at > $1 \
         AND (j.lease_until IS NULL OR j.lease_until <= $1) AND NOT j.id = ANY ($2)"
    };
}
/// A job `j` that the claimant can work on. $2 are the jobs that it excludes, $3 its releases, and
/// $4 is true if it reads objects. A subquery that gives a value runs for one row at a time, where
/// one with EXISTS may first read the rows of all jobs.
macro_rules! workable {
    () => {
        concat!(
            "j.release_id = ANY ($3) AND CASE WHEN $4 THEN true ELSE NOT coalesce((SELECT ",
            is_reference_of!("c.input"),
            " FROM domesday.chunks AS c WHERE c.job = j.id AND c.chunk = j.next), false) END"
        )
    };
}
const CLAIMABLE: &str = concat!(
    "SELECT EXISTS (SELECT FROM domesday.jobs AS j WHERE ",
    unclaimed!(),
    " AND ",
    workable!(),
    ")"
);
/// The jobs that a claim looks at, for the one whose rows the database cannot read. It reads no
/// rows of chunks itself.
const CANDIDATES: &str = concat!(
    "SELECT j.id FROM domesday.jobs AS j WHERE ",
    unclaimed!(),
    " AND j.release_id = ANY ($3) ORDER BY j.tenant, j.number LIMIT $4"
);
/// The most candidates that one look reads.
const CANDIDATES_MAX: i64 = 10_000;
/// The part of the rows of one job that a claim reads.
const IN_OBJECTS: &str = concat!(
    "SELECT ",
    is_reference_of!("c.input"),
    " FROM domesday.jobs AS j JOIN domesday.chunks AS c ON c.job = j.id AND c.chunk = j.next \
      WHERE j.id = $1"
);
/// Claims go one at a time, or two at once would both find the same tenant's turn.
const SERIALISE: &str = "SELECT pg_advisory_xact_lock(1685024101, 0)";
/// The tenants with open jobs are found one after another by an index, and go by their turns. Only
/// they are sorted, not their jobs, and the join keeps their order. A tenant that never had a turn
/// goes by its first open job. The same index gives the open jobs of a tenant in order, of which
/// its plan bounds the number. A row that somebody writes at this moment is somebody's, so it is
/// passed over.
const FIND: &str = concat!(
    "WITH RECURSIVE open (tenant, number) AS ( \
         (SELECT j.tenant, j.number FROM domesday.jobs AS j \
           WHERE j.status IN ('queued', 'running') AND NOT j.gone \
           ORDER BY j.tenant, j.number LIMIT 1) \
         UNION ALL \
         SELECT next.tenant, next.number FROM open CROSS JOIN LATERAL ( \
             SELECT j.tenant, j.number FROM domesday.jobs AS j \
              WHERE j.status IN ('queued', 'running') AND NOT j.gone AND j.tenant > open.tenant \
              ORDER BY j.tenant, j.number LIMIT 1) AS next), \
     queue AS MATERIALIZED ( \
         SELECT open.tenant FROM open LEFT JOIN domesday.turns AS t ON t.tenant = open.tenant \
          ORDER BY coalesce(t.turn, 0), open.number) \
     SELECT first.id FROM queue CROSS JOIN LATERAL ( \
         SELECT j.id FROM domesday.jobs AS j \
          WHERE j.tenant = queue.tenant AND ",
    unclaimed!(),
    " AND ",
    workable!(),
    " ORDER BY j.number LIMIT 1 FOR UPDATE SKIP LOCKED) AS first LIMIT 1"
);
/// Those with the claimant's releases are in objects, and have no release here.
const PASSED_OVER: &str = concat!(
    "SELECT CASE WHEN j.release_id = ANY ($3) THEN NULL ELSE j.release_id END AS release_id, \
     count(*) AS jobs, min(j.created_at) AS oldest FROM domesday.jobs AS j WHERE ",
    unclaimed!(),
    " AND NOT (",
    workable!(),
    ") GROUP BY 1"
);
const TAKE: &str = concat!(
    "UPDATE domesday.jobs SET \
     updated_at = CASE status WHEN 'queued' THEN greatest(updated_at, $2) ELSE updated_at END, \
     status = 'running', fence = nextval('domesday.fence'), attempts = attempts + 1, lease_until = $3 \
     WHERE id = $1 RETURNING ",
    job_columns!()
);
const TURN: &str = "INSERT INTO domesday.turns (tenant, turn) \
     VALUES ($1, nextval('domesday.turn')) \
     ON CONFLICT (tenant) DO UPDATE SET turn = excluded.turn";

/// Claims a job. It passes over those that are damaged or whose rows are, or the first of them
/// would keep all others from being claimed.
pub(super) async fn claim(
    pool: PgPool,
    mut claimant: Claimant,
    times: (UnixMillis, i64),
    undelivered: &Arc<UndeliveredLeases>,
    damaged_jobs: &DamagedJobs,
) -> Result<Option<ClaimDelivery>, StateError> {
    let started = Instant::now();
    claimant
        .excluded_jobs
        .extend(damaged_jobs.list_recent(started));
    loop {
        let DamagedJob { job, damage } =
            match attempt_claim(&pool, &claimant, times, undelivered).await {
                Ok(Ok(delivery)) => return Ok(delivery),
                Ok(Err(damaged)) => damaged,
                Err(error) if refuses_rows(&error) => {
                    let damaged = find_damaged(&pool, &claimant, times.0).await?;
                    damaged.ok_or(error)?
                }
                Err(error) => return Err(error),
            };
        damaged_jobs.record(job, &damage);
        claimant.excluded_jobs.push(job);
        if started.elapsed() > PASSING {
            return Ok(None);
        }
    }
}

/// A job that cannot be read, and was not claimed.
struct DamagedJob {
    job: Uuid,
    damage: StateError,
}

/// Finds a job whose rows the database cannot read, among those that the claimant would look at.
async fn find_damaged(
    pool: &PgPool,
    claimant: &Claimant,
    now: UnixMillis,
) -> Result<Option<DamagedJob>, StateError> {
    let candidates: Vec<Uuid> = sqlx::query_scalar(CANDIDATES)
        .bind(now.0)
        .bind(&claimant.excluded_jobs)
        .bind(&claimant.releases)
        .bind(CANDIDATES_MAX)
        .fetch_all(pool)
        .await
        .map_err(reading)?;
    for job in candidates {
        let read = sqlx::query(IN_OBJECTS).bind(job).fetch_optional(pool);
        match read.await.map_err(reading) {
            Ok(_) => {}
            Err(damage) if refuses_rows(&damage) => return Ok(Some(DamagedJob { job, damage })),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Claims the next job, unless its row is damaged.
async fn attempt_claim(
    pool: &PgPool,
    claimant: &Claimant,
    (now, lease_millis): (UnixMillis, i64),
    undelivered: &Arc<UndeliveredLeases>,
) -> Result<Result<Option<ClaimDelivery>, DamagedJob>, StateError> {
    let any: bool = sqlx::query_scalar(CLAIMABLE)
        .bind(now.0)
        .bind(&claimant.excluded_jobs)
        .bind(&claimant.releases)
        .bind(claimant.reads_objects)
        .fetch_one(pool)
        .await
        .map_err(reading)?;
    if !any {
        return Ok(Ok(None));
    }
    let mut transaction = pool.begin().await.map_err(writing)?;
    sqlx::query(SERIALISE)
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    let found: Option<Uuid> = sqlx::query_scalar(FIND)
        .bind(now.0)
        .bind(&claimant.excluded_jobs)
        .bind(&claimant.releases)
        .bind(claimant.reads_objects)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(reading)?;
    let Some(job) = found else {
        return Ok(Ok(None));
    };
    let row = sqlx::query(TAKE)
        .bind(job)
        .bind(now.0)
        .bind(now.0.saturating_add(lease_millis))
        .fetch_one(&mut *transaction)
        .await
        .map_err(writing)?;
    let claim = match read_claim(&row) {
        Err(damage @ StateError::Damaged { .. }) => {
            transaction.rollback().await.map_err(writing)?;
            return Ok(Err(DamagedJob { job, damage }));
        }
        claim => claim?,
    };
    sqlx::query(TURN)
        .bind(claim.job.tenant.as_str())
        .execute(&mut *transaction)
        .await
        .map_err(writing)?;
    // From here on it may be claimed, although the commit fails or the caller gives up.
    let delivery = ClaimDelivery::new(claim, undelivered);
    transaction.commit().await.map_err(writing)?;
    Ok(Ok(Some(delivery)))
}

pub(super) async fn count_passed_over(
    pool: PgPool,
    claimant: Claimant,
    now: UnixMillis,
) -> Result<PassedOverJobs, StateError> {
    let rows = sqlx::query(PASSED_OVER)
        .bind(now.0)
        .bind(&claimant.excluded_jobs)
        .bind(&claimant.releases)
        .bind(claimant.reads_objects)
        .fetch_all(&pool)
        .await
        .map_err(reading)?;
    let mut passed_over = PassedOverJobs::default();
    for row in rows {
        let jobs = records::count("jobs", row.try_get("jobs").map_err(reading)?)?;
        let release_id: Option<String> = row.try_get("release_id").map_err(reading)?;
        match release_id {
            Some(release_id) => drop(passed_over.by_release.insert(release_id, jobs)),
            None => passed_over.in_objects = jobs,
        }
        passed_over.note_time(UnixMillis(row.try_get("oldest").map_err(reading)?));
    }
    Ok(passed_over)
}

fn read_claim(row: &PgRow) -> Result<Claim, StateError> {
    let job = records::job(row)?;
    let number = |column| -> Result<u32, StateError> {
        records::small("jobs", row.try_get(column).map_err(reading)?)
    };
    Ok(Claim {
        lease: Lease {
            job: job.id,
            fence: records::count("jobs", row.try_get("fence").map_err(reading)?)?,
        },
        shared: row.try_get("shared").map_err(reading)?,
        next: number("next")?,
        attempts: number("attempts")?,
        job,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::connect::connect;
    use crate::postgres::jobs::UndeliveredClaims;
    use crate::postgres::jobs::read::oldest_waiting;
    use crate::postgres::jobs::submit::submit;
    use crate::postgres::jobs::tests::new_job;
    use crate::test_support::block_on;

    async fn claim_next(
        pool: &PgPool,
        claimant: &Claimant,
        now: UnixMillis,
        undelivered: &Arc<UndeliveredLeases>,
    ) -> Option<ClaimDelivery> {
        let (pool, times) = (pool.clone(), (now, 1_000));
        let damaged_jobs = DamagedJobs::default();
        let claimed = claim(pool, claimant.clone(), times, undelivered, &damaged_jobs);
        claimed.await.unwrap()
    }

    /// The commit of the claim is on its way, and its caller gave up.
    #[test]
    fn a_claim_that_commits_while_it_is_given_back_leaves_no_attempt() {
        const CLAIMED: &str = "UPDATE domesday.jobs SET status = 'running', attempts = 1, \
             fence = nextval('domesday.fence'), lease_until = $1 RETURNING id, fence";
        let address = domesday_test_postgres::shared().database();
        let now = UnixMillis(1_000);
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            submit(pool.clone(), new_job(1, now)).await.unwrap();
            let mut transaction = pool.begin().await.unwrap();
            let row = sqlx::query(CLAIMED).bind(i64::MAX);
            let row = row.fetch_one(&mut *transaction).await.unwrap();
            let lease = Lease {
                job: row.get("id"),
                fence: u64::try_from(row.get::<i64, _>("fence")).unwrap(),
            };
            let undelivered = UndeliveredClaims::default();
            undelivered.leases.add(lease);
            let committing = async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                transaction.commit().await.unwrap();
            };
            let (given_back, ()) = tokio::join!(undelivered.give_back(&pool), committing);
            given_back.unwrap();
            assert!(undelivered.leases.list().is_empty());
            let claimant = Claimant::of_releases([""]);
            let claimed = claim_next(&pool, &claimant, now, &undelivered.leases).await;
            let claim = claimed.and_then(ClaimDelivery::deliver).unwrap();
            assert_eq!(claim.attempts, 1);
        });
    }

    #[test]
    fn a_claim_passes_over_jobs_of_other_releases() {
        let address = domesday_test_postgres::shared().database();
        let now = UnixMillis(1_000);
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            for (number, release) in [(1, "old"), (2, "old"), (3, "new")] {
                let mut job = new_job(number, now);
                job.release_id = release.to_owned();
                submit(pool.clone(), job).await.unwrap();
            }
            let undelivered = UndeliveredClaims::default();
            let claimant = Claimant::of_releases(["new"]);
            let counted = count_passed_over(pool.clone(), claimant.clone(), now);
            let counted = counted.await.unwrap();
            let by_release = counted.by_release.into_iter().collect::<Vec<_>>();
            assert_eq!(by_release, [("old".to_owned(), 2)]);
            assert_eq!((counted.in_objects, counted.oldest), (0, Some(now)));
            let mut claimed = Vec::new();
            for _ in 0..2 {
                let claim = claim_next(&pool, &claimant, now, &undelivered.leases).await;
                let claim = claim.and_then(ClaimDelivery::deliver);
                claimed.push(claim.map(|claim| claim.job.id.as_u128()));
            }
            assert_eq!(claimed, [Some(3), None]);
        });
    }

    #[test]
    fn a_damaged_job_keeps_no_other_job_from_being_claimed() {
        const DAMAGE: &str = "UPDATE domesday.jobs SET mode = 'unknown' WHERE id = $1";
        let address = domesday_test_postgres::shared().database();
        let now = UnixMillis(1_000);
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            for number in 1..=2 {
                submit(pool.clone(), new_job(number, now)).await.unwrap();
            }
            let damage = sqlx::query(DAMAGE).bind(Uuid::from_u128(1));
            damage.execute(&pool).await.unwrap();
            let undelivered = UndeliveredClaims::default();
            let claimant = Claimant::of_releases([""]);
            let mut claimed = Vec::new();
            for _ in 0..2 {
                let claim = claim_next(&pool, &claimant, now, &undelivered.leases).await;
                let claim = claim.and_then(ClaimDelivery::deliver);
                claimed.push(claim.map(|claim| claim.job.id.as_u128()));
            }
            assert_eq!(claimed, [Some(2), None]);
            // Its attempts count no claim.
            let row = sqlx::query("SELECT attempts FROM domesday.jobs WHERE id = $1");
            let row = row.bind(Uuid::from_u128(1)).fetch_one(&pool).await.unwrap();
            assert_eq!(row.get::<i64, _>("attempts"), 0);
        });
    }

    #[test]
    fn a_claim_begins_behind_the_damaged_jobs_that_an_earlier_one_met() {
        const DAMAGED: u128 = 20;
        const LATER: UnixMillis = UnixMillis(2_000);
        const DAMAGE: &str = "UPDATE domesday.jobs SET mode = 'unknown' WHERE number < \
             (SELECT max(number) FROM domesday.jobs)";
        let address = domesday_test_postgres::shared().database();
        let now = UnixMillis(1_000);
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            for number in 0..=DAMAGED {
                let at = if number == DAMAGED { LATER } else { now };
                submit(pool.clone(), new_job(number, at)).await.unwrap();
            }
            sqlx::query(DAMAGE).execute(&pool).await.unwrap();
            let undelivered = UndeliveredClaims::default();
            let (claimant, damaged_jobs) = (Claimant::of_releases([""]), DamagedJobs::default());
            let next = async || {
                let (claimant, times) = (claimant.clone(), (now, 1_000));
                let leases = &undelivered.leases;
                let claim = claim(pool.clone(), claimant, times, leases, &damaged_jobs).await;
                claim.unwrap().and_then(ClaimDelivery::deliver)
            };
            let mut first = None;
            // Each claim meets at least one more.
            for _ in 0..=DAMAGED {
                first = next().await;
                if first.is_some() {
                    break;
                }
            }
            let first = first.unwrap();
            assert_eq!(first.job.id.as_u128(), DAMAGED);
            // It alone was accepted later.
            let known = damaged_jobs.list_recent(Instant::now());
            let oldest = async |known| oldest_waiting(pool.clone(), known).await;
            assert_eq!(oldest(Vec::new()).await.unwrap(), Some(now));
            assert_eq!(oldest(known).await.unwrap(), Some(LATER));
            let later = new_job(DAMAGED + 1, now);
            submit(pool.clone(), later).await.unwrap();
            let second = next().await.unwrap();
            // A damaged row that it read would have drawn a number.
            assert_eq!(second.lease.fence, first.lease.fence + 1);
        });
    }
}
