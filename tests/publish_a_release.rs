//! docs/publish-a-release.md, command by command, as a new user types them: outside the repository, with a model of one's own.
// Helpers of tests are tests, though clippy knows only the functions marked so.
#![allow(clippy::unwrap_used)]

mod common;

use common::program::{domesday, releases, repository, run};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The first run of all compiles some dozens of crates, for the machine and for the sandbox.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// The commands of a page, in its order.
fn commands(page: &str) -> String {
    let text = fs::read_to_string(repository().join("docs").join(page)).unwrap();
    let mut commands = String::new();
    for block in text.split("```sh\n").skip(1) {
        commands.push_str(block.split("```").next().unwrap());
    }
    commands
}

/// A bash in which `domesday` is the program under test, with no setting of this process's. Whatever becomes of the bash, nothing that
/// it starts outlives [`PATIENCE`].
fn bash(script: &str, folder: &Path, beside: &Path) -> Command {
    let program = domesday();
    let wrapper = format!(
        "#!/bin/sh\nexec timeout {} '{}' \"$@\"\n",
        PATIENCE.as_secs(),
        program.get_program().display()
    );
    fs::write(beside.join("domesday"), wrapper).unwrap();
    fs::set_permissions(beside.join("domesday"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("bash");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap());
    command
        .args(["-euo", "pipefail", "-c", script])
        .env("PATH", path)
        .env("DOMESDAY_SOURCE", releases().parent().unwrap())
        // A user's cargo is under none of this one's orders.
        .env_remove("CARGO")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTUP_TOOLCHAIN")
        .current_dir(folder);
    command
}

#[test]
fn the_page_leads_from_nothing_to_a_valuation() {
    let (folder, program) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    // The one change: another server may have the page's port.
    let script = commands("publish-a-release.md").replace("8080", &port.to_string());
    // Whatever fails, the server that the page starts ends with the script.
    let script = format!("trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{script}");
    let mut command = assert_cmd::Command::from_std(bash(&script, folder.path(), program.path()));
    let output = command.timeout(PATIENCE).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    for expected in [
        "local-price is in local-price",
        "Release local-price-1 is in",
        "0 failed",
        "Back-test of local-price-1",
        "\"release_id\":\"local-price-1\"",
        "\"status\":\"valued\"",
        "\"lower_value_gbp\"",
        "rows identical to the bit",
    ] {
        assert!(said.contains(expected), "{expected}: {said}\n{errors}");
    }
    // Nothing of the machine that built it is in the component.
    let package = folder.path().join("releases/valuation/local-price-1");
    let component = fs::read(package.join("component.wasm")).unwrap();
    let component = String::from_utf8_lossy(&component);
    for machine in [
        folder.path().display().to_string(),
        env!("CARGO_MANIFEST_DIR").to_owned(),
    ] {
        assert!(!component.contains(&machine), "{machine}");
    }
}

#[test]
fn what_is_no_name_or_is_there_already_is_refused() {
    assert_eq!(run(["release", "new", "My_Model"]).code, Some(2));
    assert_eq!(run(["release", "new", "match"]).code, Some(2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/in");
    let new = || {
        let path = path.display().to_string();
        run(["release", "new", "a-model", "--path", &path])
    };
    new().ok();
    assert!(path.join("src/lib.rs").is_file());
    let refusal = new().refused();
    assert!(refusal.contains("is not empty"), "{refusal}");
}
