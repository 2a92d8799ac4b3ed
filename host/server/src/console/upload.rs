//! Forms with a file, as browsers send them.

use super::error::ConsoleError;
use super::form::receive;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use domesday_console::fields::Fields;

/// The name of the field with the file.
pub(super) const FILE: &str = "file";

/// The name of the field with the text of a file.
pub(super) const HOMES: &str = "homes";

/// Reads a form of no more than some bytes, which may have a file. An empty file is none.
///
/// # Errors
/// `Form` if the form does not arrive whole and in time, or has another encoding than browsers use.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    most: usize,
) -> Result<(Fields, Option<Bytes>), ConsoleError> {
    let bytes = receive(body, most).await?;
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let Ok(boundary) = multer::parse_boundary(kind) else {
        return Ok((Fields::parse(&bytes), None));
    };
    let problem = |error: multer::Error| ConsoleError::Form(error.to_string());
    let stream = Body::from(bytes).into_data_stream();
    let mut parts = multer::Multipart::new(stream, boundary);
    let (mut fields, mut file) = (Fields::default(), None);
    while let Some(part) = parts.next_field().await.map_err(problem)? {
        let name = part.name().unwrap_or_default().to_owned();
        let bytes = part.bytes().await.map_err(problem)?;
        if name == FILE {
            file = Some(bytes).filter(|bytes| !bytes.is_empty());
        } else {
            fields.add(&name, &String::from_utf8_lossy(&bytes));
        }
    }
    Ok((fields, file))
}
