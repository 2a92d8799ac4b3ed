//! Jobs: a file of homes becomes one or more jobs, and the page lists those of before.

use super::api::ApiResponse;
use super::blocking::blocking;
use super::error::ConsoleError;
use super::form::{MAX_BYTES, is_of};
use super::guard::{self, require_scope};
use super::idempotent_form::key_of;
use super::upload::{self, FILE, HOMES};
use super::{Console, layout};
use crate::console_sessions::Session;
use crate::console_work::FileOfHomes;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use domesday_console::fields::Fields;
use domesday_console::homes_file::{HomesFile, MOST_JOBS, REFERENCE, columns};
use domesday_console::homes_text::decode;
use domesday_console::message::render_message;
use domesday_console::number::{moment, whole};
use domesday_contract::v3::job;
use domesday_contract::v3::request::ROWS_MAX;
use domesday_state::Scope;
use maud::{Markup, html};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

pub(super) const TITLE: &str = "Jobs";
/// The words for a form of another session.
const OTHER_FORM: &str = "The form was not of this session, and nothing was sent. Send it again.";
/// The field that asks for stored data.
const STORED: &str = "use_stored_data";
/// The field with the homes of a job. The same form makes the same jobs, whatever is allowed then.
const JOB_ROWS: &str = "job_rows";

/// The content of the form.
struct FormContent<'a> {
    id: &'a str,
    text: &'a str,
    stored_data: bool,
    job_rows: usize,
    problem: Option<String>,
}

/// Shows the form of a job, and the jobs of before. With an id in the query it leads to that job.
pub(super) async fn page(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    request: Request,
) -> Result<Response, ConsoleError> {
    require_scope(&session, Scope::AvmValue)?;
    let query = Fields::parse(request.uri().query().unwrap_or_default().as_bytes());
    if let Some(id) = query.get("job") {
        let id: Uuid = id.parse().map_err(|_| ConsoleError::NoPage)?;
        return Ok(Redirect::to(&format!("/jobs/{id}")).into_response());
    }
    let draft = guard::draft(&console, &query);
    // The same form, so that what it did before is not done twice.
    let id = draft.as_ref().map(|draft| console.form_id(draft));
    let content = FormContent {
        id: &id.unwrap_or_else(|| console.new_form_id()),
        text: draft
            .as_ref()
            .and_then(|draft| draft.get(HOMES))
            .unwrap_or_default(),
        stored_data: draft
            .as_ref()
            .is_none_or(|draft| draft.get(STORED).is_some()),
        job_rows: job_rows(&console, &session, draft.as_ref()).await,
        problem: None,
    };
    Ok(show(&console, &session, &content))
}

/// The reason why a file did not become jobs to its end.
#[derive(Debug, PartialEq, Eq)]
struct Stop {
    /// Homes that are jobs.
    taken: usize,
    message: String,
    /// True if the API refused the number of homes of a job.
    has_too_many_rows: bool,
}

