//! Cursors: opaque, authenticated, and good for one customer.
//!
//! A cursor holds the [`Continuation`] of the query, the tenant and the family as JSON in
//! base64url. After a point follows the HMAC-SHA256 of the JSON under the secret that all hosts
//! share. One made before the last rotation of the secret is still taken.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domesday_series::catalogue::Family;
use domesday_series::select::Continuation;
use domesday_state::{CursorSecret, CursorSecrets, TenantId};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The domain of a cursor's signature: the secret signs no other text that looks the same.
const DOMAIN: &[u8] = b"domesday series cursor 1\n";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    tenant: String,
    family: String,
    continuation: Continuation,
}

/// Writes the cursor of a continuation. Returns `None` without a secret, which a started service
/// always has.
pub fn write(
    secrets: &CursorSecrets,
    tenant: &TenantId,
    family: Family,
    continuation: Continuation,
) -> Option<String> {
    let token = Token {
        tenant: tenant.to_string(),
        family: family.as_str().to_owned(),
        continuation,
    };
    let payload = serde_json::to_vec(&token).ok()?;
    let code = cursor_mac(&secrets.current?, &payload)?.finalize();
    Some(format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(&payload),
        URL_SAFE_NO_PAD.encode(code.into_bytes())
    ))
}

/// Reads the continuation from a cursor of this customer. Returns `None` for any other text.
pub fn read(
    secrets: &CursorSecrets,
    tenant: &TenantId,
    family: Family,
    text: &str,
) -> Option<Continuation> {
    let (payload, code) = text.split_once('.')?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let code = URL_SAFE_NO_PAD.decode(code).ok()?;
    // Compared in constant time.
    let good = |secret: &CursorSecret| {
        cursor_mac(secret, &payload).is_some_and(|mac| mac.verify_slice(&code).is_ok())
    };
    let accepted = [secrets.current, secrets.before];
    accepted.iter().flatten().any(good).then_some(())?;
    let token: Token = serde_json::from_slice(&payload).ok()?;
    let mine = token.tenant == tenant.as_str();
    let family = token.family == family.as_str();
    (mine && family).then_some(token.continuation)
}

fn cursor_mac(secret: &CursorSecret, payload: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(DOMAIN);
    mac.update(payload);
    Some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn continuation() -> Continuation {
        Continuation {
            release_id: "rates-1".to_owned(),
            digest: Some("0123456789abcdef".to_owned()),
            query: vec![("dataset".to_owned(), "bank_rate".to_owned())],
            position: 500,
        }
    }

    #[test]
    fn a_cursor_is_good_for_its_customer_and_family_and_for_one_rotation() {
        let secrets = |current, before| CursorSecrets { current, before };
        let first = secrets(Some([1; 32]), None);
        let (mine, other) = ("acme".parse().unwrap(), "other".parse().unwrap());
        let text = write(&first, &mine, Family::Rates, continuation()).unwrap();
        let continues = |secrets: &CursorSecrets, tenant, family, text: &str| {
            read(secrets, tenant, family, text) == Some(continuation())
        };
        assert!(continues(&first, &mine, Family::Rates, &text));
        assert!(!continues(&first, &other, Family::Rates, &text));
        assert!(!continues(&first, &mine, Family::Markets, &text));
        let rotated = secrets(Some([2; 32]), Some([1; 32]));
        assert!(continues(&rotated, &mine, Family::Rates, &text));
        let again = secrets(Some([3; 32]), Some([2; 32]));
        assert!(!continues(&again, &mine, Family::Rates, &text));
        assert_eq!(
            write(&secrets(None, None), &mine, Family::Rates, continuation()),
            None
        );
    }

    #[test]
    fn a_cursor_of_a_version_without_digests_is_taken() {
        let secrets = CursorSecrets {
            current: Some([1; 32]),
            before: None,
        };
        let tenant = "acme".parse().unwrap();
        let earlier = r#"{"tenant":"acme","family":"rates","continuation":{"release_id":"rates-1","query":[["dataset","bank_rate"]],"position":500}}"#;
        let code = cursor_mac(&[1; 32], earlier.as_bytes()).unwrap().finalize();
        let text = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(earlier),
            URL_SAFE_NO_PAD.encode(code.into_bytes())
        );
        let expected = Continuation {
            digest: None,
            ..continuation()
        };
        let read = read(&secrets, &tenant, Family::Rates, &text);
        assert_eq!(read, Some(expected));
    }

    #[test]
    fn no_changed_cursor_is_taken() {
        let secrets = CursorSecrets {
            current: Some([1; 32]),
            before: None,
        };
        let tenant = "acme".parse().unwrap();
        let text = write(&secrets, &tenant, Family::Rates, continuation()).unwrap();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(
                read(&secrets, &tenant, Family::Rates, &changed),
                None,
                "{at}"
            );
        }
        for text in ["", ".", "a.b", &text[..text.len() - 4]] {
            assert_eq!(read(&secrets, &tenant, Family::Rates, text), None);
        }
    }
}
