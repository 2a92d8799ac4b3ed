//! Rows through the whole pipeline, against the demo's release: what each comes to, to the byte.

mod early_ends;
mod pieces;
mod provided_addresses;
mod unreadable_snapshot;
mod without_own_sales;

use super::demo;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use domesday_address_lookup::Provider;
use domesday_contract::v3::options::{Depth, Settings};
use domesday_contract::v3::request::Kind;
use domesday_contract::v3::result::{RESPONSE_MAX, Referral, rejection_size};
use domesday_engine::Runtime;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::Exchange;
use domesday_engine::outcome::Row;
use domesday_package::Trust;
use domesday_valuation::observer::{ObservedRow, RowObserver, WantedEvidence};
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::batch::BatchResults;
use domesday_valuation::pipeline::deadline::Deadline;
use domesday_valuation::pipeline::row::{ParsedRow, RequestContext, parse, value};
use domesday_valuation::pipeline::{batch, response_size};
use domesday_valuation::release_store::{OpenRelease, open_release};
use domesday_valuation::worker_pool::WorkerPool;
use serde_json::{Value, json};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use uuid::Uuid;

fn releases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../releases")
}

/// Opens the demo's release.
fn open(runtime: &Runtime) -> OpenRelease {
    let snapshots = &mut BTreeMap::new();
    let trust = Trust::Unsigned;
    open_release(&releases(), demo::RELEASE, &trust, runtime, snapshots).unwrap()
}

fn release() -> Arc<OpenRelease> {
    static RELEASE: OnceLock<Arc<OpenRelease>> = OnceLock::new();
    let opened = || Arc::new(open(&Runtime::new(Allocation::OnDemand).unwrap()));
    RELEASE.get_or_init(opened).clone()
}

fn context(kind: Kind) -> RequestContext {
    context_of(release(), kind)
}

fn context_of(release: Arc<OpenRelease>, kind: Kind) -> RequestContext {
    RequestContext {
        release,
        kind,
        depth: Depth::Standard,
        settings: Settings {
            include_comparables: Some(true),
            comparables_limit: Some(2),
            include_context_metrics: Some(true),
            use_stored_data: None,
        },
        stored_data: true,
        execution_id: Uuid::from_u128(1),
        observer: None,
    }
}

fn result(row: &Value, context: &RequestContext) -> Value {
    let row = parse(&row.to_string(), context);
    let id = Uuid::from_u128(2);
    let rendered = value(&row, context, &AddressLookups::none(), id, None);
    assert!(!rendered.refundable, "{:?}", rendered.problem);
    serde_json::from_slice(&rendered.json).unwrap()
}

fn asynchronous() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Returns the valuation id of the first row of a batch.
fn first() -> Uuid {
    batch::first(Uuid::from_u128(7 << 76))
}

/// Runs a batch for `time` at most, and returns it with its results as JSON.
fn run_batch(
    workers: &WorkerPool,
    provider: Option<&Arc<Provider>>,
    context: &Arc<RequestContext>,
    rows: Vec<ParsedRow>,
    time: Duration,
) -> (BatchResults, Vec<Value>) {
    let deadline = Deadline::after(time);
    let all = batch::value(workers, provider, context, rows, first(), deadline);
    let done = asynchronous().block_on(all);
    let response = done.response(&context.release.id).unwrap();
    let mut response: Value = serde_json::from_slice(&response).unwrap();
    let results = serde_json::from_value(response["results"].take());
    (done, results.unwrap())
}

fn with(mut row: Value, section: &str, field: &str, value: Value) -> Value {
    row[section][field] = value;
    row
}

/// Returns a house whose request states as little as it may.
fn sparse() -> Value {
    let mut house = demo::house();
    house["size"] = json!({"bedrooms": 3});
    house
}

