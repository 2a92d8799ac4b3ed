//! Whole packages on disk: the directories that are opened, and all that are refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use domesday_package::*;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarketsBody {
    note: String,
}

impl Body for MarketsBody {
    const KIND: Kind = Kind::Markets;

    fn check(&self, _manifest: &Manifest) -> Result<(), BodyError> {
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct RatesBody {}

impl Body for RatesBody {
    const KIND: Kind = Kind::Rates;

    fn check(&self, _manifest: &Manifest) -> Result<(), BodyError> {
        Ok(())
    }
}

const FILES: [(&str, &str); 2] = [("series.bin", "a handful of bytes"), ("sub/note", "more")];

fn key() -> SigningKey {
    SigningKey::from_seed([1; 32])
}

fn trust() -> Trust {
    let mut list = TrustList::new();
    list.add(key().public(), "the tests");
    Trust::Required(list)
}

fn draft(note: &str) -> Draft<MarketsBody> {
    Draft {
        id: "markets-1".parse().unwrap(),
        created: "2026-01-31T09:30:00Z".parse().unwrap(),
        body: MarketsBody { note: note.into() },
        files: FILES
            .iter()
            .map(|(file, text)| {
                let bytes = Source::Bytes(text.as_bytes().to_vec());
                (file.parse().unwrap(), bytes)
            })
            .collect(),
    }
}

/// Writes a packages folder with one good, signed package, and returns it with that package's
/// directory.
fn packages_dir() -> (TempDir, PathBuf) {
    let packages_dir = tempfile::tempdir().unwrap();
    write(packages_dir.path(), draft("first")).unwrap();
    let directory = packages_dir.path().join("markets-1");
    sign(&directory, &key()).unwrap();
    (packages_dir, directory)
}

fn fault(directory: &Path) -> PackageErrorKind {
    open(directory, &trust()).unwrap_err().kind
}

#[test]
fn a_written_and_signed_package_opens() {
    let (packages_dir, directory) = packages_dir();
    let package = open(&directory, &trust()).unwrap();
    assert_eq!(package.body::<MarketsBody>().unwrap().note, "first");
    assert_eq!(package.signer(), Some(&key().public()));
    let stored = fs::read(directory.join("manifest.json")).unwrap();
    assert_eq!(package.digest(), Sha256Digest::of(&stored));
    let signature = fs::read(directory.join("manifest.sig")).unwrap();
    assert_eq!(package.heads().unwrap(), (stored, Some(signature)));
    for (file, text) in FILES {
        assert_eq!(package.bytes(file).unwrap(), text.as_bytes());
        assert_eq!(
            fs::read_to_string(package.path(file).unwrap()).unwrap(),
            text
        );
    }
    for other in ["absent", "../markets-1/series.bin", "manifest.json"] {
        let error = package.path(other).unwrap_err();
        assert!(matches!(error.kind, PackageErrorKind::NotListed { file } if file == other));
    }
    let error = package.body::<RatesBody>().unwrap_err();
    assert!(matches!(
        error.kind,
        PackageErrorKind::WrongKind {
            found: Kind::Markets,
            expected: Kind::Rates
        }
    ));
    // Nothing of the writing is left beside the package.
    assert_eq!(fs::read_dir(packages_dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_changed_after_opening_is_found() {
    let (packages_dir, directory) = packages_dir();
    let package = open(&directory, &trust()).unwrap();
    fs::write(directory.join("series.bin"), "a handful of bitez").unwrap();
    for error in [
        package.bytes("series.bin").unwrap_err(),
        package.prove(&Full).unwrap_err(),
    ] {
        assert!(
            matches!(error.kind, PackageErrorKind::Digest { file, .. } if file.as_str() == "series.bin")
        );
    }
    // A link is refused even where it leads to the right bytes.
    let away = packages_dir.path().join("away");
    fs::rename(directory.join("sub/note"), &away).unwrap();
    symlink(&away, directory.join("sub/note")).unwrap();
    let error = package.bytes("sub/note").unwrap_err();
    assert!(matches!(error.kind, PackageErrorKind::SymbolicLink { path } if path == "sub/note"));
}

#[test]
fn unlisted_files_are_refused() {
    for extra in [
        "extra",
        "sub/extra",
        ".hidden",
        "manifest.json.bak",
        "sub/manifest.json",
    ] {
        let (_folder, directory) = packages_dir();
        fs::write(directory.join(extra), "").unwrap();
        assert!(
            matches!(fault(&directory), PackageErrorKind::Unlisted { path } if path == extra),
            "{extra}"
        );
    }
    let (_folder, directory) = packages_dir();
    fs::create_dir(directory.join("empty")).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::Unlisted { path } if path == "empty"));
}

#[test]
fn missing_or_resized_files_are_refused() {
    let (_folder, directory) = packages_dir();
    fs::remove_file(directory.join("sub/note")).unwrap();
    assert!(
        matches!(fault(&directory), PackageErrorKind::Missing { file } if file.as_str() == "sub/note")
    );
    fs::write(directory.join("sub/note"), "more?").unwrap();
    assert!(matches!(
        fault(&directory),
        PackageErrorKind::Size { file, expected: 4, found: 5 } if file.as_str() == "sub/note"
    ));
    fs::remove_file(directory.join("manifest.json")).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::NoManifest));
}

#[test]
fn links_and_special_files_are_refused() {
    // A link to the very same bytes is still a link.
    for file in ["series.bin", "sub/note", "manifest.json", "manifest.sig"] {
        let (packages_dir, directory) = packages_dir();
        let away = packages_dir.path().join("away");
        fs::rename(directory.join(file), &away).unwrap();
        symlink(&away, directory.join(file)).unwrap();
        assert!(
            matches!(fault(&directory), PackageErrorKind::SymbolicLink { path } if path == file),
            "{file}"
        );
        fs::remove_file(directory.join(file)).unwrap();
        fs::hard_link(&away, directory.join(file)).unwrap();
        assert!(
            matches!(fault(&directory), PackageErrorKind::HardLink { path, names: 2 } if path == file),
            "{file}"
        );
        fs::remove_file(directory.join(file)).unwrap();
        fs::create_dir(directory.join(file)).unwrap();
        assert!(
            matches!(fault(&directory), PackageErrorKind::NotAFile { path } | PackageErrorKind::Unlisted { path } if path == file),
            "{file}"
        );
    }
    let (packages_dir, directory) = packages_dir();
    let away = packages_dir.path().join("away");
    fs::rename(directory.join("sub"), &away).unwrap();
    symlink(&away, directory.join("sub")).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::SymbolicLink { path } if path == "sub"));
    fs::remove_file(directory.join("sub")).unwrap();
    fs::rename(&away, directory.join("sub")).unwrap();

    let _socket = std::os::unix::net::UnixListener::bind(directory.join("sock")).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::NotAFile { path } if path == "sock"));
}

