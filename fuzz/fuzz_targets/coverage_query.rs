//! Any query string of the coverage route: read with a postcode in its one form, or 1 to 20 errors.
#![no_main]

use domesday_contract::error::ERRORS_LISTED;
use domesday_contract::v3::coverage::CoverageQuery;
use libfuzzer_sys::fuzz_target;

fn read(text: &str) -> Result<CoverageQuery, usize> {
    let pairs: Vec<_> = form_urlencoded::parse(text.as_bytes()).collect();
    let pairs = pairs.iter().map(|(name, value)| (&**name, &**value));
    CoverageQuery::read(pairs).map_err(|errors| {
        for error in &errors {
            let field = error.field.as_deref();
            assert!(field.is_some_and(|field| field.is_empty() || field.starts_with('/')));
            assert!(!error.message.chars().any(char::is_control));
        }
        errors.len()
    })
}

fuzz_target!(|text: &str| {
    match read(text) {
        Ok(query) => {
            let mut form = form_urlencoded::Serializer::new(String::new());
            form.append_pair("postcode", &query.postcode.to_string());
            if let Some(uprn) = query.uprn {
                form.append_pair("uprn", &uprn.to_string());
            }
            let again = read(&form.finish()).unwrap();
            assert_eq!(again.postcode, query.postcode);
            assert_eq!(again.uprn, query.uprn);
        }
        Err(errors) => assert!((1..=ERRORS_LISTED).contains(&errors), "{errors}"),
    }
});
