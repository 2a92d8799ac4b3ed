//! POST /v3/development-value and POST /v3/development-batch-value: proposed properties, placed by
//! their coordinates.

use crate::common::client::Client;
use crate::common::demo::RELEASE;
use crate::common::server::{Server, shared, start};
use serde_json::{Value, json};

const ONE: &str = "/v3/development-value";
const MANY: &str = "/v3/development-batch-value";
/// The location of the demo's postcode QA1 1AF: latitude and longitude.
const SITE: (f64, f64) = (55.60702, -2.21319);

fn service() -> (Server, Client) {
    let server = shared("v3_development", || start().go());
    let client = server.demo();
    (server, client)
}

fn house() -> Value {
    json!({
        "property": {
            "valuation_date": "2026-10-15",
            "postcode": "qa11af",
            "site_latitude": SITE.0,
            "site_longitude": SITE.1,
            "type": "S",
            "subtype": "house_semi_detached",
            "title_tenure": "freehold"
        },
        "occupancy": {"status": "vacant"},
        "size": {"floor_area_m2": 104, "bedrooms": 3, "living_rooms": 2, "storeys": 2}
    })
}

fn flat() -> Value {
    let mut flat = house();
    flat["property"]["type"] = "F".into();
    flat["property"]["subtype"] = "flat_purpose_built".into();
    flat["property"]["title_tenure"] = "leasehold".into();
    flat["size"] = json!({"floor_area_m2": 60, "bedrooms": 2, "floor_level": 3});
    flat["lease"] = json!({"years_remaining": 125});
    flat
}

fn with(mut request: Value, pointer: &str, value: Value) -> Value {
    let (section, field) = pointer[1..].split_once('/').unwrap();
    request[section][field] = value;
    request
}

fn estimate(result: &Value) -> f64 {
    result["valuation"]["estimated_value_gbp"].as_f64().unwrap()
}

#[test]
fn a_proposed_home_has_no_own_sale() {
    let (_server, client) = service();
    let mut proposed = house();
    proposed["options"] = json!({"include_context_metrics": true});
    let context = client.post(ONE, &proposed).ok()["context"].take();
    assert!(context["sales_count_12m"].is_u64(), "{context}");
    assert!(context["own_sale"].is_null(), "{context}");
}

#[test]
fn a_proposed_house_is_valued_at_its_site() {
    let (_server, client) = service();
    let result = client.post(ONE, &house()).ok();
    assert_eq!(result["status"], "valued", "{result}");
    assert_eq!(result["release_id"], RELEASE);
    assert_eq!(
        result["property"],
        json!({"uprn": null, "postcode": "QA1 1AF", "identity_source": "site_coordinates"})
    );
    let range = &result["valuation"]["range"];
    assert!(range["lower_value_gbp"].as_f64().unwrap() < estimate(&result));
    assert!(range["upper_value_gbp"].as_f64().unwrap() > estimate(&result));
    for section in ["comparables", "context", "errors"] {
        assert!(result.get(section).is_none());
    }
}

