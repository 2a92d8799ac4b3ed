//! What the pages show is what the API says.

use super::{Browser, HOME, link, start_with_console};
use crate::common::demo::{RELEASE, house_with};
use crate::common::packages::Releases;
use crate::common::program::run;
use serde_json::{Value, json};
use std::fs;

/// Pounds as a page writes them.
fn pounds(value: &Value) -> String {
    let digits = value.as_u64().unwrap().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("£{text}")
}

#[test]
fn a_value_passes_the_api_and_shows_its_figures() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let path = browser.value(&HOME);
    assert!(
        !path.contains("QA1"),
        "a permalink holds no address: {path}"
    );
    let page = browser.page(&path);
    let options = json!({
        "include_comparables": true, "comparables_limit": 10, "include_context_metrics": true,
        "use_stored_data": true,
    });
    let mut request = house_with(options);
    request["size"] = json!({"bedrooms": 3});
    let api = server.demo().post("/v3/value", &request).ok();
    let value = &api["valuation"];
    for figure in [
        pounds(&value["estimated_value_gbp"]),
        pounds(&value["range"]["lower_value_gbp"]),
        pounds(&value["range"]["upper_value_gbp"]),
        pounds(&api["context"]["own_sale"]["price_gbp"]),
        api["confidence"]["score"].to_string(),
        api["release_id"].as_str().unwrap().to_owned(),
    ] {
        assert!(page.contains(&figure), "{figure}: {page}");
    }
    let comparables = api["comparables"].as_array().unwrap();
    for comparable in comparables {
        let adjusted = pounds(&comparable["adjusted_price_gbp"]);
        assert!(page.contains(&adjusted), "{adjusted}");
    }
    for shown in ["Carried by the index", "sales within 1000 m"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // A changed input is a new value, and its page states the difference.
    let id = path.rsplit('/').next().unwrap();
    let changed = [
        &HOME[..9],
        &[("valuation_date", "2027-03-01"), ("before", id)],
    ]
    .concat();
    let page = browser.page(&browser.value(&changed));
    assert!(page.contains("before the change."), "{page}");
    let change = "Changed: Valuation date: 2026-10-15 to 2027-03-01.";
    assert!(page.contains(change), "{page}");
    // The report is of a home, which a reader can tell.
    for stated in [
        "Badger Yard Gardens",
        "Semi-detached house",
        "Freehold",
        "Bedrooms",
    ] {
        assert!(page.contains(&format!(">{stated}</d")), "{stated}: {page}");
    }
    server.stop();
}

#[test]
fn a_refused_home_costs_nothing_and_the_form_says_why() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let mut fields = HOME;
    fields[7] = ("bedrooms", "many");
    let refused = browser.post("/values", &fields);
    assert_eq!(refused.status(), 422);
    let page = refused.text().unwrap();
    assert!(page.contains("<strong>Bedrooms</strong>"), "{page}");
    assert!(page.contains("aria-invalid=\"true\" autofocus"), "{page}");
    assert!(
        page.contains("value=\"many\""),
        "the form keeps what was typed"
    );
    server.stop();
}

#[test]
fn script_in_a_free_text_stays_text() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let mut fields = HOME;
    fields[2] = ("street", "<script>alert(1)</script>\"'");
    let page = browser.post("/values", &fields).text().unwrap();
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(page.contains("&lt;script&gt;alert"), "{page}");
    let jobs = [("homes", "</textarea><script>alert(1)</script>")];
    let page = browser.post("/jobs", &jobs).text().unwrap();
    assert!(!page.contains("<script>alert"), "{page}");
    server.stop();
}

