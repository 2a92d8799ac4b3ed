//! A provider that misbehaves: the client's responses, and the requests that are retried.

use crate::address_provider::{VALUE, property, service};
use crate::common::client::Client;
use crate::common::demo::{HOUSE, at, house};
use crate::common::places::{Home, LookupRequest, Places, Reply, home, listing, page};
use crate::common::raw::HttpResponse;
use crate::common::server::start;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const STREET: &str = "Badger Yard Gardens";
const POSTCODE: &str = "QA1 1AF";

fn provider_homes() -> Vec<Home> {
    vec![home(990_000_000_001, POSTCODE, "4711", STREET)]
}

fn unknown() -> Value {
    at("4711", STREET, POSTCODE)
}

/// Asserts that a request that needs the provider is refused while others are valued. Returns the
/// refusal.
#[track_caller]
fn refused(client: &Client) -> HttpResponse {
    let answer = client.post(VALUE, &unknown());
    assert_eq!(answer.status, 503, "{answer:?}");
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{answer:?}");
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "identity_provider_unavailable");
    assert_eq!(error["retryable"], true);
    let result = client.post(VALUE, &house()).ok();
    assert_eq!(property(&result)["uprn"], HOUSE);
    answer
}

#[track_caller]
fn assert_found(client: &Client) {
    let result = client.post(VALUE, &unknown()).ok();
    assert_eq!(property(&result)["identity_source"], "identity_provider");
}

/// Behaves so the first times, and then as it should.
fn first(times: usize, reply: Reply) -> impl Fn(&LookupRequest) -> Reply + Send + Sync + 'static {
    let well = listing(&provider_homes());
    move |request| match request.number < times {
        true => reply.clone(),
        false => well(request),
    }
}

#[test]
fn the_refusal_names_nothing_of_the_provider() {
    let places = Places::with_behaviour(|_| Reply::Status(500, None));
    let (_server, client) = service(&places);
    insta::assert_snapshot!(refused(&client).text);
}

#[test]
fn transient_failures_retry() {
    for reply in [
        Reply::Status(500, None),
        Reply::Status(503, Some("1".to_owned())),
        Reply::Status(429, None),
        Reply::Status(429, Some("1".to_owned())),
        Reply::Hangup,
        Reply::Half(json!({"header": {"totalresults": 0}})),
    ] {
        let places = Places::with_behaviour(first(2, reply.clone()));
        let (_server, client) = service(&places);
        let began = Instant::now();
        assert_found(&client);
        assert_eq!(places.requests().len(), 3, "{reply:?}");
        let waited = matches!(&reply, Reply::Status(_, Some(_)));
        assert_eq!(
            began.elapsed() >= Duration::from_secs(2),
            waited,
            "{reply:?}"
        );
    }
}

#[test]
fn permanent_failures_are_not_retried() {
    let page_of = |results: Value, total: usize| {
        Reply::Json(json!({"header": {"totalresults": total}, "results": results}))
    };
    let long = "x".repeat(501);
    for reply in [
        Reply::Status(400, None),
        Reply::Status(401, None),
        Reply::Status(403, None),
        Reply::Status(404, None),
        Reply::Status(302, None),
        // It wishes to be left alone for longer than a request may wait.
        Reply::Status(429, Some("30".to_owned())),
        Reply::Text("<html>Sign in</html>".to_owned()),
        Reply::Text(String::new()),
        Reply::Text("{\"header\":".to_owned()),
        Reply::Text("[".repeat(1_000_000)),
        Reply::Json(json!([])),
        page_of(json!([{"DPA": {"POSTCODE": POSTCODE}}]), 1),
        page_of(json!([{"DPA": {"PAO_TEXT": 1, "UPRN": [1]}}]), 1),
        page_of(
            json!([{"LPI": {"PAO_TEXT": long, "POSTCODE_LOCATOR": POSTCODE}}]),
            1,
        ),
        page_of(json!([{}]), 1),
        page_of(json!([{"DPA": {}}]), 0),
        page_of(json!([]), 3),
        page_of(json!([]), 1_000_000),
        Reply::Endless,
    ] {
        let places = Places::with_behaviour(first(1, reply.clone()));
        let (_server, client) = service(&places);
        let began = Instant::now();
        refused(&client);
        assert!(began.elapsed() < Duration::from_secs(3), "{reply:?}");
        assert_eq!(places.requests().len(), 1, "{reply:?}");
        // A failure is not remembered.
        assert_found(&client);
    }
}

