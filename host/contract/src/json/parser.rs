//! The grammar of JSON (RFC 8259), in one pass over the text.

use std::borrow::Cow;

use super::limits::{DEPTH_MAX, MEMBERS_MAX};
use super::plain_text::plain_length;
use super::position::{SyntaxError, SyntaxErrorKind};
use super::tree::{Member, Object, Rows, Value};

/// The initial capacity for members, enough for most sections.
const MEMBERS_USUAL: usize = 8;

/// Levels of objects that are kept: the document and its sections.
const LEVELS_MAX: usize = 2;

/// A parser of one text.
pub(super) struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    rows: Option<(&'static str, usize)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, rows: Option<(&'static str, usize)>) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            rows,
        }
    }

    pub(super) fn document(mut self) -> Result<Value<'a>, SyntaxError> {
        let value = self.value(0)?;
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.syntax_error(SyntaxErrorKind::Trailing)),
        }
    }

    /// Reads the next value, inside `depth` objects and arrays.
    fn value(&mut self, depth: usize) -> Result<Value<'a>, SyntaxError> {
        match self.peek() {
            Some(b'{') if depth < LEVELS_MAX => self.object(depth + 1).map(Value::Object),
            Some(b'{') => self.skip_object(depth + 1).map(|()| Value::Composite),
            Some(b'[') => {
                self.array(depth + 1, 0)?;
                Ok(Value::List)
            }
            Some(b'"') => self.string().map(Value::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Value::Number),
            Some(b'n') => self.word("null", Value::Null),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(_) => Err(self.syntax_error(SyntaxErrorKind::Value)),
            None => Err(self.syntax_error(SyntaxErrorKind::End)),
        }
    }

    /// Reads an object of the levels that are kept.
    fn object(&mut self, depth: usize) -> Result<Object<'a>, SyntaxError> {
        let mut object = Object::default();
        self.members(depth, |parser| {
            let at = parser.at;
            let name = parser.string()?;
            parser.colon()?;
            let rows = (parser.rows).filter(|(list, _)| depth == 1 && name == *list);
            let value = match (rows, parser.peek()) {
                (Some((_, rows_max)), Some(b'[')) => {
                    Value::Rows(parser.array(depth + 1, rows_max)?)
                }
                _ => parser.value(depth)?,
            };
            if object.members.len() == MEMBERS_MAX {
                object.truncated = true;
            } else {
                if object.members.is_empty() {
                    object.members.reserve(MEMBERS_USUAL);
                }
                object.members.push(Member { name, value, at });
            }
            Ok(())
        })?;
        Ok(object)
    }

    /// Steps over the next value. Nothing of it is kept.
    fn skip(&mut self, depth: usize) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'{') => self.skip_object(depth + 1),
            Some(b'"') => self.skip_string(),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            _ => self.value(depth).map(drop),
        }
    }

    fn skip_object(&mut self, depth: usize) -> Result<(), SyntaxError> {
        self.members(depth, |parser| {
            parser.skip_string()?;
            parser.colon()?;
            parser.skip(depth)
        })
    }

    /// Steps over an object. `member` reads a member, from the quote of its name.
    fn members(
        &mut self,
        depth: usize,
        mut member: impl FnMut(&mut Self) -> Result<(), SyntaxError>,
    ) -> Result<(), SyntaxError> {
        self.open(depth)?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            match self.peek() {
                Some(b'"') => member(self)?,
                Some(_) => return Err(self.syntax_error(SyntaxErrorKind::Name)),
                None => return Err(self.syntax_error(SyntaxErrorKind::End)),
            }
            if self.closed_by(b'}')? {
                return Ok(());
            }
        }
    }

    /// Steps over the colon after a name.
    fn colon(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.syntax_error(SyntaxErrorKind::Colon)),
            None => Err(self.syntax_error(SyntaxErrorKind::End)),
        }
    }

    /// Reads an array, keeping the text of its first `rows_max` elements.
    fn array(&mut self, depth: usize, rows_max: usize) -> Result<Rows<'a>, SyntaxError> {
        self.open(depth)?;
        let mut rows = Rows::default();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(rows);
        }
        loop {
            self.peek();
            let start = self.at;
            // A row is parsed again on its own, so nothing of it is kept here.
            self.skip(depth)?;
            rows.count += 1;
            if rows.texts.len() < rows_max {
                rows.texts.push(&self.text[start..self.at]);
            }
            if self.closed_by(b']')? {
                return Ok(rows);
            }
        }
    }

    /// Steps over an opening bracket.
    fn open(&mut self, depth: usize) -> Result<(), SyntaxError> {
        if depth > DEPTH_MAX {
            return Err(self.syntax_error(SyntaxErrorKind::Depth));
        }
        self.at += 1;
        Ok(())
    }

    /// Steps over a comma (false) or the closing bracket (true).
    fn closed_by(&mut self, bracket: u8) -> Result<bool, SyntaxError> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == bracket => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.syntax_error(SyntaxErrorKind::Comma)),
            None => Err(self.syntax_error(SyntaxErrorKind::End)),
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        let quote = self.at;
        match self.string_end()? {
            false => Ok(Cow::Borrowed(&self.text[quote + 1..self.at - 1])),
            true => self.unescape(quote).map(Cow::Owned),
        }
    }

    fn skip_string(&mut self) -> Result<(), SyntaxError> {
        let quote = self.at;
        match self.string_end()? {
            false => Ok(()),
            true => self.unescape(quote).map(drop),
        }
    }

    /// Steps over a string. Returns whether it has an escape, which [`Self::unescape`] checks.
    fn string_end(&mut self) -> Result<bool, SyntaxError> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    // An escaped quote, too.
                    self.at += 2;
                }
                Some(_) => return Err(self.syntax_error(SyntaxErrorKind::Control)),
                None => {
                    self.at = self.bytes.len();
                    return Err(self.syntax_error(SyntaxErrorKind::End));
                }
            }
        }
    }

    /// Returns the text of a string with escapes, from its quote to where the parser is.
    fn unescape(&self, quote: usize) -> Result<String, SyntaxError> {
        serde_json::from_str(&self.text[quote..self.at])
            .map_err(|_| SyntaxError::after(&self.text[..quote], SyntaxErrorKind::Escape))
    }

    fn number(&mut self) -> Result<&'a str, SyntaxError> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        if self.byte() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.byte() {
            Some(b'0'..=b'9' | b'.' | b'+' | b'-') => {
                Err(self.syntax_error(SyntaxErrorKind::Number))
            }
            _ => Ok(&self.text[start..self.at]),
        }
    }

    /// Steps over one digit or more.
    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.syntax_error(SyntaxErrorKind::Number));
        }
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, SyntaxError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.syntax_error(SyntaxErrorKind::Value));
        }
        self.at += word.len();
        Ok(value)
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    #[cold]
    fn syntax_error(&self, kind: SyntaxErrorKind) -> SyntaxError {
        SyntaxError::after(&self.text[..self.at], kind)
    }
}
