//! The key of this host that signs entries of the promotion ledger.
//!
//! It is in the data folder and not in the state. So someone who can write the database alone
//! makes no entry of this host.

use domesday_package::{FileSignatureError, KeyError, PublicKey, SigningKey, Trust, sign_file};
use domesday_state::verify_ledger;
use domesday_state::{LedgerFlaw, LedgerHash, LedgerRecord, LedgerSigner, PromotionEntry};
use std::path::Path;

/// The file of the private key. The public key is beside it.
pub const FILE: &str = "ledger.key";
/// The file of the public key.
pub const PUBLIC_FILE: &str = "ledger.pub";
/// The domain of the signed message, which keeps it apart from other signed messages.
const DOMAIN: &[u8] = b"domesday promotion head 1\0";

/// A host's key of the ledger.
pub struct LedgerKey(SigningKey);

impl LedgerKey {
    /// Reads the key of a data folder, and makes one of `seed` where there is none. The public key
    /// is made where it is missing.
    ///
    /// # Errors
    /// [`KeyError`] if a file cannot be read or written, or others may read the private key. Or the
    /// public key is there already and is another's.
    pub fn open(data: &Path, seed: [u8; 32]) -> Result<LedgerKey, KeyError> {
        SigningKey::open_pair(&data.join(FILE), seed, "promotion ledger").map(LedgerKey)
    }

    /// Signs a file, such as the manifest of a backup. Its signature is beside it then.
    ///
    /// # Errors
    /// [`FileSignatureError`] if a file cannot be read or written.
    pub fn sign_file(&self, path: &Path) -> Result<(), FileSignatureError> {
        sign_file(path, &self.0).map(drop)
    }
}

impl LedgerSigner for LedgerKey {
    fn public_key(&self) -> String {
        self.0.public().to_string()
    }

    fn sign(&self, hash: &LedgerHash) -> String {
        hex::encode(self.0.sign(&message(hash)))
    }
}

fn message(hash: &LedgerHash) -> Vec<u8> {
    [DOMAIN, hash].concat()
}

/// Verifies the chain and the signatures of a ledger, and returns its entries.
///
/// # Errors
/// [`LedgerFlaw`] names the first entry that does not fit.
pub fn verify(records: &[LedgerRecord]) -> Result<Vec<PromotionEntry>, LedgerFlaw> {
    verify_ledger(records, is_signed)
}

/// The entries that prove a promotion here.
pub struct ProofRules<'a> {
    /// The public key of this host.
    pub own_key: &'a str,
    /// The keys that this host trusts.
    pub trust: &'a Trust,
    /// True if the signer must be [known](is_known). Otherwise each good signature counts.
    pub known_signers: bool,
}

impl ProofRules<'_> {
    /// Returns whether an entry counts.
    pub fn accepts(&self, record: &LedgerRecord) -> bool {
        is_signed(record)
            && (!self.known_signers || is_known(&record.signer, self.own_key, self.trust))
    }
}

/// Returns whether a signer of entries is this host, or one whose `ledger.pub` is in `keys/`.
pub fn is_known(signer: &str, own_key: &str, trust: &Trust) -> bool {
    signer == own_key
        || match (trust, signer.parse()) {
            (Trust::Required(list), Ok(key)) => list.trusts(&key),
            _ => false,
        }
}

/// Returns the signers of entries that [`is_known`] accepts.
pub fn known_signers(own_key: &str, trust: &Trust) -> Vec<String> {
    let mut signers = vec![own_key.to_owned()];
    if let Trust::Required(list) = trust {
        signers.extend(list.keys().map(|(key, _)| key.to_string()));
    }
    signers
}

fn is_signed(record: &LedgerRecord) -> bool {
    let mut signature = [0; 64];
    let Ok(key) = record.signer.parse::<PublicKey>() else {
        return false;
    };
    hex::decode_to_slice(&record.signature, &mut signature).is_ok()
        && key.verifies(&message(&record.hash), &signature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::TrustList;
    use std::fs;

    fn signed_record(key: &LedgerKey) -> LedgerRecord {
        let hash = [7; 32];
        LedgerRecord {
            previous: [0; 32],
            entry: String::new(),
            hash,
            signer: key.public_key(),
            signature: key.sign(&hash),
        }
    }

    #[test]
    fn a_key_is_made_once_and_signs_entries() {
        let folder = tempfile::tempdir().unwrap();
        let key = LedgerKey::open(folder.path(), [1; 32]).unwrap();
        let again = LedgerKey::open(folder.path(), [2; 32]).unwrap();
        assert_eq!(key.public_key(), again.public_key());
        let (public, _) = PublicKey::read(&folder.path().join("ledger.pub")).unwrap();
        assert_eq!(public.to_string(), key.public_key());
        let record = signed_record(&key);
        assert!(is_signed(&record));
        let other = LedgerRecord {
            hash: [8; 32],
            ..record.clone()
        };
        assert!(!is_signed(&other));
        let strange = LedgerRecord {
            signer: SigningKey::from_seed([9; 32]).public().to_string(),
            ..record
        };
        assert!(!is_signed(&strange));
    }

    #[test]
    fn an_entry_counts_by_its_signature_or_by_a_known_key_alone() {
        let signer = LedgerKey(SigningKey::from_seed([5; 32]));
        let record = signed_record(&signer);
        let accepts = |record: &LedgerRecord, own_key: &str, trust: &Trust, known_signers| {
            let rules = ProofRules {
                own_key,
                trust,
                known_signers,
            };
            rules.accepts(record)
        };
        let mut list = TrustList::new();
        let nobody = Trust::Required(list.clone());
        assert!(accepts(&record, &signer.public_key(), &nobody, true));
        assert!(!accepts(&record, "another", &nobody, true));
        assert!(!accepts(&record, "another", &Trust::Unsigned, true));
        assert!(accepts(&record, "another", &nobody, false));
        list.add(signer.0.public(), "another host");
        let trust = Trust::Required(list);
        assert!(accepts(&record, "another", &trust, true));
        let known = known_signers("another", &trust);
        assert_eq!(known, ["another".to_owned(), signer.public_key()]);
        let altered = LedgerRecord {
            hash: [8; 32],
            ..record
        };
        assert!(!accepts(&altered, "another", &trust, true));
        assert!(!accepts(&altered, "another", &trust, false));
    }

    #[test]
    fn a_key_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "x").unwrap();
        assert!(LedgerKey::open(folder.path(), [1; 32]).is_err());
    }
}
