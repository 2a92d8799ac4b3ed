//! The console: pages for people on a separate listener. A session acts for one tenant, passes
//! the API's own rules, and no other site reaches it.

mod address_search;
mod addresses;
mod browser;
mod explanations;
mod forms;
mod jobs;
mod map;
mod operation;
mod pages;
mod permalinks;
mod programs;
mod reports;
mod scopes;
mod sessions;
mod usage;
mod wire;

use crate::common::client::agent;
use crate::common::program::run;
use crate::common::server::{Server, Start, start};
use reqwest::blocking::Response;
use reqwest::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};

/// A server of the demo with a console.
fn start_with_console() -> Start {
    start().with_series().with(&["--console", "127.0.0.1:0"])
}

/// The origin of the console.
fn origin(server: &Server) -> String {
    let link = link(server, &[]);
    link.split_once("/login").unwrap().0.to_owned()
}

/// Prints a link for a tenant, with more options.
fn link(server: &Server, more: &[&str]) -> String {
    let data = server.data.display().to_string();
    let arguments = [&["console", "login", "--data", &data], more].concat();
    run(arguments).ok().stdout.trim().to_owned()
}

/// A browser with a session.
struct Browser {
    origin: String,
    cookie: String,
    /// The token of its forms.
    token: String,
}

impl Browser {
    /// Opens a session by a link.
    fn open(link: &str) -> Browser {
        let (origin, token) = link.split_once("/login?token=").unwrap();
        let opened = redeem(origin, token);
        assert_eq!(opened.status(), 303);
        let cookie = opened.headers()[SET_COOKIE].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let mut browser = Browser {
            origin: origin.to_owned(),
            cookie,
            token: String::new(),
        };
        let page = browser.get("/releases").text().unwrap();
        let token = page.split("name=\"form_token\" value=\"").nth(1).unwrap();
        browser.token = token.split('"').next().unwrap().to_owned();
        browser
    }

    /// A session of the demo's tenant.
    fn of_demo(server: &Server) -> Browser {
        Browser::open(&link(server, &[]))
    }

    fn get(&self, path: &str) -> Response {
        let request = agent().get(format!("{}{path}", self.origin));
        request.header(COOKIE, &self.cookie).send().unwrap()
    }

    fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status(), 200, "{path}");
        response.text().unwrap()
    }

    /// Sends a form of this session, with its token.
    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let token = [("form_token", self.token.as_str())];
        post(
            &self.origin,
            &self.origin,
            path,
            &self.cookie,
            &[&token, fields].concat(),
        )
    }

    /// Values a home by the form, and returns the path of its page.
    fn value(&self, fields: &[(&str, &str)]) -> String {
        let response = self.post("/values", fields);
        let status = response.status();
        assert_eq!(status, 303, "{}", response.text().unwrap());
        response.headers()[LOCATION].to_str().unwrap().to_owned()
    }
}

/// Uses a link up.
fn redeem(origin: &str, token: &str) -> Response {
    post(origin, origin, "/login", "", &[("token", token)])
}

/// Sends a form that a page of `from` made.
fn post(origin: &str, from: &str, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Response {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let request = agent().post(format!("{origin}{path}")).body(body);
    let request = request.header(ORIGIN, from).header(COOKIE, cookie);
    request.send().unwrap()
}

/// Asks for a page by another name of the host.
fn get_by_name(origin: &str, host: &str, cookie: &str) -> Response {
    let request = agent().get(format!("{origin}/")).header(HOST, host);
    request.header(COOKIE, cookie).send().unwrap()
}

/// A home of the demo, as the form states it.
const HOME: [(&str, &str); 10] = [
    ("postcode", "QA1 1AF"),
    ("building_number_or_name", "15"),
    ("street", "Badger Yard Gardens"),
    ("type", "S"),
    ("subtype", "house_semi_detached"),
    ("title_tenure", "freehold"),
    ("status", "owner_occupied"),
    ("bedrooms", "3"),
    ("use_stored_data", "yes"),
    ("valuation_date", "2026-10-15"),
];
