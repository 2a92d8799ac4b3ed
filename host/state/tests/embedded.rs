//! The embedded store under the suite, and what belongs to it alone.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something unexpected happens"
)]

mod suite;

use std::fs;
use std::path::PathBuf;

use domesday_state::*;
use suite::Store;

/// A redb file in a directory of its own.
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
}

suite::state_suite!(Embedded);

#[test]
fn a_second_opening_is_a_clear_error() {
    let store = Embedded::empty();
    let _state = store.open();
    let error = EmbeddedState::open(&store.path()).unwrap_err();
    assert!(matches!(error, StateError::AlreadyOpen { path } if path == store.path()));
}

/// What a crash leaves is the file as it is while the state is open. A copy made at that moment
/// holds everything that was answered for.
#[test]
fn what_returned_is_in_the_file() {
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
    assert!(access(&kept).granted().is_some());
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
