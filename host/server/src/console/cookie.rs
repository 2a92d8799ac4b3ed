//! Cookies of the console: the session's, and the page that a login leads to.

use super::error::ConsoleError;
use crate::console_origin::ConsoleOrigin;
use axum::http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use axum::response::Response;

/// Seconds for which a page waits for a login.
const NEXT_SECONDS: i64 = 600;

/// Returns the value of the session's cookie.
///
/// # Errors
/// `Cookies` if there are several: another server of this host may have set one of them.
pub(super) fn of_session(
    origin: &ConsoleOrigin,
    headers: &HeaderMap,
) -> Result<Option<String>, ConsoleError> {
    let name = origin.cookie_name();
    let mut values = values_of(&name, headers);
    match (values.pop(), values.is_empty()) {
        (value, true) => Ok(value),
        (_, false) => Err(ConsoleError::Cookies { name }),
    }
}

/// Returns the page that a login leads to, if it is one of this console.
pub(super) fn next(origin: &ConsoleOrigin, headers: &HeaderMap) -> Option<String> {
    let value = values_of(&next_name(origin), headers).pop()?;
    let path = form_urlencoded::parse(value.as_bytes()).next()?.0;
    origin.local_path(&path)
}

/// Sets the session's cookie, for some seconds.
pub(super) fn set_session(
    response: &mut Response,
    origin: &ConsoleOrigin,
    value: &str,
    seconds: i64,
) {
    set(response, origin, &origin.cookie_name(), value, seconds);
}

/// Sets the page that the next login leads to.
pub(super) fn set_next(response: &mut Response, origin: &ConsoleOrigin, path: &str) {
    let value: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    set(response, origin, &next_name(origin), &value, NEXT_SECONDS);
}

/// Removes the page that a login leads to.
pub(super) fn end_next(response: &mut Response, origin: &ConsoleOrigin) {
    set(response, origin, &next_name(origin), "", 0);
}

fn next_name(origin: &ConsoleOrigin) -> String {
    format!("{}_next", origin.cookie_name())
}

fn values_of(name: &str, headers: &HeaderMap) -> Vec<String> {
    let cookies = headers.get_all(COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(found, _)| *found == name)
        .map(|(_, value)| value.to_owned())
        .collect()
}

fn set(response: &mut Response, origin: &ConsoleOrigin, name: &str, value: &str, seconds: i64) {
    let secure = if origin.is_secure() { "; Secure" } else { "" };
    let cookie =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    // The values are digits and letters, or percent-encoded.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others_and_only_once() {
        let origin = ConsoleOrigin::parse("http://127.0.0.1:8081").unwrap();
        let found = |cookies: &[&str]| {
            let mut headers = HeaderMap::new();
            for cookie in cookies {
                headers.append(COOKIE, cookie.parse().unwrap());
            }
            of_session(&origin, &headers).ok()
        };
        let own = "a=1; domesday_console_8081=ab";
        assert_eq!(found(&[own]), Some(Some("ab".to_owned())));
        assert_eq!(found(&["xdomesday_console_8081=ab"]), Some(None));
        assert_eq!(found(&["domesday_console_8082=ab"]), Some(None));
        assert_eq!(found(&[own, "domesday_console_8081=cd"]), None);
    }
}
