//! Files with one JSON object a line.

use super::FitError;
use serde::de::DeserializeOwned;
use std::io::BufRead;

/// Reads the rows of a file with their line numbers, skipping empty lines.
pub fn read<T: DeserializeOwned>(
    source: impl BufRead,
) -> impl Iterator<Item = Result<(u64, T), FitError>> {
    (1..)
        .zip(source.lines())
        .filter_map(|(line, text)| match text {
            Err(source) => Some(Err(FitError::Read { line, source })),
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(
                serde_json::from_str(&text)
                    .map(|row| (line, row))
                    .map_err(|source| FitError::Line { line, source }),
            ),
        })
}
