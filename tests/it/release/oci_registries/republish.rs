//! Publishing over an existing package. A missing part is added, and content unlike its package is
//! refused. A package that cannot be pulled is never reported as unchanged.

use super::{artifact, digest, host, list_packages, publish, pull, release};
use crate::common::client::agent;
use crate::common::demo::{RELEASE, SNAPSHOT};
use crate::common::packages::{Releases, damage};
use crate::common::registry::{Registry, registry};
use domesday_package::{Sha256Digest, Trust, open};
use reqwest::blocking::Response;
use serde_json::{Value, json};
use std::fs;

/// Puts an artifact under a tag, as another tool would.
fn put(registry: &Registry, tag: &str, artifact: &Value) {
    let url = format!(
        "http://{}/v2/models/homes/manifests/{tag}",
        registry.address
    );
    agent()
        .put(url)
        .header("Content-Type", "application/vnd.oci.image.manifest.v1+json")
        .body(artifact.to_string())
        .send()
        .and_then(Response::error_for_status)
        .unwrap();
}

#[test]
fn publishing_again_adds_the_signature_to_an_unsigned_package() {
    let Some(registry) = registry() else { return };
    let (unsigned, signed, target) = (Releases::copy(), Releases::copy(), host());
    let repository = registry.repository();
    fs::remove_file(unsigned.release(RELEASE).join("manifest.sig")).unwrap();
    let by_name = ["publish", RELEASE, &repository, "--allow-unsigned", RELEASE];
    release(&by_name, unsigned.path(), &[]).ok();
    assert!(
        pull(target.path(), &repository)
            .refused()
            .contains("is not signed")
    );

    let output = publish(signed.path(), &repository).ok().stdout;
    assert!(output.contains("missing files were added"), "{output}");
    pull(target.path(), &repository).ok();
    let pulled = target.path().join("valuation").join(RELEASE);
    assert!(open(&pulled, &Trust::Unsigned).unwrap().signer().is_some());
    // Tools that know the common layout are led to the signed one.
    assert_eq!(
        artifact(&registry, RELEASE)["layers"][0]["digest"],
        format!("sha256:{}", digest("component.wasm"))
    );

    // The other way about the signature stays, and it is said that there is one.
    let output = release(&by_name, unsigned.path(), &[]).ok().stdout;
    let last = output.lines().last().unwrap();
    assert!(
        last.contains("already, the same bytes, signed by"),
        "{output}"
    );
    pull(host().path(), &repository).ok();
}

#[test]
fn a_missing_blob_is_sent_again_and_a_changed_blob_is_named() {
    let Some(registry) = registry() else { return };
    let (source, repository) = (Releases::copy(), registry.repository());
    publish(source.path(), &repository).ok();
    for file in ["component.wasm", "manifest.sig", "manifest.json"] {
        fs::remove_file(registry.blob(&digest(file))).unwrap();
        pull(host().path(), &repository).refused();
        let output = publish(source.path(), &repository).ok().stdout;
        assert!(
            output.contains("missing files were added"),
            "{file}: {output}"
        );
        pull(host().path(), &repository).ok();
    }
    for file in ["component.wasm", "manifest.sig", "manifest.json"] {
        let blob = registry.blob(&digest(file));
        let good = fs::read(&blob).unwrap();
        damage(&blob);
        let refused = publish(source.path(), &repository).refused();
        assert!(refused.contains(file), "{refused}");
        assert!(refused.contains("other bytes"), "{refused}");
        fs::write(&blob, good).unwrap();
    }
    let output = publish(source.path(), &repository).ok().stdout;
    assert_eq!(
        output.matches("already, the same bytes").count(),
        2,
        "{output}"
    );
}

#[test]
fn another_component_or_another_file_under_the_id_is_refused() {
    let Some(registry) = registry() else { return };
    let (source, repository) = (Releases::copy(), registry.repository());
    publish(source.path(), &repository).ok();
    let other = json!(format!("sha256:{}", digest("fixtures.jsonl")));
    for tag in [RELEASE.to_owned(), format!("{RELEASE}.Valuation")] {
        let good = artifact(&registry, &tag);
        let mut changed = good.clone();
        let layers = changed["layers"].as_array_mut().unwrap();
        let wasm = layers
            .iter_mut()
            .find(|layer| layer["mediaType"] == "application/wasm")
            .unwrap();
        wasm["digest"] = other.clone();
        put(&registry, &tag, &changed);
        let refused = publish(source.path(), &repository).refused();
        assert!(
            refused.contains("published already with other bytes"),
            "{tag}: {refused}"
        );
        assert_eq!(artifact(&registry, &tag), changed);
        put(&registry, &tag, &good);
    }
    let output = publish(source.path(), &repository).ok().stdout;
    assert_eq!(
        output.matches("already, the same bytes").count(),
        2,
        "{output}"
    );
}

#[test]
fn a_deleted_package_is_named_and_can_be_restored() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    publish(source.path(), &repository).ok();
    let package = artifact(&registry, RELEASE)["annotations"]["domesday.package"].clone();
    let package = package.as_str().unwrap().to_owned();
    registry.sweep(&package, &format!("{RELEASE}.Valuation"));
    let refused = pull(target.path(), &repository).refused();
    assert!(refused.contains(&package), "{refused}");
    assert!(
        refused.contains("publish the release there again"),
        "{refused}"
    );
    assert!(list_packages(target.path()).is_empty());

    publish(source.path(), &repository).ok();
    pull(target.path(), &repository).ok();
    assert_eq!(list_packages(target.path()), [SNAPSHOT, RELEASE]);
    let manifest = fs::read(source.release(RELEASE).join("manifest.json")).unwrap();
    assert_eq!(
        Sha256Digest::of(&manifest).to_string(),
        digest("manifest.json")
    );
}
