//! Files of Parquet that a browser downloads.

use super::csv_file::attachment;
use super::error::ConsoleError;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// The column of numbers. All others are texts.
const VALUE: &str = "value";

/// Returns a file of rows. The first has the names of the columns. A blank is null.
///
/// # Errors
/// `Response` if the file cannot be written, which no row causes.
pub(super) fn download(name: &str, rows: &[Vec<String>]) -> Result<Response, ConsoleError> {
    let file = encode(rows).ok_or(ConsoleError::Response)?;
    let headers = [
        (
            header::CONTENT_TYPE,
            "application/vnd.apache.parquet".to_owned(),
        ),
        (header::CONTENT_DISPOSITION, attachment(name, "parquet")),
    ];
    Ok((headers, file).into_response())
}

fn encode(rows: &[Vec<String>]) -> Option<Vec<u8>> {
    let (head, rows) = rows.split_first()?;
    let columns = head.iter().enumerate().map(|(at, name)| {
        let cells = rows
            .iter()
            .map(|row| row.get(at).filter(|cell| !cell.is_empty()));
        let column: ArrayRef = match name == VALUE {
            true => {
                let numbers = cells.map(|cell| cell.and_then(|cell| cell.parse::<f64>().ok()));
                Arc::new(numbers.collect::<Float64Array>())
            }
            false => Arc::new(cells.collect::<StringArray>()),
        };
        (name, column, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).ok()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).ok()?;
    writer.write(&batch).ok()?;
    writer.close().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn numbers_and_blanks_keep_their_kind() {
        let rows = [["period", "value"], ["2026-01", "1.5"], ["2026-02", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let file = encode(&rows).unwrap();
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(axum::body::Bytes::from(file)).unwrap();
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let values = batch["value"].as_primitive::<Float64Type>();
        assert!(values.is_null(1));
        assert_eq!(values.value(0).to_bits(), 1.5_f64.to_bits());
        assert_eq!(batch["period"].as_string::<i32>().value(1), "2026-02");
    }
}
