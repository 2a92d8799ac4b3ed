//! Opening: from a package to columns in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Date32Array, Float64Array, StringArray, UInt32Array};
use domesday_package::{Package, Trust, Verification};
use rustc_hash::FxHashMap;

use super::columns::{Column, FieldColumns};
use super::fields::{Texts, numbers};
use super::read::{ParquetFile, number, text, typed_column};
use super::release::{DatasetIndex, segment_key};
use super::{Area, OpenError, Release, Series, StoreErrorKind, Windows};
use crate::Period;
use crate::catalogue::{Availability, Dataset, Dimension, Family, Frequency, SelectorName, Status};
use crate::package::layout::{observations as o, series as s};
use crate::package::{AREAS, MarketsBody, OBSERVATIONS, RatesBody, SERIES};
use crate::period::{day_of, month_number};

impl Release {
    /// Opens the release of this family in `directory`.
    ///
    /// # Errors
    /// The package does not match its manifest or is not trusted, or has files that this version
    /// cannot read.
    pub fn open(
        directory: &Path,
        family: Family,
        trust: &Trust,
        verification: &dyn Verification,
    ) -> Result<Release, OpenError> {
        let package = domesday_package::open_with(directory, trust, verification)?;
        let body = match family {
            Family::Markets => package.body::<MarketsBody>()?.0,
            Family::Rates => package.body::<RatesBody>()?.0,
        };
        let mut release = Release {
            family,
            id: package.manifest().id.clone(),
            created: package.manifest().created,
            digest: package.digest(),
            body,
            areas: Vec::new(),
            series: Vec::new(),
            segments: FxHashMap::default(),
            datasets: BTreeMap::new(),
            texts: Vec::new(),
            periods: Vec::new(),
            values: Vec::new(),
            statuses: Vec::new(),
        };
        in_file(&package, SERIES, |file| release.read_series(&file))?;
        release.index();
        in_file(&package, OBSERVATIONS, |file| {
            release.read_observations(&file)
        })?;
        if family == Family::Markets {
            in_file(&package, AREAS, |file| release.read_areas(&file))?;
        }
        Ok(release)
    }

    fn read_series(&mut self, file: &ParquetFile) -> Result<(), StoreErrorKind> {
        let mut names = vec![
            s::ID,
            s::DATASET,
            s::METRIC,
            s::AVAILABILITY,
            s::METHOD,
            s::FROM,
            s::TO,
        ];
        names.extend(SelectorName::ALL.iter().map(|name| name.as_str()));
        let texts = names.len();
        names.push(s::OBSERVATIONS);
        names.extend(s::WINDOWS);
        names.extend(Dimension::ALL.iter().map(|dimension| dimension.as_str()));
        let mut words = Words::default();
        let mut next = 0;
        for columns in file.all(&names)? {
            let columns = SeriesColumns::of(&columns, &names, texts)?;
            for row in 0..columns.rows() {
                let series = columns.series(row, self.family, next, &mut words)?;
                next = series.rows.end;
                self.series.push(series);
            }
        }
        Ok(())
    }

    /// Indexes the series of each dataset and segment, and the nodes and words that exist.
    fn index(&mut self) {
        for (number, series) in self.series.iter().enumerate() {
            let index = self
                .datasets
                .entry(series.dataset.id)
                .or_insert_with(|| DatasetIndex {
                    series: number..number,
                    ..DatasetIndex::default()
                });
            index.series.end = number + 1;
            index.latest = index.latest.max(series.history.map(|(_, last)| last));
            for (dimension, value) in series.dimensions() {
                index.nodes.entry(dimension).or_default().insert(value);
            }
            for (name, word) in SelectorName::ALL.iter().zip(&series.selectors) {
                if let Some(word) = word.as_ref().filter(|_| *name != SelectorName::Area) {
                    let words = index.words.entry(*name).or_default();
                    if !words.contains(word) {
                        words.insert(Arc::clone(word));
                    }
                }
            }
            let words = series.selectors.iter().flatten().map(|word| &**word);
            let key = segment_key(series.dataset, words);
            self.segments.entry(key).or_insert(number..number).end = number + 1;
        }
    }

