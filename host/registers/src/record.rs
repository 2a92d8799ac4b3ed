//! Rows of cells out of a stream of bytes that may be damaged anywhere.
//!
//! A general CSV reader takes an unbalanced quotation mark for the beginning of a cell that
//! runs to the next quotation mark, however far. One bad byte can silently lose thousands of
//! rows. This reader bounds a row and accepts a quotation mark only where RFC 4180 has it. A row
//! that goes over lines must have exactly the file's columns. Otherwise the reader rejects the
//! row's first line alone and continues at the next line. A row has few lines, so that the reader
//! reads each line again a bounded number of times.

use crate::diagnosis::HEAD;
use crate::rejected_row::{RejectReason, RejectedRow};
use encoding_rs::WINDOWS_1252;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::ops::Range;

/// Longest row that is read, in bytes; real ones have at most a few thousand.
pub(crate) const MAX_RECORD: usize = 64 * 1024;
/// Most lines of a row; real ones have a few.
const MAX_LINES: usize = 100;

/// One row's cells, borrowed from the reader that is reused for every row.
pub struct Record<'r> {
    text: &'r str,
    ends: &'r [usize],
}

impl<'r> Record<'r> {
    /// Returns the number of cells, at least one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a cell without the white space around it; a cell past the end is blank.
    pub fn cell(&self, column: usize) -> &'r str {
        let begin = match column.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before).copied().unwrap_or(self.text.len()),
        };
        let end = self.ends.get(column).copied().unwrap_or(self.text.len());
        self.text.get(begin..end).unwrap_or_default().trim()
    }

    /// Returns all cells in order.
    pub fn cells(&self) -> impl Iterator<Item = &'r str> + '_ {
        (0..self.len()).map(|column| self.cell(column))
    }
}

/// Reads rows one by one into buffers that are reused.
pub(crate) struct Records {
    reader: Box<dyn BufRead + Send>,
    member: Option<String>,
    /// Lines to be read again, since the row that seemed to run on over them was rejected.
    again: VecDeque<Line>,
    lines: u64,
    raw: Vec<u8>,
    /// Bytes of `raw` that are the row's first line.
    first: usize,
    /// The row's other lines, which `raw` holds as well.
    followed: Vec<Line>,
    text: String,
    ends: Vec<usize>,
    recoded: u64,
    /// True if the row read last ends with the file, whose earlier lines have line ends.
    unended: bool,
}

/// A line of the stream. Its bytes are in `raw`.
struct Line {
    number: u64,
    too_long: bool,
    /// The file ends within the line, or with it.
    unended: bool,
    /// Its bytes too, if a row ran on over it. It may be read again.
    waiting: Vec<u8>,
}

/// The outcome of splitting a row into cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    Whole,
    /// Inside a quoted cell, which may go on in the next line.
    Open,
    /// A quotation mark at a wrong position.
    Malformed,
}

impl Records {
    pub(crate) fn new(reader: Box<dyn BufRead + Send>, member: Option<String>) -> Records {
        Records {
            reader,
            member,
            again: VecDeque::new(),
            lines: 0,
            raw: Vec::new(),
            first: 0,
            followed: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            recoded: 0,
            unended: false,
        }
    }

