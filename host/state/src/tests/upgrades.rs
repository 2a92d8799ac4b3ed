//! States of every earlier schema, brought up to this version.
//!
//! The files in `fixtures` are kept permanently. [`fill`] wrote the state of each store's latest
//! schema. The earlier ones are that state without the tables, columns and functions that their
//! schema lacked.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;

use super::suite::{self, JUNE, NOW};
use crate::test_support::{REQUEST, TestSigner, claimant, read_ledger};
use domesday_state::*;

const JULY: Month = Month {
    year: 2031,
    month: 7,
};
const SEED: [u8; 40] = [7; 40];

/// The data that a schema has room for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Content {
    pub(super) usage_and_jobs: bool,
    pub(super) cursors: bool,
    pub(super) receipts: bool,
    pub(super) promotions: bool,
    pub(super) usage_ledger: bool,
}

/// Writes some of everything into an empty state.
pub(super) fn fill(state: &dyn State) {
    let acme = suite::id("acme");
    for tenant in ["acme", "gone"] {
        let tenant = suite::id(tenant);
        state.create_tenant(&tenant, &Plan::default(), NOW).unwrap();
    }
    state.set_enabled(&suite::id("gone"), false).unwrap();
    let key = NewKey {
        tenant: acme.clone(),
        label: "first".into(),
        scopes: Scopes::all(),
        requires_metric_selection: true,
        expires_at: None,
    };
    state.create_key(&key, KeySeed::new(SEED), NOW).unwrap();
    for (month, units) in [(JUNE, 12), (JULY, 3)] {
        suite::wait(state.charge(Charge {
            tenant: acme.clone(),
            month,
            units,
            allowance: u64::MAX,
            source: REQUEST,
        }));
    }
    let mut first = suite::job_of("acme", 1, &[(1, 1, b"one"), (2, 2, b"two")]);
    first.idempotency = Some(suite::key("order-1", 9));
    suite::wait(state.submit(first));
    let lease = suite::wait(state.claim(claimant(), NOW, 30_000))
        .unwrap()
        .lease;
    let results = ChunkResults {
        chunk: 0,
        output: b"result".to_vec(),
        tally: Tally {
            valued: 1,
            ..Tally::default()
        },
        refund: 0,
    };
    suite::wait(state.finish_chunk(lease, results, NOW, 30_000));
    suite::wait(state.release_lease(lease));
    suite::wait(state.submit(suite::job_of("acme", 2, &[(1, 1, b"three")])));
    state.begin_cursors([1; 32]).unwrap();
    state.rotate_cursors([2; 32]).unwrap();
    state.receipt_key(&acme, [3; 32]).unwrap();
    suite::promote(state, ReleaseKind::Valuation, "release-1");
    state.pause_jobs(true).unwrap();
}

