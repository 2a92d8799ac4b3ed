//! Files of comma-separated values that a browser downloads.

use super::error::ConsoleError;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domesday_console::csv_text;

/// Returns a file of rows, in which no cell is a formula.
///
/// # Errors
/// `Response` if a row cannot be written, which none causes.
pub(super) fn download(
    name: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<Response, ConsoleError> {
    let text = csv_text::write(rows).map_err(|_| ConsoleError::Response)?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, attachment(name, "csv")),
    ];
    Ok((headers, text).into_response())
}

/// Returns the header that has a browser save a file under a name.
pub(super) fn attachment(name: &str, extension: &str) -> String {
    let safe: String = name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || ['_', '-'].contains(letter))
        .collect();
    format!("attachment; filename=\"{safe}.{extension}\"")
}
