//! Hostile registries. The host bounds the bytes that it reads, and prints their text short and
//! without control characters. It sends no password unencrypted, and nothing into its own network.

use super::{host, publish, pull, release};
use crate::common::demo::RELEASE;
use crate::common::packages::Releases;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A handler of the requests to a test's registry.
type Handler = Box<dyn Fn(&str, usize, &mut TcpStream) + Send + Sync>;

/// Listens until the test's process ends. `answer` gets the path, which question it is of those to
/// that path, and the connection, which is closed after it.
fn registry(answer: Handler) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (answer, record) = (Arc::new(answer), Arc::clone(&requests));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (answer, record) = (Arc::clone(&answer), Arc::clone(&record));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let Some(request) = head(&mut stream) else {
                    return;
                };
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let path = path.split('?').next().unwrap_or_default().to_owned();
                let count = {
                    let mut record = record.lock().unwrap();
                    record.push(request);
                    let same = |other: &&String| other.split([' ', '?']).nth(1) == Some(&path);
                    record.iter().filter(same).count()
                };
                answer(&path, count, &mut stream);
            });
        }
    });
    (format!("oci://{address}/models/homes"), requests)
}

/// Reads a request's head.
fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Sends a whole response.
fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    let _left = stream.write_all(text.as_bytes());
}

fn open_to_all(stream: &mut TcpStream) {
    respond(stream, "200 OK", "", "{}");
}

#[test]
fn an_endless_manifest_is_cut_off() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let (repository, _) = registry(Box::new(move |path, _, stream| {
        if !path.contains("/manifests/") {
            return open_to_all(stream);
        }
        let _left = stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.oci.image.manifest.v1+json\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        let piece = [b"100000\r\n".as_slice(), &[b' '; 1 << 20], b"\r\n"].concat();
        while counted.load(Ordering::Relaxed) < 256 && stream.write_all(&piece).is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    }));
    let target = host();
    let refused = pull(target.path(), &repository).refused();
    assert!(refused.contains("more than 4194304 bytes"), "{refused}");
    let taken = sent.load(Ordering::Relaxed);
    assert!(taken < 64, "{taken} MiB were taken");
}

#[test]
fn registry_text_is_short_and_moves_no_cursor() {
    let (repository, _) = registry(Box::new(|path, _, stream| match path {
        "/v2/" => open_to_all(stream),
        _ => respond(
            stream,
            "500 Broken",
            "Content-Type: text/plain\r\n",
            &"\u{1b}[2J\u{1b}]0;all is well\u{7}".repeat(100_000),
        ),
    }));
    let target = host();
    let refused = pull(target.path(), &repository).refused();
    assert!(refused.contains("status 500"), "{refused}");
    // The log names three more tries, each as short.
    assert_eq!(refused.matches("trying again").count(), 3, "{refused}");
    assert!(refused.len() < 4096, "{} bytes", refused.len());
    let moves = |c: char| c.is_control() && c != '\n';
    assert!(!refused.contains(moves), "{refused:?}");
}

#[test]
fn a_page_without_manifest_is_named() {
    let (repository, _) = registry(Box::new(|_, _, stream| {
        respond(
            stream,
            "200 OK",
            "Content-Type: text/html\r\n",
            "<html>Welcome</html>",
        );
    }));
    let refused = pull(host().path(), &repository).refused();
    assert!(refused.contains("text/html"), "{refused}");
    assert!(refused.contains("a login page"), "{refused}");
}

#[test]
fn a_redirect_to_another_machine_without_tls_is_refused() {
    let (other, reached) = registry(Box::new(|_, _, stream| open_to_all(stream)));
    let elsewhere = other.replace("oci://", "http://");
    let (repository, _) = registry(Box::new(move |path, _, stream| match path {
        "/v2/" => open_to_all(stream),
        _ => respond(
            stream,
            "307 Temporary Redirect",
            &format!("Location: {elsewhere}/secret\r\n"),
            "",
        ),
    }));
    let refused = pull(host().path(), &repository).refused();
    assert!(refused.contains("which is not https"), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
    assert!(reached.lock().unwrap().is_empty());
}

#[test]
fn a_truncated_response_is_named_with_a_remedy() {
    let (repository, requests) = registry(Box::new(|path, _, stream| match path {
        "/v2/" => open_to_all(stream),
        _ => {
            let _left = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"sch");
        }
    }));
    let refused = pull(host().path(), &repository).refused();
    assert!(refused.contains("broke off"), "{refused}");
    assert!(refused.contains("run the command again"), "{refused}");
    // The login and four tries.
    assert_eq!(requests.lock().unwrap().len(), 5);
}

