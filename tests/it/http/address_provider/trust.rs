//! The effect of a provider's answers on a valuation.

use crate::address_provider::{VALUE, property, service};
use crate::common::demo::{HOUSE, NEIGHBOUR, at, divided, house, house_with, scottish, shop};
use crate::common::places::{Home, Places, home};
use crate::common::server::start;
use serde_json::{Value, json};

/// A street of the demo's country that exists, and numbers on it that its snapshot does not know.
const STREET: &str = "Badger Yard Gardens";
const POSTCODE: &str = "QA1 1AF";
/// A postcode of the demo's district that its snapshot does not know.
const NEW: &str = "QA1 9ZZ";

fn flat(uprn: u64, unit: &str, number: &str) -> Home {
    home(uprn, POSTCODE, number, STREET).with(json!({
        "SUB_BUILDING_NAME": unit, "CLASSIFICATION_CODE": "RD06"
    }))
}

fn with_uprn(mut request: Value, uprn: &str) -> Value {
    request["property"]["uprn"] = uprn.into();
    request
}

#[test]
fn a_home_that_the_snapshot_does_not_know_is_valued() {
    let places = Places::of(&[home(990_000_000_001, POSTCODE, "4711", STREET)]);
    let (_server, client) = service(&places);
    let result = client.post(VALUE, &at("4711", STREET, POSTCODE)).ok();
    assert_eq!(
        property(&result),
        &json!({"uprn": "990000000001", "postcode": POSTCODE, "identity_source": "identity_provider"})
    );
    let requests = places.requests();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0]
            .target
            .starts_with("/search/places/v1/postcode?")
    );
    assert_eq!(requests[0].postcode, POSTCODE);
    assert_eq!(requests[0].key, None);
}

#[test]
fn a_stored_identity_needs_no_provider() {
    let places = Places::of(&[]);
    let (_server, client) = service(&places);
    let result = client.post(VALUE, &with_uprn(house(), HOUSE)).ok();
    assert_eq!(
        property(&result)["identity_source"],
        "verified_identity_store"
    );
    for (request, code) in [
        (with_uprn(house(), NEIGHBOUR), "uprn_address_mismatch"),
        (divided(), "address_ambiguous"),
        (scottish(), "outside_geography"),
    ] {
        assert_eq!(client.post(VALUE, &request).refusal().1, code);
    }
    assert!(places.requests().is_empty(), "{:?}", places.requests());
}

/// Returns the request for the house at another number of the street.
fn here(building: &str) -> Value {
    at(building, STREET, POSTCODE)
}

/// Returns the homes that a provider lists in one postcode, with one of another mixed in.
fn listed_homes() -> Vec<Home> {
    let listed = |uprn: u64, number: &str| home(uprn, POSTCODE, number, STREET);
    let mut homes = vec![
        listed(990_000_000_001, "4711"),
        // Listed by both, which is one home.
        listed(990_000_000_001, "4711").in_lpi(),
        flat(990_000_000_011, "FLAT 1", "4712"),
        flat(990_000_000_012, "FLAT 2", "4712").in_lpi(),
        listed(990_000_000_013, "4712").with(json!({"CLASSIFICATION_CODE": "PP"})),
        listed(990_000_000_020, "4720").with(json!({"CLASSIFICATION_CODE": "CR08"})),
        // Somebody else's, and none in force.
        home(990_000_000_040, "QA1 1AG", "4740", STREET),
        listed(990_000_000_041, "4741").with(json!({"LOGICAL_STATUS_CODE": "8"})),
        listed(990_000_000_050, "4750").with(json!({"COUNTRY_CODE": "W"})),
        listed(990_000_000_031, "4731"),
        listed(990_000_000_032, "4731"),
    ];
    for home in &mut homes {
        home.postcode = POSTCODE.to_owned();
    }
    homes
}

/// The UPRN of the home that is valued, or code and field of the refusal.
type ExpectedAnswer = Result<&'static str, (&'static str, &'static str)>;

const UPRN_MISMATCH: ExpectedAnswer = Err(("uprn_address_mismatch", "/property/uprn"));
const UNIT_MISSING: ExpectedAnswer =
    Err(("address_ambiguous", "/property/building_number_or_name"));
const AMBIGUOUS: ExpectedAnswer = Err(("address_ambiguous", "/property"));
const NOT_RESIDENTIAL: ExpectedAnswer = Err(("not_residential", "/property"));
const NOT_FOUND: ExpectedAnswer = Err(("address_not_found", "/property"));
const POSTCODE_NOT_FOUND: ExpectedAnswer = Err(("address_not_found", "/property/postcode"));

