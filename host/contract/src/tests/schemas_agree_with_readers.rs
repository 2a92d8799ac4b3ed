//! The published schemas and the strict readers judge documents alike.

use domesday_contract::v3::identity::{Postcode, Uprn};
use domesday_contract::v3::job::JobRequest;
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::request::{Batch, Development, Kind, Request};
use domesday_contract::v3::schema::schemas;
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

fn validator(name: &str) -> Validator {
    let root = json!({
        "$ref": format!("#/components/schemas/{name}"),
        "components": {"schemas": schemas()},
    });
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&root)
        .unwrap()
}

macro_rules! validators {
    ($($NAME:ident = $name:literal),+ $(,)?) => {
        $(static $NAME: LazyLock<Validator> = LazyLock::new(|| validator($name));)+
    };
}

validators!(
    EXISTING = "ExistingRequest",
    EXISTING_ROW = "ExistingRow",
    DEVELOPMENT = "DevelopmentRequest",
    DEVELOPMENT_ROW = "DevelopmentRow",
    BATCH = "BatchRequest",
    JOB = "JobRequest",
);

fn house() -> Value {
    json!({
        "property": {
            "valuation_date": "2026-03-31", "postcode": "ZZ1 1AA",
            "building_number_or_name": "12A", "street": "Larkspur Lane",
            "type": "S", "subtype": "house_semi_detached", "title_tenure": "freehold"
        },
        "occupancy": {"status": "owner_occupied"},
        "size": {"floor_area_m2": 84.5, "bedrooms": 3}
    })
}

fn leasehold() -> Value {
    let mut flat = house();
    flat["property"]["type"] = "F".into();
    flat["property"]["subtype"] = "maisonette".into();
    flat["property"]["title_tenure"] = "leasehold".into();
    flat["lease"] = json!({"start_date": "2001-01-01", "term_years": 125});
    flat
}

fn site() -> Value {
    let mut site = house();
    site["property"]["site_latitude"] = 51.4.into();
    site["property"]["site_longitude"] = (-1.1).into();
    site
}

/// The fields that are edited: every field that some reader knows, and some that none does.
const PLACES: &[&str] = &[
    "/request_reference",
    "/options",
    "/options/include_comparables",
    "/options/comparables_limit",
    "/options/include_context_metrics",
    "/options/use_stored_data",
    "/property",
    "/property/valuation_date",
    "/property/uprn",
    "/property/postcode",
    "/property/building_number_or_name",
    "/property/street",
    "/property/type",
    "/property/subtype",
    "/property/title_tenure",
    "/property/build_status",
    "/property/site_latitude",
    "/property/site_longitude",
    "/property/colour",
    "/occupancy",
    "/occupancy/status",
    "/size",
    "/size/floor_area_m2",
    "/size/bedrooms",
    "/size/living_rooms",
    "/size/storeys",
    "/size/floor_level",
    "/lease",
    "/lease/years_remaining",
    "/lease/start_date",
    "/lease/term_years",
    "/lease/ground_rent_gbp_per_year",
    "/lease/service_charge_gbp_per_year",
    "/fabric",
    "/fabric/wall_type",
    "/fabric/glazing",
    "/energy",
    "/energy/construction_age_band",
    "/energy/rating",
    "/energy/efficiency_score",
    "/explain",
];

/// Returns a strategy of values to put there: sound for some place, or wrong in a way that a schema
/// can state. No day is after the valuation date and no whole number has a fraction. The readers
/// alone check those two rules.
fn value() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        prop::sample::select(vec![
            json!(null),
            json!(true),
            json!(false),
            json!({}),
            json!([]),
            json!(""),
            json!(" "),
            json!("A"),
            json!("D"),
            json!("F"),
            json!("L"),
            json!("M"),
            json!("house_detached"),
            json!("flat_converted"),
            json!("freehold"),
            json!("leasehold"),
            json!("existing"),
            json!("vacant"),
            json!("cavity"),
            json!("double"),
            json!("2024-02-29"),
            json!("2023-02-29"),
            json!("1999-1-1"),
            json!("0001"),
            json!("000"),
            json!("1234567890123"),
            json!("zz11aa"),
            json!("ZZ1 1CA"),
            json!("a\u{7}b"),
            json!("x".repeat(200)),
            json!("x".repeat(201)),
            json!(format!("{}\u{2003}", "x".repeat(199))),
            json!(format!("{}\u{2003}", "x".repeat(200))),
            json!("\t12A\r"),
            json!("1\t2"),
            json!("\u{85}"),
            json!("\u{2003}"),
            json!("Flat 3, Fern Point"),
            json!({"years_remaining": 90}),
            json!({"years_remaining": 0}),
            json!({"status": "tenanted"}),
            json!({"use_stored_data": true}),
            json!({"bedrooms": 2}),
        ])
        .prop_map(Some),
        prop::sample::select(vec![
            -181, -91, -6, -5, -1, 0, 1, 2, 6, 7, 10, 11, 20, 21, 90, 91, 100, 101, 180, 181, 999,
            1000, 2000, 2001, 100_000, 100_001
        ])
        .prop_map(|number| Some(json!(number))),
        (-200.0_f64..2100.0)
            .prop_filter("a fraction", |number| number.fract() != 0.0)
            .prop_map(|number| Some(json!(number))),
    ]
}

