//! Entries as Parquet.

use super::EntryWriter;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray};
use domesday_state::UsageEntry;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// A file of Parquet, with a group of rows for each page.
pub(super) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn new(out: W) -> anyhow::Result<ParquetWriter<W>> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .build();
        let schema = columns(&[])?.schema();
        let writer = ArrowWriter::try_new(out, schema, Some(properties))?;
        Ok(ParquetWriter { writer })
    }
}

impl<W: Write + Send> EntryWriter for ParquetWriter<W> {
    fn write(&mut self, entries: &[UsageEntry]) -> anyhow::Result<()> {
        self.writer.write(&columns(entries)?)?;
        Ok(self.writer.flush()?)
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        self.writer.close()?;
        Ok(())
    }
}

/// Returns entries as columns. Only the id may be null.
fn columns(entries: &[UsageEntry]) -> anyhow::Result<RecordBatch> {
    let text = |of: &dyn Fn(&UsageEntry) -> Option<String>| -> ArrayRef {
        Arc::new(entries.iter().map(of).collect::<StringArray>())
    };
    let at = entries.iter().map(|entry| entry.source.at.0);
    let at = TimestampMillisecondArray::from_iter_values(at).with_timezone("UTC");
    let units = entries.iter().map(|entry| entry.units);
    let id = |entry: &UsageEntry| entry.source.known_id().map(|id| id.to_string());
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("month", text(&|entry| Some(entry.month.to_string())), false),
        (
            "tenant",
            text(&|entry| Some(entry.tenant.to_string())),
            false,
        ),
        ("at", Arc::new(at) as ArrayRef, false),
        (
            "kind",
            text(&|entry| Some(entry.source.kind.as_str().to_owned())),
            false,
        ),
        ("id", text(&id), true),
        (
            "units",
            Arc::new(Int64Array::from_iter_values(units)),
            false,
        ),
    ])?)
}
