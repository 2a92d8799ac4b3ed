//! Any bytes as the answers of a registry: an artifact's manifest, a challenge, and the address
//! that a person gives.
#![no_main]

use domesday_fuzz::parts;
use domesday_oci::{Address, RegistryError};
use libfuzzer_sys::fuzz_target;
use oci_client::manifest::OciImageManifest;
use reqwest::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};

#[path = "../../host/oci/src/artifact.rs"]
#[allow(dead_code)]
mod artifact;
#[path = "../../host/oci/src/challenge.rs"]
mod challenge;

use challenge::Challenge;

fn read_artifact(bytes: &[u8]) {
    let Ok(found) = serde_json::from_slice::<OciImageManifest>(bytes) else {
        return;
    };
    if let Ok(heads) = artifact::heads(&found, "it") {
        let attached = heads.attachments.iter().map(|(_, entry)| entry.bytes);
        let all = attached.chain([heads.manifest.bytes]);
        assert!(all.max() <= Some(domesday_package::manifest::LARGEST));
    }
    if let Ok(digest) = artifact::package_of(&found, "it") {
        assert_eq!(digest.len(), "sha256:".len() + 64);
    }
    assert!(artifact::same_files(&found, &found));
}

fuzz_target!(|bytes: &[u8]| {
    read_artifact(bytes);
    let mut headers = HeaderMap::new();
    for part in parts(bytes) {
        if let Ok(value) = HeaderValue::from_bytes(part) {
            headers.append(WWW_AUTHENTICATE, value);
        }
    }
    let challenge = Challenge::of(&headers);
    assert_eq!(challenge.is_none(), headers.is_empty());
    if let Some(Challenge::Bearer { realm, service }) = challenge {
        assert!(realm.len() + service.map_or(0, |service| service.len()) <= bytes.len());
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(address) = Address::parse(text)
    {
        assert!(!address.host().is_empty());
        let again = Address::parse(&address.with_tag("it")).unwrap();
        assert_eq!(again.host(), address.host());
        assert_eq!(again.repository(), address.repository());
        assert!(address.path("blobs", "it").starts_with('/'));
    }
});
