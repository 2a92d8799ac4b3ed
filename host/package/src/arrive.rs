//! A package that comes in pieces, from a place that is no folder: its manifest first, which says what the rest
//! must be, then its files one by one; whole and durable on a shelf in the end, or not at all.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::Fault;
use crate::files::{check_tree, parent, sync_directory};
use crate::manifest::{MANIFEST, SIGNATURE};
use crate::open::{check_digest, check_size, read_body};
use crate::publish::arrived;
use crate::sibling::Sibling;
use crate::standing::standing;
use crate::write::put_file;
use crate::{
    Body, FilePath, Kind, Manifest, PackageError, PackageId, PublicKey, Published, Sha256Digest,
    Trust, signature,
};

/// What a sender said of a package before any file of it came: judged, so that a stranger's files are never fetched.
#[derive(Debug)]
pub struct Announced {
    manifest: Manifest,
    stored: Vec<u8>,
    signature: Option<Vec<u8>>,
    signer: Option<PublicKey>,
}

/// Where an announced package stands on a shelf.
#[derive(Debug)]
pub enum Arrival {
    /// It is there already, with the same bytes, and lacks nothing that came.
    There(Published),
    /// Its files are awaited.
    Awaited(Box<Arriving>),
}

/// A package whose files are coming. Dropped before [`Arriving::settle`], it leaves nothing behind.
#[derive(Debug)]
pub struct Arriving {
    announced: Announced,
    shelf: PathBuf,
    place: PathBuf,
    sibling: Sibling,
}

impl Announced {
    /// Reads and judges the bytes of a manifest and of its signature. `from` is where they came from, for the error.
    ///
    /// # Errors
    /// Where the manifest is none, is not that of `kind` and `id`, or is not signed as `trust` demands.
    pub fn judge(
        (kind, id): (Kind, &PackageId),
        stored: Vec<u8>,
        signature: Option<Vec<u8>>,
        trust: &Trust,
        from: &Path,
    ) -> Result<Announced, PackageError> {
        let attempt = || {
            let manifest = Manifest::parse(&stored)?;
            if manifest.kind != kind {
                return Err(Fault::WrongKind {
                    found: manifest.kind,
                    expected: kind,
                });
            }
            if manifest.id != *id {
                return Err(Fault::WrongId {
                    manifest: manifest.id,
                    directory: id.to_string(),
                });
            }
            let signer = match &signature {
                Some(bytes) => Some(signature::judge(bytes, &manifest)?),
                None => None,
            };
            trust.judge(id, signer.as_ref())?;
            Ok((manifest, signer))
        };
        let (manifest, signer) = attempt().map_err(|fault| fault.of(from))?;
        Ok(Announced {
            manifest,
            stored,
            signature,
            signer,
        })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The key whose good signature came with it.
    pub fn signer(&self) -> Option<&PublicKey> {
        self.signer.as_ref()
    }

    /// The body, as the kind that the caller expects.
    ///
    /// # Errors
    /// Where it is none.
    pub fn body<B: Body>(&self) -> Result<B, PackageError> {
        read_body(&self.manifest).map_err(|fault| fault.of(Path::new(self.manifest.id.as_str())))
    }

    /// Makes room for it on `shelf`, which is made where it is missing, unless it is there. What is there with the
    /// same bytes and without a signature takes the one that came.
    ///
    /// # Errors
    /// [`Fault::Republished`] where the id is there with other bytes, or what is wrong with what is there.
    pub fn awaited(self, shelf: &Path) -> Result<Arrival, PackageError> {
        let place = shelf.join(self.manifest.id.as_str());
        let attempt = || match standing(&place, &self.manifest, self.signature.as_deref())? {
            Some(published) => Ok(Err(published)),
            None => Sibling::new(shelf, &self.manifest.id).map(Ok),
        };
        match attempt().map_err(|fault: Fault| fault.of(&place))? {
            Err(published) => Ok(Arrival::There(published)),
            Ok(sibling) => Ok(Arrival::Awaited(Box::new(Arriving {
                announced: self,
                shelf: shelf.to_owned(),
                place,
                sibling,
            }))),
        }
    }
}

impl Arriving {
    /// What is awaited.
    pub fn announced(&self) -> &Announced {
        &self.announced
    }