fn rows() -> Vec<(&'static str, Value)> {
    let leasehold = with(
        demo::house(),
        "property",
        "title_tenure",
        "leasehold".into(),
    );
    let mut described = demo::house();
    described["request_reference"] = "loan 7".into();
    described["fabric"] = json!({"wall_type": "cavity", "glazing": "double"});
    described["energy"] = json!({"rating": "C", "efficiency_score": 70});
    let mut by_uprn = sparse();
    by_uprn["property"] = json!({
        "valuation_date": "2026-10-15",
        "uprn": demo::HOUSE,
        "postcode": demo::POSTCODE,
        "building_number_or_name": "15",
        "street": "Badger Yard Gardens",
        "type": "S",
        "subtype": "house_semi_detached",
        "title_tenure": "freehold"
    });
    by_uprn["options"] = json!({"use_stored_data": true});
    let mut stored = sparse();
    stored["options"] = json!({"use_stored_data": true});
    let mut core = demo::house();
    core["options"] = json!({"include_comparables": false, "include_context_metrics": false});
    vec![
        ("house", demo::house()),
        ("described", described),
        ("by_uprn", by_uprn),
        ("sparse", sparse()),
        ("stored", stored),
        ("core", core),
        ("flat", demo::flat()),
        ("leasehold_house_without_lease", leasehold),
        ("divided", demo::divided()),
        (
            "unknown",
            demo::at("1000", "Badger Yard Gardens", "QA1 1AF"),
        ),
        ("shop", demo::shop()),
        ("scottish", demo::scottish()),
        ("uncertified", demo::uncertified()),
        ("welsh", demo::welsh()),
        (
            "early",
            with(
                demo::house(),
                "property",
                "valuation_date",
                "2020-01-01".into(),
            ),
        ),
        (
            "castle",
            with(demo::house(), "size", "floor_area_m2", 1_900.into()),
        ),
    ]
}

#[test]
fn each_row_of_an_existing_property_comes_to_its_result() {
    let context = context(Kind::Existing);
    let results: BTreeMap<_, _> = rows()
        .into_iter()
        .map(|(name, row)| (name, result(&row, &context)))
        .collect();
    insta::assert_json_snapshot!(results);
}

/// Returns the request for a proposed house at this site.
fn proposed_home(latitude: f64, longitude: f64) -> Value {
    let mut house = demo::house();
    house["property"] = json!({
        "valuation_date": "2026-10-15",
        "postcode": "qa11af",
        "site_latitude": latitude,
        "site_longitude": longitude,
        "type": "S",
        "subtype": "house_semi_detached",
        "title_tenure": "freehold"
    });
    house["occupancy"]["status"] = "vacant".into();
    house
}

#[test]
fn each_row_of_a_proposed_property_comes_to_its_result() {
    let house = proposed_home(55.60702, -2.21319);
    let elsewhere = proposed_home(51.5, -2.21319);
    let context = context(Kind::Development);
    let results: BTreeMap<_, _> = [("house", house), ("elsewhere", elsewhere)]
        .into_iter()
        .map(|(name, row)| (name, result(&row, &context)))
        .collect();
    insta::assert_json_snapshot!(results);
}

#[test]
fn a_site_must_lie_near_its_postcode_and_within_the_service() {
    let context = context(Kind::Development);
    for (latitude, longitude, code) in [
        // 20 kilometres east of the postcode, and north of England.
        (55.60702, -1.89, "invalid_value"),
        (57.0, -2.21319, "outside_geography"),
    ] {
        let result = result(&proposed_home(latitude, longitude), &context);
        let error = &result["errors"][0];
        assert_eq!(error["code"], code, "{latitude} {longitude}");
        assert_eq!(error["field"], "/property/site_latitude");
    }
}

#[test]
fn an_input_that_does_not_apply_is_named_as_ignored() {
    let flat = with(demo::flat(), "size", "storeys", 2.into());
    let result = result(&flat, &context(Kind::Existing));
    assert_eq!(
        result["input_resolution"]["ignored_inputs"],
        json!([{"field": "/size/storeys", "reason": "inapplicable_to_flats"}])
    );
}

#[test]
fn stored_data_needs_its_scope() {
    let row = demo::house_with(json!({"use_stored_data": true}));
    let mut context = context(Kind::Existing);
    assert!(parse(&row.to_string(), &context).is_billable());
    context.stored_data = false;
    let refused = parse(&row.to_string(), &context);
    assert!(!refused.is_billable());
    assert_eq!(refused.request().err().unwrap().len(), 1);
}

