//! Observations in columns: common ones dense, rare ones only for the datasets that carry them.

use crate::Period;
use crate::catalogue::{Dataset, FieldKind, Frequency, ObservationField};
use crate::store::Series;

/// The value of an absent field.
pub(crate) const ABSENT: i32 = i32::MIN;

/// The fields of one dataset's observations.
#[derive(Debug)]
pub(crate) struct FieldColumns {
    pub(crate) columns: Vec<(ObservationField, Column)>,
}

/// One field of a dataset's observations, in the smallest form that holds it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// No observation carries it.
    Absent,
    /// It is the day of the period.
    SameAsPeriod,
    /// One value for all observations of a series, by its place among the dataset's series.
    BySeries { first: usize, values: Vec<i32> },
    /// One value an observation.
    Dense { first: usize, values: Vec<i32> },
}

impl Column {
    /// Returns the stored number in a row of a series.
    pub(crate) fn get(&self, row: usize, series: usize, period: Period) -> Option<i32> {
        let stored = match self {
            Column::Absent => ABSENT,
            Column::SameAsPeriod => period.number(),
            Column::BySeries { first, values } => *values.get(series - first)?,
            Column::Dense { first, values } => *values.get(row - first)?,
        };
        (stored != ABSENT).then_some(stored)
    }

    /// Returns the smallest form of `values`, the field of all observations of `dataset`. `series`
    /// are its series, and `first` is the number of the first one.
    pub(crate) fn compact(
        dataset: &Dataset,
        field: ObservationField,
        values: Vec<i32>,
        periods: &[i32],
        series: &[Series],
        first: usize,
    ) -> Column {
        if values.iter().all(|value| *value == ABSENT) {
            return Column::Absent;
        }
        let by_day = dataset.frequency == Frequency::Daily && field.kind() == FieldKind::Date;
        if by_day && values == periods {
            return Column::SameAsPeriod;
        }
        let start = series.first().map_or(0, |series| series.rows.start);
        let of = |series: &Series| &values[series.rows.start - start..series.rows.end - start];
        let uniform = |values: &[i32]| values.windows(2).all(|pair| pair[0] == pair[1]);
        if series.iter().all(|series| uniform(of(series))) {
            return Column::BySeries {
                first,
                values: series
                    .iter()
                    .map(|series| of(series).first().copied().unwrap_or(ABSENT))
                    .collect(),
            };
        }
        Column::Dense {
            first: start,
            values,
        }
    }
}
