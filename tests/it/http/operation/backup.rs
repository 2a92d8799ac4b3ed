//! Backups of a running host, and what a restored host knows.

use crate::common::client::Client;
use crate::common::demo::house;
use crate::common::program::{ProcessOutput, TIMEOUT, domesday, releases, run, run_command};
use crate::common::server::{Server, start};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn back_up(server: &Server, to: &Path) -> ProcessOutput {
    run(["backup", text(to), "--data", text(&server.data)])
}

fn restore(backup: &Path, data: &Path, more: &[&str]) -> ProcessOutput {
    let arguments = ["restore", text(backup), "--data", text(data)];
    run([&arguments[..], more].concat())
}

/// Returns the units that the customer used this month, by the state of a data folder.
fn used_units(data: &Path) -> u64 {
    let listed = run(["tenant", "list", "--data", text(data)]).ok().stdout;
    let line = listed.lines().find(|line| line.starts_with("customer\t"));
    let used = line.unwrap().split('\t').nth(2).unwrap();
    used.split(' ').next().unwrap().parse().unwrap()
}

/// A host with receipts and a customer, and folders for a backup and for what is made of it.
struct Scene {
    server: Server,
    client: Client,
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let start = start().with(&["--receipts", "all"]);
        let key = start.key(&["avm:value"]);
        let server = start.go();
        let client = server.client(&key);
        Scene {
            server,
            client,
            folder: TempDir::new().unwrap(),
        }
    }

    fn value(&self) {
        self.client.post("/v3/simple-value", &house()).ok();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Values are charged all the while. The copy has every unit that was answered before it began. It
/// has none that was asked for after it ended, and its keys open all of its receipts.
#[test]
fn a_backup_under_load_is_whole_and_serves_elsewhere() {
    let scene = Scene::new();
    let (backup, data) = (scene.path("backup"), scene.path("restored"));
    let (asked, answered) = (AtomicU64::new(0), AtomicU64::new(0));
    let stop = AtomicBool::new(false);
    let (before, after) = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    asked.fetch_add(1, Ordering::SeqCst);
                    scene.value();
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        while answered.load(Ordering::SeqCst) < 8 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let before = answered.load(Ordering::SeqCst);
        let outcome = back_up(&scene.server, &backup);
        let after = asked.load(Ordering::SeqCst);
        stop.store(true, Ordering::SeqCst);
        outcome.ok();
        (before, after)
    });
    let printed = restore(&backup, &data, &[]).ok().stdout;
    let used = used_units(&data);
    println!("{before} units before the backup, {used} in it, {after} asked for at its end");
    assert!((before..=after).contains(&used));
    assert!(printed.contains(&format!("{used} units used")), "{printed}");

    let keys = scene.path("keys.json");
    run([
        "journal",
        "keys",
        "--data",
        text(&data),
        "--out",
        text(&keys),
    ])
    .ok();
    let journal = data.join("journal-of-backup");
    let releases = releases();
    let proof = run([
        "replay",
        "--journal",
        text(&journal),
        "--keys",
        text(&keys),
        "--releases",
        text(&releases),
    ]);
    proof.ok();

    let restored = start().data(&data).with(&["--receipts", "all"]).go();
    let elsewhere = restored.client(&scene.client.key);
    elsewhere.post("/v3/simple-value", &house()).ok();
    assert_eq!(used_units(&data), used + 1);
}

/// Checks that a journal of a restored host proves as many receipts, with the keys of its state.
#[track_caller]
fn check_proof(data: &Path, journal: &str, receipts: u32) {
    let journal = data.join(journal);
    let (keys, releases) = (data.with_extension(receipts.to_string()), releases());
    let keys = text(&keys);
    run(["journal", "keys", "--data", text(data), "--out", keys]).ok();
    let source = ["replay", "--journal", text(&journal), "--keys", keys];
    let proof = run([&source[..], &["--releases", text(&releases)]].concat()).ok();
    let proved = format!("{receipts} of {receipts} receipts identical to the bit");
    assert!(proof.stdout.contains(&proved), "{}", proof.stdout);
}

