//! Keys of customers, and keys that sign.

use crate::command_line::{bytes_under, create, folder};
use crate::common::demo::house;
use crate::common::program::{TIMEOUT, domesday, run, run_command};
use crate::common::server::start;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

#[test]
fn a_key_is_printed_once_listed_without_its_secret_and_revoked_for_good() {
    let (_kept, data) = folder();
    let key = create(&data, &["avm:value"]).ok().stdout.trim().to_owned();
    let other = create(&data, &["rates:read", "avm:value"])
        .ok()
        .stdout
        .trim()
        .to_owned();
    let server = start().data(Path::new(&data)).go();
    assert_eq!(server.client(&key).get("/v3/releases/current").status, 200);
    server.stop();

    let list = run(["key", "list", "--data", &data]).ok().stdout;
    assert_eq!(list.lines().count(), 2);
    let id = key.split('_').nth(1).unwrap();
    let line = list.lines().find(|line| line.starts_with(id)).unwrap();
    let columns: Vec<_> = line.split('\t').collect();
    assert_eq!(columns[..4], [id, "customer", "active", "avm:value"]);
    assert!(columns[4].starts_with("made 20"), "{line}");
    assert_eq!(columns[5..], ["expires never", ""]);
    assert!(!list.contains(&key) && !list.contains(key.rsplit('_').next().unwrap()));

    run(["key", "revoke", id, "--data", &data]).ok();
    let list = run(["key", "list", "--data", &data]).ok().stdout;
    let line = list.lines().find(|line| line.starts_with(id)).unwrap();
    assert!(line.contains("\trevoked\t"), "{line}");

    let server = start().data(Path::new(&data)).go();
    let (status, code, _) = server.client(&key).get("/v3/releases/current").refusal();
    assert_eq!((status, code.as_str()), (401, "invalid_credential"));
    assert_eq!(
        server.client(&other).get("/v3/releases/current").status,
        200
    );
}

#[test]
fn key_commands_name_their_errors() {
    let (_kept, data) = folder();
    create(&data, &["avm:value"]).ok();
    let labelled = |label: &str| {
        let scope = ["--tenant", "t", "--scope", "avm:value"];
        run([
            &["key", "create"],
            &scope[..],
            &["--data", &data, "--label", label],
        ]
        .concat())
    };
    for (ran, named) in [
        (create(&data, &["avm:everything"]), "avm:everything"),
        (create(&data, &["rates:read:bank_rat"]), "bank_rat"),
        (
            run([
                "key",
                "create",
                "--tenant",
                "Mr X",
                "--scope",
                "avm:value",
                "--data",
                &data,
            ]),
            "Mr X",
        ),
        (
            run(["key", "revoke", "0123456789abcdef", "--data", &data]),
            "0123456789abcdef",
        ),
        (
            run(["key", "revoke", "the-first", "--data", &data]),
            "16 hexadecimal digits",
        ),
        (labelled("two\nlines"), "--label"),
        (labelled("\u{1b}[31mred"), "--label"),
        (
            run(["key", "list", "--data", "/nowhere/at-all"]),
            "/nowhere/at-all",
        ),
    ] {
        let refusal = ran.refused();
        assert!(refusal.contains(named), "{named}: {refusal}");
    }
}

#[test]
fn a_key_may_expire_but_not_at_once() {
    let (_kept, data) = folder();
    let expiring = |days: &str| {
        let scope = ["--tenant", "t", "--scope", "avm:value", "--data", &data];
        run([&["key", "create", "--expires-in", days], &scope[..]].concat())
    };
    expiring("30").ok();
    let list = run(["key", "list", "--data", &data]).ok().stdout;
    assert!(list.contains("\texpires 20"), "{list}");
    let never = expiring("0");
    assert_eq!(never.code, Some(2), "{never:?}");
    assert!(never.stderr.contains("--expires-in"), "{never:?}");
}

