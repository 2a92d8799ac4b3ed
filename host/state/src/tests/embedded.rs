//! The embedded store under the suite, and its own tests.

use super::suite::{self, Store};
use std::fs;
use std::path::PathBuf;

use crate::test_support::REQUEST;
use domesday_state::*;
use redb::{Database, TableDefinition};

/// A redb file in a temporary directory.
struct Embedded {
    directory: tempfile::TempDir,
}

impl Embedded {
    fn path(&self) -> PathBuf {
        self.directory.path().join("state.redb")
    }
}

impl Store for Embedded {
    type State = EmbeddedState;

    fn empty() -> Self {
        Embedded {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn open(&self) -> EmbeddedState {
        EmbeddedState::open(&self.path()).unwrap()
    }

    fn remove_promotion(&self, key: u32) {
        type Row = (&'static str, [u8; 32], [u8; 32], &'static str, &'static str);
        const PROMOTIONS: TableDefinition<u64, Row> = TableDefinition::new("promotions");
        let file = Database::open(self.path()).unwrap();
        let transaction = file.begin_write().unwrap();
        {
            let mut ledger = transaction.open_table(PROMOTIONS).unwrap();
            assert!(ledger.remove(u64::from(key)).unwrap().is_some());
        }
        transaction.commit().unwrap();
    }
}

suite::state_suite!(Embedded);

#[test]
fn a_second_opening_is_a_clear_error() {
    let store = Embedded::empty();
    let _state = store.open();
    let error = EmbeddedState::open(&store.path()).unwrap_err();
    assert!(matches!(error, StateError::AlreadyOpen { path } if path == store.path()));
}

/// A crash leaves the file of an open state. A copy made at that moment
/// holds everything that was answered for; of units, with the log.
#[test]
fn completed_writes_are_durable() {
    let store = Embedded::empty();
    let state = store.open();
    let now = UnixMillis(0);
    let tenant = "acme".parse().unwrap();
    state.create_tenant(&tenant, &Plan::default(), now).unwrap();
    let new = NewKey {
        tenant,
        label: String::new(),
        scopes: Scopes::all(),
        requires_metric_selection: false,
        expires_at: None,
    };
    let kept = state.create_key(&new, KeySeed::new([1; 40]), now).unwrap();
    let gone = state.create_key(&new, KeySeed::new([2; 40]), now).unwrap();
    state.revoke_key(gone.id, now).unwrap();

    let after = Embedded::empty();
    fs::copy(store.path(), after.path()).unwrap();
    let found = after.open();
    let access = |key: &CreatedKey| found.authenticate(key.secret.expose(), now).unwrap();
    assert!(access(&kept).into_principal().is_some());
    assert_eq!(access(&gone), Access::Denied(Denial::Revoked));
}

/// Neither a key nor its secret part is written anywhere in the file.
#[test]
fn the_file_holds_no_key() {
    let store = Embedded::empty();
    let state = store.open();
    let tenant: TenantId = "acme".parse().unwrap();
    let now = UnixMillis(0);
    state.create_tenant(&tenant, &Plan::default(), now).unwrap();
    let new = NewKey {
        tenant,
        label: "findable".into(),
        scopes: Scopes::all(),
        requires_metric_selection: false,
        expires_at: None,
    };
    let bytes: [u8; 40] = std::array::from_fn(|i| 200 - u8::try_from(i).unwrap());
    let key = state.create_key(&new, KeySeed::new(bytes), now).unwrap();
    drop(state);
    let file = fs::read(store.path()).unwrap();
    let holds = |needle: &[u8]| file.windows(needle.len()).any(|window| window == needle);
    assert!(holds(b"findable"), "the file is not where the record is");
    let secret = key.secret.expose().rsplit('_').next().unwrap();
    assert!(!holds(secret.as_bytes()) && !holds(&bytes[8..]));
}

/// Units in the log that stands before the file.
mod log {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::time::{Duration, Instant};
    use suite::{id, used_units, wait};

    fn charge(state: &EmbeddedState, tenant: &str) {
        let charge = Charge {
            tenant: id(tenant),
            month: suite::JUNE,
            units: 5,
            allowance: u64::MAX,
            source: REQUEST,
        };
        assert!(matches!(
            wait(state.charge(charge)),
            ChargeOutcome::Granted { .. }
        ));
    }

    impl Embedded {
        fn log(&self) -> PathBuf {
            self.path().with_extension("usage")
        }

        /// Copies the files that a crash at this moment leaves: both, or the state's alone.
        fn after_crash(&self, with_log: bool) -> Embedded {
            let copy = Embedded::empty();
            fs::copy(self.path(), copy.path()).unwrap();
            if with_log {
                fs::copy(self.log(), copy.log()).unwrap();
            }
            copy
        }
    }

    #[test]
    fn charges_are_in_the_log_or_in_the_file() {
        let store = Embedded::empty();
        let state = store.open();
        assert_eq!(fs::metadata(store.log()).unwrap().mode() & 0o777, 0o600);
        for number in 1..=300 {
            charge(&state, "acme");
            if number % 60 < 2 {
                let copy = store.after_crash(true);
                assert_eq!(used_units(&copy.open(), "acme"), number * 5);
                // The log of the copy is taken over once.
                assert_eq!(used_units(&copy.open(), "acme"), number * 5);
            }
        }
        assert_eq!(used_units(&state, "acme"), 1_500);
    }

    #[test]
    fn the_file_alone_lacks_a_second_of_units_and_after_a_clean_end_none() {
        let store = Embedded::empty();
        let state = store.open();
        let begun = Instant::now();
        charge(&state, "acme");
        let copy = store.after_crash(false);
        let without = used_units(&copy.open(), "acme");
        assert!(without == 0 || begun.elapsed() > Duration::from_secs(1));
        std::thread::sleep(Duration::from_millis(1_500));
        while used_units(&store.after_crash(false).open(), "acme") != 5 {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(500));
        }
        charge(&state, "acme");
        drop(state);
        assert_eq!(used_units(&store.after_crash(false).open(), "acme"), 10);
    }

    #[test]
    fn a_foreign_change_to_the_log_is_reported_and_can_be_moved_away() {
        // After a second the file takes the log over, and its blocks are past.
        let copy = loop {
            let store = Embedded::empty();
            let state = store.open();
            let begun = Instant::now();
            for _ in 0..3 {
                charge(&state, "acme");
            }
            let copy = store.after_crash(true);
            if begun.elapsed() < Duration::from_millis(900) {
                break copy;
            }
        };
        let log = fs::OpenOptions::new().write(true).open(copy.log()).unwrap();
        log.write_all_at(&[0xff], 4_096 + 100).unwrap();
        let error = EmbeddedState::open(&copy.path()).unwrap_err();
        assert!(matches!(error, StateError::DamagedLog { block: 0, .. }));
        let text = error.to_string();
        assert!(
            text.contains("state.usage") && text.contains("move the log away"),
            "{text}"
        );
        fs::remove_file(copy.log()).unwrap();
        assert_eq!(used_units(&copy.open(), "acme"), 0);
    }

    /// A job's units are charged in the file, with the job, and add to those in the log.
    #[test]
    fn a_submission_finds_the_units_of_the_log() {
        let store = Embedded::empty();
        let state = store.open();
        charge(&state, "acme");
        let submit = |number: u32, allowance| {
            wait(state.submit(NewJob {
                id: uuid::Uuid::from_u128(number.into()),
                tenant: id("acme"),
                mode: JobMode::Simple,
                release_id: "release".into(),
                shared: Vec::new(),
                chunks: vec![NewChunk {
                    rows: 2,
                    units: 2,
                    input: vec![1],
                }],
                idempotency: None,
                month: suite::JUNE,
                allowance,
                queued_jobs: 9,
                stored_bytes: 1_000,
                now: suite::NOW,
            }))
        };
        assert_eq!(submit(1, 6), Submission::Exhausted { used: 5 });
        assert!(matches!(submit(2, 7), Submission::Accepted(_)));
        assert_eq!(used_units(&state, "acme"), 7);
        assert_eq!(used_units(&store.after_crash(false).open(), "acme"), 7);
        charge(&state, "acme");
        assert_eq!(used_units(&store.after_crash(true).open(), "acme"), 12);
    }
}

/// Files and folders that are moved, deleted or replaced under the open state.
mod moved {
    use super::*;
    use std::path::Path;
    use std::time::{Duration, Instant};
    use suite::{id, outcome, used_units};

    /// Time limit for the detection of a failure, and for its end.
    const SOON: Duration = Duration::from_secs(3);

    /// A state in a folder that can be moved.
    struct Movable {
        place: tempfile::TempDir,
        state: EmbeddedState,
    }

    impl Movable {
        fn open() -> Movable {
            let place = tempfile::tempdir().unwrap();
            fs::create_dir(place.path().join("data")).unwrap();
            let state = EmbeddedState::open(&place.path().join("data/state.redb")).unwrap();
            let movable = Movable { place, state };
            movable.charge().unwrap();
            movable
        }

        fn data(&self) -> PathBuf {
            self.place.path().join("data")
        }

        fn away(&self) -> PathBuf {
            self.place.path().join("away")
        }

        fn charge(&self) -> Result<ChargeOutcome, StateError> {
            outcome(self.state.charge(Charge {
                tenant: id("acme"),
                month: suite::JUNE,
                units: 5,
                allowance: u64::MAX,
                source: REQUEST,
            }))
        }

        /// Checks that a charge is refused and not counted, and that the refusal names this path.
        #[track_caller]
        fn refuses(&self, path: &Path, found: &PathTarget) {
            match self.charge() {
                Err(StateError::Moved(moved)) => {
                    assert_eq!((&*moved.path, &moved.found), (path, found));
                }
                other => panic!("{other:?}"),
            }
            let reason = self.state.degradation().unwrap();
            assert!(reason.contains(&*path.to_string_lossy()), "{reason}");
            assert!(reason.contains("Put it back"), "{reason}");
            assert_eq!(used_units(&self.state, "acme"), 5);
        }
    }

    #[track_caller]
    fn soon(what: impl Fn() -> bool) {
        let begun = Instant::now();
        while !what() {
            assert!(begun.elapsed() < SOON);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_folder_that_is_moved_degrades_the_store_until_it_is_back() {
        let store = Movable::open();
        fs::rename(store.data(), store.away()).unwrap();
        for _ in 0..3 {
            store.refuses(&store.data(), &PathTarget::Nothing);
        }
        let refused = store.state.pause_jobs(true);
        assert!(matches!(refused, Err(StateError::Moved(_))), "{refused:?}");
        // Nothing was made in its place, and nothing is while it waits.
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(!store.data().exists());
        fs::rename(store.away(), store.data()).unwrap();
        soon(|| store.state.degradation().is_none());
        assert_eq!(store.charge().unwrap(), ChargeOutcome::Granted { used: 10 });
        assert!(!store.state.jobs_paused());
    }

    #[test]
    fn a_folder_that_is_deleted_or_replaced_degrades_the_store_for_good() {
        let store = Movable::open();
        fs::remove_dir_all(store.data()).unwrap();
        store.refuses(&store.data(), &PathTarget::Nothing);
        // Nor does another state do, that somebody began there.
        fs::create_dir(store.data()).unwrap();
        drop(EmbeddedState::open(&store.data().join("state.redb")).unwrap());
        let begun = fs::read(store.data().join("state.redb")).unwrap();
        std::thread::sleep(Duration::from_millis(1_500));
        store.refuses(&store.data(), &PathTarget::Another);
        let path = store.data().join("state.redb");
        drop(store.state);
        assert_eq!(fs::read(path).unwrap(), begun);
    }

    #[test]
    fn each_file_is_missed() {
        for name in ["state.redb", "state.usage"] {
            let store = Movable::open();
            let path = store.data().join(name);
            fs::rename(&path, store.away()).unwrap();
            store.refuses(&path, &PathTarget::Nothing);
            // A copy is another file: what is charged would go to the one that is open.
            fs::copy(store.away(), &path).unwrap();
            soon(|| store.state.degradation().unwrap().contains("another file"));
            store.refuses(&path, &PathTarget::Another);
            fs::rename(store.away(), &path).unwrap();
            soon(|| store.state.degradation().is_none());
            assert_eq!(store.charge().unwrap(), ChargeOutcome::Granted { used: 10 });
        }
    }

    /// A refund comes behind the work, which may have begun before the folder was moved.
    #[test]
    fn a_refund_that_is_refused_while_the_folder_is_away_is_made_once_it_is_back() {
        let store = Movable::open();
        let refund = |units| outcome(store.state.refund(id("acme"), suite::JUNE, units, REQUEST));
        fs::rename(store.data(), store.away()).unwrap();
        for units in [1, 2] {
            let refused = refund(units);
            assert!(matches!(refused, Err(StateError::Moved(_))), "{refused:?}");
        }
        fs::rename(store.away(), store.data()).unwrap();
        soon(|| store.state.degradation().is_none());
        assert_eq!(used_units(&store.state, "acme"), 2);
        assert_eq!(store.charge().unwrap(), ChargeOutcome::Granted { used: 7 });
    }

    /// Readiness turns although nobody is served.
    #[test]
    fn it_is_noticed_where_nothing_is_committed() {
        let store = Movable::open();
        fs::rename(store.data(), store.away()).unwrap();
        soon(|| store.state.degradation().is_some());
    }

    /// The open file takes over the units of the log and gives back those that are owed, also where
    /// it was moved.
    #[test]
    fn a_state_that_is_closed_while_it_is_away_is_whole() {
        let store = Movable::open();
        fs::rename(store.data(), store.away()).unwrap();
        let refused = outcome(store.state.refund(id("acme"), suite::JUNE, 2, REQUEST));
        assert!(refused.is_err());
        let (data, away) = (store.data(), store.away());
        drop(store.state);
        assert!(!data.exists());
        fs::remove_file(away.join("state.usage")).unwrap();
        let found = EmbeddedState::open(&away.join("state.redb")).unwrap();
        assert_eq!(used_units(&found, "acme"), 3);
    }
}
