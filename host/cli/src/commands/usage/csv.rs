//! Entries as CSV.

use super::EntryWriter;
use chrono::{DateTime, SecondsFormat};
use domesday_state::{UnixMillis, UsageEntry};
use std::io::Write;

/// A file of CSV. No value needs quotes.
pub(super) struct CsvWriter<W> {
    out: W,
}

impl<W: Write> CsvWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn new(mut out: W) -> anyhow::Result<CsvWriter<W>> {
        writeln!(out, "month,tenant,at,kind,id,units")?;
        Ok(CsvWriter { out })
    }
}

impl<W: Write> EntryWriter for CsvWriter<W> {
    fn write(&mut self, entries: &[UsageEntry]) -> anyhow::Result<()> {
        for entry in entries {
            let UsageEntry {
                tenant,
                month,
                source,
                units,
            } = entry;
            let (at, kind) = (time(source.at), source.kind.as_str());
            match source.id.is_nil() {
                true => writeln!(self.out, "{month},{tenant},{at},{kind},,{units}")?,
                false => {
                    let id = source.id;
                    writeln!(self.out, "{month},{tenant},{at},{kind},{id},{units}")?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Formats a time in UTC with milliseconds.
fn time(at: UnixMillis) -> String {
    let at = DateTime::from_timestamp_millis(at.0).unwrap_or_default();
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}
