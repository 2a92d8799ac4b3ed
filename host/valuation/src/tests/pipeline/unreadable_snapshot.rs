//! Rows whose snapshot can be read no more from one of their lookups on.

use super::{Listener, context_of, demo, open, releases};
use domesday_contract::v3::request::Kind;
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_property::Snapshot;
use domesday_valuation::observer::WantedEvidence;
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::row::{RenderedRow, RequestContext, parse, value};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use uuid::Uuid;

/// A release whose lookups read a copy of its snapshot. Its evidence is of the original.
struct CopiedSnapshot {
    _folder: TempDir,
    path: PathBuf,
    context: RequestContext,
    listener: Arc<Listener>,
}

impl CopiedSnapshot {
    fn new(kind: Kind) -> CopiedSnapshot {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshot.redb");
        let mut release = open(&Runtime::new(Allocation::OnDemand).unwrap());
        let id = release.manifest.snapshot.id.as_str();
        let original = releases().join("property").join(id).join("snapshot.redb");
        fs::copy(original, &path).unwrap();
        release.snapshot = Arc::new(Snapshot::open(&path).unwrap());
        let listener = Arc::new(Listener::of(WantedEvidence::Answers));
        let mut context = context_of(Arc::new(release), kind);
        context.observer = Some(listener.clone());
        CopiedSnapshot {
            _folder: folder,
            path,
            context,
            listener,
        }
    }

    /// Runs a row, and returns it with the error that its result states first.
    fn run(&self, row: &Value) -> (RenderedRow, Value) {
        let row = parse(&row.to_string(), &self.context);
        let id = Uuid::from_u128(2);
        let rendered = value(&row, &self.context, &AddressLookups::none(), id, None);
        let result: Value = serde_json::from_slice(&rendered.json).unwrap();
        (rendered, result["errors"][0].clone())
    }

    /// Empties the copy. The pages that a row has read are kept in memory.
    fn empty(&self) {
        let file = fs::OpenOptions::new().write(true).open(&self.path);
        file.unwrap().set_len(0).unwrap();
    }
}

/// Returns the house's request without a part that reads the snapshot once the release has run.
fn without_context() -> Value {
    demo::house_with(json!({"include_context_metrics": false}))
}

#[test]
fn a_row_whose_context_cannot_be_read_has_no_receipt_and_may_be_tried_again() {
    let copied = CopiedSnapshot::new(Kind::Existing);
    let (row, _) = copied.run(&without_context());
    assert_eq!(row.problem, None);
    copied.empty();
    let (row, error) = copied.run(&demo::house());
    assert!(row.refundable, "{:?}", row.problem);
    assert_eq!(error["code"], "internal");
    let heard = copied.listener.heard.lock().unwrap();
    assert_eq!(*heard, ["ran", "recorded", "ran"]);
}

#[test]
fn the_log_says_which_lookup_in_the_snapshot_failed() {
    let site = json!({
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "QA1 1AF",
            "site_latitude": 55.60702,
            "site_longitude": -2.21319,
            "type": "S",
            "subtype": "house_semi_detached",
            "title_tenure": "freehold"
        },
        "occupancy": {"status": "vacant"},
        "size": {"floor_area_m2": 104, "bedrooms": 3, "living_rooms": 2, "storeys": 2}
    });
    let stored = demo::house_with(json!({"use_stored_data": true}));
    for (kind, read_before, row, lookup) in [
        (Kind::Existing, None, demo::house(), "the address"),
        (
            Kind::Existing,
            Some(without_context()),
            stored,
            "the last sale",
        ),
        (Kind::Development, None, site, "the site"),
    ] {
        let copied = CopiedSnapshot::new(kind);
        if let Some(row) = read_before {
            assert_eq!(copied.run(&row).0.problem, None);
        }
        copied.empty();
        let (row, error) = copied.run(&row);
        assert!(row.refundable);
        assert_eq!(error["code"], "identity_provider_unavailable");
        let problem = row.problem.unwrap();
        let begin = format!("lookup of {lookup} in the snapshot failed: ");
        assert!(problem.starts_with(&begin), "{problem}");
    }
}
