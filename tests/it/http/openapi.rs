//! The published description: it is the one that is kept, it is OpenAPI 3.1, and what the service
//! answers is what it describes.

use crate::common::client::agent;
use crate::common::program::{repository, run};
use crate::common::server::start;
use domesday_package::PackageId;
use serde_json::{Value, json};

/// Returns the description that the program writes.
pub fn document() -> Value {
    serde_json::from_str(&run(["openapi"]).ok().stdout).unwrap()
}

/// Compiles a schema of the document by its name, and closes it to undescribed members.
pub fn schema(document: &Value, name: &str) -> jsonschema::Validator {
    let mut components = document["components"].clone();
    for schema in components["schemas"].as_object_mut().unwrap().values_mut() {
        close(schema);
    }
    let root = json!({"$ref": format!("#/components/schemas/{name}"), "components": components});
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&root)
        .unwrap()
}

/// Takes no member that an object does not name, so that an answer cannot say more than its schema.
fn close(schema: &mut Value) {
    if schema["type"] == "object" && schema["additionalProperties"].is_null() {
        schema["additionalProperties"] = json!(false);
    }
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.values_mut().for_each(close);
    }
}

fn described(document: &Value, name: &str, value: &Value) {
    let errors: Vec<_> = schema(document, name)
        .iter_errors(value)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?} in {value:#}");
}

fn post(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .filter_map(|(path, item)| Some((path.clone(), item.get("post")?.clone())))
        .collect()
}

#[test]
fn the_committed_document_is_up_to_date() {
    let published = std::fs::read_to_string(repository().join("docs/openapi.json")).unwrap();
    assert!(
        published == run(["openapi"]).ok().stdout,
        "docs/openapi.json is out of date; write it with: cargo run -- openapi > docs/openapi.json"
    );
}

#[test]
fn every_route_of_the_contract_is_described() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    let paths: Vec<_> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/v1/markets/areas",
            "/v1/markets/coverage",
            "/v1/markets/datasets",
            "/v1/markets/releases/current",
            "/v1/markets/series",
            "/v1/rates/coverage",
            "/v1/rates/datasets",
            "/v1/rates/releases/current",
            "/v1/rates/series",
            "/v3/batch-value",
            "/v3/coverage",
            "/v3/development-batch-value",
            "/v3/development-value",
            "/v3/releases/current",
            "/v3/simple-batch-value",
            "/v3/simple-value",
            "/v3/valuation-jobs",
            "/v3/valuation-jobs/{job_id}",
            "/v3/valuation-jobs/{job_id}/results",
            "/v3/value",
        ]
    );
}

#[test]
fn every_example_matches_its_schema() {
    let document = document();
    for (path, operation) in post(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let name = content["schema"]["$ref"].as_str().unwrap();
        let examples = content["examples"].as_object().unwrap();
        assert!(!examples.is_empty(), "{path}");
        for example in examples.values() {
            described(
                &document,
                name.rsplit('/').next().unwrap(),
                &example["value"],
            );
        }
    }
}

/// A client that fills in defaults would otherwise send them in each row. They would override the
/// batch's options.
#[test]
fn no_option_that_a_row_inherits_has_a_default() {
    let document = document();
    for name in ["Options", "DevelopmentOptions"] {
        let fields = &document["components"]["schemas"][name]["properties"];
        for (field, schema) in fields.as_object().unwrap() {
            assert!(schema.get("default").is_none(), "{name}.{field}");
            let description = schema["description"].as_str().unwrap();
            assert!(
                description.contains("where no level sets it"),
                "{name}.{field}"
            );
        }
    }
}

