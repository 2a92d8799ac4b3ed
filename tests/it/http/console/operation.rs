//! The page of operation: trouble first, then plots, then tables.

use super::{Browser, link, start_with_console};
use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::Server;
use std::time::{Duration, Instant};

/// The longest wait for a head, which a journal signs within a second.
const TIMEOUT: Duration = Duration::from_secs(20);

fn operator(server: &Server) -> Browser {
    Browser::open(&link(server, &["--operator"]))
}

/// Returns the place of words on a page.
#[track_caller]
fn place(page: &str, words: &str) -> usize {
    page.find(words)
        .unwrap_or_else(|| panic!("{words}: {page}"))
}

#[test]
fn a_quiet_server_says_so() {
    let server = start_with_console().go();
    let page = operator(&server).page("/operation");
    place(&page, "Nothing is degraded.");
    place(&page, "The service is quiet");
    place(&page, "Receipts are off.");
    server.demo().post("/v3/value", &house()).ok();
    let page = operator(&server).page("/operation");
    assert!(!page.contains("The service is quiet"), "{page}");
    server.stop();
}

#[test]
fn trouble_stands_first_with_its_remedy_and_its_guide() {
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    run(["jobs", "pause", "--data", &data]).ok();
    let browser = operator(&server);
    let page = browser.page("/operation");
    let trouble = place(&page, "New jobs are refused");
    assert!(trouble < place(&page, "<figure"), "{page}");
    assert!(
        place(&page, "<figure") < place(&page, "Units of this month"),
        "{page}"
    );
    place(&page, "domesday jobs resume");
    place(&page, "Since ");
    let guide = "/operation/guide#commands-reach-the-server";
    place(&page, &format!("href=\"{guide}\""));
    let text = browser.page("/operation/guide");
    place(&text, "<h2 id=\"commands-reach-the-server\">");
    run(["jobs", "resume", "--data", &data]).ok();
    let page = browser.page("/operation");
    assert!(!page.contains("New jobs are refused"), "{page}");
    server.stop();
}

#[test]
fn the_plots_count_responses_by_class_and_state_the_limits() {
    let server = start_with_console().go();
    let client = server.demo();
    for _ in 0..3 {
        client.post("/v3/value", &house()).ok();
    }
    assert_eq!(client.get("/v3/jobs/none").status, 404);
    let page = operator(&server).page("/operation?hours=6");
    for words in [
        "Responses by class of status, a second. Now 2xx ",
        "Latency, milliseconds. Now p50 ",
        "limit 192",
        "Age of the oldest job, minutes. Now 0",
        "Responses by class of status as a table",
        "From, UTC",
        "The last 6 hours",
    ] {
        place(&page, words);
    }
    let rates = page.split("Now 2xx ").nth(1).unwrap();
    let rate = |class: &str| -> f64 {
        let rest = rates.split(class).nth(1).unwrap();
        let digits: String = rest
            .trim_start()
            .chars()
            .take_while(|it| it.is_ascii_digit() || *it == '.')
            .collect();
        digits.trim_end_matches('.').parse().unwrap()
    };
    assert!(rate("4xx") > 0.0, "{rates}");
    assert!(rate("5xx") == 0.0, "{rates}");
    server.stop();
}

#[test]
fn a_peak_between_two_samples_is_drawn() {
    let server = start_with_console().go();
    server.demo().post("/v3/value", &house()).ok();
    let browser = operator(&server);
    let began = Instant::now();
    loop {
        let page = browser.page("/operation");
        let words = page.split("Workers busy, workers. ").nth(1).unwrap();
        let words = words.split('<').next().unwrap();
        // No worker is busy while the page is made.
        if words.starts_with("Now 0; ") && !words.contains("at most 0") {
            break;
        }
        // A sample is taken each ten seconds.
        assert!(began.elapsed() < 3 * TIMEOUT, "{words}");
        std::thread::sleep(Duration::from_millis(200));
    }
    server.stop();
}

#[test]
fn the_head_of_the_receipts_has_its_time() {
    let server = start_with_console().with(&["--receipts", "all"]).go();
    server.demo().post("/v3/value", &house()).ok();
    let browser = operator(&server);
    let began = Instant::now();
    let page = loop {
        let page = browser.page("/operation");
        if page.contains("<dt>Signed</dt>") {
            break page;
        }
        assert!(began.elapsed() < TIMEOUT, "{page}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let heads = std::fs::read_to_string(server.data.join("journal/heads.jsonl")).unwrap();
    let head: serde_json::Value = serde_json::from_str(heads.lines().last().unwrap()).unwrap();
    place(&page, head["digest"].as_str().unwrap());
    place(&page, "receipt 1<");
    place(&page, " UTC</dd>");
    server.stop();
}

#[test]
fn the_operations_guide_is_for_operators() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    for path in ["/operation", "/operation?hours=6", "/operation/guide"] {
        assert_eq!(browser.get(path).status(), 403, "{path}");
    }
    server.stop();
}