#[test]
fn the_directory_is_a_real_one_named_by_the_id() {
    let (packages_dir, directory) = packages_dir();
    let link = packages_dir.path().join("link");
    symlink(&directory, &link).unwrap();
    assert!(matches!(fault(&link), PackageErrorKind::NotADirectory));
    assert!(matches!(
        fault(&link.join("")),
        PackageErrorKind::NotADirectory
    ));

    let renamed = packages_dir.path().join("markets-2");
    fs::rename(&directory, &renamed).unwrap();
    assert!(matches!(
        fault(&renamed),
        PackageErrorKind::WrongId { manifest, directory } if manifest.as_str() == "markets-1" && directory == "markets-2"
    ));
}

/// Rewrites the manifest by a replacement of text and signs the result.
fn rewrite_error(from: &str, to: &str) -> PackageErrorKind {
    let (_folder, directory) = packages_dir();
    let path = directory.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    fs::write(&path, text.replace(from, to)).unwrap();
    match sign(&directory, &key()) {
        Ok(_) => fault(&directory),
        Err(error) => error.kind,
    }
}

#[test]
fn a_manifest_is_strict_even_when_signed() {
    let climbing = rewrite_error("\"series.bin\"", "\"../s.bin\"");
    assert!(
        matches!(climbing, PackageErrorKind::ManifestJson(e) if e.to_string().contains("\"..\""))
    );
    let absolute = rewrite_error("\"series.bin\"", "\"/etc/passwd\"");
    assert!(matches!(absolute, PackageErrorKind::ManifestJson(_)));
    let twice = rewrite_error("\"format\": 1,", "\"format\": 1,\n  \"format\": 1,");
    assert!(matches!(twice, PackageErrorKind::ManifestJson(e) if e.to_string().contains("twice")));
    let later = rewrite_error("\"format\": 1", "\"format\": 2");
    assert!(matches!(later, PackageErrorKind::UnknownFormat { found } if found == "2"));
    let spaced = rewrite_error("\"format\": 1", "\"format\":  1");
    assert!(matches!(spaced, PackageErrorKind::NotCanonical));
}

