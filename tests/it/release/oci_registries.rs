//! A release goes through an OCI registry whole, proved by the keys of the host that takes it, or
//! not at all. The registry is a real one, Debian's docker-registry; without it these tests say
//! that they were skipped.

mod hostile;
mod republish;

use crate::common::client::agent;
use crate::common::demo::{RELEASE, SNAPSHOT, house};
use crate::common::packages::{Releases, damage, host, list_packages};
use crate::common::program::{ProcessOutput, TIMEOUT, domesday, releases, run, run_command};
use crate::common::registry::{Registry, guarded_registry, registry};
use crate::common::server::start;
use domesday_package::{Sha256Digest, Trust, open};
use reqwest::blocking::Response;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs a command of `domesday release` on a folder of releases, with these settings and nobody's
/// docker.
fn release(arguments: &[&str], releases: &Path, settings: &[(&str, &str)]) -> ProcessOutput {
    let mut command = domesday();
    command.env("DOCKER_CONFIG", releases.join("no-such-folder"));
    command.args(["release"]).args(arguments);
    command.arg("--releases").arg(releases);
    command.envs(settings.iter().copied());
    run_command(command, TIMEOUT)
}

fn publish(from: &Path, to: &str) -> ProcessOutput {
    release(&["publish", RELEASE, to], from, &[])
}

fn pull(to: &Path, from: &str) -> ProcessOutput {
    release(&["pull", RELEASE, from], to, &[])
}

/// Returns the digest of a file of the demo's release.
fn digest(file: &str) -> String {
    let demo = releases().join("valuation").join(RELEASE);
    Sha256Digest::of(&fs::read(demo.join(file)).unwrap()).to_string()
}

/// Fetches the manifest of a tag or digest of the repository.
fn artifact(registry: &Registry, name: &str) -> Value {
    let path = format!("/v2/models/homes/manifests/{name}");
    let accept = "application/vnd.oci.image.manifest.v1+json";
    let answer = agent()
        .get(format!("http://{}{path}", registry.address))
        .header("Accept", accept)
        .send()
        .unwrap();
    assert_eq!(answer.headers()["content-type"], accept);
    answer.json().unwrap()
}

#[test]
fn a_release_is_published_pulled_and_replayed_with_its_snapshot() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    let output = publish(source.path(), &repository).ok().stdout;
    let lines: Vec<_> = output.lines().collect();
    assert!(
        lines[0].starts_with(&format!(
            "snapshot {SNAPSHOT} is in {repository}:{SNAPSHOT}.Property, signed by "
        )),
        "{output}"
    );
    assert!(
        lines[1].starts_with(&format!(
            "release {RELEASE} is in {repository}:{RELEASE}, signed by "
        )),
        "{output}"
    );
    let again = publish(source.path(), &repository).ok().stdout;
    assert_eq!(
        again.matches("already, the same bytes").count(),
        2,
        "{again}"
    );

    pull(target.path(), &format!("{repository}:{RELEASE}")).ok();
    assert_eq!(list_packages(target.path()), [SNAPSHOT, RELEASE]);
    let mine = open(
        &target.path().join("valuation").join(RELEASE),
        &Trust::Unsigned,
    )
    .unwrap();
    let theirs = open(&source.release(RELEASE), &Trust::Unsigned).unwrap();
    assert_eq!(mine.digest(), theirs.digest());
    assert_eq!(mine.signer(), theirs.signer());
    let mut replay = domesday();
    replay.args(["replay", RELEASE, "--snapshot", "--releases"]);
    assert!(replay.arg(target.path()).status().unwrap().success());
    let whole = format!("{repository}:{RELEASE}");
    let again = release(&["pull", &whole], target.path(), &[]).ok().stdout;
    assert_eq!(
        again.matches("already, the same bytes").count(),
        2,
        "{again}"
    );
}

