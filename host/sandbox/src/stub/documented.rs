//! The errors of the published description, by route. The stub gives these bodies and no others.

use super::response::error_body;
use axum::body::Bytes;
use axum::http::{Method, StatusCode};
use domesday_contract::error::Code;
use domesday_contract::v3::job::PATH;
use domesday_contract::vocabulary::Vocabulary;
use serde_json::Value;
use std::collections::HashMap;

/// The errors of each route with their bodies, as the description's examples give them.
pub struct DocumentedErrors(HashMap<(Method, String, Code), Bytes>);

impl DocumentedErrors {
    /// Reads the published description of the service.
    pub fn read_description() -> DocumentedErrors {
        let description = serde_json::to_value(domesday_openapi::document()).unwrap_or_default();
        let mut found = HashMap::new();
        let examples = &description["components"]["examples"];
        for (path, operations) in members(&description["paths"]) {
            for (method, operation) in members(operations) {
                let Ok(method) = method.to_uppercase().parse::<Method>() else {
                    continue;
                };
                for (_, response) in members(&operation["responses"]) {
                    let codes = &response["content"]["application/json"]["examples"];
                    for (name, _) in members(codes) {
                        let (Some(code), body) =
                            (Code::from_code(name), &examples[name.as_str()]["value"])
                        else {
                            continue;
                        };
                        // Members are in the order of the type that the service writes.
                        let error = domesday_error(code, body);
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

/// Writes an error of an example in the form in which the service does.
fn domesday_error(code: Code, example: &Value) -> Bytes {
    let message = example["error"]["message"].as_str().unwrap_or_default();
    error_body(code, message)
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
        ] {
            assert_eq!(get(method, &path, code).is_some(), given, "{path} {code}");
        }
    }
}
