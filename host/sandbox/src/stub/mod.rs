//! The stub in front of the sandbox's service. It passes every request on, but for those that ask
//! for a fault.
//!
//! An error has the body that the published description gives for its route. Its headers are the
//! service's: the stub asks for the release with the client's key, and answers in place of that
//! response. So a request without a key is 401, and the service logs each request id. A route that
//! does not document an error never gives it.

mod directive;
mod documented;
mod fault;
mod jobs;
mod response;
mod service_call;

pub use directive::{HEADER, PREFIX};

use crate::cases::{TableError, cases};
use crate::packages::RELEASE;
use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use chrono::{DateTime, Utc};
use directive::Directive;
use documented::DocumentedErrors;
use domesday_contract::error::{Code, ErrorBody};
use domesday_contract::v3::job::PATH;
use fault::FaultKind;
use jobs::{Course, Jobs};
use response::{error_body, lose_connection, replace_body};
use serde_json::{Value, json};
use service_call::{call, get_as_client};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The route whose response gives an error its headers.
const ASKED: &str = "/v3/releases/current";
static RATE: HeaderName = HeaderName::from_static("ratelimit");

/// A source of the current time.
pub type Now = fn() -> DateTime<Utc>;

/// The largest response that is awaited whole before its connection is lost.
const RESPONSE_BYTES: usize = 64 << 20;
/// Texts of directives that are counted at once. Then all counts begin anew.
const COUNTED: usize = 10_000;
/// The most bytes of a path that is counted. No job's id is as long.
const COUNTED_PATH: usize = 256;

/// The service, and the memory of the stub.
struct Stub {
    service: Router,
    now: Now,
    documented: DocumentedErrors,
    jobs: Jobs,
    /// The number of times that each directive was followed, by its text, method and path.
    followed: Mutex<HashMap<(String, Method, String), u32>>,
}

/// Returns the list of cases and faults, which `GET /sandbox` shows.
///
/// # Errors
/// [`TableError`] if the table of cases is damaged.
pub fn list() -> Result<Value, TableError> {
    Ok(json!({ "release_id": RELEASE, "cases": cases()?, "faults": fault::list() }))
}

/// Puts the stub in front of a service.
///
/// # Errors
/// [`TableError`] if the table of cases is damaged.
pub fn in_front_of(service: Router, now: Now) -> Result<Router, TableError> {
    let list = Bytes::from(serde_json::to_vec_pretty(&list()?).unwrap_or_default());
    let stub = Arc::new(Stub {
        service,
        now,
        documented: DocumentedErrors::read_description(),
        jobs: Jobs::default(),
        followed: Mutex::default(),
    });
    let json = [(header::CONTENT_TYPE, "application/json")];
    Ok(Router::new()
        .route("/sandbox", get(move || async move { (json, list) }))
        .fallback(move |request: Request| async move { stub.answer(request).await }))
}

impl Stub {
    async fn answer(&self, mut request: Request) -> Response {
        let directive = match directive::take(&mut request) {
            Ok(directive) => directive,
            Err(error) => {
                let body = error_body(&ErrorBody::one(error));
                let asked = get_as_client(&request, ASKED);
                drop(request);
                return self
                    .error(StatusCode::UNPROCESSABLE_ENTITY, body, asked)
                    .await;
            }
        };
        let followed = directive.filter(|directive| {
            self.concerns(directive.kind, &request) && self.count(directive, &request)
        });
        let Some(directive) = followed else {
            return self.pass(request).await;
        };
        match directive.kind {
            FaultKind::Error(code) => {
                let (method, path) = (request.method(), request.uri().path());
                let Some((status, body)) = self.documented.get(method, path, code) else {
                    return self.pass(request).await;
                };
                let asked = get_as_client(&request, ASKED);
                drop(request);
                let mut response = self.error(status, body, asked).await;
                self.add_waits(&directive, &mut response);
                response
            }
            FaultKind::LostBefore => lose_connection(),
            FaultKind::LostAfter => {
                let response = self.pass(request).await;
                // To its end, so that nothing of it is undone.
                let _ = to_bytes(response.into_body(), RESPONSE_BYTES).await;
                lose_connection()
            }
            FaultKind::Delay => {
                sleep(directive.time).await;
                self.pass(request).await
            }
            FaultKind::JobHeld => {
                let course = Course::Held(Instant::now() + directive.time);
                self.submit(course, request).await
            }
            FaultKind::JobFailed => self.submit(Course::Failed, request).await,
        }
    }

