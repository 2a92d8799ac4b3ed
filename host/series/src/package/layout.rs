//! The columns of the Parquet files.

use arrow_schema::{DataType, Field, Schema};

use crate::catalogue::{FieldKind, ObservationField, SelectorName};

/// The version of the layout that is written and read.
pub const LAYOUT_VERSION: u32 = 1;

/// Columns of `series.parquet` besides one for each [`SelectorName`], each dimension and each
/// window.
pub mod series {
    /// The number of the series, from 0.
    pub const NUMBER: &str = "series";
    /// Its id as answered.
    pub const ID: &str = "series_id";
    /// Its dataset.
    pub const DATASET: &str = "dataset";
    /// Its metric.
    pub const METRIC: &str = "metric";
    /// The metric's unit.
    pub const UNIT: &str = "unit";
    /// Its basis.
    pub const BASIS: &str = "basis";
    /// Its frequency.
    pub const FREQUENCY: &str = "frequency";
    /// Its history capability.
    pub const HISTORY: &str = "history_capability";
    /// Availability of observations.
    pub const AVAILABILITY: &str = "availability_status";
    /// Its first period, as answered.
    pub const FROM: &str = "availability_from";
    /// Its last period, as answered.
    pub const TO: &str = "availability_to";
    /// The number of observations.
    pub const OBSERVATIONS: &str = "observations";
    /// The rule behind its values, in a sentence.
    pub const METHOD: &str = "method";
    /// Lengths of windows in months, null where there is none.
    pub const WINDOWS: [&str; 3] = [
        "window_months",
        "capital_window_months",
        "rental_window_months",
    ];
}

/// Columns of `observations.parquet` besides one for each [`ObservationField`].
pub mod observations {
    /// The number of the series.
    pub const SERIES: &str = "series";
    /// The day, or the first day of the month.
    pub const PERIOD: &str = "period";
    /// The status.
    pub const STATUS: &str = "status";
    /// The value, in the unit of the series.
    pub const VALUE: &str = "value";
}

/// Returns the schema of `series.parquet`.
pub fn series_schema() -> Schema {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let number = |name: &str, nullable| Field::new(name, DataType::UInt32, nullable);
    let mut fields = vec![
        number(series::NUMBER, false),
        text(series::ID, false),
        text(series::DATASET, false),
    ];
    fields.extend(
        SelectorName::ALL
            .iter()
            .map(|name| text(name.as_str(), true)),
    );
    fields.extend([
        text(series::METRIC, false),
        text(series::UNIT, false),
        text(series::BASIS, false),
        text(series::FREQUENCY, false),
    ]);
    fields.extend(series::WINDOWS.map(|name| number(name, true)));
    fields.extend(
        crate::catalogue::Dimension::ALL
            .iter()
            .map(|dimension| number(dimension.as_str(), true)),
    );
    fields.extend([
        text(series::HISTORY, false),
        text(series::AVAILABILITY, false),
        text(series::FROM, true),
        text(series::TO, true),
        number(series::OBSERVATIONS, false),
        text(series::METHOD, true),
    ]);
    Schema::new(fields)
}

/// Returns the schema of `observations.parquet`: the common columns, and those fields that the
/// family's datasets carry.
pub fn observations_schema(fields: &[ObservationField]) -> Schema {
    let mut columns = vec![
        Field::new(observations::SERIES, DataType::UInt32, false),
        Field::new(observations::PERIOD, DataType::Date32, false),
        Field::new(observations::STATUS, DataType::Utf8, false),
        Field::new(observations::VALUE, DataType::Float64, false),
    ];
    columns.extend(
        fields
            .iter()
            .map(|field| Field::new(field.as_str(), field_type(field.kind()), true)),
    );
    Schema::new(columns)
}

/// Returns the column type of a kind of field. A month is the day that it begins on.
pub fn field_type(kind: FieldKind) -> DataType {
    match kind {
        FieldKind::Date | FieldKind::Month => DataType::Date32,
        FieldKind::Integer => DataType::Int32,
        FieldKind::Boolean => DataType::Boolean,
        FieldKind::Text => DataType::Utf8,
    }
}

/// Returns the schema of `areas.parquet`.
pub fn areas_schema() -> Schema {
    Schema::new(vec![
        Field::new("code", DataType::Utf8, false),
        Field::new("name", DataType::Utf8, false),
    ])
}
