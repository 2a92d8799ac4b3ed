//! Addresses that the snapshot does not hold and the address provider lists.

use super::{asynchronous, context, demo, release, run_batch};
use crate::tests::places::{Home, Places, home};
use domesday_address_lookup::{Endpoint, Limits, LookupObserver, Provider};
use domesday_contract::v3::request::{Kind, Request};
use domesday_contract::vocabulary::Vocabulary;
use domesday_property::{PostcodeLocation, Property};
use domesday_registers::Postcode;
use domesday_registers::records::Country;
use domesday_valuation::pipeline::address_lookup::AddressLookups;
use domesday_valuation::pipeline::resolve::{Identity, ResolveError, identity};
use domesday_valuation::pipeline::row::parse;
use domesday_valuation::worker_pool::WorkerPool;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const STREET: &str = "Badger Yard Gardens";
/// A postcode of the demo's district that its snapshot does not know.
const NEW: &str = "QA1 9ZZ";
/// A postcode of Wales.
const WELSH: &str = "VR1 1AA";
/// A UPRN that the snapshot does not hold.
const UPRN: u64 = 990_000_000_001;

/// Drops what it hears.
struct Deaf;

impl LookupObserver for Deaf {}

fn client(places: &Places) -> Arc<Provider> {
    let endpoint = Endpoint::parse(&places.url()).unwrap();
    let now = || SystemTime::UNIX_EPOCH;
    let client = Provider::new(endpoint, None, Limits::default(), Arc::new(Deaf), 1, now);
    Arc::new(client.unwrap())
}

fn postcode(text: &str) -> Postcode {
    Postcode::parse(text).unwrap()
}

/// Returns where the snapshot has a postcode.
fn location(text: &str) -> PostcodeLocation {
    let found = release().snapshot.postcode(&postcode(text));
    found.unwrap().unwrap()
}

/// Resolves the address of a request at a provider that lists these homes.
fn resolve(request: &Value, homes: &[Home]) -> Result<Identity, ResolveError> {
    let places = Places::of(homes);
    let property = Request::read(request.to_string().as_bytes())
        .unwrap()
        .property;
    let postcodes = BTreeSet::from([postcode(property.postcode.as_str())]);
    let lookups = Arc::new(AddressLookups::new(Some(client(&places)), postcodes));
    asynchronous().block_on(lookups.clone().look_up_all());
    identity(&release().snapshot, &property, &lookups)
}

#[test]
fn a_home_lies_at_the_providers_point_where_that_is_near_its_postcode() {
    let around = location(demo::POSTCODE);
    let request = demo::at("4711", STREET, demo::POSTCODE);
    for (east, north, is_near) in [
        (30, 40, true),
        (-9_000, 0, true),
        (20_000, 0, false),
        (0, 20_000, false),
    ] {
        let point = (around.easting + east, around.northing + north);
        let listed = home(UPRN, demo::POSTCODE, "4711", STREET);
        let listed = listed.at(point.0.into(), point.1.into());
        let found = resolve(&request, &[listed]).unwrap();
        assert_eq!(found.property.uprn, UPRN);
        assert_eq!(found.property.place, is_near.then_some(point));
        assert_eq!(found.postcode, Some(around));
    }
}

#[test]
fn a_home_that_the_snapshot_has_elsewhere_gets_the_providers_address() {
    let uprn: u64 = demo::HOUSE.parse().unwrap();
    let stored = release().snapshot.property(uprn).unwrap().unwrap();
    let around = location(WELSH);
    let point = (around.easting + 30, around.northing - 40);
    let listed = home(uprn, WELSH, "4711", STREET).at(point.0.into(), point.1.into());
    let found = resolve(&demo::at("4711", STREET, WELSH), &[listed]).unwrap();
    let expected = Property {
        place: Some(point),
        postcode: postcode(WELSH),
        country: Country::Wales,
        ..stored
    };
    assert_eq!(found.property, expected);
}

#[test]
fn a_home_in_a_new_postcode_needs_a_point_and_a_country_of_the_service() {
    let listed = || home(UPRN, NEW, "1", STREET);
    let placed = || listed().at(386_600.0, 634_900.0);
    let unknown = ("address_not_found", "/property/postcode");
    for (homes, expected) in [
        (vec![placed()], Ok(Some((386_600, 634_900)))),
        (vec![listed()], Err(unknown)),
        (
            vec![listed().with(json!({"COUNTRY_CODE": ""}))],
            Err(unknown),
        ),
        (
            vec![listed().with(json!({"COUNTRY_CODE": "S"}))],
            Err(unknown),
        ),
        (Vec::new(), Err(unknown)),
        (
            vec![placed().with(json!({"CLASSIFICATION_CODE": "CR08"}))],
            Err(("not_residential", "/property")),
        ),
        (
            vec![placed().with(json!({"COUNTRY_CODE": "S"}))],
            Err(("outside_geography", "/property/postcode")),
        ),
    ] {
        let found = resolve(&demo::at("1", STREET, NEW), &homes);
        let found = found.map(|found| found.property.place);
        let found = found.map_err(|error| match error {
            ResolveError::Rejected(error) => (error.code.code(), error.field),
            other => panic!("{other:?}"),
        });
        let expected = expected.map_err(|(code, field)| (code, Some(Cow::Borrowed(field))));
        assert_eq!(found, expected, "{homes:?}");
    }
}

#[test]
fn a_batch_looks_up_each_postcode_that_the_snapshot_does_not_resolve_once() {
    let places = Places::of(&[home(UPRN, demo::POSTCODE, "4711", STREET)]);
    let workers = WorkerPool::new(2, 64).unwrap();
    let context = Arc::new(context(Kind::Existing));
    let rows = [
        demo::house(),
        demo::at("4711", STREET, demo::POSTCODE),
        json!(7),
        demo::at("4799", STREET, demo::POSTCODE),
    ];
    let rows = rows.map(|row| parse(&row.to_string(), &context)).into();
    let provider = client(&places);
    let time = Duration::from_secs(60);
    let (done, results) = run_batch(&workers, Some(&provider), &context, rows, time);
    let source = |at: usize| &results[at]["property"]["identity_source"];
    assert_eq!(*source(0), "verified_identity_store");
    assert_eq!(*source(1), "identity_provider");
    assert_eq!(results[1]["property"]["uprn"], UPRN.to_string());
    assert_eq!(results[2]["status"], "rejected");
    assert_eq!(results[3]["errors"][0]["code"], "address_not_found");
    assert_eq!(done.refundable, 0);
    let questions = places.requests();
    assert_eq!(questions.len(), 1, "{questions:?}");
}
