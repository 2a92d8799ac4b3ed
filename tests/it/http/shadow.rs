//! A candidate beside the current release: it sees a share of live rows, and no client sees it.

mod exclusions;
pub(crate) mod harness;
mod lifecycle;

use crate::common::client::Client;
use crate::common::demo::{
    HOUSE, POSTCODE, RELEASE, flat, house, house_with, shop, uncertified, welsh,
};
use crate::common::program::run;
use crate::common::server::start;
use harness::{MISBEHAVING, PLAIN, TIMEOUT, UNSIGNED, bedrooms, beside, serve};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// An answer without what is another in every one.
fn plain(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(members) => {
            for id in [
                "execution_id",
                "valuation_id",
                "job_id",
                "created_at",
                "completed_at",
            ] {
                members.remove(id);
            }
            members
                .values_mut()
                .for_each(|value| *value = plain(value.take()));
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| *value = plain(value.take())),
        _ => {}
    }
    answer
}

/// Everything that a client can be told, by both kinds of route.
fn answers(client: &Client) -> Vec<Value> {
    let stored = json!({"use_stored_data": true, "include_comparables": true, "include_context_metrics": true});
    let homes = [
        house(),
        house_with(stored),
        flat(),
        uncertified(),
        welsh(),
        shop(),
        bedrooms(2),
        json!({}),
    ];
    let mut all: Vec<Value> = homes
        .iter()
        .map(|home| plain(client.post("/v3/value", home).json()))
        .collect();
    let batch = json!({"requests": homes});
    all.push(plain(client.post("/v3/batch-value", &batch).json()));
    all
}

#[test]
fn responses_are_the_same_with_a_shadow_and_without() {
    let (without, with) = (
        serve(&[]),
        serve(&["--shadow", MISBEHAVING, "--shadow-share", "1"]),
    );
    let (alone, shadowed) = (answers(&without.client), answers(&with.client));
    assert_eq!(alone, shadowed);
    assert!(
        alone.iter().any(|answer| answer["status"] == "valued"),
        "{alone:?}"
    );
    // The shop and what cannot be read have no home to value; all others were taken, twice.
    with.wait_for_compared(MISBEHAVING, 12);
    assert_eq!(without.rows(MISBEHAVING, "compared"), 0);
    // It is neither current nor told of.
    let release = with.client.get("/v3/releases/current").json();
    assert_eq!(release["release_id"], RELEASE);
    assert_eq!(
        with.count(&format!(
            r#"domesday_values_total{{status="valued",release="{MISBEHAVING}"}}"#
        )),
        0
    );
}

