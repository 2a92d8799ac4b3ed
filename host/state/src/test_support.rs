//! Helpers of the unit tests.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use uuid::Uuid;

use crate::{
    Access, Claimant, LedgerHash, LedgerRecord, LedgerSigner, Month, Principal, TenantId,
    UnixMillis, Usage, UsageEntry, UsageKind, UsageQuery, UsageSource,
};

/// A request that units are charged for.
pub(crate) const REQUEST: UsageSource = UsageSource {
    kind: UsageKind::Value,
    id: Uuid::from_u128(77),
    at: UnixMillis(1_800_000_000_007),
};

/// Returns a host that can work on the jobs of the suites.
pub(crate) fn claimant() -> Claimant {
    Claimant::of_releases(["release"])
}

/// Reads the ledger of a tenant's month by small pages. Asserts that it adds up to the count.
#[track_caller]
pub(crate) fn read_ledger(
    state: &(impl Usage + ?Sized),
    tenant: &TenantId,
    month: Month,
) -> Vec<UsageEntry> {
    let mut entries = Vec::new();
    let mut query = UsageQuery {
        month,
        tenant: Some(tenant.clone()),
        after: None,
        limit: 3,
    };
    loop {
        let page = block_on(state.usage_entries(query.clone())).unwrap();
        assert!(page.entries.len() <= 3);
        entries.extend(page.entries);
        if page.next.is_none() {
            break;
        }
        query.after = page.next;
    }
    let sum: i64 = entries.iter().map(|entry| entry.units).sum();
    let used = block_on(state.used_units(tenant.clone(), month)).unwrap();
    assert_eq!(u64::try_from(sum).unwrap(), used, "{tenant:?} {entries:?}");
    assert!(
        entries
            .iter()
            .all(|entry| entry.tenant == *tenant && entry.month == month)
    );
    entries
}

impl Access {
    /// Returns the principal, where access is granted.
    pub(crate) fn into_principal(self) -> Option<Arc<Principal>> {
        match self {
            Access::Granted(principal) => Some(principal),
            Access::Denied(_) | Access::Disabled { .. } => None,
        }
    }
}

/// A signer whose signature anyone could make.
pub(crate) struct TestSigner;

impl TestSigner {
    /// Reports whether the signature of a record is good.
    pub(crate) fn is_signed(record: &LedgerRecord) -> bool {
        record.signature == TestSigner.sign(&record.hash)
    }
}

impl LedgerSigner for TestSigner {
    fn public_key(&self) -> String {
        "test".to_owned()
    }

    fn sign(&self, hash: &LedgerHash) -> String {
        format!("signed {}", hex::encode(hash))
    }
}

/// Runs a future to its end on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

/// Returns the messages that `action` logs on this thread.
pub(crate) fn capture_log(action: impl FnOnce()) -> Vec<String> {
    let messages = Messages::default();
    // While there is one dispatcher, tracing asks the thread that meets an event first, and that
    // may be another test's. Of two, it asks both.
    let _second = tracing::Dispatch::new(messages.clone());
    tracing::subscriber::with_default(messages.clone(), action);
    std::mem::take(&mut *messages.0.lock().unwrap())
}

/// A subscriber that keeps the message of each event.
#[derive(Default, Clone)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl Subscriber for Messages {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }
}

/// The message of one event.
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
