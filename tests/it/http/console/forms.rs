//! A form does its work once, and nothing that was typed is lost.

use super::jobs::{COLUMNS, HOME as ROW};
use super::sessions::used_units;
use super::{Browser, HOME, link, post, start_with_console};
use crate::common::server::Server;
use reqwest::blocking::Response;
use reqwest::header::{LOCATION, SET_COOKIE};

fn location(response: &Response) -> String {
    assert_eq!(response.status(), 303);
    response.headers()[LOCATION].to_str().unwrap().to_owned()
}

/// The id of the form that a page shows.
pub fn form_id(page: &str) -> String {
    let id = page.split("name=\"form_id\" value=\"").nth(1).unwrap();
    id.split('"').next().unwrap().to_owned()
}

#[test]
fn a_form_that_is_sent_twice_is_charged_once() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let id = form_id(&browser.page("/"));
    let fields = [&HOME[..], &[("form_id", &id)]].concat();
    let paths: Vec<String> = std::thread::scope(|scope| {
        let send = || location(&browser.post("/values", &fields));
        let sent: Vec<_> = (0..4).map(|_| scope.spawn(send)).collect();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| *path == paths[0]), "{paths:?}");
    assert_eq!(used_units(&server), 1);
    assert_eq!(location(&browser.post("/values", &fields)), paths[0]);
    // Back in the browser, and another input: that is another form.
    let mut changed = fields.clone();
    changed[7] = ("bedrooms", "4");
    assert_ne!(location(&browser.post("/values", &changed)), paths[0]);
    assert_eq!(used_units(&server), 2);
    server.stop();
}

#[test]
fn a_jobs_form_that_is_sent_twice_is_one_job() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let id = form_id(&browser.page("/jobs"));
    let send = |row: &str| {
        let homes = format!("{COLUMNS}\n{row}\n");
        location(&browser.post("/jobs", &[("homes", &homes), ("form_id", &id)]))
    };
    let first = send(ROW);
    assert_eq!(send(ROW), first);
    assert_ne!(send(&ROW.replace(",S,", ",D,")), first);
    // The page lists the jobs of the tenant's sessions.
    let other = Browser::of_demo(&server).page("/jobs");
    assert!(other.contains(&format!("href=\"{first}\"")), "{other}");
    server.stop();
}

/// Logs in after a refusal. Returns the browser, and the path that the login leads to.
pub fn login_after(server: &Server, refused: &Response) -> (Browser, String) {
    let next = refused.headers()[SET_COOKIE].to_str().unwrap();
    let next = next.split(';').next().unwrap();
    let link = link(server, &[]);
    let (origin, token) = link.split_once("/login?token=").unwrap();
    let opened = post(origin, origin, "/login", next, &[("token", token)]);
    let path = location(&opened);
    let cookies = opened.headers().get_all(SET_COOKIE).iter();
    let cookie = cookies
        .map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap())
        .find(|cookie| !cookie.contains("_next="));
    let browser = Browser {
        origin: origin.to_owned(),
        cookie: cookie.unwrap().to_owned(),
        token: String::new(),
    };
    (browser, path)
}

#[test]
fn a_form_of_a_session_that_ended_is_shown_again_after_the_login() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    assert_eq!(browser.post("/logout", &[]).status(), 200);
    let refused = browser.post("/values", &HOME);
    assert_eq!(refused.status(), 401);
    let (again, path) = login_after(&server, &refused);
    assert!(!path.contains("QA1"), "no address of a home in {path}");
    let page = again.page(&path);
    for typed in [
        "value=\"QA1 1AF\"",
        "value=\"Badger Yard Gardens\"",
        "value=\"yes\" checked",
    ] {
        assert!(page.contains(typed), "{typed}: {page}");
    }
    server.stop();
}

#[test]
fn a_form_of_another_login_is_shown_again_at_once() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let (origin, cookie) = (&browser.origin, &browser.cookie);
    let fields = [&HOME[..], &[("form_token", "of-another-session")]].concat();
    let page = post(origin, origin, "/values", cookie, &fields);
    assert_eq!(page.status(), 403);
    let page = page.text().unwrap();
    assert!(page.contains("value=\"Badger Yard Gardens\""), "{page}");
    let homes = [("homes", "postcode\nQA1 1AF"), ("form_token", "other")];
    let page = post(origin, origin, "/jobs", cookie, &homes);
    assert_eq!(page.status(), 403);
    assert!(page.text().unwrap().contains("postcode\nQA1 1AF"));
    assert_eq!(used_units(&server), 0, "nothing was valued");
    server.stop();
}

#[test]
fn a_refusal_says_what_it_cost() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let mut fields = HOME;
    fields[7] = ("bedrooms", "many");
    let page = browser.post("/values", &fields).text().unwrap();
    assert!(page.contains("No unit was charged."), "{page}");
    assert_eq!(used_units(&server), 0);
    let mut fields = HOME;
    fields[2] = ("street", "Nowhere Street");
    let page = browser.post("/values", &fields).text().unwrap();
    assert!(page.contains("so a unit was charged."), "{page}");
    assert_eq!(used_units(&server), 1);
    // The address bar shows the address of the refused form, which leads back to the form.
    assert_eq!(location(&browser.get("/values")), "/");
    server.stop();
}
