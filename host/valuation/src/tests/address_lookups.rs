//! The address lookups of one request, against a provider on loopback.

use domesday_address_lookup::breaker::Rules;
use domesday_address_lookup::{Endpoint, Failure, Limits, LookupObserver, Provider};
use domesday_registers::Postcode;
use domesday_valuation::pipeline::address_lookup::{AddressLookups, LookupState};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// The request lines that a provider received, in order.
type Requests = Arc<Mutex<Vec<String>>>;

/// Ignores what happens.
struct Unobserved;

impl LookupObserver for Unobserved {}

/// Answers one request. A postcode that begins with `QB` gets 503, to be retried after as many
/// seconds as its first digit. All others get a list without addresses.
fn answer(mut stream: TcpStream, requests: &Requests) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    let response = match first.split_once("postcode=QB") {
        Some((_, rest)) => format!(
            "HTTP/1.1 503 Down\r\nRetry-After: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            &rest[..1]
        ),
        None => {
            let body = r#"{"header":{"totalresults":0}}"#;
            let length = body.len();
            format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
        }
    };
    requests.lock().unwrap().push(first);
    stream.write_all(response.as_bytes()).unwrap();
}

/// Starts a provider, which ends with the process, and returns its client.
fn provider() -> (Arc<Provider>, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::parse(&format!("http://{}/v1", listener.local_addr().unwrap()));
    let requests = Requests::default();
    let received = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(stream.unwrap(), &received);
        }
    });
    let limits = Limits {
        tries: 1,
        breaker: Rules {
            failures: 100,
            ..Limits::default().breaker
        },
        ..Limits::default()
    };
    let now = || SystemTime::UNIX_EPOCH;
    let observer = Arc::new(Unobserved);
    let provider = Provider::new(endpoint.unwrap(), None, limits, observer, 1, now);
    (Arc::new(provider.unwrap()), requests)
}

fn postcodes(texts: &[&str]) -> BTreeSet<Postcode> {
    let parse = |text: &&str| Postcode::parse(text).unwrap();
    texts.iter().map(parse).collect()
}

fn postcode(text: &str) -> Postcode {
    Postcode::parse(text).unwrap()
}

#[test]
fn without_a_provider_no_lookup_is_missing() {
    let state = AddressLookups::none();
    assert!(matches!(
        state.of(&postcode("QA1 1AF")),
        LookupState::NoProvider
    ));
    assert_eq!(state.retry_after(), None);
}

#[tokio::test]
async fn a_lookup_that_did_not_run_is_unavailable() {
    let (provider, requests) = provider();
    let lookups = AddressLookups::new(Some(provider), postcodes(&["QA1 1AF"]));
    for text in ["QA1 1AF", "QA1 1AG"] {
        let LookupState::Unavailable(unavailable) = lookups.of(&postcode(text)) else {
            panic!("{text} has a result");
        };
        assert_eq!(unavailable.why, Failure::TimedOut);
    }
    assert_eq!(lookups.retry_after(), None);
    assert!(requests.lock().unwrap().is_empty());
}

#[tokio::test]
async fn each_postcode_of_a_request_is_looked_up_once() {
    let (provider, requests) = provider();
    let all = postcodes(&["QA1 1AF", "QA1 1AG", "QB3 1AA"]);
    let lookups = Arc::new(AddressLookups::new(Some(provider), all));
    // A postcode that the request does not name is never looked up for it.
    let some = ["QA1 1AF", "QB3 1AA", "QC1 1AA"].map(postcode);
    lookups.clone().look_up(some.to_vec()).await;
    assert_eq!(requests.lock().unwrap().len(), 2);
    assert!(matches!(
        lookups.of(&postcode("QA1 1AG")),
        LookupState::Unavailable(_)
    ));
    lookups.clone().look_up_all().await;
    // The failure is not retried within the request.
    assert_eq!(requests.lock().unwrap().len(), 3);
    for text in ["QA1 1AF", "QA1 1AG"] {
        let LookupState::Addresses(list) = lookups.of(&postcode(text)) else {
            panic!("{text} has no result");
        };
        assert!(!list.residential(1));
    }
    assert!(matches!(
        lookups.of(&postcode("QB3 1AA")),
        LookupState::Unavailable(_)
    ));
}

#[tokio::test]
async fn the_longest_wait_of_the_failures_is_passed_on() {
    let (provider, _) = provider();
    let all = postcodes(&["QA1 1AF", "QB3 1AA", "QB7 1AA", "QB5 1AA"]);
    let lookups = Arc::new(AddressLookups::new(Some(provider), all));
    lookups.clone().look_up_all().await;
    assert_eq!(lookups.retry_after(), Some(Duration::from_secs(7)));
}
