//! The view of a database beside slow and changing ones.

use super::*;
use crate::key::KeySeed;
use crate::postgres::connect::connect;
use crate::test_support::{block_on, capture_log};
use sqlx::postgres::PgPoolOptions;

const REASON: &str = "on purpose";

/// Makes the view of a database that nobody can reach.
fn out_of_reach() -> WatchedDatabase {
    let options = PgPoolOptions::new().acquire_timeout(Duration::from_millis(10));
    let pool = options.connect_lazy("postgres://127.0.0.1:1/none");
    WatchedDatabase::new(pool.unwrap(), Arc::default())
}

#[track_caller]
fn assert_holds(messages: &[String], expected: &str) {
    let is_there = messages.iter().any(|message| message == expected);
    assert!(is_there, "{expected}: {messages:?}");
}

/// Keys are trusted for five seconds. They are trusted for a minute where the database is
/// degraded, and for five while its pages arrive.
#[test]
fn keys_that_were_read_too_long_ago_open_nothing() {
    let stale = DatabaseFailure::Stale.to_string();
    let stale = Some(stale.as_str());
    // The age of the view, whether it is degraded, and the age of the last page.
    let cases = [
        (4, false, None, true, None),
        (6, false, None, false, stale),
        (6, true, None, true, Some(REASON)),
        (61, true, None, false, Some(REASON)),
        (59, false, Some(4), true, None),
        (6, false, Some(6), false, stale),
        (299, false, Some(0), true, None),
        (301, false, Some(0), false, stale),
    ];
    block_on(async {
        let watched = out_of_reach();
        for (age, is_degraded, page, is_believed, reason) in cases {
            let ago = |seconds| Instant::now() - Duration::from_secs(seconds);
            watched.change(|view| {
                let degraded = Degradation::Unreachable(REASON.to_owned());
                view.degradation = is_degraded.then_some(degraded);
                view.fresh = ago(age);
                view.page_at = page.map(ago);
            });
            let access = watched.authenticate("", UnixMillis(0));
            assert_eq!(access.is_ok(), is_believed, "{age} {is_degraded} {page:?}");
            assert_eq!(watched.degradation().as_deref(), reason);
        }
    });
}

/// Only a write that succeeds ends it.
#[test]
fn the_log_names_the_beginning_and_the_end_of_a_degradation() {
    let messages = capture_log(|| {
        block_on(async {
            let watched = out_of_reach();
            watched.check_database().await;
            assert!(watched.check_reachable("read").is_err());
        });
    });
    assert_holds(&messages, "state degraded");

    let address = domesday_test_postgres::shared().database();
    let messages = capture_log(|| {
        block_on(async {
            let pool = connect(&address, &Arc::default()).await.unwrap();
            let watched = WatchedDatabase::new(pool, Arc::default());
            let check_degraded = async || {
                let degraded = Degradation::Unwritable(REASON.to_owned());
                watched.change(|view| view.degradation = Some(degraded));
                watched.check_database().await;
                watched.degradation()
            };
            assert_eq!(check_degraded().await, None);
            let dropped = sqlx::query("DROP TABLE domesday.probe").execute(&watched.pool);
            dropped.await.unwrap();
            let reason = check_degraded().await.unwrap();
            assert!(reason.contains("domesday.probe"), "{reason}");
        });
    });
    assert_holds(&messages, "state usable again");
}

/// The poll finds it known, and would say nothing either.
#[test]
fn a_degradation_that_an_operation_meets_is_logged_once() {
    let messages = capture_log(|| {
        block_on(async {
            let watched = out_of_reach();
            for _ in 0..2 {
                let failed = Err(storage("written", DatabaseFailure::Silent));
                watched.record_outcome::<()>(failed).unwrap_err();
            }
            watched.check_database().await;
        });
    });
    let named = messages
        .iter()
        .filter(|message| *message == "state degraded");
    assert_eq!(named.count(), 1, "{messages:?}");
}

/// A host without customers writes nothing, and notices it all the same.
#[test]
fn a_database_that_reads_and_does_not_write_is_noticed_without_a_request() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        let pool = connect(&address, &Arc::default()).await.unwrap();
        let watched = Arc::new(WatchedDatabase::new(pool, Arc::default()));
        let polled = tokio::spawn(poll(watched.clone()));
        sleep(PROBE_INTERVAL * 2).await;
        assert_eq!(watched.degradation(), None);
        let dropped = sqlx::query("DROP TABLE domesday.probe").execute(&watched.pool);
        dropped.await.unwrap();
        let since = Instant::now();
        while watched.degradation().is_none() {
            assert!(since.elapsed() < Duration::from_secs(5));
            sleep(Duration::from_millis(10)).await;
        }
        polled.abort();
    });
}

