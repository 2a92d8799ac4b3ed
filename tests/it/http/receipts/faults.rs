//! A host that dies, and a journal that cannot be written: nothing is answered that has no receipt.

use crate::common::demo::house;
use crate::common::faults::library;
use crate::common::server::{Server, start};
use crate::receipts::{batch, files, keys, lines, report, results, submitted, value};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const KILLS: u64 = 6;
/// The fewest responses before each kill, and the longest wait for them.
const ANSWERS_PER_KILL: usize = 20;
const MOST_WAITED: Duration = Duration::from_secs(20);

#[test]
fn every_response_before_a_kill_has_its_receipt() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let answered_ids = Mutex::new(BTreeSet::new());
    for kill in 0..KILLS {
        let server = start().data(&data).with(&["--receipts", "all"]).go();
        let (client, over) = (server.demo(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (client, over, answered_ids) = (client.clone(), &over, &answered_ids);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        let (path, body) = match thread {
                            0 => ("/v3/simple-batch-value", batch(40)),
                            _ => ("/v3/simple-value", house()),
                        };
                        let Ok(answer) = client.try_post(path, &body.to_string()) else {
                            continue;
                        };
                        let answer = answer.json();
                        let mut answered_ids = answered_ids.lock().unwrap();
                        let results = answer["results"].as_array().cloned();
                        for result in results.unwrap_or_else(|| vec![answer.clone()]) {
                            answered_ids
                                .insert(result["valuation_id"].as_str().unwrap().to_owned());
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(150 + 70 * kill));
            // A slow machine has answered few by then.
            let expected = ANSWERS_PER_KILL * (kill as usize + 1);
            let waited = Instant::now();
            while answered_ids.lock().unwrap().len() < expected && waited.elapsed() < MOST_WAITED {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.signal(Signal::KILL);
            over.store(true, Ordering::Relaxed);
        });
        drop(server);
    }
    // The last kill may have left an unfinished line, which the next start removes.
    let server = start().data(&data).with(&["--receipts", "all"]).go();
    let receipt_ids: BTreeSet<_> = lines(&data)
        .iter()
        .map(|line| line["about"]["valuation_id"].as_str().unwrap().to_owned())
        .collect();
    let answered_ids = answered_ids.into_inner().unwrap();
    println!(
        "{KILLS} kills, {} answered, {} receipts",
        answered_ids.len(),
        receipt_ids.len()
    );
    let expected = ANSWERS_PER_KILL * KILLS as usize;
    assert!(answered_ids.len() >= expected, "{}", answered_ids.len());
    assert!(
        answered_ids.is_subset(&receipt_ids),
        "{} have none",
        answered_ids.difference(&receipt_ids).count()
    );
    let file = keys(&data, None);
    let found = report(
        &data,
        &[
            "--keys",
            file.to_str().unwrap(),
            "--valuation",
            answered_ids.first().unwrap(),
        ],
    );
    assert_eq!(
        (&found["proved"], &found["identical"]),
        (&true.into(), &1.into()),
        "{found:#}"
    );
    server.stop();
}

