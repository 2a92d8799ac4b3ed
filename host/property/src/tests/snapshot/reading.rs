//! Opening: read-only, by many at once, and only what is a snapshot.

use super::world::{SoldRow, World, around, day};
use domesday_property::{Snapshot, SnapshotError, store};
use redb::ReadableTable;

#[test]
fn readers_leave_the_file_as_it_is_and_may_be_many() {
    fn shared_between_threads<T: Send + Sync>(_: &T) {}
    let built = World::with_sales(&[SoldRow::default()]).build();
    let (path, before) = (built.file(), std::fs::read(built.file()).unwrap());
    let (one, two) = (
        Snapshot::open(&path).unwrap(),
        Snapshot::open(&path).unwrap(),
    );
    shared_between_threads(&one);
    let query = around(day("2021-01-01"));
    std::thread::scope(|scope| {
        for snapshot in [&one, &one, &two, &two] {
            scope.spawn(|| assert_eq!(snapshot.nearby_sales(&query).unwrap().len(), 1));
        }
    });
    assert_eq!(
        store::content_digest(&path).unwrap(),
        one.identity().content_digest
    );
    drop((one, two));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_snapshot_on_read_only_ground_opens() {
    let built = World::default().build();
    let mut permissions = std::fs::metadata(built.file()).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(built.file(), permissions).unwrap();
    assert_eq!(built.open().identity(), built.report.identity);
}

#[test]
fn invalid_snapshots_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert!(
        matches!(Snapshot::open(&path), Err(SnapshotError::Storage(_))),
        "absent"
    );
    std::fs::write(&path, b"certainly not a database").unwrap();
    assert!(
        matches!(Snapshot::open(&path), Err(SnapshotError::Storage(_))),
        "no database"
    );
    std::fs::remove_file(&path).unwrap();
    drop(redb::Database::create(&path).unwrap());
    assert!(
        matches!(
            Snapshot::open(&path),
            Err(SnapshotError::NotASnapshot { .. })
        ),
        "empty database"
    );

    let built = World::default().build();
    let whole = std::fs::read(built.file()).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(Snapshot::open(&path).is_err(), "cut in half");
}

#[test]
fn another_schema_is_named() {
    let built = World::default().build();
    let facts = redb::TableDefinition::<&str, &[u8]>::new("facts");
    let database = redb::Database::open(built.file()).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(facts).unwrap();
        let row = table.get("snapshot").unwrap().unwrap().value().to_vec();
        let newer = String::from_utf8(row)
            .unwrap()
            .replace(&format!("\"schema\":{}", store::SCHEMA), "\"schema\":999");
        table.insert("snapshot", newer.as_bytes()).unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    let found = Snapshot::open(&built.file());
    assert!(
        matches!(found, Err(SnapshotError::OtherSchema { found: 999, .. })),
        "{found:?}"
    );
}