#[test]
fn a_series_is_charted_listed_and_downloaded_as_the_api_has_it() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "markets:read"]));
    let query = "dataset=market_activity&area=E06990001&property_type=all&from=2026-01&to=2026-07";
    let page = browser.page(&format!("/markets?{query}"));
    assert!(page.contains("<figure class=\"chart\">"), "{page}");
    let api = server
        .demo()
        .get(&format!("/v1/markets/series?{query}"))
        .ok();
    let csv = browser.page(&format!("/markets.csv?{query}"));
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let headings = rows.headers().unwrap().clone();
    let column = |name: &str| headings.iter().position(|heading| heading == name).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let mut expected = Vec::new();
    for series in api["series"].as_array().unwrap() {
        for found in series["observations"].as_array().unwrap() {
            let value = match &found["value"] {
                Value::Null => String::new(),
                number => number.to_string(),
            };
            expected.push((series["series_id"].as_str().unwrap(), value));
        }
    }
    let found: Vec<(&str, String)> = rows
        .iter()
        .map(|row| (&row[0], row[column("value")].to_owned()))
        .collect();
    assert_eq!(found, expected);
    let of_first = |name: &str| &rows[0][column(name)];
    assert_eq!(of_first("area"), "E06990001");
    assert_eq!(of_first("property_type"), "all");
    assert!(
        of_first("attribution").starts_with("Contains data of "),
        "{csv}"
    );
    // The legend and the table name two areas.
    let areas = server.demo().get("/v1/markets/areas").ok();
    let parquet = browser.get(&format!("/markets.parquet?{query}"));
    assert!(parquet.bytes().unwrap().starts_with(b"PAR1"));
    let both = browser.page(&format!("/markets?{query}&compared_with=E06990002"));
    for code in ["E06990001", "E06990002"] {
        let listed = areas["areas"].as_array().unwrap().iter();
        let area = listed
            .into_iter()
            .find(|area| area["code"] == code)
            .unwrap();
        let name = format!("{} ({code})", area["name"].as_str().unwrap());
        assert!(
            both.contains(&format!("<span>{name}</span></li>")),
            "{name}: {both}"
        );
        let column = format!("<th class=\"number\" scope=\"col\">{name}</th>");
        assert!(both.contains(&column), "{name}: {both}");
    }
    assert!(both.contains("Difference, second − first"), "{both}");
    // What is copied stays on the release that the page names.
    let release = areas["release_id"].as_str().unwrap();
    let pinned = format!("release_id={release}");
    assert_eq!(page.matches(&pinned).count(), 4, "{page}");
    let refused = browser.page("/markets?dataset=market_activity&area=E99999999");
    assert!(refused.contains("role=\"alert\">Area: "), "{refused}");
    let unknown = browser.page("/markets?dataset=house_prices");
    let words = "has no dataset <strong>house_prices</strong>";
    assert!(unknown.contains(words), "{unknown}");
    server.stop();
}

#[test]
fn series_are_found_by_words_and_opened_at_their_first_choice() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "markets:read"]));
    let page = browser.page("/markets?search=price+bands");
    let found = "href=\"/markets?dataset=price_bands\"";
    assert!(page.contains(found), "{page}");
    assert!(!page.contains("dataset=market_activity\""), "{page}");
    let page = browser.page("/markets?dataset=price_bands&metrics=sales_count");
    assert!(page.contains("<figure class=\"chart\">"), "{page}");
    assert!(page.contains("value=\"under_100k\" selected"), "{page}");
    assert!(page.contains("(sales_count)"), "{page}");
    assert_eq!(page.matches("<figcaption>").count(), 1, "{page}");
    server.stop();
}

#[test]
fn the_rates_of_a_day_by_tenor_are_a_curve_beside_that_of_another_day() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "rates:read"]));
    let query = "dataset=ois_spot_curve&from=2026-09-30&to=2026-09-30&compared_day=2025-09-30";
    let page = browser.page(&format!("/rates?{query}"));
    assert!(page.contains("rate by tenor, %"), "{page}");
    for day in ["2025-09-30", "2026-09-30"] {
        assert!(
            page.contains(&format!("<title>{day}</title>")),
            "{day}: {page}"
        );
    }
    // Without scripts, links lead to the days beside. The slider's axis holds all of its days.
    let beside = "rel=\"prev\" href=\"/rates?dataset=ois_spot_curve&amp;compared_day=2025-09-30\
        &amp;from=2026-09-29&amp;to=2026-09-29\"";
    assert!(page.contains(beside), "{page}");
    let days = page.split("data-curve-days=\"").nth(1).unwrap();
    let days = days.split('"').next().unwrap().replace("&quot;", "\"");
    let days: Vec<(String, String)> = serde_json::from_str(&days).unwrap();
    assert!(days.len() > 20, "{days:?}");
    let drawn = days.iter().find(|(day, _)| day == "2026-09-30").unwrap();
    let curve = format!("<path d=\"{}\"><title>2026-09-30</title>", drawn.1);
    assert!(page.contains(&curve), "{curve}: {page}");
    // Without dates it is the latest day.
    let latest = browser.page("/rates?dataset=ois_spot_curve");
    assert!(latest.contains("<output>2026-09-30</output>"), "{latest}");
    // One day of another series leads to five years.
    let one = browser.page("/rates?dataset=bank_rate");
    let longer = "href=\"/rates?dataset=bank_rate&amp;from=2021-09-30\"";
    assert!(one.contains(longer), "{one}");
    // Over more days each tenor is a series in time.
    let page = browser.page("/rates?dataset=ois_spot_curve&tenor_months=12&from=2026-01-01");
    assert!(!page.contains("by tenor"), "{page}");
    server.stop();
}

