//! Entries as CSV.

use super::EntryWriter;
use domesday_console::usage::cells;
use domesday_state::UsageEntry;
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
            let tenant = &entry.tenant;
            let [month, at, kind, id, units] = cells(entry);
            writeln!(self.out, "{month},{tenant},{at},{kind},{id},{units}")?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> anyhow::Result<()> {
        Ok(self.out.flush()?)
    }
}