#[test]
fn both_outcomes_are_counted_and_reported() {
    let served = serve(&["--shadow", PLAIN, "--shadow-share", "1"]);
    let rows: Vec<Value> = (0..70)
        .map(|at| {
            let mut row = house();
            row["size"]["floor_area_m2"] = (60 + at).into();
            row
        })
        .collect();
    served
        .client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .ok();
    served.wait_for_compared(PLAIN, 70);
    let status = format!(
        r#"domesday_shadow_statuses_total{{release="{PLAIN}",current="valued",shadow="valued"}}"#
    );
    assert_eq!(served.count(&status), 70);
    assert_eq!(
        served.count(&format!(
            r#"domesday_shadow_value_ratio_count{{release="{PLAIN}"}}"#
        )),
        70
    );
    let share = format!(r#"domesday_shadow_share{{release="{PLAIN}"}} 1.0"#);
    assert!(served.metrics.get("/metrics").text.contains(&share));
    let (output, report, page) = served.report(PLAIN);
    assert!(
        output.contains(&format!("A {RELEASE}  B {PLAIN}")),
        "{output}"
    );
    assert!(output.contains("A's answer went to the client"), "{output}");
    assert_eq!(report["overall"]["rows"], 70);
    assert_eq!(report["overall"]["change"]["moved"], 70);
    assert_eq!(report["subject"]["rows"]["from"], "live");
    assert_eq!(report["subject"]["rows"]["share"], 1.0);
    assert_eq!(report["divisions"][2]["by"], "authority");
    let area = &report["divisions"][2]["groups"][0];
    assert!(area["name"].is_string(), "{area}");
    assert!(page.contains("Change of value") && page.contains("<svg role=\"img\""));
    assert!(
        report["movers"][0]["row"]
            .as_str()
            .unwrap()
            .starts_with("row ")
    );
}

#[test]
fn a_candidate_that_traps_or_spins_is_isolated_and_reported() {
    let served = serve(&["--shadow", MISBEHAVING, "--shadow-share", "1"]);
    let rows = [
        bedrooms(1),
        bedrooms(2),
        bedrooms(2),
        house_with(json!({})),
        bedrooms(5),
    ];
    let answer = served
        .client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .json();
    assert_eq!(answer["summary"]["valued"], 5, "{answer}");
    served.wait_for_compared(MISBEHAVING, 5);
    let failed = format!(
        r#"domesday_shadow_statuses_total{{release="{MISBEHAVING}",current="valued",shadow="failed"}}"#
    );
    // The demo's house has three bedrooms, on which it asks for all memory.
    assert_eq!(served.count(&failed), 5);
    let (output, report, page) = served.report(MISBEHAVING);
    assert!(
        output.contains("5 rows change status: 2 from valued to failed (trapped)"),
        "{output}"
    );
    assert_eq!(report["flips"]["rows"], 5);
    for reason in [
        "fuel spent",
        "trapped",
        "memory limit reached",
        "invalid outcome",
    ] {
        assert!(page.contains(&format!("failed: {reason}")), "{reason}");
    }
    served.client.post("/v3/value", &house()).ok();
}

#[test]
fn rows_beyond_the_queue_are_dropped_and_counted() {
    let served = serve(&["--shadow", MISBEHAVING, "--shadow-share", "1"]);
    // Each spends all of a row's fuel, so that the candidate is far slower than the rows come.
    let rows = vec![bedrooms(1); 2_400];
    let answer = served
        .client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .json();
    assert_eq!(answer["summary"]["valued"], 2_400);
    let dropped = served.rows(MISBEHAVING, "dropped");
    assert!(dropped > 0, "{}", served.metrics.get("/metrics").text);
    // The server drops the rows that wait, and ends as it should.
    assert!(
        served
            .command(&["shadow", "stop"])
            .ok()
            .stdout
            .contains(&format!("{MISBEHAVING} no longer runs as a shadow"))
    );
    // None is lost from sight.
    let taken = served.rows(MISBEHAVING, "compared") + dropped;
    let waited = served.rows(MISBEHAVING, "shadow_ended");
    assert!(waited > 0 && taken + waited == 2_400, "{taken}, {waited}");
    served.server.stop();
}

#[test]
fn a_jobs_rows_are_sampled_at_the_configured_share() {
    let served = serve(&["--shadow", PLAIN, "--shadow-share", "0.5"]);
    let body = json!({"idempotency_key": "k", "requests": vec![house(); 400]});
    let job = served.client.post("/v3/valuation-jobs", &body).json();
    let results = job["results_url"].as_str().unwrap();
    while served.client.get(results).status != 200 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let began = Instant::now();
    let mut last = 0;
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = served.rows(PLAIN, "compared");
        if now == last && now > 0 {
            break;
        }
        last = now;
        assert!(began.elapsed() < TIMEOUT);
    }
    // Two hundred, give or take five standard deviations.
    assert!((150..=250).contains(&last), "{last}");
    assert_eq!(served.rows(PLAIN, "dropped"), 0);
}

