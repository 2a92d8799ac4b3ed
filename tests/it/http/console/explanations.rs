//! A value explains itself: its parts with their weights, the steps of its comparables, and where
//! each input came from.

use super::{Browser, HOME, start_with_console};
use crate::common::demo::house_with;
use crate::common::program::{releases, run};
use serde_json::{Value, json};

/// Returns the cells of the row of a page that begins with a heading.
fn row_of(page: &str, heading: &str) -> Vec<String> {
    let begin = format!("<th scope=\"row\">{heading}</th>");
    let row = page.split(&begin).nth(1);
    let row = row.unwrap_or_else(|| panic!("no row {heading}: {page}"));
    let row = row.split("</tr>").next().unwrap();
    row.split("<td")
        .skip(1)
        .map(|cell| cell.split(['>', '<']).nth(1).unwrap().to_owned())
        .collect()
}

fn number(text: &str) -> f64 {
    let digits: String = text
        .chars()
        .filter(|letter| letter.is_ascii_digit() || ['.', '-', '+'].contains(letter))
        .collect();
    digits.parse().unwrap()
}

/// Values the home as the console does, by the API.
fn by_api(server: &crate::common::server::Server) -> Value {
    let options = json!({
        "include_comparables": true, "comparables_limit": 10, "include_context_metrics": true,
        "use_stored_data": true,
    });
    let mut request = house_with(options);
    request["size"] = json!({"bedrooms": 3});
    server.demo().post("/v3/value", &request).ok()
}

#[test]
fn the_parts_of_an_estimate_give_it_by_the_weight_of_the_api() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page(&browser.value(&HOME));
    let api = by_api(&server);
    let (own, market) = (row_of(&page, "Its own sales"), row_of(&page, "The market"));
    let weight = api["context"]["own_sale"]["weight"].as_f64().unwrap();
    assert!((number(&own[1]) - 100.0 * weight).abs() < 0.051, "{own:?}");
    assert!((number(&own[1]) + number(&market[1]) - 100.0).abs() < 1e-9);
    let estimate = api["valuation"]["estimated_value_gbp"].as_f64().unwrap();
    assert!((number(&row_of(&page, "Estimate")[0]) - estimate).abs() < 0.5);
    let blend = weight * number(&own[0]).ln() + (1.0 - weight) * number(&market[0]).ln();
    assert!(
        (blend.exp() / estimate - 1.0).abs() < 1e-4,
        "{own:?} {market:?}"
    );
    server.stop();
}

#[test]
fn the_index_of_a_step_is_the_one_that_the_release_asked_for() {
    let server = start_with_console().with(&["--receipts", "all"]).go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    let page = browser.page(&path);
    let id = path.rsplit('/').next().unwrap().to_owned();
    let data = server.data.clone();
    let text = |name: &str| data.join(name).display().to_string();
    let (out, fixtures) = (text("receipt-keys.json"), text("fixtures.jsonl"));
    run([
        "journal",
        "keys",
        "--data",
        &data.display().to_string(),
        "--out",
        &out,
    ])
    .ok();
    let index = {
        let releases = releases().display().to_string();
        let journal = text("journal");
        let replay = ["replay", "--releases", &releases, "--journal", &journal];
        let chosen = ["--keys", &out, "--valuation", &id, "--export", &fixtures];
        run([&replay[..], &chosen].concat()).ok();
        let fixture = std::fs::read_to_string(&fixtures).unwrap();
        let fixture: Value = serde_json::from_str(fixture.lines().next().unwrap()).unwrap();
        let evidence = fixture["evidence"].as_array().unwrap().clone();
        let asked = evidence.into_iter();
        let mut asked = asked.filter(|query| query["question"]["ask"] == "price_index");
        let one = asked.next().unwrap();
        assert!(asked.next().is_none(), "the release asks for one index");
        one
    };
    assert_eq!(index["question"]["kind"], "semi_detached");
    assert_eq!(index["answer"]["with"]["level"], "local_authority");
    let name = "Wexelshire Vale, semi-detached houses";
    assert!(page.contains(&format!("<strong>{name}</strong>")), "{page}");
    // Half a month is half the way from one figure to the next.
    let points = index["answer"]["with"]["points"].as_array().unwrap();
    let level = |date: &str| {
        let days = chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").unwrap();
        let days = (days - chrono::NaiveDate::default()).num_days();
        let at = f64::from(i32::try_from(days).unwrap()) / (365.2425 / 12.0) - 0.5;
        let of = |point: &Value, member: usize| point[member].as_f64().unwrap();
        let after = points.iter().position(|point| of(point, 0) > at);
        match after {
            None => of(points.last().unwrap(), 1),
            Some(after) => {
                let (low, high) = (&points[after - 1], &points[after]);
                let share = (at - of(low, 0)) / (of(high, 0) - of(low, 0));
                of(low, 1) + (of(high, 1) - of(low, 1)) * share
            }
        }
    };
    let api = by_api(&server);
    for comparable in api["comparables"].as_array().unwrap() {
        let member = |name: &str| comparable[name].as_f64().unwrap();
        let growth = level("2026-10-15") / level(comparable["sale_date"].as_str().unwrap());
        let rest = member("adjusted_price_gbp") / (growth * member("price_gbp"));
        let cells = row_of(&page, &comparable["rank"].to_string());
        let percent = |factor: f64| format!("{:+.1} %", 100.0 * (factor - 1.0));
        assert_eq!(cells[3..5], [percent(growth), percent(rest)], "{cells:?}");
    }
    server.stop();
}

#[test]
fn comparables_that_the_model_adjusted_much_are_counted_and_marked() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page(&browser.value(&HOME));
    let ranks = 1..=10;
    let rest = ranks.map(|rank| number(&row_of(&page, &rank.to_string())[4]));
    let large = rest.filter(|percent| percent.abs() > 25.0).count();
    assert!((1..10).contains(&large), "{page}");
    let warned = format!("</strong>{large} of the 10 comparables are adjusted by more than 25 %");
    assert!(page.contains(&warned), "{warned}: {page}");
    assert_eq!(page.matches("class=\"number large\"").count(), large);
    server.stop();
}

#[test]
fn each_input_has_its_value_and_where_it_came_from() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page(&browser.value(&HOME));
    let api = by_api(&server);
    let row = |field: &str, value: &str, origin: &str| {
        format!("{field}</code></td><td>{value}</td><td>{origin}</td>")
    };
    let stated = row("/size/bedrooms", "3", "the request");
    assert!(page.contains(&stated), "{stated}: {page}");
    let stored = api["input_resolution"]["stored_data_used"]
        .as_array()
        .unwrap();
    assert!(!stored.is_empty());
    for note in stored {
        let field = note["field"].as_str().unwrap();
        let after = page
            .split(&format!("{field}</code></td><td>"))
            .nth(1)
            .unwrap();
        let (value, rest) = after.split_once("</td><td>").unwrap();
        assert!(!value.is_empty() && value != "not shown", "{field}");
        assert!(
            rest.starts_with("stored data: energy certificate<"),
            "{rest}"
        );
    }
    // The stored area, stated in a request without stored data, gives the same home.
    let after = page
        .split("/size/floor_area_m2</code></td><td>")
        .nth(1)
        .unwrap();
    let area = after.split('<').next().unwrap();
    let mut fields = HOME.to_vec();
    fields.push(("floor_area_m2", area));
    let again = browser.page(&browser.value(&fields));
    assert_eq!(row_of(&again, "Estimate")[0], row_of(&page, "Estimate")[0]);
    server.stop();
}
