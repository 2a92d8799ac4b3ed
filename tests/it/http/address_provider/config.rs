//! The settings of a provider, the requests to it, and its metrics.

use crate::address_provider::{VALUE, property};
use crate::common::demo::at;
use crate::common::metrics::metrics_client;
use crate::common::places::{Places, Reply, home, listing};
use crate::common::server::{Server, start};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const STREET: &str = "Badger Yard Gardens";
const POSTCODE: &str = "QA1 1AF";
const SECRET: &str = "s3cret-key-of-the-provider";

fn places() -> Places {
    Places::of(&[home(990_000_000_001, POSTCODE, "4711", STREET)])
}

fn key_file(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("provider.key");
    std::fs::write(&path, format!("{SECRET}\n")).unwrap();
    path
}

#[test]
fn the_key_goes_to_the_provider_in_a_header_and_nowhere_else() {
    let folder = TempDir::new().unwrap();
    let (file, variable) = (key_file(&folder), Path::new(SECRET));
    for from_file in [true, false] {
        let places = places();
        let url = places.url();
        let start = start().with(&["--address-provider", &url, "--log", "trace"]);
        let start = match from_file {
            true => start.with(&["--address-key-file", file.to_str().unwrap()]),
            false => start.environment("DOMESDAY_ADDRESS_KEY", variable),
        };
        let server = start.go();
        let client = server.demo();
        let result = client.post(VALUE, &at("4711", STREET, POSTCODE)).ok();
        property(&result);
        assert_eq!(places.requests()[0].key.as_deref(), Some(SECRET));
        assert!(!places.requests()[0].target.contains(SECRET));
        places.set_behaviour(|_| Reply::Status(401, None));
        let refused = client.post(VALUE, &at("1", "Newt Yard", "QA1 9ZZ"));
        assert_eq!(refused.status, 503);
        assert!(!refused.text.contains(SECRET));
        let log = server.stop();
        assert!(!log.contains(SECRET), "the key is in the log");
    }
}

#[test]
fn settings_that_cannot_work_are_refused_at_the_start() {
    let folder = TempDir::new().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "\n").unwrap();
    let (empty, file) = (
        empty.display().to_string(),
        key_file(&folder).display().to_string(),
    );
    let here = "http://127.0.0.1:1";
    for (arguments, says) in [
        (
            vec!["--address-provider", "http://places.example/v1"],
            "must be https",
        ),
        (vec!["--address-provider", "places.example"], "whole URL"),
        (
            vec!["--address-provider", "https://places.example/?key=s3cret"],
            "without a name, password",
        ),
        (
            vec!["--address-key-file", &file],
            "goes with --address-provider",
        ),
        (
            vec!["--address-provider", here, "--address-key-file", &empty],
            "1 to 512",
        ),
        (
            vec![
                "--address-provider",
                here,
                "--address-key-file",
                "/nowhere/key",
            ],
            "/nowhere/key",
        ),
    ] {
        let refusal = start().with(&arguments).refused();
        assert!(refusal.contains(says), "{arguments:?}: {refusal}");
        assert!(!refusal.contains("s3cret"), "{refusal}");
    }
    let both = ["--address-provider", here, "--address-key-file", &file];
    let refusal = start()
        .with(&both)
        .environment("DOMESDAY_ADDRESS_KEY", Path::new("another"))
        .refused();
    assert!(refusal.contains("leave one out"), "{refusal}");
}

#[test]
fn environment_proxies_are_ignored() {
    let (places, proxy) = (
        places(),
        Places::with_behaviour(|_| Reply::Status(502, None)),
    );
    let address = format!("http://{}", proxy.address);
    let mut start = start().with(&["--address-provider", &places.url()]);
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        start = start.environment(name, Path::new(&address));
    }
    let server = start.go();
    let result = server
        .demo()
        .post(VALUE, &at("4711", STREET, POSTCODE))
        .ok();
    assert_eq!(property(&result)["identity_source"], "identity_provider");
    assert!(proxy.requests().is_empty());
}

/// Returns the metrics page of a server that shows one.
fn metrics(server: &Server) -> String {
    metrics_client(server).get("/metrics").text
}

/// The program itself stands in for a provider that speaks TLS. It refuses every foreign key, so a
/// refusal shows that the client trusted its certificate.
#[test]
fn a_provider_over_tls_must_have_a_certificate_that_the_machine_trusts() {
    let folder = TempDir::new().unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let files = [&certificate, &key].map(|path| path.display().to_string());
    let other = start()
        .with(&["--tls-certificate", &files[0], "--tls-key", &files[1]])
        .go();
    let url = format!("https://localhost:{}/v3", other.address.port());
    for (trusted, outcome) in [(true, "key_refused"), (false, "unreachable")] {
        let arguments = [
            "--address-provider",
            &url,
            "--metrics-listen",
            "127.0.0.1:0",
        ];
        let mut start = start().with(&arguments);
        if trusted {
            start = start.environment("SSL_CERT_FILE", &certificate);
        }
        let server = start.go();
        let refused = server.demo().post(VALUE, &at("4711", STREET, POSTCODE));
        assert_eq!(refused.status, 503, "{refused:?}");
        let counted = format!("requests_total{{outcome=\"{outcome}\"}}");
        let page = metrics(&server);
        assert!(page.contains(&counted), "{counted}\n{page}");
    }
}

#[test]
fn provider_calls_are_counted() {
    let places = places();
    let well = listing(&[home(990_000_000_001, POSTCODE, "4711", STREET)]);
    places.set_behaviour(move |request| match request.number {
        0 => Reply::Status(500, None),
        _ => well(request),
    });
    let url = places.url();
    let arguments = [
        "--address-provider",
        &url,
        "--metrics-listen",
        "127.0.0.1:0",
    ];
    let server = start().with(&arguments).go();
    let client = server.demo();
    for _ in 0..2 {
        property(&client.post(VALUE, &at("4711", STREET, POSTCODE)).ok());
    }
    places.set_behaviour(|_| Reply::Status(401, None));
    for n in 0..6 {
        client.post(VALUE, &at(&n.to_string(), "Newt Yard", "QA1 9ZZ"));
    }
    let page = metrics(&server);
    for line in [
        r#"domesday_address_lookup_requests_total{outcome="broken"} 1"#,
        r#"domesday_address_lookup_requests_total{outcome="answered"} 1"#,
        r#"domesday_address_lookup_requests_total{outcome="key_refused"} 5"#,
        r#"domesday_address_lookup_retries_total 1"#,
        r#"domesday_address_lookup_request_seconds_count 7"#,
        r#"domesday_address_lookup_postcodes_total{outcome="answered"} 1"#,
        r#"domesday_address_lookup_postcodes_total{outcome="remembered"} 1"#,
        r#"domesday_address_lookup_postcodes_total{outcome="unavailable"} 6"#,
        r#"domesday_address_lookup_breaker{state="open"} 1"#,
        r#"domesday_address_lookup_breaker{state="closed"} 0"#,
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
}