/// Returns addresses of the provider and of the store, each with its expected answer.
fn addresses() -> Vec<(&'static str, Value, ExpectedAnswer)> {
    let first = |uprn: &str| with_uprn(here("4711"), uprn);
    let of_two = |uprn: &str| with_uprn(here("4731"), uprn);
    vec![
        ("exact", here("4711"), Ok("990000000001")),
        ("exact", house(), Ok(HOUSE)),
        ("its own UPRN", first("990000000001"), Ok("990000000001")),
        ("its own UPRN", with_uprn(house(), HOUSE), Ok(HOUSE)),
        ("another UPRN", first(HOUSE), UPRN_MISMATCH),
        (
            "another UPRN",
            with_uprn(house(), "990000000001"),
            UPRN_MISMATCH,
        ),
        ("a unit", here("Flat 2, 4712"), Ok("990000000012")),
        ("a unit", here("4712 flat 1"), Ok("990000000011")),
        ("no unit", here("4712"), UNIT_MISSING),
        ("no unit", divided(), UNIT_MISSING),
        ("no home", here("4720"), NOT_RESIDENTIAL),
        ("no home", shop(), NOT_RESIDENTIAL),
        ("two homes", here("4731"), AMBIGUOUS),
        ("one of two", of_two("990000000032"), Ok("990000000032")),
        ("neither of two", of_two("990000000001"), UPRN_MISMATCH),
        ("nobody's", here("4799"), NOT_FOUND),
        ("another postcode's", here("4740"), NOT_FOUND),
        ("historic", here("4741"), NOT_FOUND),
        (
            "nobody's postcode",
            at("1", STREET, NEW),
            POSTCODE_NOT_FOUND,
        ),
    ]
}

/// The provider and the store give the same result for each address of one table.
#[test]
fn an_address_matches_alike_in_the_provider_and_in_the_snapshot() {
    let places = Places::of(&listed_homes());
    let (_server, client) = service(&places);
    for (what, request, expected) in addresses() {
        let answer = client.post(VALUE, &request);
        match expected {
            Ok(uprn) => assert_eq!(property(&answer.ok())["uprn"], uprn, "{what}: {request}"),
            Err((code, field)) => assert_eq!(
                answer.refusal(),
                (422, code.to_owned(), Some(field.to_owned())),
                "{what}: {request}"
            ),
        }
    }
    // The service queries a postcode once, however many of its addresses are; the shop's is
    // another.
    let postcodes: Vec<_> = places.requests().into_iter().map(|q| q.postcode).collect();
    assert_eq!(postcodes, [POSTCODE, "QA1 2AR", NEW]);
}

#[test]
fn refusals_are_the_same_for_addresses_of_the_provider_and_of_the_snapshot() {
    let places = Places::of(&[
        flat(990_000_000_011, "FLAT 1", "4712"),
        home(990_000_000_020, POSTCODE, "4720", STREET).with(json!({"CLASSIFICATION_CODE": "CR"})),
    ]);
    let (_server, client) = service(&places);
    for (of_provider, of_store) in [(here("4712"), divided()), (here("4720"), shop())] {
        let message = |request| client.post(VALUE, request).json()["error"]["message"].clone();
        assert_eq!(message(&of_provider), message(&of_store));
    }
}

