//! Rows that end without a value: referred by the host, failed by the release, or out of time.

use super::{Listener, context, context_of, demo, open, releases, result};
use domesday_contract::v3::request::Kind;
use domesday_engine::config::Allocation;
use domesday_engine::outcome::RowFailure;
use domesday_engine::{Limits, Runtime};
use domesday_package::{Country, PropertyType};
use domesday_valuation::observer::WantedEvidence;
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{RenderedRow, RequestContext, parse, value};
use domesday_valuation::profile::engine_profile;
use serde_json::Value;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Returns the context of a release with other limits. The runtime drives the clock of its rows.
fn limit(change: impl FnOnce(&mut Limits)) -> (Runtime, RequestContext) {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let mut release = open(&runtime);
    let mut limits = release.release.limits();
    change(&mut limits);
    let folder = releases().join("valuation").join(demo::RELEASE);
    let component = fs::read(folder.join("component.wasm")).unwrap();
    let profile = engine_profile(release.manifest.profile);
    release.release = runtime.admit_as(profile, &component, limits).unwrap();
    (runtime, context_of(Arc::new(release), Kind::Existing))
}

/// Runs the house, and returns its row with the result as JSON.
fn run(context: &RequestContext, time: Option<Duration>) -> (RenderedRow, Value) {
    let row = parse(&demo::house().to_string(), context);
    let deadline = time.map(Deadline::after);
    let id = Uuid::from_u128(2);
    let rendered = value(&row, context, &AddressLookups::none(), id, deadline);
    let result = serde_json::from_slice(&rendered.json).unwrap();
    (rendered, result)
}

#[test]
fn a_home_that_the_manifest_excludes_is_referred_without_running_the_release() {
    let mut release = open(&Runtime::new(Allocation::OnDemand).unwrap());
    let manifest = &mut release.manifest;
    manifest
        .property_types
        .retain(|it| *it != PropertyType::Flat);
    manifest.countries.retain(|it| *it != Country::Wales);
    let listener = Arc::new(Listener::of(WantedEvidence::Answers));
    let mut context = context_of(Arc::new(release), Kind::Existing);
    context.observer = Some(listener.clone());
    for (row, code) in [
        (demo::flat(), "outside_property_types"),
        (demo::welsh(), "outside_countries"),
    ] {
        let result = result(&row, &context);
        assert_eq!(result["status"], "referred");
        assert_eq!(result["referral"]["code"], code);
    }
    assert_eq!(result(&demo::house(), &context)["status"], "valued");
    let heard = listener.heard.lock().unwrap();
    assert_eq!(*heard, ["referred", "referred", "ran", "recorded"]);
}

#[test]
fn a_failure_of_the_release_is_final_and_has_its_reason_for_the_log() {
    let (_runtime, limited) = limit(|limits| limits.fuel_per_row = 1_000);
    let (row, result) = run(&limited, None);
    assert_eq!(result["status"], "valuation_failed");
    assert_eq!(result["errors"][0]["code"], "release_failed");
    assert_eq!(result["errors"][0]["retryable"], false);
    assert!(!row.refundable);
    let failure = RowFailure::FuelSpent { fuel: 1_000 };
    assert_eq!(row.problem, Some(failure.to_string()));

    let (row, result) = run(&context(Kind::Existing), None);
    assert_eq!(result["status"], "valued");
    assert_eq!(row.problem, None);
}

/// A tick of the clock ends a row whose time is up, so a fast row may escape it.
#[test]
fn a_row_out_of_time_is_refunded_and_says_whose_time_it_was() {
    let (_runtime, limited) = limit(|limits| limits.deadline = Duration::from_micros(500));
    let own_time = Some(RowFailure::OutOfTime.to_string());
    for (time, code, problem) in [
        (Duration::from_secs(60), "internal", own_time),
        (
            Duration::from_micros(400),
            "processing_deadline_exceeded",
            None,
        ),
    ] {
        let began = Instant::now();
        let (row, result) = loop {
            let (row, result) = run(&limited, Some(time));
            if result["status"] != "valued" {
                break (row, result);
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{code}");
        };
        assert_eq!(result["status"], "valuation_failed");
        assert_eq!(result["errors"][0]["code"], code);
        assert!(row.refundable);
        assert_eq!(row.problem, problem);
    }
}