    /// Returns the row read last.
    pub(crate) fn record(&self) -> Record<'_> {
        Record {
            text: &self.text,
            ends: &self.ends,
        }
    }

    /// Returns the file within the zip, if any.
    pub(crate) fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// Returns the number of lines read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the number of rows that were not UTF-8 and were read as Windows-1252.
    pub(crate) fn recoded_rows(&self) -> u64 {
        self.recoded
    }

    /// Returns whether the row read last has no line end, while earlier lines have one. The file
    /// may have been cut within its last cell.
    pub(crate) fn is_unended(&self) -> bool {
        self.unended
    }

    /// Returns the file's beginning again, after its first line was read and refused.
    pub(crate) fn head(&mut self) -> Vec<u8> {
        let mut head = std::mem::take(&mut self.raw);
        for line in self.again.drain(..) {
            head.push(b'\n');
            head.extend(line.waiting);
        }
        head.push(b'\n');
        // A value that cannot be read shows nothing.
        let _ = (&mut self.reader).take(HEAD as u64).read_to_end(&mut head);
        head
    }

    /// Reads the next row, with `columns` cells if known: its line, or the rejected row, or `None`
    /// at the end. Blank lines are skipped.
    pub(crate) fn read(
        &mut self,
        columns: Option<usize>,
    ) -> io::Result<Option<Result<u64, RejectedRow>>> {
        loop {
            self.raw.clear();
            let Some(line) = self.take_line()? else {
                return Ok(None);
            };
            if !line.too_long && self.raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let damage = if line.too_long {
                Some(RejectReason::RecordTooLong)
            } else {
                self.cells(columns)?
            };
            // A quotation mark closes the last cell, so that it is whole.
            self.unended = self.lines > 1
                && self.raw.last() != Some(&b'"')
                && (line.unended || self.followed.iter().any(|it| it.unended));
            return Ok(Some(match damage {
                None => Ok(line.number),
                Some(reason) => {
                    // A damaged row without a line end is where a download broke off.
                    let fewer = columns.is_some_and(|columns| self.ends.len() < columns);
                    let cut = line.unended
                        && (reason == RejectReason::UnbalancedQuote
                            || reason == RejectReason::WrongColumnCount && fewer);
                    let reason = if cut { RejectReason::CutShort } else { reason };
                    let begin = self.raw.get(..512).unwrap_or(&self.raw);
                    Err(RejectedRow::new(
                        self.member(),
                        line.number,
                        reason,
                        &String::from_utf8_lossy(begin),
                    ))
                }
            }));
        }
    }

    /// Splits the line in `raw`, with those that it runs on over, into cells.
    fn cells(&mut self, columns: Option<usize>) -> io::Result<Option<RejectReason>> {
        self.first = self.raw.len();
        self.followed.clear();
        let (mut split, mut recoded) = self.split();
        if split == Split::Open {
            (split, recoded) = self.follow(columns)?;
        }
        let one_line = self.followed.is_empty();
        let control = |b: u8| (b < b' ' && b != b'\t' && (one_line || b != b'\n')) || b == 0x7f;
        let reason = if split != Split::Whole {
            RejectReason::UnbalancedQuote
        } else if self.text.bytes().any(control)
            || (recoded && self.text.contains(|c| ('\u{80}'..'\u{a0}').contains(&c)))
        {
            RejectReason::ControlCharacter
        } else if columns.is_some_and(|columns| columns != self.ends.len()) {
            RejectReason::WrongColumnCount
        } else {
            self.recoded += u64::from(recoded);
            return Ok(None);
        };
        self.put_back();
        Ok(Some(if one_line {
            reason
        } else {
            RejectReason::UnbalancedQuote
        }))
    }

    /// Reads on while a quoted cell is open, as far as a row may go.
    ///
    /// Each line goes on from the open cell. The row is split again once it is whole.
    fn follow(&mut self, columns: Option<usize>) -> io::Result<(Split, bool)> {
        let mut state = Split::Open;
        let mut cells = self.ends.len();
        while state == Split::Open
            && self.raw.len() < MAX_RECORD
            && self.followed.len() + 1 < MAX_LINES
            // The open cell is one more.
            && columns.is_none_or(|columns| cells < columns)
        {
            self.raw.push(b'\n');
            let begin = self.raw.len();
            let Some(mut line) = self.take_line()? else {
                break;
            };
            let bytes = self.raw.get(begin..).unwrap_or_default();
            if line.waiting.is_empty() {
                line.waiting = bytes.to_vec();
            }
            if !line.too_long {
                state = split(bytes, true, |part| {
                    cells += usize::from(matches!(part, Part::End));
                });
            }
            let too_long = line.too_long;
            self.followed.push(line);
            if too_long {
                break;
            }
        }
        match state {
            Split::Whole => Ok(self.split()),
            _ => Ok((state, false)),
        }
    }

    /// Queues all lines of the row read last but its first to be read again.
    ///
    /// The row is refused, and its lines may be rows themselves.
    pub(crate) fn put_back(&mut self) {
        self.raw.truncate(self.first);
        for line in self.followed.drain(..).rev() {
            self.again.push_front(line);
        }
    }

    /// Appends the next line to `raw`, without its end.
    fn take_line(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.again.pop_front() {
            self.raw.extend_from_slice(&line.waiting);
            return Ok(Some(line));
        }
        let begin = self.raw.len();
        let bound = MAX_RECORD as u64 + 1;
        if (&mut self.reader)
            .take(bound)
            .read_until(b'\n', &mut self.raw)?
            == 0
        {
            return Ok(None);
        }
        self.lines += 1;
        let unended = self.raw.last() != Some(&b'\n');
        let too_long = unended && self.raw.len() - begin > MAX_RECORD;
        if too_long {
            self.reader.skip_until(b'\n')?;
        }
        for end in [b'\n', b'\r'] {
            if self.raw.len() > begin && self.raw.last() == Some(&end) {
                self.raw.pop();
            }
        }
        if self.lines == 1 && self.raw.starts_with(b"\xef\xbb\xbf") {
            self.raw.drain(..3);
        }
        Ok(Some(Line {
            number: self.lines,
            too_long,
            unended: unended && !too_long,
            waiting: Vec::new(),
        }))
    }

    /// Splits `raw`. Also returns whether it was read as Windows-1252, the encoding of the
    /// publishers' older files.
    fn split(&mut self) -> (Split, bool) {
        let text = match std::str::from_utf8(&self.raw) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(&self.raw).0,
        };
        let recoded = matches!(text, Cow::Owned(_));
        self.text.clear();
        self.ends.clear();
        let state = split(text.as_bytes(), false, |part| match part {
            Part::Text(range) => self.text.push_str(text.get(range).unwrap_or_default()),
            Part::End => self.ends.push(self.text.len()),
        });
        (state, recoded)
    }
}

/// A part of a row.
enum Part {
    /// Characters of a cell, by their position in the row.
    Text(Range<usize>),
    /// The end of a cell.
    End,
}

/// Splits a row at its commas, as in RFC 4180, or the rest of a row that goes on within a quoted
/// cell. A quotation mark inside an unquoted cell is an ordinary character.
fn split(bytes: &[u8], within_quotes: bool, mut take: impl FnMut(Part)) -> Split {
    let find = |from: usize, what: u8| {
        bytes
            .get(from..)
            .and_then(|rest| rest.iter().position(|&b| b == what))
            .map(|at| from + at)
    };
    let is_quote = |at: usize| bytes.get(at) == Some(&b'"');
    let mut at = 0;
    let mut quoted = within_quotes;
    if !quoted && is_quote(at) {
        (quoted, at) = (true, 1);
    }
    loop {
        if quoted {
            loop {
                let Some(quote) = find(at, b'"') else {
                    return Split::Open;
                };
                take(Part::Text(at..quote));
                at = quote + 1;
                if !is_quote(at) {
                    break;
                }
                take(Part::Text(at..at + 1));
                at += 1;
            }
        } else {
            let end = find(at, b',').unwrap_or(bytes.len());
            take(Part::Text(at..end));
            at = end;
        }
        take(Part::End);
        match bytes.get(at) {
            None => return Split::Whole,
            Some(b',') => at += 1,
            Some(_) => return Split::Malformed,
        }
        quoted = is_quote(at);
        at += usize::from(quoted);
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