/// A crash damages no receipt that was answered on, so the host does not take the damage for a
/// crash.
#[test]
fn a_damaged_receipt_of_a_sent_response_is_refused_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let server = start().data(&data).with(&["--receipts", "all"]).go();
    let client = server.demo();
    for _ in 0..10 {
        value(&client);
    }
    server.signal(Signal::KILL);
    drop(server);
    let path = &files(&data)[0];
    let sound = std::fs::read_to_string(path).unwrap();
    let mut altered: Vec<_> = sound.split_inclusive('\n').map(str::to_owned).collect();
    altered[4] = altered[4].replace(r#""tenant":"demo""#, r#""tenant":"dema""#);
    let altered = altered.concat();
    std::fs::write(path, &altered).unwrap();
    let refused = start().data(&data).with(&["--receipts", "all"]).refused();
    let place = "receipts-000000000001.jsonl, line 5: receipt 5 was altered";
    assert!(refused.contains(place), "{refused}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), altered);
    // With the file put back, nothing is missing.
    std::fs::write(path, sound).unwrap();
    let server = start().data(&data).with(&["--receipts", "all"]).go();
    assert_eq!(lines(&data).len(), 10);
    server.stop();
    assert_eq!(report(&data, &[])["proved"], true);
}

/// Serves from a data folder with one receipt. A file in the returned folder, named after a fault,
/// makes the journal's disk fail so.
fn serve_with_faults(data: &Path) -> (Server, TempDir) {
    serve_with_faults_and(data, &[])
}

fn serve_with_faults_and(data: &Path, arguments: &[&str]) -> (Server, TempDir) {
    let server = start().data(data).with(&["--receipts", "all"]).go();
    value(&server.demo());
    server.stop();
    let folder = tempfile::tempdir().unwrap();
    let server = start()
        .data(data)
        .with(&["--receipts", "all"])
        .with(arguments)
        .environment("LD_PRELOAD", &library(folder.path()))
        .environment("DOMESDAY_FAULT_FILES", &files(data)[0])
        .environment("DOMESDAY_FAULTS", folder.path())
        .go();
    (server, folder)
}

/// The journal alone has a full disk, then failed syncs.
#[test]
fn while_no_receipt_can_be_written_nothing_is_valued_or_charged() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let (server, folder) = serve_with_faults(&data);
    let client = server.demo();
    let mut answer_count = 1;
    for fault in ["full", "sync", "full"] {
        value(&client);
        answer_count += 1;
        let trigger = folder.path().join(fault);
        std::fs::write(&trigger, "").unwrap();
        for _ in 0..20 {
            for (path, body) in [
                ("/v3/simple-value", house()),
                ("/v3/simple-batch-value", batch(5)),
            ] {
                let refused = client.post(path, &body);
                assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
                assert!(refused.header("retry-after").is_some());
            }
            assert_eq!(client.get("/readyz").status, 503);
        }
        // A job waits: none of its rows is given up.
        let waiting = submitted(&client, 3);
        std::thread::sleep(Duration::from_millis(300));
        std::fs::remove_file(&trigger).unwrap();
        let started = Instant::now();
        while client.get("/readyz").status != 200 {
            assert!(
                started.elapsed() < Duration::from_secs(10),
                "it is not well again"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        // It goes on, and nothing of it was lost. The next fault would find it at work, and a row
        // that is valued again has a second receipt.
        let rows = results(&client, &waiting);
        assert_eq!(rows["summary"]["valued"], 3, "{rows:#}");
        answer_count += 3;
    }
    value(&client);
    answer_count += 1;
    let used = crate::receipts::run(["tenant", "list", "--data", data.to_str().unwrap()]).ok();
    assert!(
        used.stdout.contains(&format!("\t{answer_count} units")),
        "{answer_count}: {}",
        used.stdout
    );
    assert_eq!(lines(&data).len(), answer_count);
    let file = keys(&data, None);
    let found = report(&data, &["--keys", file.to_str().unwrap()]);
    assert_eq!(
        (&found["proved"], &found["identical"]),
        (&true.into(), &answer_count.into()),
        "{found:#}"
    );
    server.stop();
}

/// The journal's disk neither answers nor fails. The requests end long before their deadline, the
/// probe sees it, and all goes on when the disk does.
#[test]
fn a_journal_that_stalls_ends_requests_and_readiness_until_it_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let (server, folder) = serve_with_faults(&data);
    let client = server.demo();
    value(&client);
    let trigger = folder.path().join("stall");
    std::fs::write(&trigger, "").unwrap();
    let stalled = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = client.clone();
            scope.spawn(move || {
                let refused = client.post("/v3/simple-value", &house());
                assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
                assert!(stalled.elapsed() < Duration::from_secs(8));
            });
        }
        while client.get("/readyz").status == 200 {
            assert!(
                stalled.elapsed() < Duration::from_secs(5),
                "it is still ready"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(client.get("/healthz").status, 200);
    });
    std::fs::remove_file(&trigger).unwrap();
    let lifted = Instant::now();
    while client.get("/readyz").status != 200 {
        assert!(
            lifted.elapsed() < Duration::from_secs(5),
            "it is not ready again"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    value(&client);
    // Refused requests cost nothing.
    let used = crate::receipts::run(["tenant", "list", "--data", data.to_str().unwrap()]).ok();
    assert!(used.stdout.contains("\t3 units"), "{}", used.stdout);
    server.stop();
    assert_eq!(report(&data, &[])["proved"], true);
}

/// The disk takes a second and a half or more, which is no stall yet, but longer than the deadline.
#[test]
fn receipts_that_are_late_for_the_deadline_are_not_waited_for_and_cost_nothing() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let (server, folder) = serve_with_faults_and(&data, &["--processing-deadline", "400"]);
    let client = server.demo();
    value(&client);
    let trigger = folder.path().join("stall");
    for (path, body) in [
        ("/v3/simple-value", house()),
        ("/v3/simple-batch-value", batch(3)),
    ] {
        std::fs::write(&trigger, "").unwrap();
        let stalled = Instant::now();
        let refused = client.post(path, &body);
        let took = stalled.elapsed();
        // The disk is away until here, so the response did not wait for it.
        std::thread::sleep(Duration::from_millis(1_500).saturating_sub(took));
        std::fs::remove_file(&trigger).unwrap();
        assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
        assert!(refused.header("retry-after").is_some());
        // A stall of three seconds would end it as well. A busy machine takes some of the rest.
        let in_time = Duration::from_millis(800)..Duration::from_millis(2_700);
        assert!(in_time.contains(&took), "{path}: {took:?}");
        // The disk was never away for as long as a stall takes.
        assert_eq!(client.get("/readyz").status, 200);
        value(&client);
    }
    let used = crate::receipts::run(["tenant", "list", "--data", data.to_str().unwrap()]).ok();
    assert!(used.stdout.contains("\t4 units"), "{}", used.stdout);
    // The late receipts are there as well, and all of them prove.
    server.stop();
    assert_eq!(lines(&data).len(), 4 + 1 + 3);
    assert_eq!(report(&data, &[])["proved"], true);
}

#[test]
fn a_missing_journal_stops_all_valuations() {
    let server = start().with(&["--receipts", "all"]).go();
    let client = server.demo();
    value(&client);
    let journal = server.data.join("journal");
    std::fs::rename(&journal, server.data.join("elsewhere")).unwrap();
    let refused = client.post("/v3/simple-value", &house());
    assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
    assert_eq!(client.get("/readyz").status, 503);
    std::fs::rename(server.data.join("elsewhere"), &journal).unwrap();
    let started = Instant::now();
    while client.get("/readyz").status != 200 {
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "it is not well again"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    value(&client);
    assert_eq!(lines(&server.data).len(), 2);
    server.stop();
}

#[test]
fn a_journal_folder_that_is_replaced_before_the_first_receipt_is_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, away) = (folder.path().join("journal"), folder.path().join("away"));
    let arguments = ["--receipts", "all", "--journal", journal.to_str().unwrap()];
    let server = start().with(&arguments).go();
    let client = server.demo();
    std::fs::rename(&journal, &away).unwrap();
    std::fs::create_dir(&journal).unwrap();
    let started = Instant::now();
    // No value is needed for the probe to see it.
    while client.get("/readyz").status == 200 {
        assert!(started.elapsed() < Duration::from_secs(5), "it is ready");
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..4 {
        let refused = client.post("/v3/simple-value", &house());
        assert_eq!((refused.status, &*refused.refusal().1), (503, "overloaded"));
    }
    assert_eq!(journal.read_dir().unwrap().count(), 0);
    server.terminate();
    let (status, log) = server.await_end();
    assert_eq!(status.code(), Some(1), "{log}");
}

/// The journal is this host's own, wherever the state is.
#[test]
fn a_stop_reports_a_missing_journal_of_a_host_on_a_database() {
    let database = domesday_test_postgres::shared().database();
    let arguments = ["--receipts", "all", "--state", &database];
    let server = start().with(&arguments).go();
    let client = server.client("none");
    std::fs::rename(server.data.join("journal"), server.data.join("away")).unwrap();
    let started = Instant::now();
    while client.get("/readyz").status == 200 {
        assert!(started.elapsed() < Duration::from_secs(5), "it is ready");
        std::thread::sleep(Duration::from_millis(20));
    }
    server.terminate();
    let (status, log) = server.await_end();
    assert_eq!(status.code(), Some(1), "{log}");
    let problem = "stopped while storage was unavailable: no receipt can be kept";
    assert!(log.contains(problem), "{log}");
}
