//! A flag overrides the environment, which overrides the file, which overrides the default.

use crate::common::program::{domesday, run};
use crate::common::server::start;
use std::fs;
use std::net::TcpListener;
use std::process::Command;

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn each_source_overrides_the_next_and_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("domesday.toml");
    let text = "listen = \"127.0.0.1:3\"\nthreads = 3\nlog = \"warn\"\n";
    fs::write(&file, text).unwrap();
    let path = file.display().to_string();
    let output = printed(
        domesday()
            .args(["serve", "--print-config", "--listen", "127.0.0.1:1"])
            .env("DOMESDAY_LISTEN", "127.0.0.1:2")
            .env("DOMESDAY_THREADS", "2")
            .env("DOMESDAY_ALLOW_UNSIGNED", "a,b")
            .env("DOMESDAY_CONFIG", &file),
    );
    let lines: Vec<&str> = output.lines().collect();
    for line in [
        "listen = \"127.0.0.1:1\"  # --listen",
        "threads = 2  # DOMESDAY_THREADS",
        "allow_unsigned = [\"a\",\"b\"]  # DOMESDAY_ALLOW_UNSIGNED",
        &format!("log = \"warn\"  # {path}"),
        "data = \"domesday-data\"  # default",
        "no_demo = false  # default",
    ] {
        assert!(lines.contains(&line), "{line}\n{output}");
    }

    // The output is itself a configuration file.
    fs::write(&file, &output).unwrap();
    let again = printed(domesday().args(["serve", "--print-config", "--config", &path]));
    let values = |text: &str| -> Vec<String> {
        let lines = text.lines();
        lines
            .map(|line| line.split("  # ").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(values(&again), values(&output));
}

#[test]
fn a_file_with_an_unknown_setting_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("domesday.toml").display().to_string();
    for (text, named) in [
        ("lisen = \"127.0.0.1:2\"", "lisen"),
        ("[serve]\nlisten = \"127.0.0.1:2\"", "serve"),
        ("threads = \"many\"", "threads"),
        ("config = \"other.toml\"", "config"),
    ] {
        fs::write(&file, text).unwrap();
        for command in [
            &["serve", "--config", &file][..],
            &["key", "list", "--config", &file],
        ] {
            let refused = run(command).refused();
            assert!(refused.contains(named), "{text}: {refused}");
            assert!(refused.contains("domesday.toml"), "{refused}");
        }
    }
    let refused = run(["serve", "--config", "/nowhere/at-all.toml"]).refused();
    assert!(refused.contains("/nowhere/at-all.toml"), "{refused}");
}

#[test]
fn an_address_that_another_program_has_is_refused_with_its_flag() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let listen = start().listen(&address).refused();
    let metrics_listen = start().with(&["--metrics-listen", &address]).refused();
    for (refused, flag) in [(listen, "--listen"), (metrics_listen, "--metrics-listen")] {
        let failure = format!("cannot listen on {address}: ");
        assert!(refused.contains(&failure), "{refused}");
        let remedy = format!("name another with {flag}\n");
        assert!(refused.ends_with(&remedy), "{refused}");
    }
}

#[test]
fn a_command_finds_its_service_by_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let file = folder.path().join("domesday.toml");
    fs::write(&file, format!("data = \"{}\"", data.display())).unwrap();
    let file = file.display().to_string();
    let create = [
        "key",
        "create",
        "--tenant",
        "customer",
        "--scope",
        "avm:value",
    ];
    run(create.iter().chain(&["--config", &file])).ok();
    assert!(data.join("state.redb").is_file());
}