    fn read_observations(&mut self, file: &ParquetFile) -> Result<(), StoreErrorKind> {
        let expected = self.series.last().map_or(0, |series| series.rows.end);
        let groups = file.groups();
        let found = groups.iter().sum::<usize>();
        if found != expected {
            return Err(StoreErrorKind::Count { found, expected });
        }
        self.periods.reserve_exact(expected);
        self.values.reserve_exact(expected);
        self.statuses.reserve_exact(expected);
        let mut texts = Texts::default();
        let mut group = 0;
        for dataset in self.family.datasets() {
            let Some(index) = self.datasets.get(dataset.id) else {
                continue;
            };
            let numbers = index.series.clone();
            let first = numbers.start;
            let start = self.series.get(first).map_or(0, |s| s.rows.start);
            let end = self.series[numbers.clone()]
                .last()
                .map_or(start, |s| s.rows.end);
            // A row group holds rows of one dataset only, and datasets stand in order.
            let mut rows = 0;
            let from = group;
            while rows < end - start && group < groups.len() {
                rows += groups[group];
                group += 1;
            }
            let fields = self.read_dataset(file, dataset, (from..group).collect(), &mut texts)?;
            if self.periods.len() != end {
                return Err(StoreErrorKind::Count {
                    found: self.periods.len(),
                    expected: end,
                });
            }
            let series = &self.series[numbers];
            for series in series {
                let periods = &self.periods[series.rows.clone()];
                if let Some(at) = periods.windows(2).position(|pair| pair[0] >= pair[1]) {
                    return Err(StoreErrorKind::Order {
                        row: series.rows.start + at + 1,
                    });
                }
            }
            let columns = dataset
                .fields
                .iter()
                .zip(fields)
                .map(|(field, values)| {
                    let periods = &self.periods[start..end];
                    (
                        *field,
                        Column::compact(dataset, *field, values, periods, series, first),
                    )
                })
                .collect();
            if let Some(index) = self.datasets.get_mut(dataset.id) {
                index.fields = Some(FieldColumns { columns });
            }
        }
        self.texts = texts.all;
        Ok(())
    }

    /// Reads the row groups of one dataset: common columns into place, and its fields, each as one
    /// number an observation.
    fn read_dataset(
        &mut self,
        file: &ParquetFile,
        dataset: &Dataset,
        groups: Vec<usize>,
        texts: &mut Texts,
    ) -> Result<Vec<Vec<i32>>, StoreErrorKind> {
        let mut names = vec![o::PERIOD, o::STATUS, o::VALUE];
        names.extend(dataset.fields.iter().map(|field| field.as_str()));
        let mut fields = vec![Vec::new(); dataset.fields.len()];
        file.columns(groups, &names, |columns| {
            let periods: &Date32Array = typed_column(&columns[0], o::PERIOD)?;
            match dataset.frequency {
                Frequency::Daily => self.periods.extend_from_slice(periods.values()),
                Frequency::Monthly => self.periods.extend(
                    periods
                        .values()
                        .iter()
                        .map(|day| month_number(day_of(*day))),
                ),
            }
            let statuses: &StringArray = typed_column(&columns[1], o::STATUS)?;
            for row in 0..statuses.len() {
                let word = statuses.value(row);
                let status = Status::from_word(word).ok_or_else(|| StoreErrorKind::Value {
                    row: self.statuses.len(),
                    column: o::STATUS,
                    value: word.to_owned(),
                })?;
                self.statuses.push(status);
            }
            let values: &Float64Array = typed_column(&columns[2], o::VALUE)?;
            self.values.extend_from_slice(values.values());
            for ((field, column), into) in dataset.fields.iter().zip(&columns[3..]).zip(&mut fields)
            {
                numbers(*field, column, texts, into)?;
            }
            Ok(())
        })?;
        Ok(fields)
    }

    fn read_areas(&mut self, file: &ParquetFile) -> Result<(), StoreErrorKind> {
        for columns in file.all(&["code", "name"])? {
            let codes: &StringArray = typed_column(&columns[0], "code")?;
            let names: &StringArray = typed_column(&columns[1], "name")?;
            for row in 0..codes.len() {
                self.areas.push(Area {
                    code: codes.value(row).to_owned(),
                    name: names.value(row).to_owned(),
                });
            }
        }
        self.areas.sort();
        Ok(())
    }
}

/// Words that series share, each in memory once.
#[derive(Default)]
struct Words(FxHashMap<String, Arc<str>>);

