//! The provider's address and the key for it.

use domesday_registers::Postcode;
use http::{HeaderValue, Uri};
use std::fmt;
use std::net::IpAddr;

/// Longest key that is accepted, bytes.
const KEY_MAX: usize = 512;

/// The base URL of the provider's resources, for example
/// `https://places.example/search/places/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint(String);

/// The reason why a URL is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The text is not a complete URL.
    #[error("must be a whole URL such as https://places.example/search/places/v1")]
    NotAUrl,
    /// The URL contains a name, password, query or fragment.
    #[error("must be a URL without a name, password, query or fragment; pass the key separately")]
    NotABaseUrl,
    /// Plain HTTP to another machine would show the key to the network.
    #[error(
        "must be https; plain http is for a provider on this machine alone (127.0.0.1, ::1, localhost)"
    )]
    Plain,
}

impl Endpoint {
    /// Parses a URL: `https`, or `http` to this machine.
    ///
    /// # Errors
    /// The problem of the URL. Nothing of the text is repeated.
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        if text.contains(['?', '#', '@']) {
            return Err(EndpointError::NotABaseUrl);
        }
        let uri: Uri = text.parse().map_err(|_| EndpointError::NotAUrl)?;
        let host = uri.host().unwrap_or_default();
        match uri.scheme_str() {
            _ if host.is_empty() => Err(EndpointError::NotAUrl),
            Some("https") => Ok(Endpoint(text.trim_end_matches('/').to_owned())),
            Some("http") if is_here(host) => Ok(Endpoint(text.trim_end_matches('/').to_owned())),
            Some("http") => Err(EndpointError::Plain),
            _ => Err(EndpointError::NotAUrl),
        }
    }

    /// Returns whether requests use TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.0
            .get(..6)
            .is_some_and(|start| start.eq_ignore_ascii_case("https:"))
    }

    /// Returns the URL of a page of a postcode's approved addresses.
    ///
    /// They are Royal Mail's delivery points and the authorities' own identifiers, on the National
    /// Grid.
    pub(crate) fn postcode(&self, postcode: &Postcode, offset: usize, page: usize) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("postcode", postcode.as_str())
            .append_pair("dataset", "DPA,LPI")
            .append_pair("fq", "LOGICAL_STATUS_CODE:1")
            .append_pair("output_srs", "EPSG:27700")
            .append_pair("format", "JSON")
            .append_pair("maxresults", &page.to_string())
            .append_pair("offset", &offset.to_string())
            .finish();
        format!("{}/postcode?{query}", self.0)
    }
}

/// Returns whether a host is this machine by its name or number alone.
fn is_here(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || number
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The provider's key, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(HeaderValue);

/// The reason why a text is not a key. Nothing of it is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 512 printable characters without spaces")]
pub struct KeyError;

impl Key {
    /// Parses a key, without the white space around it.
    ///
    /// # Errors
    /// The text is empty, too long, or not valid in a header.
    pub fn parse(text: &str) -> Result<Key, KeyError> {
        let text = text.trim();
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > KEY_MAX || !printable {
            return Err(KeyError);
        }
        let mut value = HeaderValue::from_str(text).map_err(|_| KeyError)?;
        value.set_sensitive(true);
        Ok(Key(value))
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_provider_requires_https() {
        for good in [
            "https://places.example/search/places/v1",
            "http://127.0.0.1:9000/v1/",
            "http://[::1]:9000",
            "http://localhost:9000/v1",
        ] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }
        for (bad, why) in [
            ("http://places.example/v1", EndpointError::Plain),
            ("http://127.0.0.1.places.example", EndpointError::Plain),
            (
                "https://me:secret@places.example",
                EndpointError::NotABaseUrl,
            ),
            (
                "https://places.example?key=secret",
                EndpointError::NotABaseUrl,
            ),
            ("ftp://places.example", EndpointError::NotAUrl),
            ("places.example", EndpointError::NotAUrl),
            ("", EndpointError::NotAUrl),
        ] {
            assert_eq!(Endpoint::parse(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn query_values_are_encoded() {
        let endpoint = Endpoint::parse("http://localhost:1/v1/").unwrap();
        let postcode = Postcode::parse("qa11af").unwrap();
        assert_eq!(
            endpoint.postcode(&postcode, 100, 50),
            "http://localhost:1/v1/postcode?postcode=QA1+1AF&dataset=DPA%2CLPI&fq=LOGICAL_STATUS_CODE%3A1&output_srs=EPSG%3A27700&format=JSON&maxresults=50&offset=100"
        );
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = Key::parse(" s3cret-key\n").unwrap();
        assert!(!format!("{key:?} {:?}", key.header()).contains("s3cret"));
        for bad in ["", " \n", "two words", "caf\u{e9}", &"x".repeat(513)] {
            assert_eq!(Key::parse(bad), Err(KeyError), "{bad:?}");
        }
    }
}