/// Submits the form's file as jobs of as many homes as are allowed. The same form makes no job
/// twice.
pub(super) async fn submit(
    State(console): State<Console>,
    Extension(session): Extension<Arc<Session>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ConsoleError> {
    require_scope(&session, Scope::AvmValue)?;
    let (fields, file) = upload::read(&headers, body, MAX_BYTES).await?;
    let text: Arc<str> = match &file {
        Some(bytes) => decode(bytes).into(),
        None => fields.get(HOMES).unwrap_or_default().into(),
    };
    let id = console.form_id(&fields);
    let stored_data = fields.get(STORED).is_some();
    let mut job_rows = job_rows(&console, &session, Some(&fields)).await;
    let again_with = |status: StatusCode, job_rows: usize, problem: String| {
        let content = FormContent {
            id: &id,
            text: &text,
            stored_data,
            job_rows,
            problem: Some(problem),
        };
        (status, show(&console, &session, &content)).into_response()
    };
    let again = |job_rows, problem| again_with(StatusCode::UNPROCESSABLE_ENTITY, job_rows, problem);
    if !is_of(&fields, &session) {
        let problem = OTHER_FORM.to_owned();
        return Ok(again_with(StatusCode::FORBIDDEN, job_rows, problem));
    }
    let reading = text.clone();
    let homes = blocking(move || {
        let homes = HomesFile::read(&reading)?;
        homes.check_columns().map(|()| homes)
    });
    let homes = match homes.await? {
        Ok(homes) => homes,
        Err(problem) => return Ok(again(job_rows, problem)),
    };
    if homes.check_jobs(job_rows).is_err() {
        // None of it was sent in parts of this size, and more homes may be allowed since.
        job_rows = most_job_rows(&console, &session).await;
        if let Err(problem) = homes.check_jobs(job_rows) {
            return Ok(again(job_rows, problem));
        }
    }
    // It goes on where the browser goes away: its first jobs are charged by then.
    let submitting = tokio::spawn({
        let (console, session, text) = (console.clone(), session.clone(), text.clone());
        let content = (id.clone(), stored_data, job_rows);
        async move { submit_file(&console, &session, content, (&homes, text)).await }
    });
    let submitted = submitting.await.map_err(|_| ConsoleError::Response)?;
    let (path, stopped) = submitted?;
    match stopped {
        None => Ok(Redirect::to(&format!("/jobs/{path}")).into_response()),
        Some(stop) if stop.taken == 0 => {
            // The API finds a job of an earlier submission before it looks at the size. So it made
            // none of this content, and fewer homes are allowed than the form was shown with.
            let job_rows = match stop.has_too_many_rows {
                true => most_job_rows(&console, &session).await,
                false => job_rows,
            };
            Ok(again(job_rows, stop.message))
        }
        Some(stop) => {
            let problem = format!(
                "The first {} homes are jobs, in the list below. {} Submit the same form later: it \
                 makes no job twice.",
                whole(stop.taken),
                stop.message
            );
            Ok(again(job_rows, problem))
        }
    }
}

/// Returns the homes of each job of a form: those that it was shown with, or as many as are
/// allowed.
async fn job_rows(console: &Console, session: &Session, form: Option<&Fields>) -> usize {
    let stated = form.and_then(|form| form.get(JOB_ROWS)?.parse::<usize>().ok());
    match stated.filter(|rows| (1..=ROWS_MAX).contains(rows)) {
        Some(rows) => rows,
        None => most_job_rows(console, session).await,
    }
}

/// Returns the most homes that the plan and the release allow a job of the session, or else those
/// of the contract.
async fn most_job_rows(console: &Console, session: &Session) -> usize {
    let current = console.get(session, "/v3/releases/current").await;
    let rows = current.ok().and_then(|current| {
        let rows = current.body["limits"]["asynchronous_job_rows"].as_u64()?;
        usize::try_from(rows).ok()
    });
    rows.map_or(ROWS_MAX, |rows| rows.clamp(1, ROWS_MAX))
}

/// Submits a file of a form, and adds it to the list of the page. Returns the path of its jobs, and
/// why it stopped, if it did.
///
/// # Errors
/// As [`submit_parts`].
async fn submit_file(
    console: &Console,
    session: &Session,
    (form_id, stored_data, job_rows): (String, bool, usize),
    (homes, text): (&HomesFile, Arc<str>),
) -> Result<(String, Option<Stop>), ConsoleError> {
    let post = |body: Value| async move { console.post(session, job::PATH, &body).await };
    let parts = homes.parts(job_rows, stored_data);
    let (jobs, stopped) = submit_parts(&form_id, parts, post).await?;
    let file = FileOfHomes {
        jobs,
        rows: stopped.as_ref().map_or(homes.rows.len(), |stop| stop.taken),
        taken: console.service.clock.now(),
        text: Some(text),
    };
    let path = file.path();
    if let Some(sessions) = &console.service.console {
        sessions.work().keep_file(&session.user.tenant, file);
    }
    Ok((path, stopped))
}

/// Submits the parts of a file one after another. Returns the jobs, and why it stopped, if it did.
/// The key of a part is that of its form and content.
///
/// # Errors
/// That of the first part. A later one must not hide the jobs before it.
async fn submit_parts<A>(
    form_id: &str,
    parts: impl Iterator<Item = Vec<Value>>,
    post: impl Fn(Value) -> A,
) -> Result<(Vec<Uuid>, Option<Stop>), ConsoleError>
where
    A: Future<Output = Result<ApiResponse, ConsoleError>>,
{
    let (mut jobs, mut taken) = (Vec::new(), 0);
    for (at, part) in parts.enumerate() {
        let rows = part.len();
        let requests = Value::from(part);
        let key = format!("console-{}-{at}", key_of(form_id, &requests));
        let body = json!({"mode": "standard", "requests": requests, "idempotency_key": key});
        let mut has_too_many_rows = false;
        let accepted = post(body).await.and_then(|answered| {
            has_too_many_rows = answered.status == StatusCode::PAYLOAD_TOO_LARGE;
            if !answered.status.is_success() {
                return Ok(Err(answered.message()));
            }
            let id = answered.body["job_id"].as_str();
            let id = id.and_then(|id| id.parse().ok());
            Ok(Ok(id.ok_or(ConsoleError::Response)?))
        });
        let message = match accepted {
            Ok(Ok(id)) => {
                jobs.push(id);
                taken += rows;
                continue;
            }
            Ok(Err(message)) if at == 0 => message,
            Ok(Err(message)) => format!("The next were refused: {message}"),
            Err(error) if at == 0 => return Err(error),
            Err(error) => format!("It is not known whether the next are jobs, too: {error}."),
        };
        let stop = Stop {
            taken,
            message,
            has_too_many_rows,
        };
        return Ok((jobs, Some(stop)));
    }
    Ok((jobs, None))
}

fn show(console: &Console, session: &Session, content: &FormContent<'_>) -> Response {
    let work = console.service.console.as_ref();
    let files = work.map(|sessions| sessions.work().files(&session.user.tenant));
    let content = html! {
        h1 { (TITLE) }
        (form(session, content))
        (list_files(&files.unwrap_or_default()))
        form.inputs method="get" action="/jobs" {
            label {
                span { "Id of another job" }
                input name="job" required maxlength="36";
            }
            button { "Open the job" }
        }
    };
    layout::page(TITLE, Some(session), &content)
}

fn form(session: &Session, content: &FormContent<'_>) -> Markup {
    let may_store = session.user.scopes.has(Scope::AvmStoredData);
    html! {
        @if let Some(problem) = &content.problem {
            p.refusal role="alert" { (render_message(problem)) }
        }
        p {
            "Choose a CSV file of homes, or paste one. Its first line names the columns: "
            @for (at, name) in columns().enumerate() {
                @if at > 0 { ", " } code { (name) }
            }
            ", and " code { (REFERENCE) } " for your own name of a row. The results have the file's other "
            "columns too. Commas, semicolons or tabs divide the cells. A job has at most "
            (whole(content.job_rows)) " homes, and a larger file becomes several jobs, " (MOST_JOBS)
            " at most. Each home that can be read costs a unit."
        }
        form.inputs method="post" action="/jobs" enctype="multipart/form-data" data-file-form {
            (layout::token(session))
            (layout::form_id(content.id))
            input type="hidden" name=(JOB_ROWS) value=(content.job_rows);
            label.wide-field {
                span { "File" }
                input type="file" name=(FILE) accept=".csv,.txt,.tsv,text/csv";
            }
            label.wide-field {
                span { "Or its text" }
                textarea name=(HOMES) rows="12" { (content.text) }
            }
            label.check {
                input type="checkbox" name=(STORED) value="yes"
                    checked[may_store && content.stored_data] disabled[!may_store];
                " Fill blanks from stored data"
                @if !may_store { ", which needs the scope " (Scope::AvmStoredData) }
            }
            button.primary { "Submit the job" }
        }
    }
}

/// Returns the list of a tenant's files that became jobs here.
fn list_files(files: &[FileOfHomes]) -> Markup {
    html! {
        section {
            h2 { "Jobs of this tenant's sessions" }
            p.quiet { "The list is kept until the server stops. A job and its results are kept for seven days." }
            @if !files.is_empty() {
                div.wide tabindex="0" { table {
                    caption { "The newest first" }
                    thead { tr { th scope="col" { "Taken" } th.number scope="col" { "Homes" } th scope="col" { "Jobs" } } }
                    tbody {
                        @for file in files {
                            tr {
                                td.date { (moment(file.taken)) }
                                td.number { (whole(file.rows)) }
                                td {
                                    a href={ "/jobs/" (file.path()) } {
                                        @match file.jobs.as_slice() {
                                            [one] => (one),
                                            several => { (several.len()) " jobs from " (several[0]) },
                                        }
                                    }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Submits three parts. The API answers the last one as given.
    async fn submit(
        last: impl Fn() -> Result<ApiResponse, ConsoleError>,
    ) -> (Vec<Uuid>, Option<Stop>) {
        let parts = [500, 500, 1].map(|rows| vec![json!({}); rows]);
        let sent = Cell::new(0);
        let post = |_| {
            sent.set(sent.get() + 1);
            let answered = match sent.get() {
                3 => last(),
                at => Ok(ApiResponse {
                    status: StatusCode::ACCEPTED,
                    body: json!({ "job_id": Uuid::from_u128(at) }),
                }),
            };
            async { answered }
        };
        submit_parts("form", parts.into_iter(), post).await.unwrap()
    }

    #[tokio::test]
    async fn the_jobs_before_a_part_that_is_not_accepted_are_returned_with_the_reason() {
        let accepted = [1, 2].map(Uuid::from_u128);
        let error = json!({"error": {"message": "The queue is full."}});
        let (jobs, stopped) = submit(|| {
            Ok(ApiResponse {
                status: StatusCode::TOO_MANY_REQUESTS,
                body: error.clone(),
            })
        })
        .await;
        assert_eq!(jobs, accepted);
        let refused = Stop {
            taken: 1_000,
            message: "The next were refused: The queue is full.".to_owned(),
            has_too_many_rows: false,
        };
        assert_eq!(stopped, Some(refused));

        let (jobs, stopped) = submit(|| Err(ConsoleError::Response)).await;
        assert_eq!(
            jobs, accepted,
            "they are charged, and in the list of the page"
        );
        let stop = stopped.unwrap();
        assert_eq!(stop.taken, 1_000);
        assert!(stop.message.starts_with("It is not known"), "{stop:?}");
    }
}