#[test]
fn a_row_whose_address_is_open_is_looked_up_by_its_postcode() {
    let context = context(Kind::Existing);
    let postcode = |row: Value| {
        let row = parse(&row.to_string(), &context);
        row.postcode_to_look_up(&context).map(|it| it.to_string())
    };
    let at = |number: &str, postcode: &str| demo::at(number, "Badger Yard Gardens", postcode);
    for (row, expected) in [
        (demo::house(), None),
        (at("1000", "QA1 1AF"), Some("QA1 1AF")),
        // The snapshot does not know the postcode, or knows the address as premises.
        (at("1", "QA1 9ZZ"), Some("QA1 9ZZ")),
        (demo::shop(), Some("QA1 2AR")),
        // The snapshot decides these.
        (demo::divided(), None),
        (demo::scottish(), None),
    ] {
        assert_eq!(postcode(row).as_deref(), expected);
    }
}

#[test]
fn a_batch_gives_every_row_its_result_in_order() {
    let workers = WorkerPool::new(2, 64).unwrap();
    let context = Arc::new(context(Kind::Existing));
    let rows = || -> Vec<_> {
        let all = rows().into_iter();
        all.map(|(_, row)| parse(&row.to_string(), &context))
            .collect()
    };
    let run = |time| run_batch(&workers, None, &context, rows(), time);
    let (done, results) = run(Duration::from_secs(60));
    assert_eq!(done.refundable, 0);
    assert_eq!(done.problem, None);
    for (number, (result, row)) in results.iter().zip(rows()).enumerate() {
        let id = batch::nth(first(), number);
        let alone = value(&row, &context, &AddressLookups::none(), id, None);
        assert_eq!(done.sizes[number], alone.json.len());
        let alone: Value = serde_json::from_slice(&alone.json).unwrap();
        assert_eq!(*result, alone);
    }
    assert_eq!(done.sizes.len(), results.len());
    // After the deadline, rows with errors have them, and the others are given back.
    let (done, late) = run(Duration::ZERO);
    let billable = rows().iter().filter(|row| row.is_billable()).count();
    assert_eq!(done.refundable as usize, billable);
    assert_eq!(late.len(), results.len());
}

#[test]
fn the_bound_of_a_response_counts_each_result_and_its_comma() {
    let context = context(Kind::Existing);
    let rows = |count: usize| -> Vec<_> { (0..count).map(|_| parse("7", &context)).collect() };
    let one = rows(1);
    let errors = one[0].request().err().unwrap();
    let of_one = rejection_size(&context.release.id, None, errors) + 1;
    let bytes = |count: usize| -> usize {
        let error = response_size::check_response_size(&rows(count), &context).unwrap_err();
        let mut words = error.message.split(' ');
        words.find_map(|word| word.parse().ok()).unwrap()
    };
    let too_many = RESPONSE_MAX / of_one + 1;
    assert_eq!(bytes(too_many + 1) - bytes(too_many), of_one);
}

#[test]
fn a_response_is_refused_for_its_size_and_not_for_a_bound_of_it() {
    let context = context(Kind::Existing);
    let reference = "a".repeat(200);
    let mut house = demo::house();
    house["request_reference"] = reference.as_str().into();
    let faulty = parse("{}", &context);
    let errors = faulty.request().err().unwrap();
    let of_faulty = rejection_size(&context.release.id, None, errors) + 1;
    let of_sound = rejection_size(&context.release.id, Some(&reference), &[]) + 1;
    // The envelope counts as 400 bytes. A character of the reference counts as six in the bound.
    let faults = (RESPONSE_MAX - 400) / of_faulty - 2;
    let fitting = (RESPONSE_MAX - 400 - faults * of_faulty) / of_sound;
    assert!(fitting > 1);
    let check = |sound: usize| {
        let faulty = (0..faults).map(|_| parse("{}", &context));
        let sound = (0..sound).map(|_| parse(&house.to_string(), &context));
        let rows: Vec<_> = faulty.chain(sound).collect();
        response_size::check_response_size(&rows, &context)
    };
    assert_eq!(check(fitting), Ok(()));
    let refusal = check(fitting + 1).unwrap_err();
    let most = format!("At most the first {} rows fit", faults + fitting);
    assert!(refusal.message.contains(&most), "{}", refusal.message);
}