#[test]
fn a_transient_token_service_failure_is_retried() {
    let (repository, requests) = registry(Box::new(|path, count, stream| {
        let own = stream.local_addr().unwrap();
        match path {
            "/v2/" => respond(
                stream,
                "401 Unauthorized",
                &format!(
                    "WWW-Authenticate: Bearer realm=\"http://{own}/token\",service=\"homes\"\r\n"
                ),
                "",
            ),
            "/token" if count <= 2 => respond(stream, "503 Busy", "", "busy"),
            "/token" => respond(stream, "200 OK", "", r#"{"token": "a-token-of-theirs"}"#),
            _ => respond(stream, "404 Not Found", "", ""),
        }
    }));
    let refused = pull(host().path(), &repository).refused();
    assert!(!refused.contains("does not allow"), "{refused}");
    assert!(refused.contains("not found in the registry"), "{refused}");
    assert!(!refused.contains("a-token-of-theirs"), "{refused}");
    let requests = requests.lock().unwrap();
    let tokens = requests
        .iter()
        .filter(|request| request.contains(" /token?"));
    assert_eq!(tokens.count(), 3);
    let last = requests.last().unwrap().to_lowercase();
    assert!(
        last.contains("authorization: bearer a-token-of-theirs"),
        "{last}"
    );
}

#[test]
fn a_password_does_not_go_to_another_machine_unencrypted() {
    // An address reserved for documentation: no machine has it, and no request goes there.
    let (repository, requests) = registry(Box::new(|_, _, stream| {
        respond(
            stream,
            "401 Unauthorized",
            "WWW-Authenticate: Bearer realm=\"http://192.0.2.1/token\",service=\"homes\"\r\n",
            "",
        );
    }));
    let source = Releases::copy();
    let login = [
        ("DOMESDAY_REGISTRY_USER", "me"),
        ("DOMESDAY_REGISTRY_PASSWORD", "hunter2"),
    ];
    for command in ["publish", "pull"] {
        let output = release(&[command, RELEASE, &repository], source.path(), &login).refused();
        assert!(output.contains("not encrypted"), "{output}");
        assert!(output.contains("http://192.0.2.1/token"), "{output}");
        assert!(!output.contains("hunter2"), "{output}");
    }
    assert_eq!(requests.lock().unwrap().len(), 2);
}

/// Answers a request for a login with this token service, and any other as a registry without it.
fn with_realm(realm: String) -> (String, Arc<Mutex<Vec<String>>>) {
    registry(Box::new(move |path, _, stream| match path {
        path if path.ends_with("/v2/") => respond(
            stream,
            "401 Unauthorized",
            &format!("WWW-Authenticate: Bearer realm=\"{realm}\",service=\"homes\"\r\n"),
            "",
        ),
        _ => open_to_all(stream),
    }))
}

#[test]
fn a_login_within_a_machine_or_a_private_network_is_refused() {
    let (other, reached) = registry(Box::new(|_, _, stream| {
        respond(stream, "200 OK", "", r#"{"token": "a-token-of-theirs"}"#);
    }));
    let realm = other.replace("oci://", "http://");
    // This registry serves as the proxy of the environment, on the way to a public host.
    let (proxy, requests) = with_realm(realm.clone());
    let proxy = proxy
        .replace("oci://", "http://")
        .replace("/models/homes", "");
    let source = Releases::copy();
    let settings = [
        ("DOMESDAY_REGISTRY_USER", "me"),
        ("DOMESDAY_REGISTRY_PASSWORD", "hunter2"),
        ("http_proxy", proxy.as_str()),
        ("no_proxy", "127.0.0.1"),
        ("NO_PROXY", "127.0.0.1"),
    ];
    for command in ["publish", "pull"] {
        let registry = "oci://registry.example/models/homes";
        let arguments = [command, RELEASE, registry, "--plain-http"];
        let refused = release(&arguments, source.path(), &settings).refused();
        assert!(refused.contains("Nothing was sent there"), "{refused}");
        assert!(refused.contains(&realm), "{refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }
    assert!(reached.lock().unwrap().is_empty());
    assert_eq!(requests.lock().unwrap().len(), 2);

    // A registry of this machine may not send the host to the machine's metadata either.
    let (repository, requests) = with_realm("https://169.254.169.254/latest".to_owned());
    let refused = pull(host().path(), &repository).refused();
    assert!(refused.contains("Nothing was sent there"), "{refused}");
    assert_eq!(requests.lock().unwrap().len(), 1);
}

#[test]
fn a_package_is_not_uploaded_to_another_machine_without_tls() {
    let (other, reached) = registry(Box::new(|_, _, stream| {
        respond(stream, "201 Created", "Location: /somewhere\r\n", "");
    }));
    let elsewhere = other.replace("oci://", "http://");
    let source = Releases::copy();
    for status in ["202 Accepted", "307 Temporary Redirect"] {
        let elsewhere = elsewhere.clone();
        let (repository, _) = registry(Box::new(move |path, _, stream| match path {
            "/v2/" => open_to_all(stream),
            path if path.ends_with("/blobs/uploads/") => {
                let location = format!("Location: {elsewhere}/secret\r\n");
                respond(stream, status, &location, "");
            }
            _ => respond(stream, "404 Not Found", "", ""),
        }));
        let refused = publish(source.path(), &repository).refused();
        assert!(refused.contains("which is not https"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
    assert!(reached.lock().unwrap().is_empty());
}