#[test]
fn a_signature_is_for_one_key_kind_and_id() {
    let (_folder, directory) = packages_dir();
    let sig = directory.join("manifest.sig");
    let stranger = SigningKey::from_seed([2; 32]);

    sign(&directory, &stranger).unwrap();
    assert!(
        matches!(fault(&directory), PackageErrorKind::Untrusted { key } if key == stranger.public())
    );

    // A stranger's signature under a trusted name.
    let text = fs::read_to_string(&sig).unwrap();
    let claimed = text.replace(&stranger.public().to_string(), &key().public().to_string());
    fs::write(&sig, claimed).unwrap();
    assert!(matches!(
        fault(&directory),
        PackageErrorKind::SignatureMismatch { .. }
    ));

    fs::write(&sig, &text[..text.len() - 8]).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::SignatureForm));

    fs::remove_file(&sig).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::Unsigned));
    assert!(open(&directory, &Trust::Unsigned).is_ok());
    let mut list = TrustList::new();
    list.exempt("markets-1".parse().unwrap());
    let package = open(&directory, &Trust::Required(list)).unwrap();
    assert_eq!(package.signer(), None);

    // A kind changed together with its digests is another message to sign.
    sign(&directory, &key()).unwrap();
    let path = directory.join("manifest.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"markets\"", "\"rates\"")).unwrap();
    assert!(matches!(
        fault(&directory),
        PackageErrorKind::SignatureMismatch { .. }
    ));
}

#[test]
fn an_id_never_changes_its_bytes() {
    let (packages_dir, directory) = packages_dir();
    let before = open(&directory, &trust()).unwrap();

    let same = write(packages_dir.path(), draft("first")).unwrap();
    assert_eq!(&same, before.manifest());
    assert!(open(&directory, &trust()).is_ok(), "the signature was lost");

    let mut other_file = draft("first");
    let file = "series.bin".parse().unwrap();
    other_file.files.insert(file, Source::Bytes(vec![1]));
    for other in [draft("second"), other_file] {
        let error = write(packages_dir.path(), other).unwrap_err();
        assert!(matches!(error.kind, PackageErrorKind::Republished));
    }
    assert_eq!(
        open(&directory, &trust()).unwrap().digest(),
        before.digest()
    );

    // The same manifest over damaged files is no "already there".
    fs::write(directory.join("sub/note"), "mope").unwrap();
    let error = write(packages_dir.path(), draft("first")).unwrap_err();
    assert!(matches!(error.kind, PackageErrorKind::Digest { .. }));
    assert_eq!(fs::read_dir(packages_dir.path()).unwrap().count(), 1);
}

#[test]
fn a_package_with_a_key_is_signed_whether_it_is_new_or_there() {
    let packages_dir = tempfile::tempdir().unwrap();
    let directory = packages_dir.path().join("markets-1");
    write(packages_dir.path(), draft("first")).unwrap();
    assert!(matches!(fault(&directory), PackageErrorKind::Unsigned));
    for (seed, note) in [(1, "first"), (2, "first"), (1, "new")] {
        let key = SigningKey::from_seed([seed; 32]);
        if note == "new" {
            fs::remove_dir_all(&directory).unwrap();
        }
        write_signed(packages_dir.path(), draft(note), Some(&key)).unwrap();
        let package = open(&directory, &Trust::Unsigned).unwrap();
        assert_eq!(package.signer(), Some(&key.public()), "{note}");
    }
    assert_eq!(fs::read_dir(packages_dir.path()).unwrap().count(), 1);
}

/// A host that starts meanwhile, or a build that is killed, would be stopped by one without.
#[test]
fn no_reader_finds_a_package_with_a_key_before_its_signature() {
    let packages_dir = tempfile::tempdir().unwrap();
    for number in 0..10 {
        let mut draft = draft("first");
        draft.id = format!("markets-{number}").parse().unwrap();
        let directory = packages_dir.path().join(draft.id.as_str());
        thread::scope(|scope| {
            let folder = packages_dir.path();
            let writer = scope.spawn(move || write_signed(folder, draft, Some(&key())));
            while !directory.join("manifest.json").exists() && !writer.is_finished() {
                thread::yield_now();
            }
            assert!(directory.join("manifest.sig").exists(), "{number}");
        });
    }
}