/// Writes down what it hears.
struct Listener {
    wanted: WantedEvidence,
    heard: Mutex<Vec<&'static str>>,
}

impl Listener {
    fn of(wanted: WantedEvidence) -> Listener {
        Listener {
            wanted,
            heard: Mutex::default(),
        }
    }
}

impl RowObserver for Listener {
    fn wanted_evidence(&self, _: Uuid) -> Option<WantedEvidence> {
        Some(self.wanted)
    }

    fn observe_referral(&self, _: &ObservedRow<'_>, _: &Referral) {
        self.heard.lock().unwrap().push("referred");
    }

    fn observe_run(&self, _: &ObservedRow<'_>, _: &Row, _: Duration) {
        self.heard.lock().unwrap().push("ran");
    }

    fn record_result(&self, _: &ObservedRow<'_>, row: &Row, answers: Option<Vec<Exchange>>) {
        assert!(row.outcome.is_ok());
        let is_whole = self.wanted == WantedEvidence::Answers;
        assert_eq!(answers.is_some_and(|answers| !answers.is_empty()), is_whole);
        assert_eq!(row.digests.is_empty(), is_whole);
        self.heard.lock().unwrap().push("recorded");
    }
}

#[test]
fn an_observer_hears_of_each_row_that_is_resolved() {
    for wanted in [WantedEvidence::Answers, WantedEvidence::Digests] {
        let listener = Arc::new(Listener::of(wanted));
        let mut context = context(Kind::Existing);
        context.observer = Some(listener.clone());
        for (row, expected) in [
            (demo::house(), vec!["ran", "recorded"]),
            (demo::scottish(), vec![]),
        ] {
            result(&row, &context);
            assert_eq!(
                std::mem::take(&mut *listener.heard.lock().unwrap()),
                expected
            );
        }
    }
}

/// Panics in the row of one valuation.
struct PanickingObserver(Uuid);

impl RowObserver for PanickingObserver {
    fn wanted_evidence(&self, _: Uuid) -> Option<WantedEvidence> {
        None
    }

    fn observe_referral(&self, _: &ObservedRow<'_>, _: &Referral) {}

    fn observe_run(&self, row: &ObservedRow<'_>, _: &Row, _: Duration) {
        assert_ne!(row.valuation_id, self.0, "on purpose");
    }

    fn record_result(&self, _: &ObservedRow<'_>, _: &Row, _: Option<Vec<Exchange>>) {}
}

/// Panics when a worker logs a warning, as it does of a row that panicked.
struct PanickingLog;

impl Subscriber for PanickingLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, _: &Event<'_>) {
        let thread = std::thread::current();
        let worker = thread
            .name()
            .is_some_and(|name| name.starts_with("worker-"));
        assert!(!worker, "on purpose");
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn rows_lost_to_a_panic_outside_of_a_row_are_internal_errors() {
    tracing::subscriber::set_global_default(PanickingLog).unwrap();
    let workers = WorkerPool::new(1, 64).unwrap();
    let mut context = context(Kind::Existing);
    context.observer = Some(Arc::new(PanickingObserver(first())));
    let context = Arc::new(context);
    let rows = [demo::house(), demo::house(), json!(7)];
    let rows = rows.map(|row| parse(&row.to_string(), &context)).into();
    let time = Duration::from_secs(60);
    let (done, results) = run_batch(&workers, None, &context, rows, time);
    for result in &results[..2] {
        assert_eq!(result["status"], "valuation_failed");
        assert_eq!(result["errors"][0]["code"], "internal");
        assert_eq!(result["errors"][0]["retryable"], true);
    }
    assert_eq!(results[2]["status"], "rejected");
    assert_eq!(done.refundable, 2);
    assert_eq!(done.problem.as_deref(), Some("the worker panicked"));
}
