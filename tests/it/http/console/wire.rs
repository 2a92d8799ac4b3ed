//! What a page weighs as it is sent, and what a compressed page tells of the token of its forms.

use super::{Browser, HOME, link, post, start_with_console};
use crate::common::client::agent;
use flate2::read::GzDecoder;
use reqwest::blocking::Response;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, COOKIE};
use std::io::Read;

/// The most bytes that any page may have as it is sent.
const MOST_BYTES: usize = 150_000;
/// Long series: two areas, and a rate of each day since 2015.
const LONG: [&str; 2] = [
    "/markets?dataset=market_activity&area=E06990001&compared_with=E06990002&from=2020-01&to=2026-09",
    "/rates?dataset=bank_rate&from=2015-01-01&to=2026-09-30",
];

fn get(browser: &Browser, path: &str, encoding: &str) -> Response {
    let request = agent().get(format!("{}{path}", browser.origin));
    let request = request.header(COOKIE, &browser.cookie);
    request.header(ACCEPT_ENCODING, encoding).send().unwrap()
}

fn encoding_of(response: &Response) -> Option<&str> {
    let found = response.headers().get(CONTENT_ENCODING)?;
    Some(found.to_str().unwrap())
}

#[test]
fn long_pages_and_files_are_compressed_below_150_kb() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--operator"]));
    let value = browser.value(&HOME);
    let others = [
        "/",
        &value,
        "/jobs",
        "/releases",
        "/operation",
        "/operation/guide",
    ];
    let assets = ["/assets/console.css", "/assets/console.js"];
    for path in LONG.into_iter().chain(others).chain(assets) {
        for encoding in ["gzip", "zstd"] {
            let page = get(&browser, path, encoding);
            assert_eq!(page.status(), 200, "{path}");
            assert_eq!(encoding_of(&page), Some(encoding), "{path}");
            let sent = page.bytes().unwrap().len();
            println!("{path}: {sent} bytes by {encoding}");
            assert!(sent < MOST_BYTES, "{path}: {sent} bytes by {encoding}");
        }
    }
    // The same page without it.
    let plain = get(&browser, LONG[1], "identity");
    assert_eq!(encoding_of(&plain), None);
    let sent = get(&browser, LONG[1], "gzip").bytes().unwrap();
    let mut text = String::new();
    GzDecoder::new(&sent[..]).read_to_string(&mut text).unwrap();
    let plain = plain.text().unwrap();
    for page in [&text, &plain] {
        assert!(page.contains("</table>") && page.ends_with("</html>"));
    }
    // What is packed already stays as it is.
    let file = "/rates.parquet?dataset=bank_rate&from=2015-01-01&to=2026-09-30";
    assert_eq!(encoding_of(&get(&browser, file, "gzip")), None);
    server.stop();
}

#[test]
fn the_token_of_a_form_is_another_text_in_each_response() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let token = || {
        let page = browser.page("/");
        let found = page.split("name=\"form_token\" value=\"").nth(1).unwrap();
        found.split('"').next().unwrap().to_owned()
    };
    let (one, other) = (token(), token());
    assert_ne!(one, other);
    let half = one.len() / 2;
    // Neither half stays: a length would tell it.
    assert_ne!(one[..half], other[..half]);
    assert_ne!(one[half..], other[half..]);
    for token in [&one, &other] {
        let fields = [&HOME[..], &[("form_token", token.as_str())]].concat();
        let (origin, cookie) = (&browser.origin, &browser.cookie);
        assert_eq!(
            post(origin, origin, "/values", cookie, &fields).status(),
            303
        );
    }
    server.stop();
}