#[test]
fn a_choice_before_the_history_has_the_notice_of_the_api_and_no_empty_file() {
    let server = start_with_console().go();
    let browser = Browser::open(&link(&server, &["--scope", "rates:read"]));
    let notice = "role=\"status\">The dates reach past the history";
    let query = "dataset=bank_rate&from=1990-01-01&to=1990-12-31";
    let before = browser.page(&format!("/rates?{query}"));
    assert!(before.contains(notice), "{before}");
    assert!(!before.contains("observations as CSV"), "{before}");
    let late = browser.page("/rates?dataset=bank_rate&from=1990-01-01");
    assert!(late.contains(notice), "{late}");
    assert!(late.contains("observations as CSV"), "{late}");
    server.stop();
}

#[test]
fn a_file_of_homes_becomes_a_job_and_comes_back_as_a_file() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let homes = "postcode,building_number_or_name,street,type,subtype,title_tenure,status,bedrooms,valuation_date,request_reference\n\
        QA1 1AF,15,Badger Yard Gardens,S,house_semi_detached,freehold,owner_occupied,3,2026-10-15,own\n\
        QA1 1AF,999,Nowhere Street,S,house_semi_detached,freehold,vacant,3,2026-10-15,none\n";
    let submitted = browser.post("/jobs", &[("homes", homes), ("use_stored_data", "yes")]);
    assert_eq!(submitted.status(), 303);
    let path = submitted.headers()["location"].to_str().unwrap().to_owned();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !browser.page(&path).contains("Job completed") {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let csv = browser.page(&format!("{path}/results.csv"));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        let at = headings.iter().position(|heading| heading == name);
        &rows[row][at.unwrap()]
    };
    let status = "valuation_status";
    assert_eq!(
        (cell(0, "request_reference"), cell(0, status)),
        ("own", "valued")
    );
    assert!(cell(0, "estimated_value_gbp").parse::<u64>().unwrap() > 100_000);
    assert_eq!(cell(1, "request_reference"), "none");
    assert_ne!(cell(1, status), "valued");
    server.stop();
}

#[test]
fn the_ledger_names_its_operators_to_operators_alone() {
    let server = start_with_console().go();
    let data = server.data.display().to_string();
    let promote = ["release", "promote", RELEASE, "--reason", "<b>spring</b>"];
    run([&promote[..], &["--data", &data]].concat()).ok();
    let operator = Browser::open(&link(&server, &["--operator"])).page("/releases");
    assert!(operator.contains("&lt;b&gt;spring&lt;/b&gt;"), "{operator}");
    let tenant = Browser::of_demo(&server).page("/releases");
    assert!(
        tenant.contains("The promotion ledger, the latest first"),
        "{tenant}"
    );
    assert!(!tenant.contains("spring"), "{tenant}");
    server.stop();
}

#[test]
fn the_ledger_names_signers_that_the_host_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start_with_console().data(&data).go();
    let folder = data.display().to_string();
    run(["release", "promote", RELEASE, "--data", &folder]).ok();
    let page = Browser::of_demo(&server).page("/releases");
    let public = fs::read_to_string(data.join("ledger.pub")).unwrap();
    assert!(page.contains(&public[..16]), "{page}");
    let strange = "no key that this host knows";
    assert!(!page.contains(strange), "{page}");
    server.stop();
    // The host has another key now.
    for file in ["ledger.key", "ledger.pub"] {
        fs::remove_file(data.join(file)).unwrap();
    }
    let server = start_with_console().data(&data).go();
    let page = Browser::of_demo(&server).page("/releases");
    assert!(page.contains(strange), "{page}");
    server.stop();
}

/// A first start looks at no check report.
#[test]
fn the_releases_page_says_that_the_served_release_could_not_be_promoted() {
    let releases = Releases::copy();
    for file in ["check.json", "check.sig"] {
        fs::remove_file(releases.release(RELEASE).join(file)).unwrap();
    }
    let server = start_with_console().releases(releases.path()).go();
    let page = Browser::of_demo(&server).page("/releases");
    let shown = "This release is served, and it could not be promoted: release synthetic-hedonic-2027-05 has no check report.";
    assert!(page.contains(shown), "{page}");
    server.stop();
}

#[test]
fn the_releases_page_has_the_back_test_the_check_and_the_ledger() {
    let server = start_with_console().go();
    let browser = Browser::of_demo(&server);
    let page = browser.page("/releases");
    for shown in [
        "synthetic-hedonic-2027-05",
        "Median absolute error",
        "6.7 %",
        "Check: passed",
        "No release was promoted yet",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    server.stop();
}
