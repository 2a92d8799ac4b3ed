//! The search of an address: what it finds, and what it keeps to itself.

use super::{Browser, link, start_with_console};
use crate::common::program::{repository, run};
use crate::common::server::Server;
use std::time::{Duration, Instant};

const SEARCHED: &str = "15 badger yard";

/// Searches as the script does, and returns the results. The demo makes its directory meanwhile.
fn results(browser: &Browser, typed: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = browser.post("/addresses", &[("find", typed), ("part", "results")]);
        if found.status() == 200 {
            return found.text().unwrap();
        }
        assert_eq!(found.status(), 404);
        assert!(Instant::now() < deadline, "no directory");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The first link of some results.
fn first_link(results: &str) -> String {
    let Some(link) = results.split("href=\"").nth(1) else {
        panic!("no link: {results}")
    };
    link.split('"').next().unwrap().to_owned()
}

#[test]
fn an_address_is_found_as_it_is_typed_and_fills_the_form() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let found = results(&browser, SEARCHED);
    assert!(found.contains("15 BADGER YARD GARDENS"), "{found}");
    let path = first_link(&found);
    let id = path.strip_prefix("/?home=").unwrap();
    assert!(
        id.len() == 16 && id.chars().all(|c| c.is_ascii_hexdigit()),
        "a link holds an id alone: {path}"
    );
    let form = browser.page(&path);
    for filled in [
        "value=\"QA1 1AF\"",
        "value=\"15\"",
        "value=\"BADGER YARD GARDENS\"",
    ] {
        assert!(form.contains(filled), "{filled}: {form}");
    }
    // Without scripts the same results stand on a whole page.
    let page = browser.post("/addresses", &[("find", SEARCHED)]);
    let page = page.text().unwrap();
    assert!(page.contains(&format!("href=\"{path}\"")), "{page}");
    let unknown = browser.page("/?home=0000000000000000");
    assert!(unknown.contains("Search again"), "{unknown}");
    let none = results(&browser, "<script>alert(1)</script>");
    assert!(none.contains("No address of the directory fits"), "{none}");
    let number = results(&browser, "12");
    assert!(number.contains("A number alone fits too many"), "{number}");
    server.stop();
}

#[test]
fn a_found_address_fills_the_type_and_the_tenure_that_stored_data_have() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let path = first_link(&results(&browser, SEARCHED));
    let filled = [
        "value=\"S\" selected",
        "value=\"house_semi_detached\" selected",
        "value=\"freehold\" selected",
        "filled in where stored data have them",
    ];
    let form = browser.page(&path);
    for words in filled {
        assert!(form.contains(words), "{words}: {form}");
    }
    let without = Browser::open(&link(&server, &["--scope", "avm:value"]));
    let form = without.page(&path);
    assert!(form.contains("value=\"QA1 1AF\""), "{form}");
    for words in filled {
        assert!(!form.contains(words), "{words}: {form}");
    }
    server.stop();
}

#[test]
fn a_search_needs_a_session_its_token_and_the_scope_of_values() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    results(&browser, SEARCHED);
    let of_rates = Browser::open(&link(&server, &["--scope", "rates:read"]));
    let refused = of_rates.post("/addresses", &[("find", SEARCHED)]);
    assert_eq!(refused.status(), 403);
    let mut forged = Browser::of_demo(&server);
    forged.token = browser.token.clone();
    let refused = forged.post("/addresses", &[("find", SEARCHED)]);
    assert_eq!(refused.status(), 403);
    forged.cookie = "domesday_console=none".to_owned();
    assert_eq!(forged.post("/addresses", &[]).status(), 401);
    server.stop();
}

/// Makes a directory of the page's example file, and returns its path.
fn made_directory(server: &Server) -> String {
    let page =
        std::fs::read_to_string(repository().join("docs/reference/address-file.md")).unwrap();
    let csv = page
        .split("```csv\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let file = server.data.join("addresses.csv");
    std::fs::write(&file, csv).unwrap();
    let out = server.data.join("addresses.redb").display().to_string();
    let file = file.display().to_string();
    let made = [
        "property",
        "address-directory",
        "--addresses",
        &file,
        "--out",
        &out,
    ];
    let report = run(made).ok().stdout;
    assert!(report.contains("\"addresses\": 4"), "{report}");
    out
}

#[test]
fn an_operators_directory_is_searched_in_place_of_the_demos() {
    let scratch = start_with_console().go();
    let path = made_directory(&scratch);
    let server = start_with_console()
        .with(&["--console-addresses", &path])
        .go();
    let browser = Browser::of_demo(&server);
    assert!(results(&browser, "rose cottage").contains("ROSE COTTAGE"));
    assert!(results(&browser, SEARCHED).contains("No address of the directory fits"));
    server.stop();
    scratch.stop();
}