impl Words {
    fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(word) = self.0.get(text) {
            return Arc::clone(word);
        }
        let word: Arc<str> = text.into();
        self.0.insert(text.to_owned(), Arc::clone(&word));
        word
    }
}

/// The columns of the file of series: texts, then numbers.
struct SeriesColumns<'c> {
    names: &'c [&'static str],
    texts: Vec<&'c StringArray>,
    numbers: Vec<&'c UInt32Array>,
}

impl<'c> SeriesColumns<'c> {
    /// Takes columns of these names. The first `texts` hold texts.
    fn of(
        columns: &'c [ArrayRef],
        names: &'c [&'static str],
        texts: usize,
    ) -> Result<SeriesColumns<'c>, StoreErrorKind> {
        Ok(SeriesColumns {
            names,
            texts: columns[..texts]
                .iter()
                .zip(names)
                .map(|(column, name)| typed_column(column, name))
                .collect::<Result<_, _>>()?,
            numbers: columns[texts..]
                .iter()
                .zip(&names[texts..])
                .map(|(column, name)| typed_column(column, name))
                .collect::<Result<_, _>>()?,
        })
    }

    fn rows(&self) -> usize {
        self.texts[0].len()
    }

    fn text(&self, column: usize, row: usize) -> Result<&'c str, StoreErrorKind> {
        text(self.texts[column], row).ok_or(StoreErrorKind::Column(self.names[column]))
    }

    fn invalid(&self, column: usize, row: usize, value: &str) -> StoreErrorKind {
        StoreErrorKind::Value {
            row,
            column: self.names[column],
            value: value.to_owned(),
        }
    }

    fn period(
        &self,
        column: usize,
        row: usize,
        frequency: Frequency,
    ) -> Result<Option<Period>, StoreErrorKind> {
        text(self.texts[column], row)
            .map(|text| {
                Period::parse(text, frequency).ok_or_else(|| self.invalid(column, row, text))
            })
            .transpose()
    }

    /// Reads the series of a row, whose observations begin at `first`.
    fn series(
        &self,
        row: usize,
        family: Family,
        first: usize,
        words: &mut Words,
    ) -> Result<Series, StoreErrorKind> {
        let id = self.text(0, row)?;
        let dataset = self.text(1, row)?;
        let dataset = family
            .dataset(dataset)
            .ok_or_else(|| self.invalid(1, row, dataset))?;
        let metric = self.text(2, row)?;
        let metric = dataset
            .metric(metric)
            .ok_or_else(|| self.invalid(2, row, metric))?;
        let availability = self.text(3, row)?;
        let availability = Availability::from_word(availability)
            .ok_or_else(|| self.invalid(3, row, availability))?;
        let history =
            self.period(5, row, dataset.frequency)?
                .zip(self.period(6, row, dataset.frequency)?);
        let mut selectors: [Option<Arc<str>>; SelectorName::ALL.len()] = Default::default();
        for (at, selector) in selectors.iter_mut().enumerate() {
            *selector = text(self.texts[7 + at], row).map(|text| words.share(text));
        }
        let number = |at: usize| number(self.numbers[at], row);
        let count = number(0).ok_or(StoreErrorKind::Column(s::OBSERVATIONS))? as usize;
        let windows = Windows {
            window_months: number(1),
            capital_window_months: number(2),
            rental_window_months: number(3),
        };
        let mut dimensions = [None; Dimension::ALL.len()];
        for (at, dimension) in dimensions.iter_mut().enumerate() {
            *dimension = number(4 + at);
        }
        Ok(Series {
            id: id.into(),
            dataset,
            metric,
            selectors,
            dimensions,
            windows,
            method: text(self.texts[4], row).map(|text| words.share(text)),
            availability,
            history,
            rows: first..first + count,
        })
    }
}

/// Opens one file of a package and names it in the error.
fn in_file(
    package: &Package,
    name: &'static str,
    read: impl FnOnce(ParquetFile) -> Result<(), StoreErrorKind>,
) -> Result<(), OpenError> {
    let path = package.path(name)?;
    File::open(path)
        .map_err(|error| StoreErrorKind::Parquet(error.into()))
        .and_then(ParquetFile::open)
        .and_then(read)
        .map_err(|kind| OpenError::File {
            release: package.manifest().id.to_string(),
            file: name,
            kind,
        })
}