#[test]
fn a_host_without_releases_fetches_its_own_from_a_registry() {
    let Some(registry) = registry() else { return };
    let (source, bare, repository) = (Releases::copy(), host(), registry.repository());
    publish(source.path(), &repository).ok();
    let settings = ["--release-source", &repository, "--release", RELEASE];
    let server = start().releases(bare.path()).with(&settings).go();
    assert_eq!(list_packages(bare.path()), [SNAPSHOT, RELEASE]);
    let value = server.demo().post("/v3/value", &house()).ok();
    assert_eq!(value["release_id"], RELEASE);
    server.stop();
}

#[test]
fn a_host_names_at_its_start_a_registry_that_refuses_its_login() {
    let Some(registry) = guarded_registry() else {
        return;
    };
    let repository = registry.repository();
    let server = |password: &Path| {
        start()
            .with(&["--release-source", &repository])
            .environment("DOMESDAY_REGISTRY_USER", Path::new("me"))
            .environment("DOMESDAY_REGISTRY_PASSWORD", password)
            .go()
    };
    let refused = server(Path::new("swordfish"));
    let warned = refused.await_log(|line| line["problem"].is_string());
    let problem = warned["problem"].as_str().unwrap();
    assert!(problem.contains("does not allow this"), "{problem}");
    refused.stop();
    let allowed = server(Path::new("hunter2"));
    let source = || {
        let data = allowed.data.display().to_string();
        let status = run(["status", "--json", "--data", &data]).ok().stdout;
        serde_json::from_str::<Value>(&status).unwrap()["release_source"].clone()
    };
    // A look takes milliseconds, so a problem would be known by then.
    std::thread::sleep(Duration::from_secs(2));
    assert!(source()["problem"].is_null(), "{}", source());
    allowed.stop();
}

#[test]
fn tools_that_know_the_common_layout_find_a_component() {
    let Some(registry) = registry() else { return };
    let source = Releases::copy();
    let repository = registry.repository();
    release(
        &["publish", RELEASE, &repository, "--without-snapshot"],
        source.path(),
        &[],
    )
    .ok();
    let component = artifact(&registry, RELEASE);
    assert_eq!(component["schemaVersion"], 2);
    assert_eq!(
        component["config"]["mediaType"],
        "application/vnd.wasm.config.v0+json"
    );
    // Readers of the layout refuse more than one layer.
    assert_eq!(component["layers"].as_array().unwrap().len(), 1);
    let layer = &component["layers"][0];
    assert_eq!(layer["mediaType"], "application/wasm");
    assert_eq!(
        layer["digest"],
        format!("sha256:{}", digest("component.wasm"))
    );
    let config = component["config"]["digest"].as_str().unwrap();
    let config = fs::read(registry.blob(&config["sha256:".len()..])).unwrap();
    let config: Value = serde_json::from_slice(&config).unwrap();
    assert_eq!(config["architecture"], "wasm");
    assert_eq!(config["os"], "wasip2");
    assert_eq!(config["layerDigests"], serde_json::json!([layer["digest"]]));
    assert_eq!(config["component"]["exports"], serde_json::json!(["value"]));
    let imports = config["component"]["imports"].to_string();
    assert!(imports.contains("domesday:valuation/"), "{imports}");

    // Its annotation leads to all files of the package, each with its name.
    let package = component["annotations"]["domesday.package"]
        .as_str()
        .unwrap();
    let package = artifact(&registry, package);
    assert_eq!(
        package,
        artifact(&registry, &format!("{RELEASE}.Valuation"))
    );
    let mut titles: Vec<_> = package["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| {
            layer["annotations"]["org.opencontainers.image.title"]
                .as_str()
                .unwrap()
        })
        .collect();
    titles.sort_unstable();
    let mut files: Vec<_> = fs::read_dir(source.release(RELEASE))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    assert_eq!(titles, files);
}

