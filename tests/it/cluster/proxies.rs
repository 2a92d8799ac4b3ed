//! The examples of two hosts behind a proxy, with Debian's nginx and HAProxy, the manifests for
//! Kubernetes, and the Compose file. `tests/peers/proxies`, `tests/peers/kubernetes` and
//! `tests/peers/compose` hold the programs that try them. Where a proxy is not installed, its test
//! prints that it was skipped.

use crate::common::program::{releases, repository};
use crate::common::python::{interpreter, run_to_success};
use domesday_test_postgres as cluster;
use std::path::Path;
use std::process::Command;

#[test]
fn nginx_sends_no_request_twice_and_loses_only_those_in_flight() {
    try_proxy("nginx");
}

#[test]
fn haproxy_sends_no_request_twice_and_loses_only_those_in_flight() {
    try_proxy("haproxy");
}

/// The schemas are those of a pinned package, so no cluster and no network is needed.
#[test]
fn the_manifests_agree_with_kubernetes_and_with_the_program() {
    let folder = repository().join("tests/peers/kubernetes");
    let python = interpreter(&folder, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut check = Command::new(python);
    check
        .arg(folder.join("check_manifests.py"))
        .arg(repository().join("examples/kubernetes"))
        .arg(env!("CARGO_BIN_EXE_domesday"));
    let output = run_to_success(&mut check);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("manifests: 4 files match"), "{printed}");
    println!("{printed}");
}

/// The specification is that of a pinned package, so no Docker and no network is needed.
#[test]
fn the_compose_file_agrees_with_the_specification() {
    let folder = repository().join("tests/peers/compose");
    let python = interpreter(&folder, Path::new(env!("CARGO_TARGET_TMPDIR")));
    let mut check = Command::new(python);
    check
        .arg(folder.join("check_compose.py"))
        .arg(repository().join("examples/compose/compose.yaml"));
    let output = run_to_success(&mut check);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("compose: 2 services match"), "{printed}");
    assert!(printed.contains("mistakes are refused"), "{printed}");
}

/// Tries the example of this proxy with two hosts of an empty database.
#[track_caller]
fn try_proxy(name: &str) {
    if !Path::new("/usr/sbin").join(name).exists() {
        println!("skipped: two hosts behind {name} need Debian's {name}");
        return;
    }
    let mut attempt = Command::new("python3");
    attempt
        .arg(repository().join("tests/peers/proxies/try_proxy.py"))
        .args([name, env!("CARGO_BIN_EXE_domesday")])
        .arg(releases())
        .arg(cluster::shared().database());
    let output = run_to_success(&mut attempt);
    let printed = String::from_utf8_lossy(&output.stdout);
    for line in printed.lines() {
        println!("counts: {name}: {line}");
    }
    for step in ["kill: ", "sent twice: 0 of ", "stop: "] {
        assert!(printed.contains(step), "{printed}");
    }
}
