//! The page of usage: what the session's tenant used its units for.

use super::{Browser, HOME, link, start_with_console};
use crate::common::demo::house;

#[test]
fn a_tenant_sees_what_it_used_its_units_for_and_no_other_tenant_does() {
    let start = start_with_console();
    let [key, _] = ["one", "two"].map(|tenant| start.key_with_plan(tenant, &["avm:value"], ""));
    let server = start.go();
    let open = |tenant: &str, more: &[&str]| {
        let tenant = ["--tenant", tenant];
        Browser::open(&link(&server, &[&tenant[..], more].concat()))
    };
    let browser = open("one", &[]);
    browser.value(&HOME);
    let value = server.client(&key).post("/v3/value", &house()).ok();
    let execution = value["execution_id"].as_str().unwrap();
    let page = browser.page("/usage");
    assert!(page.contains("2 units used in "), "{page}");
    assert!(page.contains(execution), "{page}");
    let path = page
        .split("href=\"")
        .find(|text| text.starts_with("/usage.csv"));
    let path = path.unwrap().split('"').next().unwrap();
    let file = browser.page(path);
    assert!(file.starts_with("month,at,kind,id,units\n"), "{file}");
    assert_eq!(file.lines().count(), 3, "{file}");
    assert!(file.contains(execution), "{file}");
    let earlier = browser.page("/usage?month=2020-01");
    assert!(earlier.contains("0 units used in 2020-01"), "{earlier}");
    assert_eq!(browser.get("/usage?month=2020-13").status(), 404);
    // The month is summed once, and not again for each further page.
    let month = file.lines().nth(1).unwrap().split(',').next().unwrap();
    let further = browser.page(&format!("/usage?month={month}&row=0&place=0"));
    assert!(!further.contains("units used in "), "{further}");
    assert!(further.contains("stand on the first page"), "{further}");

    let other = open("two", &[]);
    let hidden = other.page("/usage");
    assert!(hidden.contains("0 units used in "), "{hidden}");
    assert!(!hidden.contains(execution), "{hidden}");
    let rates = open("one", &["--scope", "rates:read"]);
    for path in ["/usage", "/usage.csv"] {
        assert_eq!(rates.get(path).status(), 403, "{path}");
    }
    server.stop();
}