#[test]
fn files_are_copied_from_paths() {
    let packages_dir = tempfile::tempdir().unwrap();
    let away = tempfile::tempdir().unwrap();
    let source = away.path().join("big");
    let bytes: Vec<u8> = (0..3_000_001_u32).map(|i| (i % 251) as u8).collect();
    fs::write(&source, &bytes).unwrap();
    let mut draft = draft("paths");
    draft.files = BTreeMap::from([("big".parse().unwrap(), Source::Path(source))]);
    let manifest = write(packages_dir.path(), draft.clone()).unwrap();
    let entry = manifest.files.values().next().unwrap();
    assert_eq!(entry.sha256, Sha256Digest::of(&bytes));
    let package = open(&packages_dir.path().join("markets-1"), &Trust::Unsigned).unwrap();
    assert_eq!(package.bytes("big").unwrap(), bytes);

    draft.id = "markets-2".parse().unwrap();
    draft.files = BTreeMap::from([("big".parse().unwrap(), Source::Path("absent".into()))]);
    assert!(write(packages_dir.path(), draft).is_err());
    assert_eq!(fs::read_dir(packages_dir.path()).unwrap().count(), 1);
}

#[test]
fn a_package_is_published_with_the_bytes_that_were_opened_or_not_at_all() {
    let (_folder, directory) = packages_dir();
    let package = open(&directory, &trust()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (first, second) = (elsewhere.path().join("1"), elsewhere.path().join("2"));
    let outcome = publish(&package, &first, &TransferControl::default()).unwrap();
    assert_eq!(outcome, PublishOutcome::Copied);
    let copy = open(&first.join("markets-1"), &trust()).unwrap();
    assert_eq!(copy.digest(), package.digest());
    assert_eq!(copy.signer(), package.signer());

    fs::write(directory.join("sub/note"), "mope").unwrap();
    let error = publish(&package, &second, &TransferControl::default()).unwrap_err();
    assert!(matches!(
        error.kind,
        PackageErrorKind::Digest { file, .. } if file.as_str() == "sub/note"
    ));
    assert_eq!(fs::read_dir(second).unwrap().count(), 0);
}

/// A record spares the reading, and only that. Any other damage is found at once. Damage to a file
/// that the cache vouched for is found when the file is read.
#[test]
fn a_record_spares_the_reading_of_unchanged_files() {
    let (packages_dir, directory) = packages_dir();
    let path = packages_dir.path().join(".record");
    let far = i64::MAX;
    let record = VerificationCache::open(&path, [1; 32], far).unwrap();
    open_with(&directory, &trust(), &record).unwrap();
    record.save().unwrap();

    /// Tells how many files had to be read.
    struct Counting(VerificationCache, AtomicU32);
    impl Verification for Counting {
        fn is_proved(&self, facts: &FileFacts, digest: &Sha256Digest) -> bool {
            self.0.is_proved(facts, digest)
        }
        fn record_proof(&self, facts: &FileFacts, digest: &Sha256Digest) {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.record_proof(facts, digest);
        }
    }
    let counting = || {
        Counting(
            VerificationCache::open(&path, [1; 32], far).unwrap(),
            AtomicU32::new(0),
        )
    };
    let unchanged = counting();
    open_with(&directory, &trust(), &unchanged).unwrap();
    assert_eq!(unchanged.1.load(Ordering::Relaxed), 0);
    open_with(&directory, &trust(), &Full).unwrap();

    // The same bytes written again are another state of the file, and are read.
    let file = directory.join("series.bin");
    let bytes = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(&file, &bytes).unwrap();
    let rewritten = counting();
    open_with(&directory, &trust(), &rewritten).unwrap();
    assert_eq!(rewritten.1.load(Ordering::Relaxed), 1);
    fs::write(&file, bytes.to_ascii_uppercase()).unwrap();
    let error = open_with(&directory, &trust(), &counting()).unwrap_err();
    assert!(matches!(error.kind, PackageErrorKind::Digest { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// One flipped bit anywhere is refused, and the error names the file.
    #[test]
    fn one_flipped_bit_is_refused(
        name in prop::sample::select(vec!["series.bin", "sub/note", "manifest.json", "manifest.sig"]),
        position in any::<prop::sample::Index>(),
        bit in 0..8_u32,
    ) {
        // One package for all cases, restored after each: writing one waits for the disk.
        static GOOD: LazyLock<(TempDir, PathBuf)> = LazyLock::new(packages_dir);
        let directory = &GOOD.1;
        let path = directory.join(name);
        let good = fs::read(&path).unwrap();
        let mut bytes = good.clone();
        bytes[position.index(good.len())] ^= 1 << bit;
        fs::write(&path, bytes).unwrap();
        let refused = open(directory, &trust());
        fs::write(&path, good).unwrap();
        let message = refused.unwrap_err().to_string();
        // A changed manifest shows first as one that the signature is not for.
        let named = message.contains(name) || (name == "manifest.json" && message.contains("manifest.sig"));
        prop_assert!(named, "{name}: {message}");
    }
}