#[test]
fn responses_match_the_description() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    let served: Value = serde_json::from_str(&demo.get("/v3/releases/current").text).unwrap();
    described(&document, "ReleaseMetadata", &served);
    for (path, name) in [
        ("/v3/coverage?postcode=qa11af", "Coverage"),
        ("/v3/coverage?postcode=qa11af&uprn=1", "Coverage"),
        ("/v3/coverage?uprn=x", "ErrorBody"),
        ("/v3/nowhere", "ErrorBody"),
        ("/v1/rates/datasets", "SeriesCatalogue"),
        ("/v1/markets/datasets", "SeriesCatalogue"),
        ("/v1/markets/areas", "SeriesAreas"),
        ("/v1/rates/releases/current", "SeriesRelease"),
        (
            "/v1/rates/series?dataset=bank_rate&from=2030-01-01",
            "SeriesEnvelope",
        ),
        (
            "/v1/rates/series?dataset=financing_stress_scenarios&scenario=plus_100bp",
            "SeriesEnvelope",
        ),
        (
            "/v1/rates/coverage?dataset=forward_starting_swap_rates",
            "SeriesEnvelope",
        ),
        (
            "/v1/rates/series?dataset=mortgage_swap_spread&mortgage_product=btl_fixed_2y_60ltv",
            "SeriesEnvelope",
        ),
        (
            "/v1/markets/series?dataset=rental_market&area=E06990001",
            "SeriesEnvelope",
        ),
        (
            "/v1/markets/series?dataset=market_activity&area=W06990006&page_size=1",
            "SeriesEnvelope",
        ),
        (
            "/v1/markets/series?dataset=market_activity",
            "SeriesErrorBody",
        ),
        ("/v1/rates/areas", "SeriesErrorBody"),
    ] {
        let answer: Value = serde_json::from_str(&demo.get(path).text).unwrap();
        described(&document, name, &answer);
    }
    for (path, operation) in post(&document) {
        if !served["endpoints"]
            .as_array()
            .unwrap()
            .contains(&json!(path))
        {
            continue;
        }
        let content = &operation["requestBody"]["content"]["application/json"];
        for example in content["examples"].as_object().unwrap().values() {
            let answer = demo.post(&path, &example["value"]);
            let responses = operation["responses"].as_object().unwrap();
            assert!(answer.status < 300, "{path}: {}", answer.text);
            let response = &responses[&answer.status.to_string()];
            let name = response["content"]["application/json"]["schema"]["$ref"]
                .as_str()
                .unwrap();
            let body = serde_json::from_str(&answer.text).unwrap();
            described(&document, name.rsplit('/').next().unwrap(), &body);
        }
        let answer = demo.post(&path, &json!({"colour": 1}));
        assert_eq!(answer.status, 422);
        described(
            &document,
            "ErrorBody",
            &serde_json::from_str(&answer.text).unwrap(),
        );
    }
}

#[test]
fn an_id_of_a_release_is_described_as_a_package_is_named() {
    let document = document();
    let parameters = &document["paths"]["/v1/rates/datasets"]["get"]["parameters"];
    assert_eq!(parameters[0]["name"], "release_id");
    let schema = &parameters[0]["schema"];
    let described = jsonschema::draft202012::options().build(schema).unwrap();
    let (longest, longer) = ("x".repeat(100), "x".repeat(101));
    for (id, is_taken) in [
        ("a", true),
        ("0", true),
        ("rates_2026-10.1", true),
        ("a.-_.", true),
        (&longest, true),
        (&longer, false),
        ("", false),
        ("_a", false),
        (".a", false),
        ("a..b", false),
        ("aB", false),
        ("a/b", false),
    ] {
        assert_eq!(id.parse::<PackageId>().is_ok(), is_taken, "{id}");
        assert_eq!(described.is_valid(&json!(id)), is_taken, "{id}");
    }
}