#[test]
fn a_slow_provider_costs_a_bounded_time() {
    let late = Reply::Late(Duration::from_secs(20), Box::new(Reply::Hangup));
    let slow_body = Reply::Dribble(Duration::from_millis(100));
    std::thread::scope(|scope| {
        for reply in [late, slow_body] {
            scope.spawn(move || {
                let places = Places::with_behaviour(first(1, reply.clone()));
                let (_server, client) = service(&places);
                let began = Instant::now();
                refused(&client);
                let took = began.elapsed();
                assert!(
                    took >= Duration::from_secs(3) && took < Duration::from_secs(8),
                    "{took:?}"
                );
                assert_eq!(places.requests().len(), 1, "{reply:?}");
                assert_found(&client);
            });
        }
    });
}

#[test]
fn endless_and_inconsistent_pages_are_refused() {
    let results = |count: usize, request: &LookupRequest| {
        let one = json!({"DPA": provider_homes()[0].fields});
        let mut page = page(&vec![one; 100], request);
        page["header"]["totalresults"] = count.into();
        page["results"] = json!(vec![json!({"DPA": provider_homes()[0].fields}); 100]);
        page
    };
    // More than any postcode has; a page that says it is another.
    let endless = Places::with_behaviour(move |request| Reply::Json(results(1_000_000, request)));
    let (_server, client) = service(&endless);
    refused(&client);
    assert_eq!(endless.requests().len(), 1);
    let elsewhere = Places::with_behaviour(move |request| {
        let mut page = results(300, request);
        page["header"]["offset"] = 0.into();
        Reply::Json(page)
    });
    let (_server, client) = service(&elsewhere);
    refused(&client);
    assert_eq!(elsewhere.requests().len(), 2);
}

#[test]
fn repeated_failures_open_the_circuit_breaker_and_one_request_probes_it() {
    let places = Places::with_behaviour(|_| Reply::Status(500, None));
    let (server, client) = service(&places);
    refused(&client);
    refused(&client);
    let count = places.requests().len();
    assert_eq!(count, 5, "five failures open it");
    let started = Instant::now();
    for _ in 0..20 {
        let answer = refused(&client);
        assert!(
            answer
                .header("retry-after")
                .unwrap()
                .parse::<u64>()
                .unwrap()
                <= 5
        );
    }
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(places.requests().len(), count, "nobody asks");

    places.set_behaviour(listing(&provider_homes()));
    let started = Instant::now();
    while client.post(VALUE, &unknown()).status == 503 {
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "it is never tried"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(places.requests().len(), count + 1, "one went first");
    // One line a change, whatever was refused meanwhile, and none for each request.
    let log = server.stop();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(lines("circuit breaker open"), 1, "{log}");
    assert_eq!(lines("circuit breaker closed"), 1, "{log}");
    assert_eq!(lines("cannot compute the value"), 0, "{log}");
}

#[test]
fn an_unreachable_provider_is_refused_quickly_and_recovers() {
    let places = Places::of(&provider_homes());
    let address = places.address.to_string();
    let (_server, client) = service(&places);
    drop(places);
    let began = Instant::now();
    refused(&client);
    assert!(began.elapsed() < Duration::from_secs(3));
    // Readiness is about what this host can do: most rows need no provider, and all hosts share
    // one.
    assert_eq!(client.get("/readyz").status, 200);
    let places = Places::at_address(&address, listing(&provider_homes()));
    std::thread::sleep(Duration::from_millis(5_100));
    assert_found(&client);
    drop(places);
}

#[test]
fn a_client_that_leaves_while_its_address_is_looked_up_pays_nothing() {
    let late = Reply::Late(Duration::from_secs(20), Box::new(Reply::Hangup));
    let places = Places::with_behaviour(move |_| late.clone());
    let start = start().with(&["--address-provider", &places.url()]);
    let key = start.key_with_plan("one", &["avm:value"], "monthly_units = 1");
    let server = start.go();
    let client = server.client(&key);
    let leaving = client.with_timeout(Duration::from_secs(1));
    let left = leaving.try_post(VALUE, &unknown().to_string()).unwrap_err();
    assert!(left.is_timeout(), "{left:?}");
    // The month's only unit is there for the next request.
    let began = Instant::now();
    loop {
        let answer = client.post(VALUE, &house());
        if answer.status == 200 {
            break;
        }
        assert_eq!(answer.refusal().1, "monthly_valuation_quota_exceeded");
        assert!(began.elapsed() < Duration::from_secs(10), "{answer:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}
