//! The console's name, its cookie, and links into it from elsewhere.

use super::{Browser, HOME, link, post, start_with_console};
use crate::common::client::agent;
use crate::common::program::run;
use crate::common::server::{Server, start};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::blocking::Response;
use reqwest::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use std::fs;
use std::net::TcpListener;
use std::path::Path;

/// A port that is free now.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A console at a port, behind a proxy that browsers know by a name.
fn start_behind(name: &str) -> (Server, String) {
    let address = format!("127.0.0.1:{}", free_port());
    let arguments = ["--console", &address, "--console-origin", name];
    (start().with(&arguments).go(), format!("http://{address}"))
}

/// Sends a request as the proxy passes it on.
fn by_name(address: &str, path: &str, host: &str, cookie: &str) -> Response {
    let request = agent().get(format!("{address}{path}")).header(HOST, host);
    request.header(COOKIE, cookie).send().unwrap()
}

fn cookies(response: &Response) -> Vec<String> {
    let cookies = response.headers().get_all(SET_COOKIE).iter();
    cookies
        .map(|cookie| cookie.to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_console_behind_a_name_answers_to_it_alone() {
    let (server, address) = start_behind("https://Values.Example:443");
    assert!(
        server
            .printed
            .contains("console on https://values.example;"),
        "{}",
        server.printed
    );
    let link = link(&server, &[]);
    let (origin, token) = link.split_once("/login?token=").unwrap();
    assert_eq!(origin, "https://values.example");
    let login = |origin: &str| {
        let request = agent().post(format!("{address}/login"));
        let request = request
            .header(HOST, "values.example")
            .header(ORIGIN, origin);
        request.body(format!("token={token}")).send().unwrap()
    };
    assert_eq!(login(&address).status(), 403);
    let opened = login(origin);
    assert_eq!(opened.status(), 303);
    let cookie = cookies(&opened).swap_remove(0);
    assert!(
        cookie.starts_with("__Host-domesday_console_443="),
        "{cookie}"
    );
    for part in ["; Secure", "; Path=/;", "; HttpOnly", "; SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    for (host, status) in [
        ("values.example", 200),
        ("values.example:443", 200),
        ("values.example:80", 421),
        (address.split_once("://").unwrap().1, 421),
    ] {
        let answered = by_name(&address, "/releases", host, cookie);
        assert_eq!(answered.status(), status, "{host}");
    }
    server.stop();
}

/// Writes a certificate, and returns the flags that name it.
fn tls(folder: &Path) -> Vec<String> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = [
        ("--tls-certificate", "certificate.pem", cert.pem()),
        ("--tls-key", "key.pem", signing_key.serialize_pem()),
    ];
    let flags = files.map(|(flag, name, text)| {
        fs::write(folder.join(name), text).unwrap();
        [flag.to_owned(), folder.join(name).display().to_string()]
    });
    flags.concat()
}

#[test]
fn an_address_that_browsers_cannot_write_needs_an_origin() {
    let folder = tempfile::tempdir().unwrap();
    let tls = tls(folder.path());
    let tls: Vec<&str> = tls.iter().map(String::as_str).collect();
    let everywhere = ["--console", "0.0.0.0:8443"];
    let refused = start().with(&tls).with(&everywhere).refused();
    assert!(
        refused.contains("--console-origin https://NAME:8443"),
        "{refused}"
    );
    let plain = [
        "--console",
        "127.0.0.1:0",
        "--console-origin",
        "http://values.example",
    ];
    let refused = start().with(&tls).with(&plain).refused();
    assert!(refused.contains("Begin it with https://"), "{refused}");
    let path = [
        "--console",
        "127.0.0.1:0",
        "--console-origin",
        "https://values.example/console",
    ];
    let refused = start().with(&path).refused();
    assert!(refused.contains("is not an origin"), "{refused}");
    let named = [
        "--console",
        "0.0.0.0:0",
        "--console-origin",
        "https://localhost",
    ];
    let server = start().with(&tls).with(&named).go();
    assert!(
        server.printed.contains("console on https://localhost;"),
        "{}",
        server.printed
    );
    server.stop();
}

#[test]
fn a_cookie_is_of_one_port_and_one_alone_is_taken() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let port = browser.origin.rsplit(':').next().unwrap();
    let (name, _) = browser.cookie.split_once('=').unwrap();
    assert_eq!(name, format!("domesday_console_{port}"));
    let both = format!("{}; {name}=of-another-server", browser.cookie);
    let request = agent().get(format!("{}/", browser.origin));
    let refused = request.header(COOKIE, both).send().unwrap();
    assert_eq!(refused.status(), 400);
    assert!(refused.text().unwrap().contains("several cookies"));
    server.stop();
}