#[test]
fn coverage_takes_no_cursor_in_place_of_a_dataset_and_any_page_size() {
    let document = document();
    for family in ["markets", "rates"] {
        let route = &document["paths"][format!("/v1/{family}/coverage")]["get"];
        let parameters = route["parameters"].as_array().unwrap();
        let parameter = |name: &str| {
            let found = parameters.iter().find(|one| one["name"] == name);
            found.unwrap_or_else(|| panic!("no {name} in {route}"))
        };
        assert_eq!(parameter("dataset")["description"], "The dataset.");
        let schema = &parameter("page_size")["schema"];
        let size = jsonschema::draft202012::options().build(schema).unwrap();
        for value in [json!(0), json!(5001), json!("many")] {
            assert!(size.is_valid(&value), "{value}");
        }
    }
}

#[test]
fn document_and_page_are_served_without_a_key_and_with_a_tag() {
    let server = start().with_series().go();
    let stranger = server.client("nobody");
    let served = stranger.get("/openapi.json");
    assert_eq!(served.text, run(["openapi"]).ok().stdout);
    for (path, media_type) in [
        ("/openapi.json", "application/json"),
        ("/reference", "text/html; charset=utf-8"),
        ("/reference/start.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = stranger.get(path);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), Some(media_type));
        assert!(answer.header("cache-control").unwrap().contains("max-age"));
        let tag = answer.header("etag").unwrap();
        let listed = format!("\"another\", W/{tag}");
        for known in [tag, "*", &listed] {
            let again = stranger.get_if_none_match(path, known);
            assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
            assert_eq!(again.header("etag"), Some(tag));
        }
        assert_eq!(stranger.get_if_none_match(path, "\"another\"").status, 200);
    }
}

#[test]
fn the_page_needs_nothing_else_and_lists_every_route_without_scripts() {
    let server = start().with_series().go();
    let page = server.client("nobody").get("/reference");
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';"),
        "{policy}"
    );
    let page = page.text;
    for elsewhere in ["<img", "url(", "http://", "https://", "//"] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    for (path, item) in document()["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let route = format!("<code>{} {path}</code>", method.to_uppercase());
            assert!(page.contains(&route), "{route}");
        }
    }
    // The first script loads the second after the page is painted.
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    for name in ["<script src=\"", "data-scalar=\""] {
        let source = page.split(name).nth(1).unwrap();
        let source = source.split('"').next().unwrap();
        let script = agent().get(format!("http://{}{source}", server.address));
        let script = script.send().unwrap();
        assert_eq!(script.status(), 200, "{source}");
        let media_type = &script.headers()["content-type"];
        assert_eq!(media_type, "text/javascript; charset=utf-8");
    }
    server.stop();
}

/// The enumerations of parameters are those of the catalogue. The service's catalogue for the key
/// names no dataset, parameter or choice that the document lacks.
#[test]
fn the_parameters_described_are_those_of_the_catalogue() {
    let server = start().with_series().go();
    let demo = server.demo();
    let document = document();
    for family in ["markets", "rates"] {
        let path = format!("/v1/{family}/series");
        let parameters = document["paths"][&path]["get"]["parameters"]
            .as_array()
            .unwrap();
        let described = |name: &str| {
            parameters
                .iter()
                .find(|parameter| parameter["name"] == name)
                .unwrap_or_else(|| panic!("{path} lacks {name}"))
        };
        let listed = demo.get(&format!("/v1/{family}/datasets"));
        let listed: Value = serde_json::from_str(&listed.text).unwrap();
        let datasets = listed["datasets"].as_array().unwrap();
        let ids: Vec<&Value> = datasets.iter().map(|entry| &entry["dataset"]).collect();
        let known = described("dataset")["schema"]["enum"].as_array().unwrap();
        assert_eq!(known.iter().collect::<Vec<_>>(), ids);
        let mut named = std::collections::BTreeSet::new();
        for entry in datasets {
            for list in ["required", "optional"] {
                for name in entry[list].as_array().unwrap() {
                    named.insert(name.as_str().unwrap());
                    described(name.as_str().unwrap());
                }
            }
            for (name, options) in entry["selector_options"].as_object().unwrap() {
                let Some(values) = described(name)["schema"]["enum"].as_array() else {
                    continue;
                };
                let values: Vec<String> = values
                    .iter()
                    .map(|value| value.to_string().replace('"', ""))
                    .collect();
                for option in options.as_array().unwrap() {
                    assert!(
                        values.contains(&option.as_str().unwrap().to_owned()),
                        "{name}"
                    );
                }
            }
        }
        assert_eq!(parameters.len(), named.len(), "{path} describes more");
    }
}