#[test]
fn a_changed_blob_is_refused_and_nothing_is_stored() {
    let Some(registry) = registry() else { return };
    let (source, repository) = (Releases::copy(), registry.repository());
    publish(source.path(), &repository).ok();
    for file in [
        "component.wasm",
        "manifest.json",
        "manifest.sig",
        "fixtures.jsonl",
    ] {
        let blob = registry.blob(&digest(file));
        let good = fs::read(&blob).unwrap();
        damage(&blob);
        let target = host();
        let refused = pull(target.path(), &repository).refused();
        assert!(refused.contains(file), "{refused}");
        assert!(refused.contains("other bytes"), "{refused}");
        assert!(
            !list_packages(target.path())
                .iter()
                .any(|name| name.contains(RELEASE))
        );

        // More than was announced is not taken either.
        fs::write(&blob, [good.clone(), vec![0; 1 << 20]].concat()).unwrap();
        let refused = pull(target.path(), &repository).refused();
        assert!(refused.contains(file), "{refused}");
        assert!(
            !list_packages(target.path())
                .iter()
                .any(|name| name.contains(RELEASE))
        );
        fs::write(&blob, good).unwrap();
    }
    let target = host();
    pull(target.path(), &repository).ok();
    assert_eq!(list_packages(target.path()), [SNAPSHOT, RELEASE]);
}

#[test]
fn the_pulling_host_decides_which_keys_it_trusts() {
    let Some(registry) = registry() else { return };
    let (source, stranger, repository) = (
        Releases::copy(),
        TempDir::new().unwrap(),
        registry.repository(),
    );
    publish(source.path(), &repository).ok();
    let refused = pull(stranger.path(), &repository).refused();
    assert!(refused.contains("is not trusted"), "{refused}");
    assert!(list_packages(stranger.path()).is_empty());
}

#[test]
fn an_unsigned_package_needs_its_name() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    fs::remove_file(source.release(RELEASE).join("manifest.sig")).unwrap();
    let refused = publish(source.path(), &repository).refused();
    assert!(refused.contains("is not signed"), "{refused}");
    let by_name = ["--allow-unsigned", RELEASE];
    let all = |what| [&[what, RELEASE, repository.as_str()], &by_name[..]].concat();
    let output = release(&all("publish"), source.path(), &[]).ok().stdout;
    assert!(output.contains("not signed"), "{output}");
    let refused = pull(target.path(), &repository).refused();
    assert!(refused.contains("is not signed"), "{refused}");
    assert!(list_packages(target.path()).is_empty());
    let output = release(&all("pull"), target.path(), &[]).ok().stdout;
    assert!(output.contains("not signed"), "{output}");
}

#[test]
fn an_existing_id_with_other_bytes_is_not_overwritten() {
    let Some(registry) = registry() else { return };
    let (source, other, repository) = (
        Releases::copy(),
        Releases::without_release(),
        registry.repository(),
    );
    publish(source.path(), &repository).ok();
    let before = artifact(&registry, RELEASE);
    other.add(RELEASE, b"another component".to_vec());
    let by_name = ["publish", RELEASE, &repository, "--allow-unsigned", RELEASE];
    let refused = release(&by_name, other.path(), &[]).refused();
    assert!(
        refused.contains("published already with other bytes"),
        "{refused}"
    );
    assert!(refused.contains("take a new one"), "{refused}");
    assert_eq!(artifact(&registry, RELEASE), before);

    let by_name = ["pull", RELEASE, &repository, "--allow-unsigned", RELEASE];
    let manifest = other.release(RELEASE).join("manifest.json");
    let mine = fs::read(&manifest).unwrap();
    let refused = release(&by_name, other.path(), &[]).refused();
    assert!(
        refused.contains("published already with other bytes"),
        "{refused}"
    );
    // Whoever pulls cannot take a new id: the message says where the two are, and what to do.
    assert!(
        refused.contains(&format!("{repository}:{RELEASE}")),
        "{refused}"
    );
    assert!(refused.contains("move it away"), "{refused}");
    assert!(!refused.contains("take a new one"), "{refused}");
    assert_eq!(fs::read(manifest).unwrap(), mine);
}