fn edit(mut document: Value, edits: &[(&str, Option<Value>)]) -> Value {
    for (place, value) in edits {
        let (section, name) = place.rsplit_once('/').unwrap();
        let Some(section) = document.pointer_mut(section).and_then(Value::as_object_mut) else {
            continue;
        };
        match value {
            Some(value) => section.insert(name.to_owned(), value.clone()),
            None => section.remove(name),
        };
    }
    document
}

fn edits() -> impl Strategy<Value = Vec<(&'static str, Option<Value>)>> {
    prop::collection::vec((prop::sample::select(PLACES), value()), 0..4)
}

fn assert_agreement(
    validator: &Validator,
    document: &Value,
    read: Result<(), String>,
) -> Result<(), TestCaseError> {
    let errors: Vec<_> = validator
        .iter_errors(document)
        .map(|error| error.to_string())
        .collect();
    prop_assert_eq!(
        read.is_ok(),
        errors.is_empty(),
        "{:#}\nreader: {:?}\nschema: {:?}",
        document,
        read,
        errors
    );
    Ok(())
}

/// The errors that JSON Schema cannot express: those of the dates of a lease.
const READERS_ALONE: [&str; 2] = [
    "The lease begins after the valuation date.",
    "The lease has ended by the valuation date.",
];

/// Keeps an error only if the schema states it too.
fn said_by_both(error: String) -> Result<(), String> {
    let errors = error.matches("ValidationError {").count();
    let alone: usize = READERS_ALONE
        .iter()
        .map(|message| error.matches(message).count())
        .sum();
    if errors > alone { Err(error) } else { Ok(()) }
}

/// In JSON Schema's regular expressions `\s` matches U+FEFF, which is no white space of Unicode.
#[test]
fn references_of_one_character() {
    let is_special = |character: &char| character.is_whitespace() || character.is_control();
    let unseen = ['\u{180e}', '\u{200b}', '\u{2060}', '\u{feff}'];
    for character in ('\0'..='\u{ffff}').filter(is_special).chain(unseen) {
        let mut document = house();
        document["request_reference"] = character.to_string().into();
        let read = Request::read(document.to_string().as_bytes());
        assert_eq!(read.is_ok(), EXISTING.is_valid(&document), "{character:?}");
        assert_eq!(read.is_ok(), unseen.contains(&character), "{character:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn existing_requests(base in prop::sample::select(vec![house(), leasehold()]), edits in edits()) {
        let document = edit(base, &edits);
        let text = document.to_string();
        let read = Request::read(text.as_bytes()).map(drop).map_err(|error| format!("{error:?}")).or_else(said_by_both);
        assert_agreement(&EXISTING, &document, read)?;
        // Whether stored data may fill the area depends on the batch, so a row's schema leaves it
        // open.
        let shared = Settings { use_stored_data: Some(true), ..Settings::default() };
        if document.pointer("/options/use_stored_data") != Some(&json!(false)) {
            let read = Request::read_row(&text, shared).map(drop).map_err(|error| format!("{error:?}")).or_else(said_by_both);
            assert_agreement(&EXISTING_ROW, &document, read)?;
        }
    }

    #[test]
    fn development_requests(edits in edits()) {
        let document = edit(site(), &edits);
        let text = document.to_string();
        let read = Development::read(text.as_bytes()).map(drop).map_err(|error| format!("{error:?}"));
        assert_agreement(&DEVELOPMENT, &document, read)?;
        let read = Development::read_row(&text, Settings::default()).map(drop).map_err(|error| format!("{error:?}"));
        assert_agreement(&DEVELOPMENT_ROW, &document, read)?;
    }

    #[test]
    fn envelopes(
        options in value(), key in prop_oneof![Just(None), "[a:._-]{0,101}".prop_map(|key| Some(json!(key))), value()],
        mode in prop_oneof![Just(None), prop::sample::select(vec!["simple", "standard", "development", "fast"]).prop_map(|mode| Some(json!(mode))), value()],
        rows in 0_usize..3,
    ) {
        let row = match mode.as_ref().and_then(Value::as_str) {
            Some("development") => site(),
            _ => house(),
        };
        let mut document = json!({"requests": vec![row; rows]});
        for (name, value) in [("options", options), ("mode", mode), ("idempotency_key", key)] {
            if let Some(value) = value {
                document[name] = value;
            }
        }
        let read = JobRequest::read(document.to_string().as_bytes(), 2).map(drop).map_err(|error| format!("{error:?}"));
        assert_agreement(&JOB, &document, read)?;
        let fields = document.as_object_mut().unwrap();
        fields.remove("mode");
        fields.remove("idempotency_key");
        if rows > 0 {
            document["requests"][0] = house();
        }
        let read = Batch::read(document.to_string().as_bytes(), Kind::Existing, 2).map(drop).map_err(|error| format!("{error:?}"));
        if rows < 2 {
            assert_agreement(&BATCH, &document, read)?;
        }
    }

    #[test]
    fn postcodes_and_uprns(text in "[ A-Ia-k0-9]{0,9}", digits in "[0-9]{0,13}") {
        let postcode = json!({"type": "string", "pattern": Postcode::PATTERN});
        prop_assert_eq!(Postcode::parse(&text).is_some(), jsonschema::is_valid(&postcode, &json!(text)));
        let uprn = json!({"type": "string", "pattern": Uprn::PATTERN, "maxLength": Uprn::DIGITS});
        prop_assert_eq!(Uprn::parse(&digits).is_some(), jsonschema::is_valid(&uprn, &json!(digits)));
    }
}
