//! The warnings that a test's code logs.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The warnings that a thread logs, each as one line a field.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

/// The fields of one event.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{field}={value:?}\n"));
    }
}

impl Subscriber for Warnings {
    fn exit(&self, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
}

/// Returns the warnings that this thread logs while it acts.
pub(crate) fn warnings(act: &dyn Fn()) -> Vec<String> {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), act);
    std::mem::take(&mut *warnings.0.lock().unwrap())
}
