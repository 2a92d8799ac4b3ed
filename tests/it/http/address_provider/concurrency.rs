//! Batches and jobs with a provider: each row for itself, few requests, and units for what was
//! done.

use crate::address_provider::{BATCH, service};
use crate::common::client::Client;
use crate::common::demo::{at, house};
use crate::common::places::{Home, Places, Reply, home, listing};
use crate::common::server::{Server, start};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const STREET: &str = "Newt Yard";
const JOBS: &str = "/v3/valuation-jobs";

/// Returns the `n`-th of many postcodes that no snapshot has.
fn postcode(n: usize) -> String {
    let letters = b"ABDEFGHJLNPQRSTUWXYZ";
    let letter = |n: usize| char::from(letters[n % letters.len()]);
    let (sector, rest) = (n / 400, n % 400);
    format!(
        "QA{} {}{}{}",
        50 + sector / 10,
        sector % 10,
        letter(rest / 20),
        letter(rest)
    )
}

fn homes(count: usize) -> Vec<Home> {
    let uprn = |n: usize| 990_000_000_000 + n as u64;
    (0..count)
        .map(|n| home(uprn(n), &postcode(n), "1", STREET).at(386_567.0, 634_827.0))
        .collect()
}

fn row(n: usize) -> Value {
    at("1", STREET, &postcode(n))
}

/// Returns the units that the tenant `demo` used.
fn used_units(server: &Server) -> u64 {
    let data = server.data.display().to_string();
    let listed = crate::common::program::run(["tenant", "list", "--data", &data]).ok();
    let line = listed.stdout.lines().find(|line| line.contains("demo"));
    let line = line.unwrap().to_owned();
    let mut numbers = line.split_whitespace().filter_map(|word| word.parse().ok());
    numbers.next().unwrap_or_else(|| panic!("{line}"))
}

#[track_caller]
fn batch(client: &Client, rows: &[Value]) -> Value {
    client.post(BATCH, &json!({"requests": rows})).ok()
}

#[test]
fn a_full_batch_looks_up_each_postcode_once_with_bounded_concurrency() {
    let rows = 2_500;
    // Two rows a postcode.
    let well = listing(&homes(rows / 2));
    let places = Places::with_behaviour(move |request| {
        Reply::Late(Duration::from_millis(50), Box::new(well(request)))
    });
    let (_server, client) = service(&places);
    let requests: Vec<Value> = (0..rows).map(|n| row(n % (rows / 2))).collect();
    let began = Instant::now();
    let answer = batch(&client, &requests);
    let took = began.elapsed();
    assert_eq!(answer["summary"]["rejected"], 0, "{}", answer["summary"]);
    assert_eq!(
        answer["summary"]["valuation_failed"], 0,
        "{}",
        answer["summary"]
    );
    assert!(took < Duration::from_secs(20), "{took:?}");
    for (n, result) in answer["results"].as_array().unwrap().iter().enumerate() {
        let uprn = (990_000_000_000 + n % (rows / 2)).to_string();
        assert_eq!(result["property"]["uprn"], uprn, "row {n}");
    }
    assert_eq!(places.requests().len(), rows / 2);
    let max_concurrency = places.max_concurrency();
    // One that was just answered may still be counted beside the 24.
    assert!(
        (2..=30).contains(&max_concurrency),
        "{max_concurrency} at once"
    );
    eprintln!(
        "{rows} rows over {} postcodes at 50 ms each: {took:?}",
        rows / 2
    );
}

#[test]
fn rows_that_need_no_lookup_are_valued_while_the_provider_is_silent() {
    let places = Places::with_behaviour(|_| Reply::Status(500, None));
    let (server, client) = service(&places);
    let requests: Vec<Value> = (0..200)
        .map(|n| if n % 2 == 0 { house() } else { row(n) })
        .collect();
    let before = used_units(&server);
    let answer = batch(&client, &requests);
    assert_eq!(answer["summary"]["valued"], 100);
    assert_eq!(answer["summary"]["rejected"], 100);
    assert_eq!(answer["status"], "partial");
    for (n, result) in answer["results"].as_array().unwrap().iter().enumerate() {
        if n % 2 == 1 {
            assert_eq!(
                result["errors"],
                json!([{
                    "code": "identity_provider_unavailable",
                    "message": "The address provider did not answer. Retry.",
                    "retryable": true
                }])
            );
        }
    }
    assert_eq!(
        used_units(&server) - before,
        100,
        "rows without a result are refunded"
    );
    // The breaker spares it most of them.
    assert!(places.requests().len() < 60, "{}", places.requests().len());
}

