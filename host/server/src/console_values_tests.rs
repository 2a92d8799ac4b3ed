use super::*;
use domesday_state::{Accounts, EmbeddedState, Plan, UnixMillis};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicI64, Ordering};
use uuid::{NoContext, Timestamp};

/// A clock that a test sets.
struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.0.load(Ordering::SeqCst))
    }
}

struct ValuesHost {
    data: tempfile::TempDir,
    state: Arc<dyn State>,
    clock: Arc<SetClock>,
}

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 20_000 * DAY;

fn values_host() -> ValuesHost {
    let data = tempfile::tempdir().unwrap();
    let state = EmbeddedState::open(&data.path().join("state.redb")).unwrap();
    for id in ["a", "b"] {
        let now = UnixMillis(NOW);
        state
            .create_tenant(&tenant(id), &Plan::default(), now)
            .unwrap();
    }
    ValuesHost {
        data,
        state: Arc::new(state),
        clock: Arc::new(SetClock(AtomicI64::new(NOW))),
    }
}

impl ValuesHost {
    fn open(&self) -> ConsoleValues {
        let (state, clock) = (self.state.clone(), self.clock.clone());
        ConsoleValues::open(self.data.path(), state, clock).unwrap()
    }

    fn path(&self, id: Uuid) -> PathBuf {
        let folder = self.data.path().join("console-values/a");
        folder.join(id.to_string())
    }
}

fn id(millis: i64) -> Uuid {
    let seconds = u64::try_from(millis / 1000).unwrap();
    let nanos = u32::try_from(millis % 1000).unwrap() * 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, nanos))
}

fn value() -> SavedValue {
    SavedValue {
        request: json!({"property": {"street": "Badger Yard Gardens"}}),
        response: json!({"status": "valued"}),
        market_gbp: Some(351_234.5),
    }
}

fn tenant(id: &str) -> TenantId {
    id.parse().unwrap()
}

#[test]
fn a_value_is_shown_to_its_tenant_alone_after_a_restart_too() {
    let host = values_host();
    let of = id(NOW);
    host.open().save(&tenant("a"), of, &value()).unwrap();
    let again = host.open();
    assert_eq!(again.value(&tenant("a"), of).unwrap(), Some(value()));
    assert_eq!(again.value(&tenant("b"), of).unwrap(), None);
    // Another tenant's folder does not open it either.
    again.save(&tenant("b"), id(NOW + 1), &value()).unwrap();
    let stolen = host.data.path().join(format!("console-values/b/{of}"));
    fs::copy(host.path(of), stolen).unwrap();
    assert_eq!(again.value(&tenant("b"), of).unwrap(), None);
}

#[test]
fn a_file_is_sealed_and_for_its_owner_alone() {
    let host = values_host();
    let of = id(NOW);
    host.open().save(&tenant("a"), of, &value()).unwrap();
    let text = fs::read_to_string(host.path(of)).unwrap();
    assert!(
        !text.contains("Badger") && !text.contains("valued"),
        "{text}"
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&host.path(of)), 0o600);
    assert_eq!(mode(host.path(of).parent().unwrap()), 0o700);
}

#[test]
fn an_erased_key_leaves_nothing_to_read() {
    let host = values_host();
    let (values, of) = (host.open(), id(NOW));
    values.save(&tenant("a"), of, &value()).unwrap();
    assert!(host.state.erase_receipt_key(&tenant("a")).unwrap());
    assert_eq!(values.value(&tenant("a"), of).unwrap(), None);
    assert!(host.state.receipt_keys().unwrap().is_empty());
    // A later value has another key, and the earlier one stays closed.
    values.save(&tenant("a"), id(NOW + 1), &value()).unwrap();
    assert_eq!(values.value(&tenant("a"), of).unwrap(), None);
    values.forget(&tenant("a")).unwrap();
    assert!(!host.path(of).exists());
    values.forget(&tenant("a")).unwrap();
}

#[test]
fn the_oldest_values_make_room() {
    let host = values_host();
    let values = host.open();
    let ids: Vec<Uuid> = (0..202).map(|at| id(NOW + at)).collect();
    for of in &ids {
        values.save(&tenant("a"), *of, &value()).unwrap();
    }
    let there = ids.iter().filter(|of| host.path(**of).exists()).count();
    assert_eq!(there, MOST);
    assert!(!host.path(ids[1]).exists() && host.path(ids[2]).exists());
}

#[test]
fn a_value_is_kept_for_ninety_days() {
    let host = values_host();
    let (values, of) = (host.open(), id(NOW));
    values.save(&tenant("a"), of, &value()).unwrap();
    host.clock.0.store(NOW + 90 * DAY - 1, Ordering::SeqCst);
    assert!(values.value(&tenant("a"), of).unwrap().is_some());
    host.clock.0.store(NOW + 90 * DAY, Ordering::SeqCst);
    assert_eq!(values.value(&tenant("a"), of).unwrap(), None);
    assert!(host.path(of).exists());
    host.open();
    assert!(!host.path(of).exists(), "a start removes it");
}

#[test]
fn the_rest_of_a_broken_save_is_removed_after_an_hour() {
    let host = values_host();
    let (values, of) = (host.open(), id(NOW));
    values.save(&tenant("a"), of, &value()).unwrap();
    let rest = host.path(of).with_file_name(".tmp1Z9bQx");
    fs::write(&rest, "half of a value").unwrap();
    let written = fs::metadata(&rest).unwrap().modified().unwrap();
    let written = written.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let written = i64::try_from(written).unwrap();
    let prune_after = |millis: i64| {
        host.clock.0.store(written + millis, Ordering::SeqCst);
        values.prune_all().unwrap();
    };
    prune_after(ABANDONED_MILLIS - 1);
    assert!(rest.exists(), "a save may be writing it");
    prune_after(ABANDONED_MILLIS);
    assert!(!rest.exists());
}

#[tokio::test]
async fn values_of_a_tenant_that_makes_no_others_are_removed_in_time() {
    let host = values_host();
    let (values, of) = (host.open(), id(NOW));
    values.save(&tenant("a"), of, &value()).unwrap();
    let period = Duration::from_millis(1);
    let watching = tokio::spawn(Arc::new(values).prune_every(period));
    sleep(period * 20).await;
    assert!(host.path(of).exists());
    host.clock.0.store(NOW + 90 * DAY, Ordering::SeqCst);
    let gone = async {
        while host.path(of).exists() {
            sleep(period).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), gone).await;
    waited.unwrap();
    watching.abort();
}
