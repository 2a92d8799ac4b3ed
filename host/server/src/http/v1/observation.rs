//! One observation as it is answered: period, status, value, and the fields of its dataset.

use domesday_series::FormattedPeriod;
use domesday_series::catalogue::Frequency;
use domesday_series::store::{Observation, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// An observation that is written straight from the columns.
pub struct ObservationBody<'r> {
    pub frequency: Frequency,
    pub observation: Observation<'r>,
}

impl Serialize for ObservationBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let observation = &self.observation;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("period", observation.period.format(self.frequency).as_str())?;
        map.serialize_entry("status", observation.status.as_str())?;
        map.serialize_entry("value", &Number(observation.value))?;
        if let Some((start, end)) = observation.window() {
            map.serialize_entry("period_start", FormattedPeriod::day(start).as_str())?;
            map.serialize_entry("period_end", FormattedPeriod::day(end).as_str())?;
        }
        for (field, value) in observation.fields() {
            map.serialize_entry(field.as_str(), &value.map(Field))?;
        }
        map.end()
    }
}

/// Whole numbers are written without a fraction, so that 12 sales are not 12.0.
struct Number(f64);

/// Every whole number below this has an exact neighbour, so that nothing is lost.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

struct Field<'r>(Value<'r>);

impl Serialize for Field<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Date(date) => serializer.serialize_str(FormattedPeriod::day(date).as_str()),
            Value::Month(first) => serializer.serialize_str(FormattedPeriod::month(first).as_str()),
            Value::Integer(number) => serializer.serialize_i32(number),
            Value::Boolean(truth) => serializer.serialize_bool(truth),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are() {
        let json = |number| serde_json::to_string(&Number(number)).unwrap();
        assert_eq!(json(12.0), "12");
        assert_eq!(json(0.0), "0");
        assert_eq!(json(-3.25), "-3.25");
        assert_eq!(json(1e-7), "1e-7");
    }
}
