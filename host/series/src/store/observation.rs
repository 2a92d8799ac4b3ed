//! One observation, as stored in the columns.

use chrono::NaiveDate;

use super::columns::FieldColumns;
use super::series::Series;
use crate::Period;
use crate::catalogue::{Family, FieldKind, Frequency, ObservationField, Status};
use crate::period::{day_of, month_start};

/// One observation, borrowed from the release.
#[derive(Clone, Copy)]
pub struct Observation<'r> {
    pub(crate) series: &'r Series,
    pub(crate) fields: Option<&'r FieldColumns>,
    pub(crate) texts: &'r [Box<str>],
    pub(crate) row: usize,
    pub(crate) number: usize,
    /// The day or month.
    pub period: Period,
    /// The status.
    pub status: Status,
    /// The value, in the unit of the metric.
    pub value: f64,
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'r> {
    /// A day, to be written `YYYY-MM-DD`.
    Date(NaiveDate),
    /// The first day of a month, to be written `YYYY-MM`.
    Month(NaiveDate),
    /// A whole number.
    Integer(i32),
    /// True or false.
    Boolean(bool),
    /// A word.
    Text(&'r str),
}

impl<'r> Observation<'r> {
    /// Returns every field that its dataset carries, in the contract's order, with its value;
    /// `None` where this observation has no such value.
    pub fn fields(&self) -> impl Iterator<Item = (ObservationField, Option<Value<'r>>)> + 'r {
        let (texts, row, number, period) = (self.texts, self.row, self.number, self.period);
        self.fields
            .into_iter()
            .flat_map(|fields| fields.columns.iter())
            .map(move |(field, column)| {
                let value = column
                    .get(row, number, period)
                    .map(|stored| read(texts, *field, stored));
                (*field, value)
            })
    }

    /// Returns the value of one field.
    pub fn field(&self, field: ObservationField) -> Option<Value<'r>> {
        self.fields()
            .find_map(|(found, value)| (found == field).then_some(value)?)
    }

    /// Returns the first and last day of the value's window, for observations of markets: the
    /// rolling window that ends with the period. A yield has two windows, and the result spans
    /// both.
    pub fn window(&self) -> Option<(NaiveDate, NaiveDate)> {
        if self.series.dataset.family != Family::Markets {
            return None;
        }
        let windows = self.series.windows;
        if windows.window_months.is_none()
            && let Some(span) = self.span_of_inputs()
        {
            return Some(span);
        }
        let months = windows
            .window_months
            .or(windows.rental_window_months)
            .unwrap_or(1);
        let before = i32::try_from(months.saturating_sub(1)).unwrap_or(0);
        Some((
            self.period.plus(-before).first_day(Frequency::Monthly),
            self.period.last_day(Frequency::Monthly),
        ))
    }

    fn span_of_inputs(&self) -> Option<(NaiveDate, NaiveDate)> {
        let day = |field| match self.field(field) {
            Some(Value::Date(day)) => Some(day),
            _ => None,
        };
        let of = |rental, capital| [day(rental), day(capital)].into_iter().flatten();
        let starts = of(
            ObservationField::RentalPeriodStart,
            ObservationField::CapitalPeriodStart,
        );
        let ends = of(
            ObservationField::RentalPeriodEnd,
            ObservationField::CapitalPeriodEnd,
        );
        starts.min().zip(ends.max())
    }
}

fn read(texts: &[Box<str>], field: ObservationField, stored: i32) -> Value<'_> {
    match field.kind() {
        FieldKind::Date => Value::Date(day_of(stored)),
        FieldKind::Month => Value::Month(month_start(stored)),
        FieldKind::Integer => Value::Integer(stored),
        FieldKind::Boolean => Value::Boolean(stored != 0),
        FieldKind::Text => Value::Text(
            usize::try_from(stored)
                .ok()
                .and_then(|number| texts.get(number))
                .map_or("", |text| text),
        ),
    }
}
