//! The form in memory that both families' builders fill.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::Period;
use crate::build::{BuildError, DraftErrorKind};
use crate::catalogue::{
    Availability, Dataset, Dimension, Family, FieldKind, Metric, ObservationField, SelectorName,
    SelectorRule, Status,
};
use crate::package::DatasetSummary;
use crate::period::{day_number, month_number};
use crate::store::{Area, Windows};

/// The identity of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub(crate) dataset: &'static Dataset,
    pub(crate) metric: &'static Metric,
    pub(crate) selectors: BTreeMap<SelectorName, String>,
    pub(crate) dimensions: BTreeMap<Dimension, u32>,
}

impl Key {
    /// Returns a series of this dataset and metric.
    pub fn new(dataset: &'static Dataset, metric: &'static Metric) -> Key {
        Key {
            dataset,
            metric,
            selectors: BTreeMap::new(),
            dimensions: BTreeMap::new(),
        }
    }

    /// Adds a selector.
    #[must_use]
    pub fn select(mut self, name: SelectorName, value: impl Into<String>) -> Key {
        self.selectors.insert(name, value.into());
        self
    }

    /// Adds a dimension.
    #[must_use]
    pub fn at(mut self, dimension: Dimension, value: u32) -> Key {
        self.dimensions.insert(dimension, value);
        self
    }

    /// Returns the id of the series: dataset, selectors, dimensions and metric,
    /// `dataset:name=value:metric`.
    pub fn id(&self) -> String {
        let selectors = self.selectors.iter().map(|(n, v)| format!(":{n}={v}"));
        let dimensions = self.dimensions.iter().map(|(n, v)| format!(":{n}={v}"));
        let middle: String = selectors.chain(dimensions).collect();
        format!("{}{middle}:{}", self.dataset.id, self.metric.id)
    }

    /// Returns the order of series in a package: dataset by the catalogue, selectors, dimensions,
    /// metric.
    fn order(&self) -> Order {
        Order {
            dataset: self.dataset.position(),
            selectors: SelectorName::ALL
                .iter()
                .map(|name| self.selectors.get(name).cloned())
                .collect(),
            dimensions: Dimension::ALL
                .iter()
                .map(|dimension| self.dimensions.get(dimension).copied())
                .collect(),
            metric: self
                .dataset
                .metrics
                .iter()
                .position(|metric| metric.id == self.metric.id)
                .unwrap_or(usize::MAX),
        }
    }

    /// Checks that the selectors are exactly the dataset's.
    fn check(&self) -> Result<(), DraftErrorKind> {
        let named: Vec<SelectorName> = self
            .dataset
            .selectors
            .iter()
            .filter(|s| matches!(s.rule, SelectorRule::Area | SelectorRule::Choice(_)))
            .map(|s| s.name)
            .collect();
        match named
            .iter()
            .find(|name| !self.selectors.contains_key(name))
            .or_else(|| self.selectors.keys().find(|name| !named.contains(name)))
        {
            Some(name) => Err(DraftErrorKind::Selector(name.as_str())),
            None => Ok(()),
        }
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    dataset: usize,
    selectors: Vec<Option<String>>,
    dimensions: Vec<Option<u32>>,
    metric: usize,
}

/// The value of an [`ObservationField`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// A day; for a month, any day of it.
    Date(NaiveDate),
    /// A whole number.
    Integer(i32),
    /// True or false.
    Boolean(bool),
    /// A word or sentence; it should be one of few.
    Text(Cow<'static, str>),
}

/// One observation that is added to a series.
#[derive(Debug, Clone, PartialEq)]
pub struct NewObservation {
    period: Period,
    value: f64,
    status: Option<Status>,
    fields: Vec<(ObservationField, FieldValue)>,
}

impl NewObservation {
    /// Returns an observation of a period. Its status is the metric's.
    pub fn new(period: Period, value: f64) -> NewObservation {
        NewObservation {
            period,
            value,
            status: None,
            fields: Vec::new(),
        }
    }

    /// Sets a status in place of the metric's.
    #[must_use]
    pub fn status(mut self, status: Status) -> NewObservation {
        self.status = Some(status);
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, field: ObservationField, value: FieldValue) -> NewObservation {
        self.fields.push((field, value));
        self
    }

    /// Adds a field that is a word.
    #[must_use]
    pub fn text(self, field: ObservationField, word: impl Into<Cow<'static, str>>) -> Self {
        self.with(field, FieldValue::Text(word.into()))
    }

    /// Adds a field that is a whole number.
    #[must_use]
    pub fn integer(self, field: ObservationField, number: u32) -> NewObservation {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        self.with(field, FieldValue::Integer(number))
    }

    /// Adds a field that is a day. For a field that is a month, any day of the month will do.
    #[must_use]
    pub fn date(self, field: ObservationField, day: NaiveDate) -> NewObservation {
        self.with(field, FieldValue::Date(day))
    }
}

/// Points to a series of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesHandle(usize);

/// A release in the making.
#[derive(Debug, Default)]
pub struct Draft {
    pub(crate) series: Vec<SeriesDraft>,
    pub(crate) areas: Vec<Area>,
    pub(crate) texts: Texts,
    /// The reasons why datasets are empty or incomplete, by the id of the dataset.
    pub(crate) reasons: BTreeMap<&'static str, String>,
}

/// Words, each held once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) all: Vec<String>,
    index: BTreeMap<String, i32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> i32 {
        if let Some(number) = self.index.get(text) {
            return *number;
        }
        let number = i32::try_from(self.all.len()).unwrap_or(i32::MAX);
        self.all.push(text.to_owned());
        self.index.insert(text.to_owned(), number);
        number
    }
}