/// A restored host begins another journal, and its own backups have both.
#[test]
fn receipts_outlive_a_second_backup_and_restore() {
    let folder = TempDir::new().unwrap();
    let [data, backup, restored, later, last] =
        ["data", "backup", "restored", "later", "last"].map(|name| folder.path().join(name));
    let start_on = |data: &Path| start().data(data).with(&["--receipts", "all"]);
    let first = start_on(&data);
    let key = first.key(&["avm:value"]);
    let server = first.go();
    server.client(&key).post("/v3/simple-value", &house()).ok();
    server.stop();
    run(["backup", text(&backup), "--data", text(&data)]).ok();
    restore(&backup, &restored, &[]).ok();
    check_proof(&restored, "journal-of-backup", 1);

    let server = start_on(&restored).go();
    for _ in 0..2 {
        server.client(&key).post("/v3/simple-value", &house()).ok();
    }
    server.stop();
    run(["backup", text(&later), "--data", text(&restored)]).ok();
    let printed = restore(&later, &last, &[]).ok().stdout;
    for part in [
        "Receipts up to then are in ",
        "Those of an earlier restore are in ",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    check_proof(&last, "journal-of-backup", 2);
    check_proof(&last, "journal-of-backup-2", 1);
}

#[test]
fn a_backup_of_a_stopped_host_needs_no_server() {
    let folder = TempDir::new().unwrap();
    let [data, backup, restored] =
        ["data", "backup", "restored"].map(|name| folder.path().join(name));
    let start = start().data(&data);
    let key = start.key(&["avm:value"]);
    let server = start.go();
    server.client(&key).post("/v3/simple-value", &house()).ok();
    server.stop();
    run(["backup", text(&backup), "--data", text(&data)]).ok();
    restore(&backup, &restored, &[]).ok();
    assert_eq!(used_units(&restored), 1);
}

/// The settings of the host say where its journal is, so the command need not.
#[test]
fn a_backup_takes_the_journal_of_the_settings() {
    let folder = TempDir::new().unwrap();
    let [data, journal, config, backup] =
        ["data", "receipts", "domesday.toml", "backup"].map(|name| folder.path().join(name));
    let start = start()
        .data(&data)
        .with(&["--receipts", "all", "--journal", text(&journal)]);
    let key = start.key(&["avm:value"]);
    let server = start.go();
    server.client(&key).post("/v3/simple-value", &house()).ok();
    server.stop();
    let settings = format!("data = {data:?}\njournal = {journal:?}\n");
    fs::write(&config, settings).unwrap();
    run(["backup", text(&backup), "--config", text(&config)]).ok();
    let kept = fs::read_dir(backup.join("journal")).unwrap().count();
    assert_ne!(kept, 0);
}

/// A host on PostgreSQL has no state in its folder. An empty one made there would look like a
/// backup.
#[test]
fn a_folder_without_a_state_is_not_backed_up() {
    let folder = TempDir::new().unwrap();
    let [data, backup] = ["data", "backup"].map(|name| folder.path().join(name));
    fs::create_dir(&data).unwrap();
    let refused = run(["backup", text(&backup), "--data", text(&data)]).refused();
    assert!(refused.contains("holds no state"), "{refused}");
    assert!(!backup.exists());
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
}

/// Units that were used after the backup are not known to the restored state, and the command says
/// so.
#[test]
fn an_earlier_time_knows_nothing_of_later_units() {
    let scene = Scene::new();
    let (backup, data) = (scene.path("backup"), scene.path("restored"));
    scene.value();
    scene.value();
    back_up(&scene.server, &backup).ok();
    for _ in 0..3 {
        scene.value();
    }
    assert_eq!(used_units(&scene.server.data), 5);
    let printed = restore(&backup, &data, &[]).ok().stdout;
    assert_eq!(used_units(&data), 2);
    for part in [
        "2 units used in ",
        "units used since: tenants can use them again",
        "Revoke and erase them again",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
}

#[test]
fn nothing_is_overwritten() {
    let scene = Scene::new();
    let (backup, data) = (scene.path("backup"), scene.path("taken"));
    back_up(&scene.server, &backup).ok();
    let refused = back_up(&scene.server, &backup).refused();
    assert!(refused.contains("nothing is overwritten"), "{refused}");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("state.redb"), "mine").unwrap();
    let refused = restore(&backup, &data, &[]).refused();
    assert!(refused.contains("nothing is overwritten"), "{refused}");
    assert_eq!(fs::read_to_string(data.join("state.redb")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
    // Neither command left a file behind.
    assert_eq!(fs::read_dir(scene.folder.path()).unwrap().count(), 2);
    let left = fs::read_dir(&scene.server.data).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with("state-copy")));
}

/// Returns a command that the rights of folders bind. They do not bind root.
fn without_privilege(program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-dac_override", program]);
    command
}

/// The service's user may write its data folder alone, as in the Debian package. So may a container
/// whose data folder is a volume.
#[test]
fn a_restore_writes_nothing_beside_the_data_folder() {
    let scene = Scene::new();
    let (backup, above) = (scene.path("backup"), scene.path("above"));
    let data = above.join("data");
    scene.value();
    back_up(&scene.server, &backup).ok();
    fs::create_dir_all(&data).unwrap();
    fs::set_permissions(&above, Permissions::from_mode(0o555)).unwrap();

    let mut touch = without_privilege("touch");
    touch.arg(above.join("file"));
    if run_command(touch, TIMEOUT).code == Some(0) {
        println!("skipped: this user may write to any folder");
        return;
    }
    let mut command = without_privilege(domesday().get_program().to_str().unwrap());
    command.args(["restore", text(&backup), "--data", text(&data)]);
    run_command(command, TIMEOUT).ok();
    assert_eq!(used_units(&data), 1);
    let restored = start().data(&data).go();
    restored
        .client(&scene.client.key)
        .post("/v3/simple-value", &house())
        .ok();
}

/// A folder with a part of a backup would be served as a new host.
#[test]
fn a_folder_with_a_part_of_a_backup_is_not_used() {
    let folder = TempDir::new().unwrap();
    for part in ["restore.unfinished", "restore.whole"] {
        let data = folder.path().join("data");
        fs::create_dir_all(data.join(part)).unwrap();
        let listed = run(["tenant", "list", "--data", text(&data)]).refused();
        let served = start().data(&data).refused();
        for refused in [listed, served] {
            assert!(refused.contains("was broken off"), "{refused}");
            assert!(
                refused.contains("Run `domesday restore` again"),
                "{refused}"
            );
        }
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
        fs::remove_dir_all(&data).unwrap();
    }
}

#[test]
fn a_restore_that_is_killed_goes_on_when_it_is_run_again() {
    let scene = Scene::new();
    let (backup, data) = (scene.path("backup"), scene.path("restored"));
    scene.value();
    scene.value();
    back_up(&scene.server, &backup).ok();
    let (mut kills, mut refusals) = (0, 0);
    for wait in (0..).step_by(5).map(Duration::from_millis) {
        let mut command = domesday();
        command.args(["restore", text(&backup), "--data", text(&data)]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(wait);
        child.kill().unwrap();
        if child.wait().unwrap().code().is_some() {
            break;
        }
        kills += 1;
        let is_empty = fs::read_dir(&data).map_or(true, |mut entries| entries.next().is_none());
        if is_empty {
            continue;
        }
        let listed = run(["tenant", "list", "--data", text(&data)]);
        match listed.code {
            Some(0) => assert_eq!(used_units(&data), 2),
            _ => {
                refusals += 1;
                let refused = listed.refused();
                assert!(refused.contains("was broken off"), "{refused}");
            }
        }
    }
    println!("{kills} kills, of which {refusals} left a part");
    assert_eq!(used_units(&data), 2);
    let restored = start().data(&data).go();
    restored
        .client(&scene.client.key)
        .post("/v3/simple-value", &house())
        .ok();
}

#[test]
fn a_backup_that_was_altered_or_cut_short_is_refused() {
    let scene = Scene::new();
    let (backup, data) = (scene.path("backup"), scene.path("restored"));
    back_up(&scene.server, &backup).ok();
    let refuse = |problem: &str| {
        let refused = restore(&backup, &data, &[]).refused();
        assert!(refused.contains(problem), "{refused}");
        assert!(!data.exists());
    };
    let alter = |name: &str, problem: &str| {
        let path = backup.join(name);
        let sound = fs::read(&path).unwrap();
        let mut altered = sound.clone();
        let middle = altered.len() / 2;
        altered[middle] ^= 1;
        fs::write(&path, altered).unwrap();
        refuse(problem);
        fs::write(&path, sound).unwrap();
    };
    alter("state.redb", "the manifest says");
    alter("manifest.json", "is not what ed25519:");
    let manifest = backup.join("manifest.json");
    let away = backup.join("manifest.away");
    fs::rename(&manifest, &away).unwrap();
    refuse("no whole backup");
    fs::rename(&away, &manifest).unwrap();

    let stranger = start().go();
    let key = stranger.data.join("ledger.pub");
    let refused = restore(&backup, &data, &["--signer", text(&key)]).refused();
    assert!(refused.contains("signed by another key"), "{refused}");
    let own = scene.server.data.join("ledger.pub");
    restore(&backup, &data, &["--signer", text(&own)]).ok();
}
