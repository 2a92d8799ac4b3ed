//! OS Open UPRN: the coordinates of every UPRN, and nothing else.

use crate::address_base::whole;
use crate::code_point::{easting, northing};
use crate::header::Header;
use crate::record::Record;
use crate::rejected_row::RejectReason;
use crate::rows::{Begin, Register, RowError, Warnings};
use crate::uprn::uprn;

/// The location of a UPRN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UprnPoint {
    /// Unique Property Reference Number, 1 to 12 digits.
    pub uprn: u64,
    /// British National Grid, metres, rounded to whole ones.
    pub easting: i32,
    /// British National Grid, metres, rounded to whole ones.
    pub northing: i32,
}

/// Columns of OS Open UPRN.
#[derive(Debug, Default)]
pub struct OpenUprnFile {
    uprn: usize,
    easting: usize,
    northing: usize,
}

/// Returns whether a header is this product's: coordinates of UPRNs without addresses.
pub(crate) fn is_header(header: &Header) -> bool {
    header.find(&["uprn"]).is_some()
        && header.find(&["x_coordinate"]).is_some()
        && header
            .find(&["postcode", "postcode_locator", "paon"])
            .is_none()
}

impl Register for OpenUprnFile {
    type Row = UprnPoint;
    const NAME: &'static str = "OS Open UPRN";

    /// Returns the table, not the licence beside it.
    fn wants(member: &str) -> bool {
        let member = member.to_ascii_lowercase();
        member.ends_with(".csv") && member.contains("osopenuprn")
    }

    fn begin(&mut self, first: &Record<'_>) -> Begin {
        let mut header = Header::new(first);
        *self = OpenUprnFile {
            uprn: header.need(&["uprn"]),
            easting: header.need(&["x_coordinate"]),
            northing: header.need(&["y_coordinate"]),
        };
        match header.missing() {
            missing if missing.is_empty() => Begin::Header,
            missing => Begin::Missing(missing),
        }
    }

    fn row(&mut self, record: &Record<'_>, _: &mut Warnings) -> Result<UprnPoint, RowError> {
        let refuse = |reason, column| Err(RowError::new(reason, record.cell(column)));
        let Some(uprn) = uprn(record.cell(self.uprn)) else {
            return refuse(RejectReason::BadUprn, self.uprn);
        };
        let Some(easting) = easting(&whole(record.cell(self.easting))) else {
            return refuse(RejectReason::BadGridReference, self.easting);
        };
        let Some(northing) = northing(&whole(record.cell(self.northing))) else {
            return refuse(RejectReason::BadGridReference, self.northing);
        };
        Ok(UprnPoint {
            uprn,
            easting,
            northing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Rows;
    use std::io::Cursor;

    #[test]
    fn a_row_is_a_point() {
        let text = "UPRN,X_COORDINATE,Y_COORDINATE,LATITUDE,LONGITUDE\n\
            100000000001,459318.00,304176.60,52.1,-1.1\n\
            0,459318.00,304176.60,52.1,-1.1\n\
            100000000002,,304176.60,52.1,-1.1\n";
        let rows = Rows::<OpenUprnFile>::from_reader("osopenuprn.csv", Cursor::new(text)).unwrap();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        let point = UprnPoint {
            uprn: 100_000_000_001,
            easting: 459_318,
            northing: 304_177,
        };
        assert_eq!(rows[0], Ok(point));
        assert_eq!(rows[1].as_ref().unwrap_err().reason, RejectReason::BadUprn);
        assert_eq!(
            rows[2].as_ref().unwrap_err().reason,
            RejectReason::BadGridReference
        );
    }
}
