//! Files of homes, as people have them.

use super::forms::{form_id, login_after};
use super::{Browser, link, start_with_console};
use crate::common::client::agent;
use crate::common::metrics::{metric, metrics_client};
use reqwest::blocking::Response;
use reqwest::header::{CONTENT_TYPE, COOKIE, LOCATION, ORIGIN};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// The columns that a home needs.
pub const COLUMNS: &str = "postcode,building_number_or_name,street,type,subtype,title_tenure,status,bedrooms,valuation_date";
/// A home of the demo, in these columns.
pub const HOME: &str =
    "QA1 1AF,15,Badger Yard Gardens,S,house_semi_detached,freehold,owner_occupied,3,2026-10-15";

/// The responses with results of jobs.
const RESULTS: &str = r#"domesday_requests_total{route="/v3/valuation-jobs/{job_id}/results",status="200",code="none"}"#;

/// Sends a form with a file, as a browser does.
fn upload(browser: &Browser, file: &[u8]) -> Response {
    upload_form(browser, &[], file)
}

/// Sends a form with more fields and a file.
fn upload_form(browser: &Browser, more: &[(&str, &str)], file: &[u8]) -> Response {
    let mut body = String::new();
    let fields = [
        ("form_token", browser.token.as_str()),
        ("use_stored_data", "yes"),
    ];
    for (name, value) in fields.iter().chain(more) {
        write!(
            body,
            "--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        )
        .unwrap();
    }
    body += "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"homes.csv\"\r\n\
        Content-Type: text/csv\r\n\r\n";
    let body = [body.as_bytes(), file, b"\r\n--limit--\r\n"].concat();
    let request = agent().post(format!("{}/jobs", browser.origin));
    let request = request.header(CONTENT_TYPE, "multipart/form-data; boundary=limit");
    let request = request.header(ORIGIN, &browser.origin);
    request
        .header(COOKIE, &browser.cookie)
        .body(body)
        .send()
        .unwrap()
}

/// The page of the jobs that an upload made.
fn path(submitted: Response) -> String {
    let status = submitted.status();
    assert_eq!(status, 303, "{}", submitted.text().unwrap());
    submitted.headers()[LOCATION].to_str().unwrap().to_owned()
}

/// Waits until all jobs of a page have ended, and returns the page.
fn await_end(browser: &Browser, path: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let page = browser.page(path);
        if !page.contains("data-reload") {
            return page;
        }
        assert!(Instant::now() < deadline, "{page}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The results of jobs that have ended: the headings, and the rows.
fn results(browser: &Browser, path: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = browser.page(&format!("{path}/results.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let headings = cells(reader.headers().unwrap());
    let rows = reader.records().map(|row| cells(&row.unwrap())).collect();
    (headings, rows)
}

#[test]
fn a_spreadsheets_file_comes_back_with_its_columns_and_its_values() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let headings = COLUMNS.to_uppercase().replace(',', ";") + ";Kreditnehmer;loan_id";
    let home = HOME.replace(',', ";").replace("2026-10-15", "15/10/2026");
    // Windows-1252, as a spreadsheet saves it.
    let mut file = format!("{headings}\r\n{home};M").into_bytes();
    file.extend(b"\xfcller;=HYPERLINK(1)\r\n");
    file.extend(home.replace(";3;", ";many;").into_bytes());
    file.extend(b";\x80;-1\r\n");
    let path = path(upload(&browser, &file));
    let page = await_end(&browser, &path);
    for words in [
        "Job completed",
        "2 of 2",
        "1 valued, 0 referred to a person, 1 rejected",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let (headings, rows) = results(&browser, &path);
    let column = |name: &str| headings.iter().position(|heading| heading == name).unwrap();
    let cell = |row: usize, name: &str| rows[row][column(name)].as_str();
    assert_eq!(
        (cell(0, "POSTCODE"), cell(0, "Kreditnehmer")),
        ("QA1 1AF", "Müller")
    );
    assert_eq!((cell(1, "Kreditnehmer"), cell(1, "loan_id")), ("€", "-1"));
    assert_eq!(
        cell(0, "loan_id"),
        "'=HYPERLINK(1)",
        "no spreadsheet runs it"
    );
    assert_eq!(cell(0, "valuation_status"), "valued");
    assert!(cell(0, "estimated_value_gbp").parse::<u64>().unwrap() > 100_000);
    assert_eq!(cell(1, "valuation_status"), "rejected");
    assert_eq!(cell(1, "problem_field"), "/size/bedrooms");
    server.stop();
}

#[test]
fn a_file_that_says_a_column_twice_is_refused_by_its_name() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let file = format!("{COLUMNS},Postcode\n{HOME},QA1 1AG\n");
    let refused = upload(&browser, file.as_bytes());
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("&quot;Postcode&quot; stands twice"), "{page}");
    assert!(
        page.contains("Badger Yard Gardens"),
        "the form keeps the file's text"
    );
    server.stop();
}

#[test]
fn a_large_file_becomes_several_jobs_and_one_file_of_results() {
    let start = start_with_console();
    let server = start.with(&["--metrics-listen", "127.0.0.1:0"]).go();
    let browser = Browser::of_demo(&server);
    // Rows that are refused when they are read take no time.
    let mut file = format!("{COLUMNS},own\n");
    for row in 0..2_501 {
        writeln!(file, "{},{row}", HOME.replace(",3,", ",many,")).unwrap();
    }
    let path = path(upload(&browser, file.as_bytes()));
    assert_eq!(path.split(',').count(), 2, "{path}");
    let page = await_end(&browser, &path);
    assert!(page.contains("2 of 2 jobs ended"), "{page}");
    assert!(page.contains("at /size/bedrooms"), "the reason of most");
    assert!(page.contains("costs none"), "{page}");
    // A page that is loaded again and again reads the results of a job once.
    browser.page(&path);
    assert_eq!(metric(&metrics_client(&server), RESULTS), 2.0);
    let (headings, rows) = results(&browser, &path);
    assert_eq!(
        (headings[0].as_str(), headings[10].as_str()),
        ("row", "own")
    );
    assert_eq!(rows.len(), 2_501);
    let last = &rows[2_500];
    assert_eq!((last[0].as_str(), last[10].as_str()), ("2501", "2500"));
    let limit = format!("{COLUMNS}\n") + &format!("{HOME}\n").repeat(100_001);
    let refused = upload(&browser, limit.as_bytes());
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("100,001 homes. The console takes 100,000"));
    server.stop();
}

#[test]
fn jobs_have_as_many_homes_as_the_plan_allows() {
    let start = start_with_console();
    start.key_with_plan("small", &["avm:value"], "asynchronous_job_rows = 2");
    let server = start.go();
    let small = ["--tenant", "small", "--scope", "avm:value"];
    let browser = Browser::open(&link(&server, &small));
    let page = browser.page("/jobs");
    assert!(page.contains("A job has at most 2 homes"), "{page}");
    let home = HOME.replace(",3,", ",many,");
    let send = |homes: usize, job_rows: &str| {
        let homes = format!("{COLUMNS}\n") + &format!("{home}\n").repeat(homes);
        let id = form_id(&page);
        let fields = [("homes", homes.as_str()), ("form_id", id.as_str())];
        browser.post("/jobs", &[&fields[..], &[("job_rows", job_rows)]].concat())
    };
    assert_eq!(path(send(5, "")).split(',').count(), 3);
    // The size stays with the form, so that a form which was cut makes the same jobs later.
    assert_eq!(path(send(5, "1")).split(',').count(), 5);
    // A form that was shown before the plan was changed.
    let refused = send(5, "2500");
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("name=\"job_rows\" value=\"2\""), "{page}");
    // The size is read again where it would not do, and the answer names the new one.
    let refused = send(81, "1");
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("files of at most 80 homes"), "{page}");
    server.stop();
}