/// Checks that a state has what [`fill`] wrote, as far as its first schema had room for it, and
/// that it can be used.
pub(super) fn check(state: &dyn State, content: Content) {
    let acme = suite::id("acme");
    let tenants = state.tenants().unwrap();
    let tenants: Vec<_> = tenants
        .iter()
        .map(|tenant| (tenant.id.as_str(), tenant.enabled, &tenant.plan))
        .collect();
    let plan = Plan::default();
    assert_eq!(tenants, [("acme", true, &plan), ("gone", false, &plan)]);
    let keys = state.keys(None).unwrap();
    let [key] = keys.as_slice() else {
        panic!("{keys:?}");
    };
    assert_eq!((key.label.as_str(), key.revoked_at), ("first", None));
    assert!(key.requires_metric_selection);
    let used = |month| suite::wait(state.used_units(acme.clone(), month));
    let units = match content.usage_and_jobs {
        true => (16, 3),
        false => (0, 0),
    };
    assert_eq!((used(JUNE), used(JULY)), units);
    for month in [JUNE, JULY] {
        // Units of before the ledger are in it, and those of later changes have their requests.
        let entries = read_ledger(state, &acme, month);
        let attributed = |entry: &UsageEntry| entry.source.kind != UsageKind::Unattributed;
        assert_eq!(
            entries.iter().all(attributed),
            content.usage_ledger || units == (0, 0)
        );
    }
    assert_eq!(state.jobs_paused(), content.usage_and_jobs);
    state.pause_jobs(false).unwrap();
    if content.usage_and_jobs {
        check_jobs(state);
    }
    let secrets = state.cursor_secrets();
    assert_eq!(secrets.current == Some([2; 32]), content.cursors);
    let receipts = state.receipt_key(&acme, [4; 32]).unwrap();
    assert_eq!(receipts == [3; 32], content.receipts);
    let ledger = state.promotions().unwrap();
    assert_eq!(ledger.len(), usize::from(content.promotions));
    assert!(verify_ledger(&ledger, TestSigner::is_signed).is_ok());
    let promoted = state.promoted_release(ReleaseKind::Valuation);
    assert_eq!(promoted.is_some(), content.usage_and_jobs);
    // Every part can be written.
    suite::promote(state, ReleaseKind::Valuation, "release-2");
    state.erase_receipt_key(&acme).unwrap();
    suite::wait(state.refund(acme.clone(), JUNE, 1, REQUEST));
    let new = suite::job_of("acme", 3, &[(1, 1, b"four")]);
    assert!(matches!(
        suite::wait(state.submit(new)),
        Submission::Accepted(_)
    ));
    assert_eq!(used(JUNE), units.0.saturating_sub(1) + 1);
}

fn check_jobs(state: &dyn State) {
    let acme = suite::id("acme");
    let known = suite::wait(state.find_submission(acme.clone(), suite::key("order-1", 9), NOW));
    assert!(matches!(known, Some(Submission::Known(job)) if job.tally.valued == 1));
    let claim = suite::wait(state.claim(claimant(), NOW, 30_000)).unwrap();
    assert_eq!((claim.next, claim.shared.as_slice()), (1, &b"shared"[..]));
    let input = suite::wait(state.input(claim.lease, 1));
    assert_eq!(input.as_deref(), Some(&b"two"[..]));
    let output = suite::wait(state.output(acme, claim.job.id, 0, NOW));
    assert_eq!(output.as_deref(), Some(&b"result"[..]));
    let results = ChunkResults {
        chunk: 1,
        output: b"rest".to_vec(),
        tally: Tally::default(),
        refund: 0,
    };
    suite::wait(state.finish_chunk(claim.lease, results, NOW, 30_000));
    assert_eq!(suite::wait(state.waiting()), 1);
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/fixtures")).join(name)
}

/// Returns the content of a fixture, or none where there is no such file.
pub(super) fn read_fixture(name: &str) -> Option<Vec<u8>> {
    let packed = fs::read(fixture(name)).ok()?;
    let mut bytes = Vec::new();
    GzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .unwrap();
    Some(bytes)
}

/// Packs a fixture that is missing among the temporary files, and ends the test.
fn offer_fixture(name: &str, bytes: &[u8]) -> ! {
    let path = std::env::temp_dir().join(name);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    fs::write(&path, packed.finish().unwrap()).unwrap();
    panic!(
        "{} is missing: the schema is new. Move {} there, and keep it permanently",
        fixture(name).display(),
        path.display()
    );
}

/// The schemas of the file and the data that each had room for, the first schema first.
const EMBEDDED: [Content; 6] = [
    content(0),
    content(2),
    content(3),
    content(3),
    content(4),
    content(5),
];

/// Returns the content of a schema by the last part that it has room for: usage and jobs, cursors,
/// receipts, promotions, the ledger of units.
const fn content(last: u8) -> Content {
    Content {
        usage_and_jobs: last >= 1,
        cursors: last >= 2,
        receipts: last >= 3,
        promotions: last >= 4,
        usage_ledger: last >= 5,
    }
}

