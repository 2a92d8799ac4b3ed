//! Lines of the form `name=values`.

use crate::ModelError;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Characters of a line in a message.
const EXCERPT: usize = 60;

/// The named lines of one section.
pub(super) struct Lines<'a> {
    place: &'a str,
    named: BTreeMap<&'a str, &'a str>,
    bare: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(place: &'a str, section: &'a str) -> Lines<'a> {
        let mut lines = Lines {
            place,
            named: BTreeMap::new(),
            bare: Vec::new(),
        };
        for line in section.lines().map(str::trim) {
            match line.split_once('=') {
                Some((name, value)) => {
                    lines.named.insert(name, value);
                }
                None => lines.bare.push(line),
            }
        }
        lines
    }

    pub(super) fn place(&self) -> String {
        self.place.to_owned()
    }

    pub(super) fn has_bare(&self, line: &str) -> bool {
        self.bare.contains(&line)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.named.get(name).copied()
    }

    fn require(&self, name: &'static str) -> Result<&'a str, ModelError> {
        self.text(name).ok_or_else(|| ModelError::MissingLine {
            place: self.place(),
            name,
        })
    }

    fn value<T: FromStr>(&self, name: &'static str, text: &str) -> Result<T, ModelError> {
        text.parse().map_err(|_| ModelError::InvalidLine {
            place: self.place(),
            name,
            found: text.chars().take(EXCERPT).collect(),
        })
    }

    pub(super) fn one<T: FromStr>(&self, name: &'static str) -> Result<T, ModelError> {
        self.value(name, self.require(name)?)
    }

    pub(super) fn one_or<T: FromStr>(&self, name: &'static str, other: T) -> Result<T, ModelError> {
        self.text(name)
            .map_or(Ok(other), |text| self.value(name, text))
    }

    /// Parses a list of exactly `needed` values.
    pub(super) fn list<T: FromStr>(
        &self,
        name: &'static str,
        needed: usize,
    ) -> Result<Vec<T>, ModelError> {
        let text = self.require(name)?;
        let values = text
            .split_ascii_whitespace()
            .map(|value| self.value(name, value))
            .collect::<Result<Vec<T>, ModelError>>()?;
        if values.len() == needed {
            Ok(values)
        } else {
            Err(ModelError::WrongCount {
                place: self.place(),
                name,
                found: values.len(),
                needed,
            })
        }
    }
}