/// Reads do not explain it, so a write is tried.
#[test]
fn a_database_that_did_not_answer_has_to_write() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        let pool = connect(&address, &Arc::default()).await.unwrap();
        let watched = WatchedDatabase::new(pool, Arc::default());
        let dropped = sqlx::query("DROP TABLE domesday.probe").execute(&watched.pool);
        dropped.await.unwrap();
        watched.check_database().await;
        assert_eq!(watched.degradation(), None);
        let never = std::future::pending::<Result<(), StateError>>();
        let silence = watched.silence.bound(Duration::ZERO, "written", never);
        assert!(silence.await.is_err());
        watched.check_database().await;
        let reason = watched.degradation().unwrap();
        assert!(reason.contains("domesday.probe"), "{reason}");
    });
}

#[test]
fn a_write_that_stalls_is_a_degradation_and_lets_no_other_begin() {
    block_on(async {
        let watched = out_of_reach();
        let write = watched.units_write.begin();
        assert_eq!(watched.degradation(), None);
        watched.units_write.date_back(4);
        let reason = watched.degradation().unwrap();
        assert!(reason.contains("no write for 4 s"), "{reason}");
        let refused = watched.check_writable().unwrap_err();
        assert!(refused.to_string().contains(&reason), "{refused}");
        watched.check_reachable("read").unwrap();
        drop(write);
        watched.check_writable().unwrap();
        // One that failed at once says nothing, and one that stalled before does.
        let failed = || Err(storage("written", DatabaseFailure::Locked));
        let write = watched.units_write.begin();
        watched.record_units_write::<()>(failed()).unwrap_err();
        watched.check_writable().unwrap();
        watched.units_write.date_back(4);
        watched.record_units_write::<()>(failed()).unwrap_err();
        drop(write);
        assert!(watched.check_writable().is_err());
        watched.change(|view| view.degradation = None);
        // Nor where the database is known not to write.
        let error = storage("written", DatabaseFailure::Silent);
        watched.record_outcome::<()>(Err(error)).unwrap_err();
        assert!(watched.check_writable().is_err());
        watched.check_reachable("read").unwrap();
    });
}

/// Tenants of the slow databases: several pages, and a key each.
const TENANTS: u32 = 6_000;

/// Returns the seed of a key by which `fill` made it.
fn seed(number: u32) -> KeySeed {
    let mut bytes = [0; 40];
    bytes[4..8].copy_from_slice(&number.to_be_bytes());
    KeySeed::new(bytes)
}

/// Returns the text of the key of this number.
fn key(number: u32) -> String {
    let (_, secret, _) = seed(number).into_key();
    secret.expose().to_owned()
}

/// Fills a database with tenants, each with its own key and change, and returns a pool of
/// it. Digests are those of the keys that the test presents, and zeros otherwise.
async fn fill(address: &str, presented: &[u32]) -> PgPool {
    let pool = connect(address, &Arc::default()).await.unwrap();
    let plan = crate::postgres::records::plan_text(&crate::Plan::default()).unwrap();
    let tenants = "INSERT INTO domesday.tenants (id, plan, enabled, created_at, version) \
         SELECT 't' || n, $1::jsonb, true, 0, 2 * n - 1 FROM generate_series(1, $2) AS n";
    let keys = "INSERT INTO domesday.keys (id, tenant, label, scopes, \
         requires_metric_selection, created_at, digest, version) \
         SELECT decode(lpad(to_hex(n), 16, '0'), 'hex'), 't' || n, '', ARRAY['avm:value'], \
         false, 0, decode(repeat('00', 32), 'hex'), 2 * n FROM generate_series(1, $1) AS n";
    let count = i32::try_from(TENANTS).unwrap();
    let filling = sqlx::query(tenants).bind(plan).bind(count).execute(&pool);
    filling.await.unwrap();
    sqlx::query(keys).bind(count).execute(&pool).await.unwrap();
    for &number in presented {
        let (id, _, digest) = seed(number).into_key();
        sqlx::query("UPDATE domesday.keys SET digest = $2 WHERE id = $1")
            .bind(id.as_bytes().as_slice())
            .bind(digest.0.as_slice())
            .execute(&pool)
            .await
            .unwrap();
    }
    let changed = sqlx::query("UPDATE domesday.service SET version = $1");
    let changed = changed.bind(2 * i64::from(TENANTS)).execute(&pool);
    changed.await.unwrap();
    // The planner knows how large the tables are, as it does after a while.
    sqlx::query("ANALYZE").execute(&pool).await.unwrap();
    pool
}

/// Makes every third key that a statement reads take a millisecond, as on a busy database. A page
/// takes a third of a second, and all keys take more than two.
async fn slow_down(pool: &PgPool) {
    for statement in [
        "ALTER TABLE domesday.keys RENAME TO fast_keys",
        "CREATE VIEW domesday.keys AS SELECT k.* FROM domesday.fast_keys AS k \
         WHERE get_byte(k.id, 7) % 3 <> 0 OR pg_sleep(0.001) IS NOT NULL",
    ] {
        sqlx::query(statement).execute(pool).await.unwrap();
    }
}

fn opens(watched: &WatchedDatabase, number: u32) -> bool {
    let access = watched.authenticate(&key(number), UnixMillis(0)).unwrap();
    access.into_principal().is_some()
}