    /// Reports whether a fault can happen to a request.
    fn concerns(&self, fault: FaultKind, request: &Request) -> bool {
        let (method, path) = (request.method(), request.uri().path());
        match fault {
            FaultKind::Error(code) => self.documented.get(method, path, code).is_some(),
            FaultKind::LostBefore | FaultKind::LostAfter | FaultKind::Delay => {
                self.documented.has_route(method, path)
            }
            FaultKind::JobHeld | FaultKind::JobFailed => method == Method::POST && path == PATH,
        }
    }

    /// Counts a request with a directive. Returns false if the directive was followed as often as
    /// it says. Then it counts anew. A request with a longer path follows it each time.
    fn count(&self, directive: &Directive, request: &Request) -> bool {
        let Some(times) = directive.times else {
            return true;
        };
        let path = request.uri().path();
        if path.len() > COUNTED_PATH {
            return true;
        }
        let key = (
            directive.text.clone(),
            request.method().clone(),
            path.to_owned(),
        );
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if followed.len() >= COUNTED {
            followed.clear();
        }
        let count = followed.entry(key.clone()).or_default();
        if *count >= times {
            followed.remove(&key);
            return false;
        }
        *count += 1;
        true
    }

    /// Passes a request on. A job that has another course is shown on it.
    async fn pass(&self, request: Request) -> Response {
        if let Some((course, asked)) = self.jobs.course_of_results(&request)
            && let Some(response) = Jobs::results(&self.service, course, asked).await
        {
            return response;
        }
        let path = request.uri().path();
        if !path.starts_with(PATH) || path.ends_with("/results") {
            return call(&self.service, request).await;
        }
        let response = call(&self.service, without_compression(request)).await;
        self.jobs.show(response).await
    }

    /// Passes a submission on, and remembers the course of its job.
    async fn submit(&self, course: Course, request: Request) -> Response {
        let response = call(&self.service, without_compression(request)).await;
        let response = self.jobs.remember(course, response).await;
        self.jobs.show(response).await
    }

    /// Answers with an error, in place of the service's response to another request of the client.
    /// If the service refuses that request, its refusal is the answer.
    async fn error(&self, status: StatusCode, body: Bytes, asked: Request) -> Response {
        let response = call(&self.service, asked).await;
        if !response.status().is_success() {
            return response;
        }
        let mut response = replace_body(response, body);
        *response.status_mut() = status;
        for name in [header::CACHE_CONTROL, header::VARY] {
            response.headers_mut().remove(name);
        }
        response
    }

    /// Adds the headers that say when to come again.
    fn add_waits(&self, directive: &Directive, response: &mut Response) {
        let waits = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ];
        if !waits.contains(&response.status()) {
            return;
        }
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, self.retry_after(directive));
        let seconds = directive.time.as_secs();
        if directive.kind == FaultKind::Error(Code::RateLimited)
            && let Ok(none_left) = HeaderValue::try_from(format!("\"requests\";r=0;t={seconds}"))
        {
            headers.insert(RATE.clone(), none_left);
        }
    }

    fn retry_after(&self, directive: &Directive) -> HeaderValue {
        let seconds = HeaderValue::from(directive.time.as_secs());
        if !directive.as_date {
            return seconds;
        }
        // A date has whole seconds, and may not be earlier than the time asks for.
        let date = (self.now)() + directive.time + Duration::from_secs(1);
        HeaderValue::try_from(httpdate::fmt_http_date(date.into())).unwrap_or(seconds)
    }
}

/// Returns a request whose response the stub can read.
fn without_compression(mut request: Request) -> Request {
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    request
}