/// Headers of HTTP itself, which no description repeats.
const STANDARD_HEADERS: [&str; 6] = [
    "connection",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "transfer-encoding",
];

#[test]
fn responses_carry_the_described_headers_and_no_others() {
    let start = start().with_series();
    let few = "requests_per_second = 1\nburst = 1\nconcurrency = 9\nmonthly_units = 9";
    let hurried = start.key_with_plan("hurried", &["avm:value"], few);
    let poor = start.key_with_plan(
        "poor",
        &["avm:value"],
        &few.replace("units = 9", "units = 0"),
    );
    let customer = start.key(&["avm:value"]);
    let reader = start.key(&["rates:read"]);
    let server = start.with(&["--no-demo"]).go();
    let key = |name: &str| server.client(name);
    let (hurried, poor) = (key(&hurried), key(&poor));
    let (customer, reader, stranger) = (key(&customer), key(&reader), key("nobody"));
    let document = document();
    let house = &document["paths"]["/v3/value"]["post"]["requestBody"]["content"]["application/json"]
        ["examples"]["flat"]["value"];
    let (value, release) = ("/v3/value", "/v3/releases/current");
    let assert_described =
        |method: &str, path: &str, status: u16, answer: crate::common::raw::HttpResponse| {
            assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
            let described = &document["paths"][path][method]["responses"][status.to_string()];
            let described: std::collections::BTreeSet<String> = described["headers"]
                .as_object()
                .unwrap()
                .keys()
                .map(|name| name.to_lowercase())
                .collect();
            let sent = answer.headers.iter().map(|(name, _)| name.clone());
            let sent = sent.filter(|name| !STANDARD_HEADERS.contains(&name.as_str()));
            assert_eq!(sent.collect::<std::collections::BTreeSet<_>>(), described);
        };
    assert_described("get", release, 200, hurried.get(release));
    assert_described("get", release, 429, hurried.get(release));
    assert_described("get", release, 401, stranger.get(release));
    assert_described("post", value, 429, poor.post(value, house));
    assert_described("post", value, 200, customer.post(value, house));
    assert_described("post", value, 405, customer.get(value));
    assert_described("post", value, 422, customer.post(value, &json!({})));
    let site = "/v3/development-value";
    assert_described("post", site, 403, customer.post(site, &json!({})));
    let jobs = "/v3/valuation-jobs";
    let job = customer.post(jobs, &json!({"requests": [house]}));
    assert_described("post", jobs, 202, job);
    let unknown = customer.get("/v3/valuation-jobs/0");
    assert_described("get", "/v3/valuation-jobs/{job_id}", 404, unknown);
    let (series, areas) = ("/v1/rates/series", "/v1/markets/areas");
    let rates = reader.get("/v1/rates/series?dataset=bank_rate");
    let tag = rates.header("etag").unwrap().to_owned();
    assert_described("get", series, 200, rates);
    let again = reader.get_if_none_match("/v1/rates/series?dataset=bank_rate", &tag);
    assert_described("get", series, 304, again);
    assert_described("get", series, 422, reader.get(series));
    assert_described(
        "get",
        series,
        400,
        reader.get("/v1/rates/series?dataset=bank_rate&colour=1"),
    );
    assert_described(
        "get",
        series,
        404,
        reader.get("/v1/rates/series?dataset=bank_rate&release_id=none"),
    );
    assert_described("get", series, 401, stranger.get(series));
    assert_described("get", series, 405, reader.post(series, &json!({})));
    assert_described("get", areas, 403, reader.get(areas));
}