#[test]
fn a_permalink_from_another_site_leads_on_from_here() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    let from = |site: &str, path: &str, cookie: &str| {
        let request = agent().get(format!("{}{path}", browser.origin));
        let request = request
            .header("Sec-Fetch-Site", site)
            .header(COOKIE, cookie);
        request.send().unwrap()
    };
    let page = from("cross-site", &path, "").text().unwrap();
    assert!(
        page.contains(&format!("<a href=\"{path}\">Continue</a>")),
        "{page}"
    );
    assert!(!page.contains('£'), "{page}");
    assert_eq!(from("same-origin", &path, &browser.cookie).status(), 200);
    // The link stays on this site, whatever the path.
    let page = from("cross-site", "//evil.example/", "").text().unwrap();
    assert!(!page.contains("evil.example"), "{page}");
    let page = from("same-origin", &path, "").text().unwrap();
    assert!(page.contains("No session is open"), "{page}");
    server.stop();
}

#[test]
fn a_login_leads_to_the_page_that_was_wanted_and_nowhere_else() {
    let server = start_with_console().go();
    let path = Browser::of_demo(&server).value(&HOME);
    let origin = super::origin(&server);
    let asked = agent().get(format!("{origin}{path}")).send().unwrap();
    assert_eq!(asked.status(), 401);
    let next = cookies(&asked).swap_remove(0);
    let next = next.split(';').next().unwrap();
    let login = |next: &str| {
        let link = link(&server, &[]);
        let token = link.rsplit('=').next().unwrap();
        let opened = post(&origin, &origin, "/login", next, &[("token", token)]);
        opened.headers()[LOCATION].to_str().unwrap().to_owned()
    };
    assert_eq!(login(next), path);
    let (name, _) = next.split_once('=').unwrap();
    for elsewhere in [
        "//evil.example/",
        "https://evil.example/",
        "/.//evil.example",
        "/\\evil.example",
    ] {
        let planted: String = form_urlencoded::byte_serialize(elsewhere.as_bytes()).collect();
        assert_eq!(login(&format!("{name}={planted}")), "/", "{elsewhere}");
    }
    server.stop();
}

#[test]
fn a_value_that_is_not_kept_says_so() {
    let server = start_with_console().go();
    let gone = "/values/01990000-0000-7000-8000-000000000001";
    let page = Browser::of_demo(&server).get(gone);
    assert_eq!(page.status(), 404);
    let page = page.text().unwrap();
    for words in ["not kept here", "domesday replay --journal"] {
        assert!(page.contains(words), "{page}");
    }
    server.stop();
}

#[test]
fn a_disabled_tenant_gets_no_link() {
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    run(["tenant", "disable", "demo", "--data", &data]).ok();
    let refused = run(["console", "login", "--data", &data]).refused();
    assert!(refused.contains("tenant demo is disabled"), "{refused}");
    server.stop();
}

#[test]
fn the_demo_says_why_it_has_no_console() {
    // The console would be at the port after that of the API.
    let (api, _taken) = loop {
        let api = free_port();
        if let Ok(taken) = TcpListener::bind(("127.0.0.1", api.saturating_add(1))) {
            break (api, taken);
        }
    };
    let server = start().listen(&format!("127.0.0.1:{api}")).go();
    assert!(
        server.printed.contains("Showing no console: cannot listen"),
        "{}",
        server.printed
    );
    server.stop();
}