/// Returns the schema that a store writes.
fn schema_of(state: &dyn State, folder: &std::path::Path) -> u32 {
    match state.copy_to(&folder.join("copy.redb"), &|| false).unwrap() {
        StateCopy::File { schema } | StateCopy::Database { schema } => schema,
    }
}

#[test]
fn a_file_of_each_earlier_schema_is_brought_up_with_its_data() {
    for (schema, content) in (1..).zip(EMBEDDED) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.redb");
        let name = format!("embedded-{schema}.redb.gz");
        let bytes = read_fixture(&name).unwrap_or_else(|| panic!("{name} is missing"));
        fs::write(&path, bytes).unwrap();
        check(&EmbeddedState::open(&path).unwrap(), content);
        // Once is enough.
        EmbeddedState::open(&path).unwrap();
    }
}

/// The last charge stands in the log of units alone when the copy begins.
#[test]
fn a_copy_of_an_open_state_has_every_change_and_unit_that_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&folder.path().join("state.redb")).unwrap();
    fill(&state);
    let charge = |units| Charge {
        tenant: suite::id("acme"),
        month: JULY,
        units,
        allowance: u64::MAX,
        source: REQUEST,
    };
    suite::wait(state.refund(suite::id("acme"), JULY, 3, REQUEST));
    suite::wait(state.charge(charge(3)));
    // Nothing after it has the file take the log over.
    let other = suite::id("other");
    suite::wait(state.charge(Charge {
        tenant: other.clone(),
        ..charge(2)
    }));
    let copy = folder.path().join("copy.redb");
    state.copy_to(&copy, &|| false).unwrap();
    suite::wait(state.charge(charge(1)));
    let copied = EmbeddedState::open(&copy).unwrap();
    check(&copied, EMBEDDED[5]);
    assert_eq!(suite::wait(copied.used_units(other, JULY)), 2);
    let taken = state.copy_to(&copy, &|| false).unwrap_err();
    assert!(taken.to_string().contains("could not be copied"), "{taken}");
}

#[test]
fn a_fixture_of_the_latest_schema_of_the_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.redb");
    let state = EmbeddedState::open(&path).unwrap();
    let schema = schema_of(&state, folder.path());
    assert_eq!(EMBEDDED.len(), usize::try_from(schema).unwrap());
    let name = format!("embedded-{schema}.redb.gz");
    if read_fixture(&name).is_none() {
        fill(&state);
        drop(state);
        offer_fixture(&name, &fs::read(&path).unwrap());
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use domesday_test_postgres as cluster;

    /// The schemas of the database and the data that each had room for, the first schema first.
    const POSTGRES: [Content; 8] = [
        content(1),
        content(2),
        content(3),
        content(3),
        content(3),
        content(4),
        content(5),
        content(5),
    ];

    #[test]
    fn a_database_of_each_earlier_schema_is_brought_up_with_its_data() {
        for (schema, content) in (1..).zip(POSTGRES) {
            let name = format!("postgres-{schema}.sql.gz");
            let bytes = read_fixture(&name).unwrap_or_else(|| panic!("{name} is missing"));
            let address = cluster::shared().database();
            cluster::sql(&address, &String::from_utf8(bytes).unwrap());
            check(&PostgresState::open(&address).unwrap(), content);
            // Once is enough.
            PostgresState::open(&address).unwrap();
        }
    }

    #[test]
    fn a_fixture_of_the_latest_schema_of_the_database_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let address = cluster::shared().database();
        let state = PostgresState::open(&address).unwrap();
        let schema = schema_of(&state, folder.path());
        assert_eq!(POSTGRES.len(), usize::try_from(schema).unwrap());
        let name = format!("postgres-{schema}.sql.gz");
        if read_fixture(&name).is_none() {
            fill(&state);
            drop(state);
            offer_fixture(&name, cluster::dump(&address).as_bytes());
        }
    }
}
