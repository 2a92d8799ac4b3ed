//! The parts of a home's size that a request states, and the figures of each such shape on the same
//! sales.

use crate::LEAST_ROWS;
use crate::accuracy::{Accuracy, Pair};
use crate::ranges::Ranges;
use crate::row::{Prediction, Row};
use serde::{Deserialize, Serialize};

/// The parts of a home's size that a request states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestShape {
    /// The customer states bedrooms and asks for stored data, which gives whatever is on record.
    #[default]
    Stored,
    /// The customer states the floor area and bedrooms, and asks for no stored data.
    Area,
    /// The customer states bedrooms and asks for stored data, and nothing of the home is on record.
    Bedrooms,
}

impl RequestShape {
    /// Returns whether the request asks for stored data, as most do.
    pub fn is_stored(&self) -> bool {
        *self == RequestShape::Stored
    }

    /// Returns the shape in words.
    pub fn words(self) -> &'static str {
        match self {
            RequestShape::Stored => "bedrooms and stored data",
            RequestShape::Area => "floor area and bedrooms",
            RequestShape::Bedrooms => "bedrooms alone",
        }
    }
}

/// One shape against [`RequestShape::Stored`], on the sales that both value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeFigures {
    /// The shape.
    pub shape: RequestShape,
    /// Sales that were asked about in it.
    pub sales: usize,
    /// Those that the release valued.
    pub valued: usize,
    /// Its accuracy on the sales that both value; absent below [`LEAST_ROWS`] of them.
    pub accuracy: Option<Accuracy>,
    /// Its ranges on those sales.
    pub ranges: Option<Ranges>,
    /// The accuracy with stored data on those sales.
    pub stored_accuracy: Option<Accuracy>,
    /// The ranges with stored data on those sales.
    pub stored_ranges: Option<Ranges>,
}

impl ShapeFigures {
    /// Returns the figures of sales in a shape, each beside the same sale with stored data.
    pub fn of(shape: RequestShape, rows: &[(Row, &Row)], nominal: f64) -> ShapeFigures {
        let valued = |row: &Row| matches!(row.answer, Prediction::Valued { .. });
        let both = || {
            rows.iter()
                .filter(|(row, stored)| valued(row) && valued(stored))
        };
        let ours: Vec<&Row> = both().map(|(row, _)| row).collect();
        let stored: Vec<&Row> = both().map(|(_, stored)| *stored).collect();
        let accuracy = |rows: &[&Row]| Accuracy::of(&pairs(rows)).filter(enough_values);
        let ranges = |rows: &[&Row]| Ranges::of(rows, nominal).filter(enough_ranges);
        ShapeFigures {
            shape,
            sales: rows.len(),
            valued: rows.iter().filter(|(row, _)| valued(row)).count(),
            accuracy: accuracy(&ours),
            ranges: ranges(&ours),
            stored_accuracy: accuracy(&stored),
            stored_ranges: ranges(&stored),
        }
    }
}

fn enough_values(found: &Accuracy) -> bool {
    found.rows >= LEAST_ROWS
}

fn enough_ranges(found: &Ranges) -> bool {
    found.rows >= LEAST_ROWS
}

fn pairs(rows: &[&Row]) -> Vec<Pair> {
    let pair = |row: &&Row| {
        Some(Pair {
            price: row.price,
            estimate: row.estimate()?,
        })
    };
    rows.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{row, row_with};

    #[test]
    fn both_sides_are_of_the_same_sales() {
        let stored: Vec<Row> = (0..40).map(|_| row(1_000.0, 1_000.0)).collect();
        let mut rows: Vec<(Row, &Row)> = stored
            .iter()
            .map(|stored| (row(1_000.0, 1_200.0), stored))
            .collect();
        rows[0].0 = row_with(Prediction::Referred("unusual_size".to_owned()));
        let found = ShapeFigures::of(RequestShape::Bedrooms, &rows, 0.8);
        assert_eq!((found.sales, found.valued), (40, 39));
        let (ours, theirs) = (found.accuracy.unwrap(), found.stored_accuracy.unwrap());
        assert_eq!((ours.rows, theirs.rows), (39, 39));
        assert_eq!((ours.mdape, theirs.mdape), (0.2, 0.0));
        assert_eq!(found.ranges.unwrap().coverage, 0.0);
        assert_eq!(found.stored_ranges.unwrap().coverage, 1.0);
    }

    #[test]
    fn few_sales_have_no_figures() {
        let stored = row(1_000.0, 1_000.0);
        let rows = vec![(row(1_000.0, 1_000.0), &stored); 29];
        let found = ShapeFigures::of(RequestShape::Area, &rows, 0.8);
        assert_eq!((found.sales, found.accuracy), (29, None));
    }
}