/// Returns a pool whose statements may take a second and a half.
async fn impatient(address: &str) -> PgPool {
    let options = PgPoolOptions::new().after_connect(|connection, _| {
        Box::pin(async move {
            let limit = "SET statement_timeout = '1500ms'";
            sqlx::query(limit).execute(connection).await.map(drop)
        })
    });
    options.connect(address).await.unwrap()
}

/// The statements of all keys would end in the timeout. The view is dated from after the read, so
/// that the keys are trusted although the read was long.
#[test]
fn many_keys_are_read_from_a_slow_database_in_pages() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        slow_down(&fill(&address, &[1, TENANTS]).await).await;
        let watched = WatchedDatabase::new(impatient(&address).await, Arc::default());
        let started = Instant::now();
        watched.catch_up_in_time().await.unwrap();
        let took = started.elapsed();
        assert!(took > Duration::from_millis(1_500), "{took:?}");
        let age = watched.with_view(|view| view.fresh.elapsed());
        assert!(age < Duration::from_millis(500), "{age:?}");
        assert!(opens(&watched, 1) && opens(&watched, TENANTS));
        assert!(!opens(&watched, 2));
    });
}

/// A key is revoked while later pages are read.
#[test]
fn a_change_during_a_long_read_is_seen_at_its_end() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        let pool = fill(&address, &[1]).await;
        slow_down(&pool).await;
        let watched = WatchedDatabase::new(impatient(&address).await, Arc::default());
        let revoking = async {
            sleep(Duration::from_millis(1_200)).await;
            let version = 2 * i64::from(TENANTS) + 1;
            let revoked = "UPDATE domesday.fast_keys SET revoked_at = 0, version = $1 \
                 WHERE id = decode(lpad('1', 16, '0'), 'hex')";
            let changed = "UPDATE domesday.service SET version = $1";
            for statement in [revoked, changed] {
                let change = sqlx::query(statement).bind(version).execute(&pool);
                assert_eq!(change.await.unwrap().rows_affected(), 1);
            }
        };
        let (outcome, ()) = tokio::join!(watched.catch_up_in_time(), revoking);
        outcome.unwrap();
        assert!(!opens(&watched, 1));
    });
}

/// The database is put back to an earlier day. Until all of it is read, the host answers from what
/// it knows, and it never counts as degraded.
#[test]
fn a_slow_database_that_was_put_back_denies_no_key_while_it_is_read() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        let pool = fill(&address, &[1, 2]).await;
        let watched = WatchedDatabase::new(impatient(&address).await, Arc::default());
        watched.catch_up_in_time().await.unwrap();
        assert!(opens(&watched, 1) && opens(&watched, 2));
        for statement in [
            "DELETE FROM domesday.keys WHERE tenant = 't2'",
            "UPDATE domesday.service SET version = version - 1",
        ] {
            sqlx::query(statement).execute(&pool).await.unwrap();
        }
        slow_down(&pool).await;
        // The view looks as if it had not been read for some seconds.
        watched.change(|view| view.fresh = Instant::now() - Duration::from_secs(4));
        let is_over = std::cell::Cell::new(false);
        let reading = async {
            watched.check_database().await;
            is_over.set(true);
        };
        let asking = async {
            let mut asked = 0;
            while !is_over.get() {
                assert!(opens(&watched, 1));
                assert_eq!(watched.degradation(), None);
                asked += 1;
                sleep(Duration::from_millis(20)).await;
            }
            asked
        };
        let ((), asked) = tokio::join!(reading, asking);
        assert!(asked > 50, "{asked}");
        assert!(opens(&watched, 1) && !opens(&watched, 2));
        assert_eq!(watched.degradation(), None);
    });
}

/// Makes each look at the service's row take longer than the time between two polls.
async fn slow_down_looks(address: &str) {
    let pool = connect(address, &Arc::default()).await.unwrap();
    for statement in [
        "ALTER TABLE domesday.service RENAME TO fast_service",
        "CREATE VIEW domesday.service AS SELECT s.* FROM domesday.fast_service AS s \
         WHERE pg_sleep(0.6) IS NOT NULL",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
}

#[test]
fn a_degradation_ends_on_a_database_that_is_slow_to_say_that_nothing_changed() {
    let address = domesday_test_postgres::shared().database();
    block_on(async {
        slow_down_looks(&address).await;
        let pool = connect(&address, &Arc::default()).await.unwrap();
        let watched = WatchedDatabase::new(pool, Arc::default());
        let degraded = Degradation::Unwritable(REASON.to_owned());
        watched.change(|view| view.degradation = Some(degraded));
        let checking = timeout(Duration::from_secs(20), watched.check_database());
        checking.await.unwrap();
        assert_eq!(watched.degradation(), None);
    });
}

#[test]
fn a_state_opens_on_a_database_that_is_slow_to_say_that_nothing_changed() {
    let address = domesday_test_postgres::shared().database();
    block_on(slow_down_looks(&address));
    let (opened, open) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let state = crate::PostgresState::open(&address);
        opened.send(state.map(drop)).unwrap();
    });
    open.recv_timeout(Duration::from_secs(30)).unwrap().unwrap();
}