#[test]
fn a_plan_is_read_from_a_file_and_its_faults_are_named() {
    let (temp_dir, data) = folder();
    let file = temp_dir.path().join("plan.toml").display().to_string();
    let with_plan = |text: &str| {
        fs::write(&file, text).unwrap();
        let arguments = ["--tenant", "customer", "--scope", "avm:value"];
        let arguments = [&["key", "create"], &arguments[..]].concat();
        run([&arguments[..], &["--plan", &file, "--data", &data]].concat())
    };
    let key = with_plan("synchronous_batch_rows = 7").ok().stdout;
    for (text, named) in [
        ("synchronous_rows = 7", "synchronous_rows"),
        ("burst = 0", "burst"),
        ("synchronous_batch_rows = 0", "synchronous_batch_rows"),
        ("monthly_units = \"many\"", "monthly_units"),
        ("burst =", "plan.toml"),
    ] {
        let refusal = with_plan(text).refused();
        assert!(refusal.contains(named), "{named}: {refusal}");
        assert!(!refusal.contains("default."), "{refusal}");
    }
    let rows = |key: &str| {
        let server = start().data(Path::new(&data)).go();
        let release = server.client(key.trim()).get("/v3/releases/current").ok();
        server.stop();
        release["limits"]["synchronous_batch_rows"].clone()
    };
    assert_eq!(rows(&key), 7);
    let later = with_plan("synchronous_batch_rows = 9").ok().stdout;
    assert_eq!(rows(&later), 9);
    assert_eq!(rows(&key), 9, "a plan is the tenant's, not the key's");
}

#[test]
fn a_keys_text_is_in_no_file_and_in_no_log() {
    let (_kept, data) = folder();
    let key = create(&data, &["avm:value"]).ok().stdout.trim().to_owned();
    let secret = key.rsplit('_').next().unwrap();
    let raw: Vec<u8> = (0..secret.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&secret[at..at + 2], 16).unwrap())
        .collect();
    let server = start().data(Path::new(&data)).go();
    assert_eq!(server.client(&key).post("/v3/value", &house()).status, 200);
    server
        .client(&format!("{key}0"))
        .post("/v3/value", &house());
    let log = server.stop();
    assert!(log.contains("/v3/value"));
    assert!(!log.contains(secret));
    let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    for (name, bytes) in bytes_under(Path::new(&data)) {
        assert!(!holds(&bytes, secret.as_bytes()), "{name}");
        assert!(!holds(&bytes, &raw), "{name}");
    }
}

#[test]
fn a_signing_key_is_its_owners_alone_and_is_never_written_over() {
    let (temp_dir, folder) = folder();
    let file = format!("{folder}/key");
    run(["release", "keygen", &file]).ok();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let before = fs::read(temp_dir.path().join("key")).unwrap();
    assert!(run(["release", "keygen", &file]).refused().contains("key"));
    assert_eq!(fs::read(temp_dir.path().join("key")).unwrap(), before);
}

#[test]
fn the_public_key_is_made_where_an_earlier_command_ended_before_it() {
    let (temp_dir, folder) = folder();
    let file = format!("{folder}/key");
    let made = run(["release", "keygen", &file]).ok().stdout;
    assert_eq!(
        made,
        format!("The private key is {file}, the public key {file}.pub\n")
    );
    let public = temp_dir.path().join("key.pub");
    let before = fs::read(&public).unwrap();
    fs::remove_file(&public).unwrap();
    let again = run(["release", "keygen", &file]).ok().stdout;
    assert_eq!(fs::read(&public).unwrap(), before);
    for said in [
        format!("{file} was there already, and no new one is made"),
        format!("Its public key was missing, and is made: {file}.pub"),
    ] {
        assert!(again.contains(&said), "{again}");
    }
}

/// The limit ends the program at the first byte that it writes to a file, as a crash does.
#[test]
fn a_signing_key_is_there_whole_or_not_at_all() {
    let (temp_dir, folder) = folder();
    let file = format!("{folder}/key");
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", "ulimit -f 0 && exec \"$0\" release keygen \"$1\""]);
    shell.arg(domesday().get_program()).arg(&file);
    let ended = run_command(shell, TIMEOUT);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(!temp_dir.path().join("key").exists());
    run(["release", "keygen", &file]).ok();
}