    /// An empty file to write `file` into. One that was begun before is begun anew.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn create(&self, file: &FilePath) -> Result<File, PackageError> {
        let path = self.sibling.path().join(file.as_str());
        let directory = parent(&path);
        fs::create_dir_all(&directory)
            .map_err(Fault::io(&directory))
            .and_then(|()| {
                OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(true)
                    .open(&path)
                    .map_err(Fault::io(&path))
            })
            .map_err(|fault| fault.of(&self.place))
    }

    /// Proves every file against the manifest, makes all durable and puts it in place.
    ///
    /// # Errors
    /// The first file that is missing or not what the manifest says; nothing is kept then.
    pub fn settle(self) -> Result<Published, PackageError> {
        let Arriving {
            announced,
            shelf,
            place,
            sibling,
        } = self;
        let attempt = || {
            let root = sibling.path();
            check_tree(root, &announced.manifest.files)?;
            for (file, entry) in &announced.manifest.files {
                let path = root.join(file.as_str());
                let handle = File::open(&path).map_err(Fault::io(&path))?;
                handle.sync_all().map_err(Fault::io(&path))?;
                let (digest, bytes) =
                    Sha256Digest::of_stream(handle, |_| Ok(())).map_err(Fault::io(&path))?;
                check_size(file, entry, bytes)?;
                check_digest(file, entry, digest)?;
                for directory in parent(&path).ancestors() {
                    if directory.starts_with(root) {
                        sync_directory(directory)?;
                    }
                }
            }
            put_file(&root.join(MANIFEST), &announced.stored)?;
            if let Some(signature) = &announced.signature {
                put_file(&root.join(SIGNATURE), signature)?;
            }
            sync_directory(root)?;
            let signature = announced.signature.as_deref();
            arrived(sibling, &shelf, &place, &announced.manifest, signature)
        };
        attempt().map_err(|fault: Fault| fault.of(&place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Draft, Package, PropertyBody, RegisterFile, SigningKey, Source, TrustList, open, sign,
        write,
    };
    use std::collections::BTreeMap;
    use std::io::Write;

    /// A signed package on a shelf of its own, and its key.
    fn sent() -> (tempfile::TempDir, Package, TrustList) {
        let shelf = tempfile::tempdir().unwrap();
        let draft = Draft {
            id: "s-1".parse().unwrap(),
            created: "2026-01-31T09:30:00Z".parse().unwrap(),
            body: PropertyBody {
                snapshot_id: "s-1".parse().unwrap(),
                content_digest: Sha256Digest::of(b"c"),
                schema: 1,
                database: "deep/data".parse().unwrap(),
                sources: vec![RegisterFile {
                    name: "sales.csv".to_owned(),
                    sha256: Sha256Digest::of(b"s"),
                    rows: 1,
                }],
                synthetic: true,
                latest_sale: None,
                counts: BTreeMap::new(),
            },
            files: BTreeMap::from([(
                "deep/data".parse().unwrap(),
                Source::Bytes(b"rows".to_vec()),
            )]),
        };
        write(shelf.path(), draft).unwrap();
        let key = SigningKey::from_seed([7; 32]);
        let package = sign(&shelf.path().join("s-1"), &key).unwrap();
        let mut list = TrustList::new();
        list.add(key.public(), "");
        (shelf, package, list)
    }

    fn announced(package: &Package, trust: Trust) -> Result<Announced, PackageError> {
        let read = |name| fs::read(package.directory().join(name)).unwrap();
        Announced::judge(
            (Kind::Property, &package.manifest().id),
            read(MANIFEST),
            Some(read(SIGNATURE)),
            &trust,
            Path::new("far"),
        )
    }

    fn awaited(package: &Package, list: &TrustList, shelf: &Path) -> Box<Arriving> {
        let arrival = announced(package, Trust::Required(list.clone()))
            .unwrap()
            .awaited(shelf);
        match arrival.unwrap() {
            Arrival::Awaited(arriving) => arriving,
            Arrival::There(_) => panic!("it is not there"),
        }
    }

    fn left(shelf: &Path) -> usize {
        fs::read_dir(shelf).unwrap().count()
    }

    #[test]
    fn what_came_whole_is_the_package() {
        let (_kept, package, list) = sent();
        let shelf = tempfile::tempdir().unwrap();
        let arriving = awaited(&package, &list, shelf.path());
        let file = "deep/data".parse().unwrap();
        arriving.create(&file).unwrap().write_all(b"ro").unwrap();
        arriving.create(&file).unwrap().write_all(b"rows").unwrap();
        assert_eq!(arriving.settle().unwrap(), Published::Copied);
        let trust = Trust::Required(list.clone());
        let there = open(&shelf.path().join("s-1"), &trust).unwrap();
        assert_eq!(there.digest(), package.digest());
        assert_eq!(there.signer(), package.signer());
        let again = announced(&package, trust).unwrap().awaited(shelf.path());
        let signer = package.signer().copied();
        assert!(matches!(
            again.unwrap(),
            Arrival::There(Published::AlreadyThere(by)) if by == signer
        ));
    }

    #[test]
    fn nothing_is_kept_of_what_is_not_as_it_was_announced() {
        let (_kept, package, list) = sent();
        let shelf = tempfile::tempdir().unwrap();
        let file: FilePath = "deep/data".parse().unwrap();
        let other = awaited(&package, &list, shelf.path());
        other.create(&file).unwrap().write_all(b"wors").unwrap();
        assert!(matches!(
            other.settle().unwrap_err().fault,
            Fault::Digest { .. }
        ));
        let short = awaited(&package, &list, shelf.path());
        short.create(&file).unwrap();
        assert!(matches!(
            short.settle().unwrap_err().fault,
            Fault::Size { .. }
        ));
        let none = awaited(&package, &list, shelf.path());
        assert!(matches!(
            none.settle().unwrap_err().fault,
            Fault::Missing { .. }
        ));
        drop(awaited(&package, &list, shelf.path()));
        assert_eq!(left(shelf.path()), 0);
    }

    #[test]
    fn it_is_judged_before_any_file_comes() {
        let (_kept, package, _) = sent();
        let fault = announced(&package, Trust::Required(TrustList::new())).unwrap_err();
        assert!(matches!(fault.fault, Fault::Untrusted { .. }));
        let stored = fs::read(package.directory().join(MANIFEST)).unwrap();
        let judged = |kind, id: &str, signature| {
            let id = id.parse().unwrap();
            let trust = Trust::Required(TrustList::new());
            Announced::judge(
                (kind, &id),
                stored.clone(),
                signature,
                &trust,
                Path::new(""),
            )
            .unwrap_err()
            .fault
        };
        assert!(matches!(
            judged(Kind::Property, "s-1", None),
            Fault::Unsigned
        ));
        assert!(matches!(
            judged(Kind::Property, "s-1", Some(b"x".to_vec())),
            Fault::SignatureForm
        ));
        assert!(matches!(
            judged(Kind::Valuation, "s-1", None),
            Fault::WrongKind { .. }
        ));
        assert!(matches!(
            judged(Kind::Property, "s-2", None),
            Fault::WrongId { .. }
        ));
    }

    #[test]
    fn what_is_there_unsigned_takes_the_signature_that_came_and_keeps_the_one_it_has() {
        let (_kept, package, list) = sent();
        let trust = Trust::Required(list.clone());
        let (other, _, _) = sent();
        let place = other.path().join("s-1");
        for published in [
            |package: &Package, shelf: &Path, trust: Trust| match announced(package, trust)
                .unwrap()
                .awaited(shelf)
                .unwrap()
            {
                Arrival::There(published) => published,
                Arrival::Awaited(_) => panic!("it is there"),
            },
            |package: &Package, shelf: &Path, _: Trust| crate::publish(package, shelf).unwrap(),
        ] {
            fs::remove_file(place.join(SIGNATURE)).unwrap();
            let first = published(&package, other.path(), trust.clone());
            assert_eq!(first, Published::Completed);
            let signed = open(&place, &trust).unwrap();
            assert_eq!(signed.signer(), package.signer());
            let again = published(&package, other.path(), trust.clone());
            assert_eq!(again, Published::AlreadyThere(package.signer().copied()));

            // Another's signature stays, and it is said whose it is.
            let another = SigningKey::from_seed([8; 32]);
            sign(&place, &another).unwrap();
            let kept = published(&package, other.path(), trust.clone());
            assert_eq!(kept, Published::AlreadyThere(Some(another.public())));
        }
        assert_eq!(left(other.path()), 1);
    }

    #[test]
    fn an_id_that_is_there_with_other_bytes_stays() {
        let (_kept, package, list) = sent();
        let (other, _, _) = sent();
        let place = other.path().join("s-1/manifest.json");
        let text = fs::read_to_string(&place).unwrap();
        fs::write(&place, text.replace("2026-01-31", "2026-02-01")).unwrap();
        let arrival = announced(&package, Trust::Required(list))
            .unwrap()
            .awaited(other.path());
        assert!(matches!(arrival.unwrap_err().fault, Fault::Republished));
    }
}