#[test]
fn missing_artifacts_are_named() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    let refused = pull(target.path(), &repository).refused();
    assert!(
        refused.contains(&format!("{repository}:{RELEASE} not found")),
        "{refused}"
    );
    publish(source.path(), &repository).ok();
    let refused = release(&["pull", "nothing-1", &repository], target.path(), &[]).refused();
    assert!(
        refused.contains(&format!("{repository}:nothing-1 not found")),
        "{refused}"
    );

    let another = release(
        &["pull", RELEASE, &format!("{repository}:nothing-1")],
        target.path(),
        &[],
    );
    assert!(another.refused().contains("leave the tag out"));
    let which = release(&["pull", &repository], target.path(), &[]).refused();
    assert!(which.contains("names no release"), "{which}");
    let nowhere = release(&["pull", RELEASE], target.path(), &[]).refused();
    assert!(nowhere.contains("the location of release"), "{nowhere}");
}

#[test]
fn a_foreign_artifact_is_refused() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    publish(source.path(), &repository).ok();
    // The snapshot's artifact under a release's tag, as a person might have copied it.
    let foreign = artifact(&registry, &format!("{SNAPSHOT}.Property")).to_string();
    let url = format!(
        "http://{}/v2/models/homes/manifests/another-1",
        registry.address
    );
    agent()
        .put(url)
        .header("Content-Type", "application/vnd.oci.image.manifest.v1+json")
        .body(foreign)
        .send()
        .and_then(Response::error_for_status)
        .unwrap();
    let refused = release(&["pull", "another-1", &repository], target.path(), &[]).refused();
    assert!(refused.contains("not a Domesday package"), "{refused}");
}

#[test]
fn a_registry_that_cannot_be_reached_is_named() {
    let source = Releases::copy();
    let started = Instant::now();
    let refused = publish(source.path(), "oci://127.0.0.1:9/models/homes").refused();
    assert!(
        refused.contains("127.0.0.1:9 cannot be reached"),
        "{refused}"
    );
    assert!(started.elapsed() < Duration::from_secs(20));
    let refused = publish(source.path(), "oci://homes").refused();
    assert!(refused.contains("invalid registry address"), "{refused}");
}

#[test]
fn a_password_is_taken_from_the_environment_or_dockers_file_and_never_shown() {
    let Some(registry) = guarded_registry() else {
        return;
    };
    let (source, repository) = (Releases::copy(), registry.repository());
    let publish = ["publish", RELEASE, repository.as_str()];
    let as_user = |user, password| {
        [
            ("DOMESDAY_REGISTRY_USER", user),
            ("DOMESDAY_REGISTRY_PASSWORD", password),
        ]
    };
    let nobody = release(&publish, source.path(), &[]).refused();
    assert!(nobody.contains("does not allow this"), "{nobody}");
    assert!(nobody.contains("DOMESDAY_REGISTRY_USER"), "{nobody}");
    let wrong = release(&publish, source.path(), &as_user("me", "swordfish")).refused();
    assert!(wrong.contains("does not allow this"), "{wrong}");
    assert!(!wrong.contains("swordfish"), "{wrong}");
    let half = release(&publish, source.path(), &as_user("me", "x")[..1]).refused();
    assert!(half.contains("set both"), "{half}");
    let address = format!("oci://me:swordfish@{}/models/homes", registry.address);
    let refused = release(&["publish", RELEASE, &address], source.path(), &[]).refused();
    assert!(refused.contains("must not contain a user"), "{refused}");
    assert!(!refused.contains("swordfish"), "{refused}");

    release(&publish, source.path(), &as_user("me", "hunter2")).ok();

    let docker = TempDir::new().unwrap();
    // "me:hunter2" in base 64, as docker keeps it.
    let login = format!(
        r#"{{"auths": {{"{}": {{"auth": "bWU6aHVudGVyMg=="}}}}}}"#,
        registry.address
    );
    fs::write(docker.path().join("config.json"), login).unwrap();
    let target = host();
    let folder = docker.path().display().to_string();
    let output = release(
        &["pull", RELEASE, &repository],
        target.path(),
        &[("DOCKER_CONFIG", &folder)],
    );
    let output = output.ok();
    assert!(!(output.stdout + &output.stderr).contains("hunter2"));
    assert_eq!(list_packages(target.path()), [SNAPSHOT, RELEASE]);
}