#[test]
fn route_defaults_are_listed() {
    let (_server, client) = service();
    let applied = |request: &Value| -> Vec<String> {
        let result = client.post(ONE, request).ok();
        assert_eq!(result["input_resolution"]["stored_data_used"], json!([]));
        let derived = result["input_resolution"]["derived_inputs"]
            .as_array()
            .unwrap();
        let by_route = derived.iter().filter(|note| note["source"] == "route");
        by_route
            .map(|note| note["field"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        applied(&house()),
        [
            "/property/build_status",
            "/fabric/wall_type",
            "/fabric/roof_type",
            "/fabric/floor_type",
            "/fabric/glazing",
            "/energy/construction_age_band"
        ]
    );
    assert_eq!(
        applied(&flat()),
        [
            "/property/build_status",
            "/fabric/wall_type",
            "/fabric/glazing",
            "/energy/construction_age_band"
        ]
    );
}

#[test]
fn a_new_house_is_valued_near_its_neighbours() {
    let (_server, client) = service();
    let proposed = estimate(&client.post(ONE, &house()).ok());
    let standing = crate::common::demo::house();
    let standing = estimate(&client.post("/v3/value", &standing).ok());
    let ratio = proposed / standing;
    // New homes sell for more than the same homes second-hand, and not for twice as much.
    assert!((0.8..1.6).contains(&ratio), "{proposed} against {standing}");
}

#[test]
fn evidence_is_shown_on_request() {
    let (_server, client) = service();
    let mut request = house();
    request["options"] = json!({
        "include_comparables": true, "comparables_limit": 3, "include_context_metrics": true
    });
    let result = client.post(ONE, &request).ok();
    assert_eq!(result["comparables"].as_array().unwrap().len(), 3);
    assert_eq!(result["context"]["postcode_sector"], "QA1 1");
}

#[test]
fn the_site_decides_and_the_address_does_not() {
    let (_server, client) = service();
    let here = client.post(ONE, &house()).ok();
    let mut named = house();
    named["property"]["building_number_or_name"] = "Plot 4".into();
    named["property"]["street"] = "A Street That Is Nowhere".into();
    assert_eq!(estimate(&client.post(ONE, &named).ok()), estimate(&here));
    let moved = with(house(), "/property/site_latitude", (SITE.0 + 0.03).into());
    let moved = client.post(ONE, &moved).ok();
    assert_ne!(estimate(&moved), estimate(&here));
}

#[test]
fn a_site_that_is_not_in_england_or_wales_is_refused() {
    let (_server, client) = service();
    let site = |latitude: f64, longitude: f64| {
        let moved = with(house(), "/property/site_latitude", latitude.into());
        with(moved, "/property/site_longitude", longitude.into())
    };
    for (request, code, field) in [
        // Paris, Edinburgh, and the middle of the Atlantic.
        (
            site(48.86, 2.35),
            "outside_geography",
            "/property/site_latitude",
        ),
        (
            site(55.95, -3.19),
            "outside_geography",
            "/property/site_latitude",
        ),
        (
            site(0.0, 0.0),
            "outside_geography",
            "/property/site_latitude",
        ),
        // In England, but far from the postcode.
        (
            site(50.72, -3.53),
            "invalid_value",
            "/property/site_latitude",
        ),
        (
            site(SITE.0 + 0.1, SITE.1),
            "invalid_value",
            "/property/site_latitude",
        ),
        (
            with(house(), "/property/postcode", "XS1 1AA".into()),
            "outside_geography",
            "/property/postcode",
        ),
        (
            with(house(), "/property/postcode", "QA9 9ZZ".into()),
            "address_not_found",
            "/property/postcode",
        ),
        (
            with(house(), "/property/site_latitude", 91.into()),
            "invalid_value",
            "/property/site_latitude",
        ),
        (
            with(house(), "/property/valuation_date", "2031-01-01".into()),
            "valuation_date_outside_window",
            "/property/valuation_date",
        ),
    ] {
        let answer = client.post(ONE, &request);
        assert_eq!(answer.status, 422, "{request}");
        let error = answer.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["field"]),
            (&code.into(), &field.into()),
            "{request}"
        );
        // The same row in a batch is rejected for the same reason, and its neighbour is valued.
        let both = client
            .post(MANY, &json!({"requests": [request, house()]}))
            .ok();
        assert_eq!(both["results"][0]["status"], "rejected");
        assert_eq!(both["results"][0]["errors"][0]["code"], code);
        assert_eq!(both["results"][1]["status"], "valued");
    }
}

#[test]
fn identity_and_stored_data_are_no_part_of_it() {
    let (_server, client) = service();
    for (pointer, value) in [
        ("/property/uprn", json!("999082968959")),
        ("/property/build_status", json!("existing")),
        ("/energy/construction_age_band", json!("L")),
        ("/fabric/glazing", json!("double")),
        ("/options/use_stored_data", json!(false)),
    ] {
        let request = with(house(), pointer, value);
        let answer = client.post(ONE, &request);
        assert_eq!(answer.status, 422, "{pointer}");
        assert_eq!(answer.json()["error"]["code"], "unknown_field");
    }
    let shared = json!({"options": {"use_stored_data": false}, "requests": [house()]});
    let answer = client.post(MANY, &shared);
    assert_eq!(answer.json()["error"]["field"], "/options/use_stored_data");
}

#[test]
fn a_batch_of_developments_keeps_its_order_and_answers_as_the_single_route() {
    let (_server, client) = service();
    let rows: Vec<Value> = (0..100)
        .map(|at| {
            let mut row = if at % 2 == 0 { house() } else { flat() };
            row["request_reference"] = at.to_string().into();
            row
        })
        .collect();
    let answer = client.post(MANY, &json!({"requests": rows})).ok();
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["summary"]["valued"], 100);
    let alone = [&house(), &flat()].map(|row| estimate(&client.post(ONE, row).ok()));
    for (at, result) in answer["results"].as_array().unwrap().iter().enumerate() {
        assert_eq!(result["request_reference"], at.to_string());
        assert_eq!(estimate(result), alone[at % 2]);
    }
}

#[test]
fn the_routes_need_their_own_scope() {
    let started = start();
    let value = started.key(&["avm:value"]);
    let server = started.go();
    for route in [ONE, MANY] {
        let answer = server.client(&value).post(route, &json!({}));
        assert_eq!(answer.status, 403);
        assert_eq!(answer.json()["error"]["code"], "scope_required");
        assert!(answer.text.contains("avm:development"));
    }
}