#[test]
fn the_results_of_a_running_job_are_not_there_yet() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let file = format!("{COLUMNS}\n") + &format!("{HOME}\n").repeat(2_000);
    let path = path(upload(&browser, file.as_bytes()));
    let results = browser.get(&format!("{path}/results.csv"));
    assert_eq!(results.status(), 202);
    assert!(results.text().unwrap().contains("still running"));
    let page = browser.page(&path);
    assert!(page.contains("of 2,000"), "{page}");
    server.stop();
}

#[test]
fn a_file_without_a_column_that_homes_need_becomes_no_job() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let refused = upload(&browser, b"postcode,bedrooms,colour\nQA1 1AF,3,red\n");
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("No job was made"), "{page}");
    assert!(page.contains("street, type, subtype"), "{page}");
    server.stop();
}

#[test]
fn a_file_whose_text_is_sent_again_from_the_page_is_one_job() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let id = form_id(&browser.page("/jobs"));
    let street = HOME.replace("Badger Yard Gardens", "\"Badger Yard\nGardens\"");
    let file = format!("{COLUMNS}\n{street}\n");
    let first = path(upload_form(
        &browser,
        &[("form_id", id.as_str())],
        file.as_bytes(),
    ));
    // A browser ends the lines of a text as Windows does.
    let text = file.replace('\n', "\r\n");
    let fields = [
        ("homes", text.as_str()),
        ("form_id", id.as_str()),
        ("use_stored_data", "yes"),
    ];
    assert_eq!(path(browser.post("/jobs", &fields)), first);
    server.stop();
}

#[test]
fn a_job_is_found_by_its_id() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "avm:value"]));
    let homes = format!("{COLUMNS}\n{HOME}\n");
    let path = path(browser.post("/jobs", &[("homes", &homes)]));
    let id = path.rsplit('/').next().unwrap();
    let led = browser.get(&format!("/jobs?job={id}"));
    assert_eq!(led.headers()[LOCATION].to_str().unwrap(), path);
    server.stop();
}

#[test]
fn a_file_of_a_session_that_ended_is_shown_again_after_the_login() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    assert_eq!(browser.post("/logout", &[]).status(), 200);
    let refused = upload(&browser, format!("{COLUMNS}\n{HOME}\n").as_bytes());
    assert_eq!(refused.status(), 401);
    let (again, path) = login_after(&server, &refused);
    let page = again.page(&path);
    assert!(page.contains(HOME), "{page}");
    server.stop();
}
