//! Files that pages load: a style, a script and an icon, embedded in the program.

use super::error::ConsoleError;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Each file with its media type.
const FILES: [(&str, &str, &str); 3] = [
    (
        "console.css",
        "text/css; charset=utf-8",
        include_str!("assets/console.css"),
    ),
    (
        "console.js",
        "text/javascript; charset=utf-8",
        include_str!("assets/console.js"),
    ),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// Serves a file.
pub(super) async fn file(Path(name): Path<String>) -> Result<Response, ConsoleError> {
    let found = FILES.into_iter().find(|(file, ..)| *file == name);
    let (_, media_type, text) = found.ok_or(ConsoleError::NoPage)?;
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "private, max-age=300"),
    ];
    Ok((headers, text).into_response())
}
