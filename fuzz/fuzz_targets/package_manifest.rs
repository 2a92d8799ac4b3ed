//! Any bytes as the manifest and the signature of a package: taken as what it says that it is, or
//! refused. Only a trusted key's signature is trusted.
#![no_main]

use domesday_fuzz::parts;
use domesday_package::{
    Kind, PackageId, PropertyBody, RemoteManifest, Sha256Digest, Trust, TrustList, ValuationBody,
};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let parts = parts(bytes);
    let stored = parts[0].to_vec();
    let signature = parts.get(1).map(|bytes| bytes.to_vec());
    let document: serde_json::Value = serde_json::from_slice(&stored).unwrap_or_default();
    let id = document["id"].as_str().unwrap_or("none");
    let Ok(id) = id.parse::<PackageId>() else {
        return;
    };
    let mut taken = 0;
    for kind in [Kind::Valuation, Kind::Property, Kind::Markets, Kind::Rates] {
        let judge = |signature: Option<Vec<u8>>, trust: &Trust| {
            RemoteManifest::judge(
                (kind, &id),
                stored.clone(),
                signature,
                trust,
                Path::new("it"),
            )
        };
        let nobody = Trust::Required(TrustList::new());
        assert!(judge(signature.clone(), &nobody).is_err());
        let Ok(remote) = judge(None, &Trust::Unsigned) else {
            continue;
        };
        taken += 1;
        assert_eq!(remote.manifest().kind, kind);
        assert_eq!(remote.manifest().id, id);
        assert_eq!(remote.digest(), Sha256Digest::of(&stored));
        assert!(kind == Kind::Valuation || remote.body::<ValuationBody>().is_err());
        assert!(kind == Kind::Property || remote.body::<PropertyBody>().is_err());
        if let Ok(signed) = judge(signature.clone(), &Trust::Unsigned) {
            assert_eq!(signed.signer().is_some(), signature.is_some());
        }
    }
    assert!(taken <= 1);
});
