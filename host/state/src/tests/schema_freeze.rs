//! Files that never change once they were committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The steps of the database's schema. A host has the digest of each step that its database made,
/// and refuses a program with another one. Add a step as a further file.
const MIGRATIONS: [(&str, &str); 8] = [
    (
        "1_state.sql",
        "1d359c5dd796ba27e490cb063bb55c5d835be66a18560e535e130ff760e879e5",
    ),
    (
        "2_series.sql",
        "3842a01a4d8f568734c9d3a83a9fe8a5010815bd08baefcd88ff27f0d8431ec3",
    ),
    (
        "3_receipts.sql",
        "57814e0c3346f32c972baa37550db9b91509874d0ef9fc1d03611ed5f4b08f4b",
    ),
    (
        "4_charge.sql",
        "cbcdbd43272a84a34d991547f01f8a6a81ebba2fb86ad4c00552c807089b0ff7",
    ),
    (
        "5_charge_batches.sql",
        "8a3275c6e758860a700afbb008e282d9393217f173ca0d3b788c2723b8ea3a42",
    ),
    (
        "6_promotions.sql",
        "92fa1635641c9593e1f2fccc4a98792dede401f7b7b1f02d9f9505ba59a2a612",
    ),
    (
        "7_usage_entries.sql",
        "cd7fdf7c07c33d122a2de495e8bf69125a6d49f9e76b1b19ea2d6876f03c6fe1",
    ),
    (
        "8_usage_shards.sql",
        "56cccfb986523fc060059ca089ddf95d465081a3c1dc2a0317ee4dda55339e61",
    ),
];

/// The states of earlier schemas. One that is written anew by a later program is no earlier state.
const FIXTURES: [(&str, &str); 14] = [
    (
        "embedded-1.redb.gz",
        "df55bb220ba626d239a6dd55c1e1997bfcc90884eec0ff84f7f30085418989fe",
    ),
    (
        "embedded-2.redb.gz",
        "e1417c9b2dfe675e7bc2e3c1973f008b841da88022b8cc7eeefdca1be4155961",
    ),
    (
        "embedded-3.redb.gz",
        "5e1097977eeb8dc6fc3a518c743ceb8f3e381dc8d7b28b8cf000231afe29899f",
    ),
    (
        "embedded-4.redb.gz",
        "3210ff9c539e84b918210c84a33078f40d4c0a11cf305d0d6879882bf3260de4",
    ),
    (
        "embedded-5.redb.gz",
        "6f23b4bd876feb1d777000427c55736c1d0a8630d13f8451f6cda6355f15e465",
    ),
    (
        "embedded-6.redb.gz",
        "15ce3c41d0b67b9a7fb0f85b97b4e8294840c79a60174186eee9395ebde693e2",
    ),
    (
        "postgres-1.sql.gz",
        "5b4bfd4faa456f995982f885bbbebd6b8f3261aa7f5cee2fd7ca26e02ce4309f",
    ),
    (
        "postgres-2.sql.gz",
        "89172f175af7631cdc7b7d1dec2c48e1088d881966a6493f7f263c61fd98f5b9",
    ),
    (
        "postgres-3.sql.gz",
        "59fa4154752b1c6f474da7b19211b0440cf73d5abc15dfb4c46c828f1b57bf85",
    ),
    (
        "postgres-4.sql.gz",
        "c49cfc4972f66880133a3ce45e75a8e10930dac329cddb7e307a66bbf81ef592",
    ),
    (
        "postgres-5.sql.gz",
        "14d4087210d155bc4ce609716b63dceef6c59f92bd8c40f52bd727362a82c8cf",
    ),
    (
        "postgres-6.sql.gz",
        "e16fb7552f98786e95cd9f6aa0ae3ac26db2861fb09cd27de5997f3d2b06f758",
    ),
    (
        "postgres-7.sql.gz",
        "d7be4a4a139906170560f2f858b947cf617c25759a715e5e4e0fe159f3680715",
    ),
    (
        "postgres-8.sql.gz",
        "ce666eb1ba506add1dd8ddd0ae2b710e4645dafa89ffbe698795cd2a9795488b",
    ),
];

/// Returns the SHA-256 of each file in a folder of this crate.
fn digests(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            (name, hex::encode(Sha256::digest(bytes)))
        })
        .collect()
}

#[test]
fn a_step_of_the_schema_and_a_state_of_an_earlier_one_never_change() {
    for (folder, frozen) in [
        ("migrations", &MIGRATIONS[..]),
        ("src/tests/fixtures", &FIXTURES[..]),
    ] {
        let frozen = frozen.iter().copied();
        let frozen: BTreeMap<String, String> = frozen
            .map(|(name, digest)| (name.to_owned(), digest.to_owned()))
            .collect();
        assert_eq!(digests(folder), frozen, "{folder}");
    }
}
