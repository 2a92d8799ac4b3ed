//! The Parquet files of a draft, always the same bytes for the same draft.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int32Array, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::BuildError;
use super::draft::{Draft, Row, SeriesDraft};
use crate::catalogue::{Dimension, Family, FieldKind, ObservationField, SelectorName};
use crate::package::{AREAS, OBSERVATIONS, SERIES, layout};
use crate::period::{day_number, month_start};

/// The most rows of a row group. Row groups hold rows of one dataset only.
const GROUP: usize = 1 << 20;

/// Encodes `series.parquet`.
pub(super) fn series(draft: &Draft) -> Result<Vec<u8>, BuildError> {
    let all = &draft.series;
    let text = |of: &dyn Fn(&SeriesDraft) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(all.iter().map(of)))
    };
    let optional_text = |of: &dyn Fn(&SeriesDraft) -> Option<String>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&SeriesDraft) -> Option<u32>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<UInt32Array>())
    };
    let length = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let mut columns = vec![
        Arc::new(UInt32Array::from_iter_values(0..length(all.len()))) as ArrayRef,
        text(&|s| s.key.id()),
        text(&|s| s.key.dataset.id.to_owned()),
    ];
    columns.extend(
        SelectorName::ALL
            .iter()
            .map(|name| optional_text(&|s| s.key.selectors.get(name).cloned())),
    );
    columns.extend([
        text(&|s| s.key.metric.id.to_owned()),
        text(&|s| s.key.metric.unit.to_owned()),
        text(&|s| s.key.metric.basis.to_string()),
        text(&|s| s.key.dataset.frequency.to_string()),
        number(&|s| s.windows.window_months),
        number(&|s| s.windows.capital_window_months),
        number(&|s| s.windows.rental_window_months),
    ]);
    columns.extend(
        Dimension::ALL
            .iter()
            .map(|dimension| number(&|s| s.key.dimensions.get(dimension).copied())),
    );
    let period = |row: Option<&Row>, series: &SeriesDraft| {
        row.map(|row| row.period.text(series.key.dataset.frequency))
    };
    columns.extend([
        text(&|s| s.key.dataset.history.to_string()),
        text(&|s| s.status().to_string()),
        optional_text(&|s| period(s.rows.first(), s)),
        optional_text(&|s| period(s.rows.last(), s)),
        number(&|s| Some(length(s.rows.len()))),
        optional_text(&|s| s.method.clone()),
    ]);
    file(SERIES, layout::series_schema(), [Ok(columns)])
}

/// Encodes `observations.parquet`.
pub(super) fn observations(draft: &Draft, family: Family) -> Result<Vec<u8>, BuildError> {
    let fields: Vec<ObservationField> = ObservationField::ALL
        .iter()
        .copied()
        .filter(|field| {
            let mut datasets = family.datasets().iter();
            datasets.any(|dataset| dataset.fields.contains(field))
        })
        .collect();
    let rows: Vec<(u32, &SeriesDraft, &Row)> = (0_u32..)
        .zip(&draft.series)
        .flat_map(|(number, series)| series.rows.iter().map(move |row| (number, series, row)))
        .collect();
    let groups = rows
        .chunk_by(|one, next| one.1.key.dataset.id == next.1.key.dataset.id)
        .flat_map(|rows| rows.chunks(GROUP))
        .map(|rows| Ok(group(draft, rows, &fields)));
    file(OBSERVATIONS, layout::observations_schema(&fields), groups)
}

/// Returns the columns of one row group.
fn group(
    draft: &Draft,
    rows: &[(u32, &SeriesDraft, &Row)],
    fields: &[ObservationField],
) -> Vec<ArrayRef> {
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.0))),
        Arc::new(Date32Array::from_iter_values(rows.iter().map(
            |(_, series, row)| day_number(row.period.first_day(series.key.dataset.frequency)),
        ))),
        Arc::new(StringArray::from_iter_values(
            rows.iter().map(|(_, _, row)| row.status.as_str()),
        )),
        Arc::new(Float64Array::from_iter_values(
            rows.iter().map(|(_, _, row)| row.value),
        )),
    ];
    columns.extend(fields.iter().map(|field| column(draft, rows, *field)));
    columns
}

/// Returns one field of all rows of a row group.
fn column(draft: &Draft, rows: &[(u32, &SeriesDraft, &Row)], field: ObservationField) -> ArrayRef {
    let values = rows.iter().map(|(_, series, row)| series.field(field, row));
    match field.kind() {
        FieldKind::Date => Arc::new(values.collect::<Date32Array>()),
        FieldKind::Month => Arc::new(
            values
                .map(|month| month.map(|month| day_number(month_start(month))))
                .collect::<Date32Array>(),
        ),
        FieldKind::Integer => Arc::new(values.collect::<Int32Array>()),
        FieldKind::Boolean => Arc::new(
            values
                .map(|value| value.map(|value| value != 0))
                .collect::<BooleanArray>(),
        ),
        FieldKind::Text => {
            let mut texts = StringBuilder::new();
            for value in values {
                texts.append_option(
                    value
                        .and_then(|number| usize::try_from(number).ok())
                        .and_then(|number| draft.texts.all.get(number)),
                );
            }
            Arc::new(texts.finish())
        }
    }
}

/// Encodes `areas.parquet`.
pub(super) fn areas(draft: &Draft) -> Result<Vec<u8>, BuildError> {
    let column = |of: fn(&crate::store::Area) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(draft.areas.iter().map(of)))
    };
    let columns = vec![column(|area| &area.code), column(|area| &area.name)];
    file(AREAS, layout::areas_schema(), [Ok(columns)])
}

/// Returns a Parquet file of these row groups. Everything that could change its bytes is fixed
/// here.
fn file(
    name: &'static str,
    schema: Schema,
    groups: impl IntoIterator<Item = Result<Vec<ArrayRef>, ParquetError>>,
) -> Result<Vec<u8>, BuildError> {
    let schema = Arc::new(schema);
    let attempt = || -> Result<Vec<u8>, ParquetError> {
        let properties = WriterProperties::builder()
            .set_created_by("domesday".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .set_max_row_group_row_count(Some(GROUP))
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
        for columns in groups {
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns?)?;
            writer.write(&batch)?;
            writer.flush()?;
        }
        writer.into_inner()
    };
    attempt().map_err(|error| BuildError::Parquet { file: name, error })
}
