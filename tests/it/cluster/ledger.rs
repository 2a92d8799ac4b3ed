//! The promotion ledger of a database that several hosts share.

use crate::common::program::{ProcessOutput, run};
use crate::common::server::{Server, start};
use domesday_test_postgres as cluster;
use serde_json::Value;

fn host(database: &str) -> Server {
    start().with(&["--state", database]).go()
}

fn history(server: &Server, more: &[&str]) -> ProcessOutput {
    let data = server.data.display().to_string();
    run([&["release", "history", "--data", &data][..], more].concat())
}

#[test]
fn an_altered_entry_is_named_and_two_hosts_share_one_chain() {
    const PROMOTIONS: usize = 4;
    let database = cluster::shared().database();
    let hosts = [host(&database), host(&database)];
    std::thread::scope(|scope| {
        for server in &hosts {
            scope.spawn(|| {
                let data = server.data.display().to_string();
                for _ in 0..PROMOTIONS {
                    let release = crate::common::demo::RELEASE;
                    run(["release", "promote", release, "--data", &data]).ok();
                }
            });
        }
    });
    let ledgers = hosts
        .each_ref()
        .map(|server| history(server, &["--json"]).ok().stdout);
    assert_eq!(ledgers[0], ledgers[1]);
    let entries: Value = serde_json::from_str(&ledgers[0]).unwrap();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 2 * PROMOTIONS);
    let mut signers: Vec<&str> = entries
        .iter()
        .map(|it| it["signer"].as_str().unwrap())
        .collect();
    signers.sort_unstable();
    signers.dedup();
    assert_eq!(signers.len(), 2, "each host signs with its own key");

    let alter = "UPDATE domesday.promotions SET entry = replace(entry, '\"who\":\"', '\"who\":\"x') \
        WHERE sequence = 3";
    cluster::sql(&database, alter);
    let refused = history(&hosts[1], &[]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(refused.stdout, "");
    let named = "entry 3 of the promotion ledger does not fit: it was altered";
    assert!(refused.stderr.contains(named), "{}", refused.stderr);
    for host in hosts {
        host.stop();
    }
}
