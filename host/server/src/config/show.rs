//! The effective settings, as a file that sets them.

use serde_json::Value;

/// Renders one TOML line for each setting, with its source. Secret parts of values are hidden.
pub fn show(sources: &[(String, Value, String)]) -> String {
    sources
        .iter()
        .map(|(name, value, source)| {
            // JSON strings, numbers, booleans and lists of strings are valid TOML.
            let value = match value {
                Value::String(text) => Value::String(without_password(text)),
                other => other.clone(),
            };
            format!("{name} = {value}  # {source}\n")
        })
        .collect()
}

/// Returns a URL without its password.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rsplit_once('@') {
        Some((who, host)) => {
            let user = who.split(':').next().unwrap_or_default();
            let tail = rest[end..].split(['?', '#']).next().unwrap_or_default();
            format!("{scheme}://{user}:***@{host}{tail}")
        }
        // A password may also be a parameter.
        None => {
            let masked = text.split(['?', '#']).next().unwrap_or_default();
            masked.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        for (url, masked) in [
            (
                "postgres://me:s3cret@host:5432/db?x=s3cret",
                "postgres://me:***@host:5432/db",
            ),
            ("postgres://me:a@b@host/db", "postgres://me:***@host/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("postgres:///db?user=me&password=s3cret", "postgres:///db"),
            ("/a/path@home", "/a/path@home"),
        ] {
            assert_eq!(without_password(url), masked);
        }
    }
}
