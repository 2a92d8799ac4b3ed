//! Files of comma-separated values that a browser downloads.

use super::error::ConsoleError;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Returns a file of rows. A cell that a spreadsheet would take for a formula begins with an
/// apostrophe, so that it stays a text.
///
/// # Errors
/// `Response` if a row cannot be written, which none causes.
pub(super) fn download(
    name: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<Response, ConsoleError> {
    let mut writer = csv::WriterBuilder::new()
        .flexible(true)
        .from_writer(Vec::new());
    for row in rows {
        let cells = row.into_iter().map(defuse);
        writer
            .write_record(cells)
            .map_err(|_| ConsoleError::Response)?;
    }
    let text = writer.into_inner().map_err(|_| ConsoleError::Response)?;
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

/// Puts an apostrophe before a text that a spreadsheet would take for a formula. Numbers stay.
fn defuse(cell: String) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    match is_formula && cell.parse::<f64>().is_err() {
        true => format!("'{cell}"),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_becomes_a_text_and_a_number_stays() {
        for formula in ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1"] {
            assert_eq!(defuse(formula.to_owned()), format!("'{formula}"));
        }
        for other in ["", "-1.5", "+44", "a=b", "QA1 1AF"] {
            assert_eq!(defuse(other.to_owned()), other);
        }
    }
}
