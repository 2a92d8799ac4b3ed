//! A backup of a host whose state is in PostgreSQL, with a dump of the database.

use crate::common::demo::house;
use crate::common::program::run;
use crate::common::server::start;
use domesday_test_postgres as cluster;
use tempfile::TempDir;

/// The command keeps the host's keys and journal and leaves the state to the database's own tools.
#[test]
fn a_backup_and_a_dump_are_restored_as_another_host_on_another_database() {
    let folder = TempDir::new().unwrap();
    let [backup, data] = ["backup", "data"].map(|name| folder.path().join(name));
    let [backup, data] = [&backup, &data].map(|path| path.to_str().unwrap());
    let database = cluster::shared().database();
    let start_on = |database: &str| start().with(&["--state", database, "--receipts", "all"]);
    let server = start_on(&database).go();
    let create = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    let at = |data| ["--state", &database, "--data", data];
    let host = server.data.display().to_string();
    let key = run([&create[..], &at(&host)].concat()).ok().stdout;
    let value = |server: &crate::common::server::Server| {
        let client = server.client(key.trim());
        client.post("/v3/simple-value", &house()).ok();
    };
    value(&server);
    value(&server);
    let printed = run([&["backup", backup][..], &at(&host)].concat())
        .ok()
        .stdout;
    assert!(printed.contains("Dump the database now"), "{printed}");
    let dump = cluster::dump(&database);
    value(&server);

    let other = cluster::shared().database();
    cluster::sql(&other, &dump);
    let printed = run(["restore", backup, "--data", data]).ok().stdout;
    assert!(printed.contains("Its state is in PostgreSQL"), "{printed}");
    let keys = std::fs::read_to_string(folder.path().join("data/ledger.pub")).unwrap();
    let own = std::fs::read_to_string(server.data.join("ledger.pub")).unwrap();
    assert_eq!(keys, own);
    let restored = start_on(&other)
        .data(folder.path().join("data").as_path())
        .go();
    value(&restored);
    let used = |database: &str| cluster::sql(database, "SELECT sum(used) FROM domesday.used_units");
    assert_eq!((used(&database).trim(), used(&other).trim()), ("3", "3"));
}
