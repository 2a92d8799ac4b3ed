//! HTTPS by the program itself.

use crate::common::demo::house;
use crate::common::metrics::{metric, metrics_client};
use crate::common::raw::{HttpResponse, connect, head, read};
use crate::common::server::{Server, start};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

/// Writes a new certificate for localhost, and its key.
fn certificate(folder: &Path) -> CertificateDer<'static> {
    certificate_until(folder, 2050)
}

/// Writes a new certificate for localhost that expires with the start of a year, and its key.
fn certificate_until(folder: &Path, year: i32) -> CertificateDer<'static> {
    let mut parameters = CertificateParams::new(["localhost".to_owned()]).unwrap();
    parameters.not_after = date_time_ymd(year, 1, 1);
    let signing_key = KeyPair::generate().unwrap();
    let cert = parameters.self_signed(&signing_key).unwrap();
    fs::write(folder.join("certificate.pem"), cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.der().clone()
}

fn serve(folder: &Path) -> Server {
    let path = |name: &str| folder.join(name).display().to_string();
    start()
        .with(&["--tls-certificate", &path("certificate.pem")])
        .with(&["--tls-key", &path("key.pem")])
        .with(&["--metrics-listen", "127.0.0.1:0"])
        .go()
}

/// Connects a client that trusts one certificate and speaks one version.
fn client(
    server: &Server,
    trusted: &CertificateDer<'static>,
    version: &'static SupportedProtocolVersion,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    StreamOwned::new(connection, connect(server.address))
}

fn value(server: &Server, stream: &mut (impl Read + Write)) -> HttpResponse {
    let body = house().to_string();
    let (length, bearer) = (body.len().to_string(), server.demo().key);
    let headers = [
        ("Authorization", format!("Bearer {bearer}")),
        ("Content-Type", "application/json".to_owned()),
        ("Content-Length", length),
    ];
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let request = head("POST", "/v3/value", &headers) + &body;
    stream.write_all(request.as_bytes()).unwrap();
    read(stream)
}

#[test]
fn a_home_is_valued_over_tls_1_2_and_1_3_and_nothing_else_is_spoken() {
    let folder = tempfile::tempdir().unwrap();
    let trusted = certificate(folder.path());
    let server = serve(folder.path());
    assert!(server.printed.contains("https://"), "{}", server.printed);
    for version in [&TLS12, &TLS13] {
        let mut stream = client(&server, &trusted, version);
        // Two, so that the connection is seen to be kept.
        assert_eq!(value(&server, &mut stream).ok()["status"], "valued");
        assert_eq!(value(&server, &mut stream).ok()["status"], "valued");
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    }
    let mut plain = connect(server.address);
    plain
        .write_all(head("GET", "/healthz", &[]).as_bytes())
        .unwrap();
    let mut bytes = Vec::new();
    let _ = plain.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP"), "{bytes:?}");
    // A client that never begins its handshake delays neither the others nor the stop.
    let _idle = connect(server.address);
    let mut stream = client(&server, &trusted, &TLS13);
    assert_eq!(value(&server, &mut stream).ok()["status"], "valued");
}

#[test]
fn a_new_certificate_is_taken_on_sighup_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let old = certificate_until(folder.path(), 2040);
    let server = serve(folder.path());
    let metrics = metrics_client(&server);
    let expiry = || {
        metric(
            &metrics,
            "domesday_tls_certificate_expiry_timestamp_seconds",
        )
    };
    assert_eq!(expiry(), 2_208_988_800.0);
    let mut open_stream = client(&server, &old, &TLS13);
    assert_eq!(value(&server, &mut open_stream).ok()["status"], "valued");
    let new = certificate_until(folder.path(), 2041);
    server.signal(rustix::process::Signal::HUP);
    server.await_log(|line| line["message"] == "the certificate was read again");
    assert_eq!(expiry(), 2_240_611_200.0);
    let mut stream = client(&server, &new, &TLS13);
    assert_eq!(value(&server, &mut stream).ok()["status"], "valued");
    // Connections that were open stay so.
    assert_eq!(value(&server, &mut open_stream).ok()["status"], "valued");
    let mut refused = client(&server, &old, &TLS13);
    assert!(refused.write_all(b"x").is_err());

    fs::write(folder.path().join("key.pem"), "no key").unwrap();
    server.signal(rustix::process::Signal::HUP);
    server.await_log(|line| line["message"] == "the certificate is kept as it was");
    let mut stream = client(&server, &new, &TLS13);
    assert_eq!(value(&server, &mut stream).ok()["status"], "valued");
}

/// `systemctl reload` sends it to every host.
#[test]
fn a_host_without_a_certificate_outlives_sighup() {
    let server = start().go();
    for _ in 0..2 {
        server.signal(rustix::process::Signal::HUP);
    }
    server.await_log(|line| line["message"] == "SIGHUP: there is no certificate to read again");
    assert_eq!(
        server.demo().post("/v3/value", &house()).ok()["status"],
        "valued"
    );
    server.stop();
}

#[test]
fn a_certificate_that_cannot_be_served_with_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    certificate(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path("certificate.pem"), path("key.pem"));
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    let other = tempfile::tempdir().unwrap();
    self::certificate(other.path());
    let other = other.path().join("key.pem").display().to_string();
    for (certificate, key, named) in [
        (&certificate, &path("nowhere.pem"), "nowhere.pem"),
        (&path("empty.pem"), &key, "empty.pem"),
        (&certificate, &other, "key"),
    ] {
        let refused = start()
            .with(&["--tls-certificate", certificate, "--tls-key", key])
            .refused();
        assert!(refused.contains(named), "{refused}");
        assert!(refused.contains("cannot set up TLS with"), "{refused}");
    }
    let refused = start().with(&["--tls-key", &key]).refused();
    assert!(refused.contains("--tls-certificate"), "{refused}");
}
