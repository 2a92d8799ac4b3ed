//! Rows on which a candidate did badly, or that it never saw, are reported and not left out in
//! silence.

use crate::common::demo::house;
use crate::shadow::harness::{BOUND, MISBEHAVING, PLAIN, SLOW, bedrooms, serve};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_candidate_that_is_over_its_second_has_failed() {
    let served = serve(&["--shadow", SLOW, "--shadow-share", "1"]);
    let rows = [bedrooms(1), bedrooms(12)];
    let answer = served
        .client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .json();
    assert_eq!(answer["summary"]["valued"], 2, "{answer}");
    served.wait_for_compared(SLOW, 2);
    assert_eq!(served.rows(SLOW, "host_failure"), 0);
    served.wait_for_stored(SLOW, 2);
    let (output, report, page) = served.report(SLOW);
    assert!(
        output.contains("1 row changes status: 1 from valued to failed (out of time)"),
        "{output}"
    );
    assert_eq!(report["overall"]["rows"], 2);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0, "{report}");
    assert!(page.contains("failed: out of time"));
}

#[test]
fn dropped_and_released_rows_are_in_the_report() {
    let served = serve(&["--shadow", SLOW, "--shadow-share", "1"]);
    // One is in hand for a second, a thousand and some wait, and the others find no place.
    let rows = vec![bedrooms(1); 1_200];
    let answer = served
        .client
        .post("/v3/batch-value", &json!({"requests": rows}))
        .json();
    assert_eq!(answer["summary"]["valued"], 1_200);
    served.wait_for_stored(SLOW, 1);
    served.command(&["shadow", "stop"]).ok();
    let (output, report, page) = served.report(SLOW);
    let left_out = &report["subject"]["rows"]["left_out"];
    let count = |why: &str| left_out[why].as_u64().unwrap();
    let rows = report["overall"]["rows"].as_u64().unwrap();
    assert!(
        count("dropped") > 0 && count("shadow_ended") > 1_000,
        "{left_out}"
    );
    assert_eq!(count("dropped") + count("shadow_ended") + rows, 1_200);
    for why in ["dropped", "shadow_ended"] {
        assert_eq!(served.rows(SLOW, why), count(why), "{why}");
    }
    let line = format!(
        "{} dropped, since B was slower than they came, {} waiting when B's run ended",
        count("dropped"),
        count("shadow_ended")
    );
    assert!(
        output.contains("WARNING: Rows that were taken since 20"),
        "{output}"
    );
    assert!(output.contains(&line), "{output}");
    let warning = page.find("are in no figure here").unwrap();
    assert!(warning < page.find("class=\"figures\"").unwrap());
}

#[test]
fn rows_outside_the_candidates_dates_are_counted_without_any_compared() {
    let served = serve(&["--shadow", BOUND, "--shadow-share", "1"]);
    for _ in 0..3 {
        served.client.post("/v3/value", &house()).ok();
    }
    let began = Instant::now();
    while served.rows(BOUND, "outside_dates") < 3 {
        assert!(began.elapsed() < Duration::from_secs(40));
        std::thread::sleep(Duration::from_millis(5));
    }
    served.command(&["shadow", "stop"]).ok();
    let output = served.command(&["shadow", "report", BOUND]).refused();
    assert!(
        output.contains("was compared: 3 of valuation dates that B is not made for"),
        "{output}"
    );
}

#[test]
fn each_row_uses_the_sample_rate_of_its_time() {
    let served = serve(&["--shadow", PLAIN, "--shadow-share", "0.7"]);
    let several = || {
        let rows = vec![house(); 60];
        let body = json!({"requests": rows});
        served.client.post("/v3/batch-value", &body).ok();
    };
    several();
    served.wait_for_stored(PLAIN, 10);
    let (output, report, _) = served.report(PLAIN);
    assert!(output.contains(", 70 % of them;"), "{output}");
    assert_eq!(report["subject"]["rows"]["shares"], json!([0.7, 0.7]));
    let begin = ["shadow", "start", PLAIN, "--share", "1"];
    served.command(&begin).ok();
    // What was taken before has come to its end.
    let before = served.rows(PLAIN, "compared");
    several();
    served.wait_for_compared(PLAIN, before + 60);
    served.wait_for_stored(PLAIN, usize::try_from(before).unwrap() + 60);
    let (output, report, _) = served.report(PLAIN);
    assert!(
        output.contains(", 70 % to 100 % of them, as the share"),
        "{output}"
    );
    assert_eq!(report["subject"]["rows"]["shares"], json!([0.7, 1.0]));
}

#[test]
fn a_folder_deleted_while_the_candidate_runs_is_recreated() {
    let served = serve(&["--shadow", MISBEHAVING, "--shadow-share", "1"]);
    let one = || served.client.post("/v3/value", &bedrooms(12)).ok();
    one();
    served.wait_for_stored(MISBEHAVING, 1);
    let folder = served.server.data.join("shadow").join(MISBEHAVING);
    std::fs::remove_dir_all(folder).unwrap();
    one();
    served.wait_for_stored(MISBEHAVING, 1);
    let report = served.report(MISBEHAVING).1;
    assert_eq!(report["overall"]["rows"], 1);
    assert_eq!(served.rows(MISBEHAVING, "write_failed"), 0);
}
