//! The programs of a page do what the page shows, when a person copies them.

use super::{Browser, HOME, start_with_console};
use crate::common::program::repository;
use crate::common::python::{interpreter, run_to_success};
use crate::common::server::Server;
use std::path::Path;
use std::process::Command;

/// Returns the text under a heading of a page, as a browser would copy it.
fn copied(page: &str, heading: &str) -> String {
    let found = page.split(&format!("<summary>{heading}</summary>")).nth(1);
    let text = found.unwrap().split("<code>").nth(1).unwrap();
    let text = text.split("</code>").next().unwrap();
    let text = text
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    text.replace("&#39;", "'").replace("&amp;", "&")
}

fn with_key(command: &mut Command, server: &Server) -> String {
    let command = command.env("DOMESDAY_KEY", server.demo().key);
    let output = run_to_success(command.env("NO_PROXY", "127.0.0.1"));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a program with the client's sources, beside which nothing is written.
fn run_python(server: &Server, program: &str) -> String {
    let client = repository().join("clients/python");
    let mut python = Command::new(interpreter(&client, Path::new(env!("CARGO_TARGET_TMPDIR"))));
    python.env("PYTHONPATH", client.join("src"));
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    with_key(python.args(["-c", program]), server)
}

fn run_shell(server: &Server, program: &str) -> String {
    with_key(Command::new("sh").args(["-c", program]), server)
}

#[test]
fn the_programs_of_a_value_give_its_estimate() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page(&browser.value(&HOME));
    let shown = page.split("<h1 class=\"estimate\">£").nth(1).unwrap();
    let shown = shown.split('<').next().unwrap().replace(',', "");
    for printed in [
        run_python(&server, &copied(&page, "Python")),
        run_shell(&server, &copied(&page, "curl")),
    ] {
        let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let estimate = &printed["valuation"]["estimated_value_gbp"];
        assert_eq!(estimate.to_string(), shown);
    }
    server.stop();
}

#[test]
fn the_programs_of_a_series_read_the_observations_of_its_file() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let markets = "dataset=market_activity&area=E06990001&property_type=all&from=2026-01&to=2026-07\
         &compared_with=E06990002";
    let rates = "dataset=ois_spot_curve&from=2026-09-30&to=2026-09-30&compared_day=2025-09-30";
    for (family, query) in [("markets", markets), ("rates", rates)] {
        let page = browser.page(&format!("/{family}?{query}"));
        let file = browser.page(&format!("/{family}.csv?{query}"));
        let rows = csv::Reader::from_reader(file.as_bytes()).records().count();
        let printed = run_python(&server, &copied(&page, "Python"));
        assert_eq!(printed.lines().count(), rows, "{family}: {printed}");
        let printed = run_shell(&server, &copied(&page, "curl"));
        assert_eq!(printed.matches("\"release_id\":").count(), 2, "{printed}");
    }
    server.stop();
}
