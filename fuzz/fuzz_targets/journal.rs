//! Any bytes as the receipts and heads of a journal. No journal without its host's signature
//! claims a signed receipt, and its last line alone may be unfinished.
#![no_main]

use domesday_fuzz::{parts, write_folder};
use domesday_journal::{Expectations, verify};
use domesday_package::{PublicKey, Sha256Digest, SigningKey};
use libfuzzer_sys::fuzz_target;

/// Chains each line that says `PREVIOUS` to the one before, which no change of bytes could.
fn chain(lines: &[u8], host: &PublicKey) -> Vec<u8> {
    let mut previous = Sha256Digest::of(format!("domesday journal 1\n{host}\n").as_bytes());
    let mut chained = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let line = match std::str::from_utf8(line) {
            Ok(text) => text.replace("PREVIOUS", &previous.to_string()).into_bytes(),
            Err(_) => line.to_vec(),
        };
        previous = Sha256Digest::of(line.strip_suffix(b"\n").unwrap_or(&line));
        chained.extend(line);
    }
    chained
}

fuzz_target!(|bytes: &[u8]| {
    let parts = parts(bytes);
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let host = SigningKey::from_seed([3; 32]).public();
    let receipts = chain(part(0), &host);
    let folder = write_folder(&[
        ("receipts-000000000001.jsonl", receipts.as_slice()),
        ("heads.jsonl", part(1)),
    ]);
    host.write(&folder.path().join("host.pub"), "").unwrap();
    let mut passed = 0;
    let proof = verify(folder.path(), &Expectations::default(), |_| passed += 1);
    if let Ok(proof) = proof {
        assert_eq!(proof.last, passed);
        assert!(proof.signed <= proof.last);
        assert!(proof.unfinished <= receipts.len() as u64);
    }
});
