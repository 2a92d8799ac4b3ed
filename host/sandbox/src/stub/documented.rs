//! The errors of the published description, by route of valuations. The stub gives these bodies and
//! no others.

use super::response::error_body;
use axum::body::Bytes;
use axum::http::{Method, StatusCode};
use domesday_contract::error::{Code, ErrorBody, ValidationError};
use domesday_contract::v3::job::PATH;
use domesday_contract::vocabulary::Vocabulary;
use serde_json::Value;
use std::collections::HashMap;

/// The paths of valuations. The sandbox has no series, and their error bodies have another form.
const PATHS: &str = "/v3/";

/// The errors of each route with their bodies, as the description's examples give them.
pub struct DocumentedErrors(HashMap<(Method, String, Code), Bytes>);

impl DocumentedErrors {
    /// Reads the published description of the service.
    pub fn read_description() -> DocumentedErrors {
        let description = serde_json::to_value(domesday_openapi::document()).unwrap_or_default();
        let mut found = HashMap::new();
        let paths = members(&description["paths"]);
        for (path, operations) in paths.filter(|(path, _)| path.starts_with(PATHS)) {
            for (method, operation) in members(operations) {
                let Ok(method) = method.to_uppercase().parse::<Method>() else {
                    continue;
                };
                for (_, response) in members(&operation["responses"]) {
                    let codes = &response["content"]["application/json"]["examples"];
                    for (name, example) in members(codes) {
                        let example = resolve(&description, example);
                        let (Some(code), Some(example)) = (Code::from_code(name), example) else {
                            continue;
                        };
                        let error = domesday_error(code, &example["value"]);
                        found.insert((method.clone(), path.clone(), code), error);
                    }
                }
            }
        }
        DocumentedErrors(found)
    }

    /// Returns the status and the body of an error of a route, if the route may give it.
    pub fn get(&self, method: &Method, path: &str, code: Code) -> Option<(StatusCode, Bytes)> {
        let route = (method.clone(), template(path), code);
        let body = self.0.get(&route)?.clone();
        Some((StatusCode::from_u16(code.status()).ok()?, body))
    }

    /// Reports whether the description has the route.
    pub fn has_route(&self, method: &Method, path: &str) -> bool {
        // Every route may give it.
        self.get(method, path, Code::Internal).is_some()
    }
}

/// Returns a part of the description, or the part that it refers to.
fn resolve<'d>(description: &'d Value, part: &'d Value) -> Option<&'d Value> {
    match part["$ref"].as_str() {
        Some(reference) => description.pointer(reference.strip_prefix('#')?),
        None => Some(part),
    }
}

/// Writes an error of an example in the form in which the service does. Members of JSON are in the
/// order of the type that the service writes.
fn domesday_error(code: Code, example: &Value) -> Bytes {
    let text = |name: &str| example["error"][name].as_str().map(str::to_owned);
    let mut error = ValidationError::new(code, text("message").unwrap_or_default());
    if let Some(field) = text("field") {
        error = error.at(field);
    }
    let body = match example.get("errors") {
        Some(_) => ErrorBody::all(vec![error]),
        None => ErrorBody::one(error),
    };
    error_body(&body)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Returns the path of a route as the description writes it.
fn template(path: &str) -> String {
    let Some(job) = path
        .strip_prefix(PATH)
        .and_then(|path| path.strip_prefix('/'))
    else {
        return path.to_owned();
    };
    let rest = if job.ends_with("/results") {
        "/results"
    } else {
        ""
    };
    format!("{PATH}/{{job_id}}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_example_that_the_response_of_its_route_refers_to() {
        let documented = DocumentedErrors::read_description();
        let description = serde_json::to_value(domesday_openapi::document()).unwrap();
        let mut compared = 0;
        for ((method, path, code), body) in &documented.0 {
            let operation = &description["paths"][path][method.as_str().to_lowercase()];
            let response = &operation["responses"][code.status().to_string()];
            let example = &response["content"]["application/json"]["examples"][code.code()];
            let reference = example["$ref"].as_str().unwrap();
            let name = reference.strip_prefix("#/components/examples/").unwrap();
            let body: Value = serde_json::from_slice(body).unwrap();
            let example = &description["components"]["examples"][name]["value"];
            assert_eq!(&body, example, "{method} {path} {code}");
            compared += 1;
        }
        assert!(compared > 150, "{compared}");
    }

    #[test]
    fn a_route_gives_the_errors_that_its_description_lists() {
        let documented = DocumentedErrors::read_description();
        let get = |method: Method, path: &str, code: Code| documented.get(&method, path, code);
        let (status, body) = get(Method::POST, "/v3/value", Code::RateLimited).unwrap();
        assert_eq!(status, 429);
        let body = std::str::from_utf8(&body).unwrap();
        assert!(
            body.starts_with(r#"{"error":{"code":"rate_limited","message":"These are"#),
            "{body}"
        );
        let job = format!("{PATH}/01990000-0000-7000-8000-000000000001");
        for (method, path, code, given) in [
            (Method::GET, job.clone(), Code::Overloaded, true),
            (Method::GET, format!("{job}/results"), Code::Internal, true),
            (Method::GET, job, Code::JobAdmissionPaused, false),
            (
                Method::POST,
                PATH.to_owned(),
                Code::JobAdmissionPaused,
                true,
            ),
            (
                Method::POST,
                "/v3/batch-value".to_owned(),
                Code::IdentityProviderUnavailable,
                false,
            ),
            (Method::GET, "/healthz".to_owned(), Code::RateLimited, false),
            (
                Method::GET,
                "/v1/rates/series".to_owned(),
                Code::RateLimited,
                false,
            ),
        ] {
            assert_eq!(get(method, &path, code).is_some(), given, "{path} {code}");
        }
    }
}