#[test]
fn a_shadow_begins_and_ends_on_a_running_server() {
    let served = serve(&[]);
    let one = || served.client.post("/v3/value", &house()).ok();
    one();
    let began = served
        .command(&["shadow", "start", PLAIN, "--share", "1"])
        .ok();
    assert_eq!(
        began.stdout,
        format!("{PLAIN} runs as a shadow on 1 of rows\n")
    );
    one();
    served.wait_for_compared(PLAIN, 1);
    let status = served.command(&["status"]).ok().stdout;
    assert!(
        status.contains(&format!("shadow             {PLAIN} on 1 of rows")),
        "{status}"
    );
    let status = served.command(&["status", "--json"]).ok().stdout;
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["shadow"], json!({"release": PLAIN, "share": 1.0}));
    // Another takes its place.
    served
        .command(&["shadow", "start", MISBEHAVING, "--share", "1"])
        .ok();
    one();
    served.wait_for_compared(MISBEHAVING, 1);
    served.command(&["shadow", "stop"]).ok();
    one();
    let status = served.command(&["status", "--json"]).ok().stdout;
    assert!(status.contains(r#""shadow": null"#), "{status}");
    std::thread::sleep(Duration::from_millis(200));
    served.wait_for_compared(PLAIN, 1);
    served.wait_for_compared(MISBEHAVING, 1);
    assert!(
        !served
            .metrics
            .get("/metrics")
            .text
            .contains("domesday_shadow_share{")
    );
    // Each has its own report.
    assert_eq!(served.report(PLAIN).1["overall"]["rows"], 1);
    assert_eq!(served.report(MISBEHAVING).1["overall"]["rows"], 1);
}

#[test]
fn invalid_shadows_are_refused() {
    let served = serve(&[]);
    let begin = |arguments: &[&str]| served.command(&[&["shadow", "start"], arguments].concat());
    assert!(
        begin(&["nowhere-1"])
            .refused()
            .contains("no release \"nowhere-1\"")
    );
    let output = begin(&[RELEASE]).refused();
    assert!(output.contains("is the current release"), "{output}");
    for share in ["0", "1.5", "x"] {
        assert_eq!(begin(&[PLAIN, "--share", share]).code, Some(2), "{share}");
    }
    let output = served.command(&["shadow", "stop"]).refused();
    assert!(output.contains("no release runs as a shadow"), "{output}");
    let output = served.command(&["shadow", "report", PLAIN]).refused();
    assert!(output.contains("no rows of"), "{output}");
    let nobody = tempfile::tempdir().unwrap();
    let nobody = nobody.path().display().to_string();
    let output = run(["shadow", "start", PLAIN, "--data", &nobody]).refused();
    assert!(output.contains("no server runs"), "{output}");
    // The setting of a release that was promoted since keeps nothing from starting.
    let promoted = serve(&["--shadow", RELEASE]);
    promoted
        .server
        .await_log(|line| line["message"] == "no shadow");
    promoted.client.post("/v3/value", &house()).ok();
    for (with, named) in [
        (
            ["--shadow", "nowhere-1", "--shadow-share", "1"],
            "nowhere-1",
        ),
        (
            ["--shadow", PLAIN, "--shadow-share", "2"],
            "a share is a number",
        ),
    ] {
        let refusal = start()
            .releases(beside().path())
            .with(&UNSIGNED)
            .with(&with)
            .refused();
        assert!(refusal.contains(named), "{refusal}");
    }
}

/// The stored rows do not identify the home.
#[test]
fn no_address_is_stored() {
    let served = serve(&["--shadow", PLAIN, "--shadow-share", "1"]);
    let mut request = house_with(json!({"use_stored_data": true}));
    request["request_reference"] = "the-customer-s-own".into();
    served.client.post("/v3/value", &request).ok();
    served.wait_for_compared(PLAIN, 1);
    let folder = served.server.data.join("shadow").join(PLAIN).join(RELEASE);
    let began = Instant::now();
    while !folder.join("pairs.jsonl").exists() {
        assert!(began.elapsed() < TIMEOUT);
        std::thread::sleep(Duration::from_millis(5));
    }
    for file in ["pairs.jsonl", "about.json"] {
        let text = read(&folder.join(file));
        for detail in [
            HOUSE,
            POSTCODE,
            "QA1",
            "Badger",
            "the-customer-s-own",
            "customer",
        ] {
            assert!(!text.contains(detail), "{file}: {detail}");
        }
    }
    let pairs = read(&folder.join("pairs.jsonl"));
    assert!(pairs.contains(r#""postcode_area":"QA""#), "{pairs}");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
