//! rejects.csv: one line for each row that was not taken.

use super::BuildError;
use domesday_registers::RejectedRow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The rejects file being written.
pub(crate) struct RejectsFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl RejectsFile {
    pub(crate) fn create(path: &Path) -> Result<RejectsFile, BuildError> {
        let file = File::create(path).map_err(BuildError::io(path))?;
        let mut rejects = RejectsFile {
            path: path.to_owned(),
            out: BufWriter::new(file),
        };
        rejects.line("file,line,reason,value")?;
        Ok(rejects)
    }

    /// Writes a row that its reader refused.
    pub(crate) fn read(&mut self, file: &str, reject: &RejectedRow) -> Result<(), BuildError> {
        let position = (reject.member.as_deref(), reject.line);
        self.row(file, position, reject.reason.code(), &reject.value)
    }

    /// Writes a row that is not taken: its file, line and reason.
    ///
    /// The file comes with the member of an archive. `value` is the cell or the identifier that
    /// shows the reason.
    pub(crate) fn row(
        &mut self,
        file: &str,
        (member, line): (Option<&str>, u64),
        reason: &str,
        value: &str,
    ) -> Result<(), BuildError> {
        let file = match member {
            Some(member) => format!("{file}/{member}"),
            None => file.to_owned(),
        };
        self.line(&format!("{},{line},{reason},{}", cell(&file), cell(value)))
    }

    fn line(&mut self, line: &str) -> Result<(), BuildError> {
        writeln!(self.out, "{line}").map_err(BuildError::io(&self.path))
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        self.out.flush().map_err(BuildError::io(&self.path))?;
        self.out
            .get_ref()
            .sync_all()
            .map_err(BuildError::io(&self.path))
    }
}

/// Returns a cell, quoted if needed. Line ends become spaces, so that a line is a row.
fn cell(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_stays_one_cell() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell("a \"b\", c\r\nd"), "\"a \"\"b\"\", c  d\"");
    }
}
