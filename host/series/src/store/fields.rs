//! Fields of observations as numbers: days, months, counts, truths, and words by their place in a
//! list.

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Int32Array, StringArray};
use rustc_hash::FxHashMap;

use super::StoreErrorKind;
use super::columns::ABSENT;
use super::read::typed_column;
use crate::catalogue::{FieldKind, ObservationField};
use crate::period::{day_of, month_number};

/// Words of observations, each held once.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) all: Vec<Box<str>>,
    index: FxHashMap<Box<str>, i32>,
    /// The last word, since words come in runs.
    last: Option<(Box<str>, i32)>,
}

impl Texts {
    pub(super) fn number(&mut self, text: &str) -> i32 {
        if let Some((last, number)) = &self.last
            && **last == *text
        {
            return *number;
        }
        let number = self.index.get(text).copied().unwrap_or_else(|| {
            let number = i32::try_from(self.all.len()).unwrap_or(i32::MAX);
            self.all.push(text.into());
            self.index.insert(text.into(), number);
            number
        });
        self.last = Some((text.into(), number));
        number
    }
}

/// Adds a field's column as numbers.
pub(super) fn numbers(
    field: ObservationField,
    column: &ArrayRef,
    texts: &mut Texts,
    into: &mut Vec<i32>,
) -> Result<(), StoreErrorKind> {
    let name = field.as_str();
    match field.kind() {
        FieldKind::Date => {
            let days: &Date32Array = typed_column(column, name)?;
            into.extend(days.iter().map(|day| day.unwrap_or(ABSENT)));
        }
        FieldKind::Month => {
            let days: &Date32Array = typed_column(column, name)?;
            into.extend(
                days.iter()
                    .map(|day| day.map_or(ABSENT, |day| month_number(day_of(day)))),
            );
        }
        FieldKind::Integer => {
            let numbers: &Int32Array = typed_column(column, name)?;
            into.extend(numbers.iter().map(|number| number.unwrap_or(ABSENT)));
        }
        FieldKind::Boolean => {
            let truths: &BooleanArray = typed_column(column, name)?;
            into.extend(truths.iter().map(|truth| truth.map_or(ABSENT, i32::from)));
        }
        FieldKind::Text => {
            let words: &StringArray = typed_column(column, name)?;
            into.extend(
                words
                    .iter()
                    .map(|word| word.map_or(ABSENT, |word| texts.number(word))),
            );
        }
    }
    Ok(())
}