/// One series of a draft, in columns.
#[derive(Debug)]
pub(crate) struct SeriesDraft {
    pub(crate) key: Key,
    pub(crate) windows: Windows,
    pub(crate) method: Option<String>,
    pub(crate) availability: Option<Availability>,
    pub(crate) rows: Vec<Row>,
    pub(crate) fields: BTreeMap<ObservationField, Vec<i32>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) period: Period,
    pub(crate) value: f64,
    pub(crate) status: Status,
    /// The index of its fields in the columns.
    pub(crate) at: u32,
}

/// The stored number of an absent field.
pub(crate) const ABSENT: i32 = i32::MIN;

impl Draft {
    /// Returns an empty draft.
    pub fn new() -> Draft {
        Draft::default()
    }

    /// Adds a series. Each key must be added once.
    pub fn series(&mut self, key: Key) -> SeriesHandle {
        self.series.push(SeriesDraft {
            key,
            windows: Windows::default(),
            method: None,
            availability: None,
            rows: Vec::new(),
            fields: BTreeMap::new(),
        });
        SeriesHandle(self.series.len() - 1)
    }

    /// States the windows of a series.
    pub fn windows(&mut self, series: SeriesHandle, windows: Windows) {
        self.series[series.0].windows = windows;
    }

    /// States in a sentence the rule behind a series.
    pub fn method(&mut self, series: SeriesHandle, rule: impl Into<String>) {
        self.series[series.0].method = Some(rule.into());
    }

    /// Sets the reason why a series has no observations. By default a series with observations is
    /// available.
    pub fn availability(&mut self, series: SeriesHandle, availability: Availability) {
        self.series[series.0].availability = Some(availability);
    }

    /// Adds an observation, in any order.
    pub fn push(&mut self, series: SeriesHandle, observation: NewObservation) {
        let draft = &mut self.series[series.0];
        let at = draft.rows.len();
        for (field, value) in observation.fields {
            let value = match value {
                FieldValue::Date(day) if field.kind() == FieldKind::Month => month_number(day),
                FieldValue::Date(day) => day_number(day),
                FieldValue::Integer(number) => number,
                FieldValue::Boolean(truth) => i32::from(truth),
                FieldValue::Text(text) => self.texts.number(&text),
            };
            let column = draft.fields.entry(field).or_default();
            column.resize(at + 1, ABSENT);
            column[at] = value;
        }
        draft.rows.push(Row {
            period: observation.period,
            value: observation.value,
            status: observation.status.unwrap_or(draft.key.metric.status),
            at: u32::try_from(at).unwrap_or(u32::MAX),
        });
    }

    /// Sets the local authorities of a release of markets.
    pub fn areas(&mut self, areas: Vec<Area>) {
        self.areas = areas;
    }

    /// States why a dataset is empty or incomplete, and the inputs to give.
    pub fn reason(&mut self, dataset: &'static Dataset, reason: impl Into<String>) {
        self.reasons.insert(dataset.id, reason.into());
    }

    /// Returns the extent of every dataset of a family, in the order of the catalogue.
    pub fn summaries(&self, family: Family) -> Vec<DatasetSummary> {
        let mut series: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for one in &self.series {
            series.entry(one.key.dataset.id).or_default().push(one);
        }
        let all = family.datasets().iter();
        all.map(|dataset| {
            let of_dataset = series.remove(dataset.id).unwrap_or_default();
            let rows = of_dataset.iter().flat_map(|series| &series.rows);
            let history = rows
                .map(|row| (row.period, row.period))
                .reduce(|(first, last), (from, to)| (first.min(from), last.max(to)));
            let reason = self.reasons.get(dataset.id).cloned();
            DatasetSummary::new(dataset, of_dataset.len(), history, reason)
        })
        .collect()
    }

    /// Puts series and observations in order and checks them.
    pub(crate) fn settle(&mut self) -> Result<(), BuildError> {
        self.series.sort_by_cached_key(|series| series.key.order());
        self.areas.sort();
        for series in &mut self.series {
            series.rows.sort_by_key(|row| row.period);
            series.check().map_err(|kind| BuildError::Draft {
                series: series.key.id(),
                kind,
            })?;
        }
        for pair in self.series.windows(2) {
            if pair[0].key == pair[1].key {
                return Err(BuildError::Draft {
                    series: pair[0].key.id(),
                    kind: DraftErrorKind::Duplicate,
                });
            }
        }
        Ok(())
    }
}

impl SeriesDraft {
    fn check(&self) -> Result<(), DraftErrorKind> {
        self.key.check()?;
        let frequency = self.key.dataset.frequency;
        for pair in self.rows.windows(2) {
            if pair[0].period == pair[1].period {
                return Err(DraftErrorKind::Twice(pair[0].period.text(frequency)));
            }
        }
        if let Some(row) = self.rows.iter().find(|row| !row.value.is_finite()) {
            return Err(DraftErrorKind::NotFinite(row.period.text(frequency)));
        }
        match self
            .fields
            .keys()
            .find(|field| !self.key.dataset.fields.contains(field))
        {
            Some(field) => Err(DraftErrorKind::Field(field.as_str())),
            None => Ok(()),
        }
    }

    /// Returns the stored number of a field in a row, if it carries it.
    pub(crate) fn field(&self, field: ObservationField, row: &Row) -> Option<i32> {
        let column = self.fields.get(&field)?;
        let value = *column.get(row.at as usize)?;
        (value != ABSENT).then_some(value)
    }

    /// Returns whether it has observations, or why not.
    pub(crate) fn status(&self) -> Availability {
        match (self.rows.is_empty(), self.availability) {
            (false, _) => Availability::Available,
            (true, Some(stated)) => stated,
            (true, None) => Availability::NotAvailable,
        }
    }
}
