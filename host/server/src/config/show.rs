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

/// Returns a URL without its password and its query, which may hold one, too.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let query = rest.find(['?', '#']).unwrap_or(rest.len());
    // A password that is not encoded may contain any character, so the last `@` ends it.
    let Some(at) = rest.rfind('@') else {
        return format!("{scheme}://{}", &rest[..query]);
    };
    if at > query {
        // The `@` is one of the query, or the mark of the query is one of the password.
        return format!("{scheme}://***");
    }
    match rest[..at].split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:***{}", &rest[at..query]),
        None => format!("{scheme}://{}", &rest[..query]),
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
            ("postgres://me:s3/cret@host/db", "postgres://me:***@host/db"),
            ("postgres://me:s3?cret@host/db", "postgres://***"),
            ("postgres://me:s3#cr@et@host/db?x=y", "postgres://***"),
            ("postgres://host/db?password=s3@cret", "postgres://***"),
            ("postgres://me@host/db?x=y", "postgres://me@host/db"),
            ("postgres://host/db", "postgres://host/db"),
            ("s3://bucket/a@b", "s3://bucket/a@b"),
            ("postgres:///db?user=me&password=s3cret", "postgres:///db"),
            ("/a/path@home", "/a/path@home"),
        ] {
            assert_eq!(without_password(url), masked);
        }
    }
}
