//! The login that a registry asks for.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

/// The challenge of a registry.
pub enum Challenge {
    /// The password itself.
    Basic,
    /// A token for the password.
    Bearer {
        /// The URL of the token service.
        realm: String,
        /// The name of the registry at the token service.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads the challenge of a registry: a token where it names a service, else the password.
    pub fn of(headers: &HeaderMap) -> Option<Challenge> {
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let text = value.to_str().unwrap_or_default();
            for challenge in http_auth::parse_challenges(text).unwrap_or_default() {
                let parameter = |name: &str| {
                    let found = challenge
                        .params
                        .iter()
                        .find(|(key, _)| key.eq_ignore_ascii_case(name));
                    found.map(|(_, value)| value.to_unescaped())
                };
                if challenge.scheme.eq_ignore_ascii_case("bearer")
                    && let Some(realm) = parameter("realm")
                {
                    let service = parameter("service");
                    return Some(Challenge::Bearer { realm, service });
                }
            }
        }
        headers.get(WWW_AUTHENTICATE).map(|_| Challenge::Basic)
    }
}
