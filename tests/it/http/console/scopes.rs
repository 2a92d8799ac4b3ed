//! A session sees what its scopes let the API say.

use super::jobs::{COLUMNS, HOME as ROW};
use super::{Browser, HOME, link, redeem, start_with_console};
use reqwest::header::LOCATION;

/// The home of the demo as a session without stored data states it.
fn home_with_floor_area() -> Vec<(&'static str, &'static str)> {
    let stated = HOME
        .into_iter()
        .filter(|(name, _)| *name != "use_stored_data");
    stated.chain([("floor_area_m2", "104")]).collect()
}

#[test]
fn a_value_needs_the_scopes_that_its_request_needed() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let stored = browser.value(&HOME);
    let plain = browser.value(&home_with_floor_area());
    let rates = Browser::open(&link(&server, &["--scope", "rates:read"]));
    let value = Browser::open(&link(&server, &["--scope", "avm:value"]));
    for (other, path, needed) in [
        (&rates, &stored, "avm:value"),
        (&rates, &plain, "avm:value"),
        (&value, &stored, "avm:stored-data"),
    ] {
        let refused = other.get(path);
        assert_eq!(refused.status(), 403, "{path}");
        let page = refused.text().unwrap();
        assert!(page.contains(needed), "{page}");
        assert!(!page.contains('£'), "{page}");
    }
    let page = value.page(&plain);
    for hidden in ["Carried by the index", "sales within 1000 m"] {
        assert!(!page.contains(hidden), "{hidden}: {page}");
    }
    // Neither is the value before a change shown, if its page is not.
    let before = stored.rsplit('/').next().unwrap();
    let compared = format!("{plain}?before={before}");
    assert!(browser.page(&compared).contains("before the change"));
    assert!(!value.page(&compared).contains("before the change"));
    server.stop();
}

#[test]
fn jobs_need_the_scope_of_their_routes() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let homes = format!("{COLUMNS}\n{ROW}\n");
    let path = browser.post("/jobs", &[("homes", &homes)]);
    let path = path.headers()[LOCATION].to_str().unwrap().to_owned();
    let rates = Browser::open(&link(&server, &["--scope", "rates:read"]));
    let results = format!("{path}/results.csv");
    for path in ["/jobs", path.as_str(), results.as_str()] {
        let refused = rates.get(path);
        assert_eq!(refused.status(), 403, "{path}");
        assert!(refused.text().unwrap().contains("avm:value"), "{path}");
    }
    assert_eq!(rates.post("/jobs", &[("homes", &homes)]).status(), 403);
    server.stop();
}

#[test]
fn a_session_lands_on_a_page_that_its_scopes_allow() {
    let server = start_with_console().go();
    let link = link(&server, &["--scope", "rates:read"]);
    let (origin, token) = link.split_once("/login?token=").unwrap();
    assert_eq!(redeem(origin, token).headers()[LOCATION], "/rates");
    let browser = Browser::open(&super::link(&server, &["--scope", "markets:read"]));
    let led = browser.get("/");
    assert_eq!(led.status(), 303);
    assert_eq!(led.headers()[LOCATION], "/markets");
    server.stop();
}

#[test]
fn the_form_asks_for_what_stored_data_may_not_fill() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "avm:value"]));
    let page = browser.page("/");
    let field = |name: &str| {
        let at = page.find(&format!("name=\"{name}\"")).unwrap();
        page[at..].split('>').next().unwrap().to_owned()
    };
    assert!(field("floor_area_m2").contains("required"), "{page}");
    let stored = field("use_stored_data");
    assert!(
        stored.contains("disabled") && !stored.contains("checked"),
        "{stored}"
    );
    browser.value(&home_with_floor_area());
    let page = Browser::of_demo(&server).page("/");
    assert!(page.contains("value=\"yes\" checked"), "{page}");
    server.stop();
}