#[test]
fn the_providers_point_places_a_home_and_a_wild_one_does_not() {
    let near = |number: &str, east: f64, north: f64| {
        home(
            990_000_000_000 + number.parse::<u64>().unwrap(),
            POSTCODE,
            number,
            STREET,
        )
        .at(east, north)
    };
    let (east, north) = NEAR;
    let places = Places::of(&[
        home(990_000_004_700, POSTCODE, "4700", STREET),
        near("4702", east + 400.4, north),
        near("4703", east, north + 90_000.0),
        near("4704", east + 400.4, north).with(json!({"RPC": "5"})),
    ]);
    let (_server, client) = service(&places);
    let distances = |number: &str| {
        let mut request = house_with(json!({"include_comparables": true, "comparables_limit": 10}));
        request["property"]["building_number_or_name"] = number.into();
        let result = client.post(VALUE, &request).ok();
        property(&result);
        let comparables = result["comparables"].as_array().unwrap().clone();
        comparables
            .iter()
            .map(|comparable| {
                (
                    comparable["postcode"].clone(),
                    comparable["distance_m"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    let centre = distances("4700");
    assert!(!centre.is_empty());
    assert_ne!(distances("4702"), centre);
    assert_eq!(
        distances("4703"),
        centre,
        "ninety kilometres off its postcode"
    );
    assert_eq!(distances("4704"), centre, "only a postcode's point");
}

/// A house of the postcode, National Grid metres.
const NEAR: (f64, f64) = (386_567.0, 634_827.0);

#[test]
fn a_postcode_newer_than_the_snapshot_is_placed_by_the_provider_alone() {
    let (east, north) = NEAR;
    let new = |uprn, number: &str| home(uprn, NEW, number, "Newt Yard");
    let places = Places::of(&[
        new(990_000_000_061, "1").at(east, north),
        new(990_000_000_062, "2"),
        new(990_000_000_063, "3")
            .at(east, north)
            .with(json!({"COUNTRY_CODE": "S"})),
        new(990_000_000_064, "4")
            .at(east, north)
            .with(json!({"COUNTRY_CODE": ""})),
        new(990_000_000_065, "5").with(json!({"COUNTRY_CODE": ""})),
    ]);
    let (_server, client) = service(&places);
    let ask = |number: &str| {
        let mut request = at(number, "Newt Yard", NEW);
        request["options"] = json!({"include_context_metrics": true});
        client.post(VALUE, &request)
    };
    let result = ask("1").ok();
    let found =
        json!({"uprn": "990000000061", "postcode": NEW, "identity_source": "identity_provider"});
    assert_eq!(result["property"], found, "{result}");
    assert_eq!(result["status"], "valued", "{result}");
    assert!(result["context"]["local_authority"].is_null(), "{result}");
    // Without a point it lies nowhere; without a country, nobody says that it is ours.
    assert_eq!(ask("2").refusal().1, "address_not_found");
    assert_eq!(ask("3").refusal().1, "outside_geography");
    assert_eq!(ask("4").refusal().1, "outside_geography");
    assert_eq!(ask("5").refusal().1, "address_not_found");
}

#[test]
fn stored_data_is_the_propertys_own_where_the_snapshot_has_it() {
    // The house under another address, and a home that the snapshot has nothing of.
    let places = Places::of(&[
        home(HOUSE.parse().unwrap(), POSTCODE, "4711", STREET),
        home(990_000_000_002, POSTCODE, "4712", STREET),
    ]);
    let (_server, client) = service(&places);
    let mut request = house_with(json!({"use_stored_data": true}));
    let used = |request: &Value| {
        let result = client.post(VALUE, request).ok();
        let used = &result["input_resolution"]["stored_data_used"];
        used.as_array().unwrap().len()
    };
    let of_the_house = used(&request);
    assert!(of_the_house > 0);
    request["property"]["building_number_or_name"] = "4711".into();
    assert_eq!(used(&request), of_the_house);
    request["property"]["building_number_or_name"] = "4712".into();
    assert_eq!(used(&request), 0);
}

#[test]
fn all_pages_are_read_and_results_that_come_twice_are_one() {
    let mut homes: Vec<Home> = (0..230)
        .map(|index| {
            home(
                990_000_000_100 + index,
                POSTCODE,
                &(5_000 + index).to_string(),
                STREET,
            )
        })
        .collect();
    // The last page says the first home again.
    homes.push(homes[0].clone());
    let places = Places::of(&homes);
    let (_server, client) = service(&places);
    for number in ["5000", "5120", "5229"] {
        let result = client.post(VALUE, &at(number, STREET, POSTCODE)).ok();
        assert_eq!(property(&result)["identity_source"], "identity_provider");
    }
    let offsets: Vec<_> = places
        .requests()
        .iter()
        .map(|request| request.offset)
        .collect();
    assert_eq!(offsets, [0, 100, 200]);
}

#[test]
fn development_and_coverage_make_no_lookup() {
    let places = Places::of(&[]);
    let server = start().with(&["--address-provider", &places.url()]).go();
    let client = server.demo();
    client.get("/v3/coverage?postcode=QA1%209ZZ").ok();
    let mut site = house();
    site["property"]["site_latitude"] = 52.0.into();
    site["property"]["site_longitude"] = (-1.0).into();
    client.post("/v3/development-value", &site);
    assert!(places.requests().is_empty());
}
