//! A request for a fault: the header `Domesday-Sandbox`, or the same text in the path.

use super::fault::FaultKind;
use axum::extract::Request;
use axum::http::{HeaderName, Uri, uri};
use domesday_contract::error::{Code, ValidationError};
use std::str::FromStr;
use std::time::Duration;

/// The name of the header.
pub static HEADER: HeaderName = HeaderName::from_static("domesday-sandbox");
/// The start of a path that names a fault. A program whose client takes a base address and no
/// header uses it.
pub const PREFIX: &str = "/sandbox/";

/// The most bytes of a directive. The stub keeps its text before the service looks at the key.
const TEXT_MAX: usize = 256;
/// The most seconds that a fault may take.
const SECONDS_MAX: u32 = 600;

/// A fault that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// The text of the client. Equal texts are counted together.
    pub text: String,
    /// The fault.
    pub kind: FaultKind,
    /// Requests that get the fault before one passes. `None`: all do.
    pub times: Option<u32>,
    /// The time of a fault that takes some, or of `Retry-After`.
    pub time: Duration,
    /// True if `Retry-After` is a date.
    pub as_date: bool,
}

impl FromStr for Directive {
    type Err = ValidationError;

    /// Reads `FAULT`, or `FAULT;times=N;seconds=N;form=date;run=TEXT`.
    fn from_str(text: &str) -> Result<Directive, ValidationError> {
        if text.len() > TEXT_MAX {
            let problem = format!("The text has {} bytes; {TEXT_MAX} are allowed", text.len());
            return Err(invalid(&problem));
        }
        let mut parts = text.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let kind = FaultKind::from_name(name)
            .ok_or_else(|| invalid(&format!("The sandbox has no fault {name:?}")))?;
        let mut directive = Directive {
            text: text.to_owned(),
            kind,
            times: None,
            time: kind.default_time(),
            as_date: false,
        };
        for part in parts {
            match part.split_once('=') {
                Some(("times", count)) => {
                    directive.times = Some(number(count, u32::MAX)?);
                }
                Some(("seconds", seconds)) => {
                    let seconds = number(seconds, SECONDS_MAX)?;
                    directive.time = Duration::from_secs(seconds.into());
                }
                Some(("form", "date")) => directive.as_date = true,
                // It only tells one run's requests from another's.
                Some(("run", _)) => {}
                _ => return Err(invalid(&format!("{part:?} is not a parameter of a fault"))),
            }
        }
        Ok(directive)
    }
}

fn number(text: &str, largest: u32) -> Result<u32, ValidationError> {
    text.parse()
        .ok()
        .filter(|number| (1..=largest).contains(number))
        .ok_or_else(|| invalid(&format!("{text:?} is not a number from 1 to {largest}")))
}

fn invalid(problem: &str) -> ValidationError {
    let message = format!("{problem}. GET /sandbox lists the faults.");
    ValidationError::new(Code::InvalidValue, message)
}

/// Takes the directive of a request, so that the service behind the stub gets an ordinary request.
///
/// # Errors
/// The directive is not one. The error is the answer to the client.
pub fn take(request: &mut Request) -> Result<Option<Directive>, ValidationError> {
    let of_header = request.headers_mut().remove(&HEADER);
    if let Some(text) = of_header {
        let text = text
            .to_str()
            .map_err(|_| invalid("The header is not a text"))?;
        return text.parse().map(Some);
    }
    let rest = request
        .uri()
        .path_and_query()
        .and_then(|path| path.as_str().strip_prefix(PREFIX));
    let Some((text, path)) = rest.and_then(|rest| rest.split_once('/')) else {
        return Ok(None);
    };
    let directive = text.parse()?;
    let mut parts = uri::Parts::default();
    let path = format!("/{path}").try_into();
    parts.path_and_query = Some(path.map_err(|_| invalid("The path is not one"))?);
    let address = Uri::from_parts(parts).map_err(|_| invalid("The path is not one"))?;
    *request.uri_mut() = address;
    Ok(Some(directive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn a_directive_has_a_fault_and_parameters() {
        let directive: Directive = "rate_limited; times=2;seconds=3; form=date;run=a"
            .parse()
            .unwrap();
        assert_eq!(directive.kind, FaultKind::Error(Code::RateLimited));
        assert_eq!(directive.times, Some(2));
        assert_eq!(directive.time, Duration::from_secs(3));
        assert!(directive.as_date);
    }

    #[test]
    fn another_text_is_an_error_that_names_it() {
        for (text, named) in [
            ("rate_limit", "\"rate_limit\""),
            ("invalid_value", "\"invalid_value\""),
            ("delay;seconds=601", "\"601\""),
            ("delay;times=0", "\"0\""),
            ("delay;often", "\"often\""),
        ] {
            let error = text.parse::<Directive>().unwrap_err();
            assert_eq!(error.code, Code::InvalidValue);
            assert!(error.message.contains(named), "{}", error.message);
        }
    }

    #[test]
    fn a_text_has_a_length_at_most() {
        let run = |bytes: usize| format!("delay;run={}", "a".repeat(bytes - "delay;run=".len()));
        assert!(run(TEXT_MAX).parse::<Directive>().is_ok());
        let error = run(TEXT_MAX + 1).parse::<Directive>().unwrap_err();
        assert!(
            error.message.contains("257 bytes; 256"),
            "{}",
            error.message
        );
    }

    #[test]
    fn a_path_names_a_fault_and_leaves_the_rest() {
        let request = Request::get("/sandbox/delay;times=1/v3/coverage?postcode=QA1");
        let mut request = request.body(Body::empty()).unwrap();
        let directive = take(&mut request).unwrap().unwrap();
        assert_eq!(directive.kind, FaultKind::Delay);
        assert_eq!(request.uri(), "/v3/coverage?postcode=QA1");
    }
}