#[test]
fn rows_past_the_deadline_are_marked() {
    let late = |_: &_| Reply::Late(Duration::from_secs(20), Box::new(Reply::Hangup));
    let places = Places::with_behaviour(late);
    let url = places.url();
    let arguments = ["--address-provider", &url, "--processing-deadline", "1500"];
    let server = start().with(&arguments).go();
    let client = server.demo();
    let before = used_units(&server);
    let began = Instant::now();
    let answer = batch(&client, &[row(1), house(), row(2)]);
    assert!(began.elapsed() < Duration::from_secs(3));
    let results = &answer["results"];
    assert_eq!(results[1]["status"], "valued", "{answer}");
    for late in [0, 2] {
        assert_eq!(results[late]["status"], "valuation_failed");
        assert_eq!(
            results[late]["errors"][0]["code"],
            "processing_deadline_exceeded"
        );
    }
    assert_eq!(used_units(&server) - before, 1);
    let single = client.post("/v3/value", &row(3));
    assert_eq!(single.refusal().1, "processing_deadline_exceeded");
    assert_eq!(used_units(&server) - before, 1);
}

#[test]
fn concurrent_requests_for_one_postcode_share_a_lookup() {
    let well = listing(&homes(1));
    let places = Places::with_behaviour(move |request| {
        Reply::Late(Duration::from_millis(300), Box::new(well(request)))
    });
    let (_server, client) = service(&places);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let result = client.post("/v3/value", &row(0)).ok();
                assert_eq!(result["property"]["uprn"], "990000000000");
            });
        }
    });
    assert_eq!(places.requests().len(), 1);
}

#[track_caller]
fn job(client: &Client, rows: &[Value]) -> Value {
    let accepted = client.post(JOBS, &json!({"requests": rows}));
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let results = accepted.json()["results_url"].as_str().unwrap().to_owned();
    let began = Instant::now();
    loop {
        let answer = client.get(&results);
        if answer.status == 200 {
            return answer.json();
        }
        assert!(began.elapsed() < Duration::from_secs(50), "{answer:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_job_waits_for_an_unavailable_provider_to_recover() {
    let places = Places::with_behaviour(|_| Reply::Status(500, None));
    let (server, client) = service(&places);
    let before = used_units(&server);
    let rows = [row(0), house(), row(1), at("2", STREET, &postcode(0))];
    let outcome = std::thread::scope(|scope| {
        let job = scope.spawn(|| job(&client, &rows));
        // It fails while the job's first round and the breaker's first rest last.
        std::thread::sleep(Duration::from_secs(2));
        places.set_behaviour(listing(&homes(2)));
        job.join().unwrap()
    });
    let results = &outcome["result"]["results"];
    for (at, uprn) in [(0, "990000000000"), (2, "990000000001")] {
        assert_eq!(results[at]["property"]["uprn"], uprn, "{outcome}");
    }
    assert_eq!(results[1]["status"], "valued");
    assert_eq!(results[3]["errors"][0]["code"], "address_not_found");
    assert_eq!(used_units(&server) - before, 4);
}

#[test]
fn a_jobs_rows_without_a_lookup_are_refunded() {
    let places = Places::with_behaviour(|_| Reply::Status(401, None));
    let (server, client) = service(&places);
    let before = used_units(&server);
    let outcome = job(&client, &[row(0), house()]);
    let results = &outcome["result"]["results"];
    assert_eq!(
        results[0]["errors"][0]["code"],
        "identity_provider_unavailable"
    );
    assert_eq!(results[0]["errors"][0]["retryable"], true);
    assert_eq!(results[1]["status"], "valued");
    assert_eq!(used_units(&server) - before, 1);
}
