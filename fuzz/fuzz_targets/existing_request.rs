//! Any bytes as the body of a single route: parsed, or refused for 1 to 20 reasons with pointers. A
//! row has the same outcome as the body.
#![no_main]

use domesday_contract::error::ERRORS_LISTED;
use domesday_contract::v3::options::Settings;
use domesday_contract::v3::request::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let read = Request::read(body);
    if let Err(refused) = &read {
        assert!((1..=ERRORS_LISTED).contains(&refused.errors.len()));
        for error in &refused.errors {
            assert!(
                error
                    .field
                    .as_ref()
                    .is_some_and(|field| field.is_empty() || field.starts_with('/'))
            );
            assert!(!error.message.chars().any(char::is_control));
        }
    }
    if let (Ok(request), Ok(text)) = (read, std::str::from_utf8(body)) {
        assert_eq!(
            Request::read_row(text, Settings::default()).ok(),
            Some(request)
        );
    }
});
