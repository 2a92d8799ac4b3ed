//! The valued sales, one a line, for joining with other data.

use crate::row::{Prediction, Row};
use domesday_registers::codes::{PropertyType, Subtype, Tenure};
use serde::Serialize;
use std::io::Write;

/// One sale in the file. Pounds are written to the penny, as the release gave them.
#[derive(Serialize)]
struct Line<'a> {
    sale_id: String,
    date: String,
    price_gbp: f64,
    property_type: PropertyType,
    local_authority: &'a str,
    postcode_area: &'a str,
    new_build: bool,
    subtype: Subtype,
    title_tenure: Tenure,
    bedrooms: Option<u32>,
    floor_area_known: bool,
    outcome: &'static str,
    reason: &'a str,
    estimate_gbp: Option<f64>,
    lower_gbp: Option<f64>,
    upper_gbp: Option<f64>,
    confidence_band: &'a str,
    last_sale_indexed_gbp: Option<f64>,
    local_price_per_sqm_gbp: Option<f64>,
}

impl<'a> From<&'a Row> for Line<'a> {
    fn from(row: &'a Row) -> Line<'a> {
        let (outcome, reason, estimate, range, band) = match &row.answer {
            Prediction::Valued {
                estimate,
                range,
                band,
            } => ("valued", "", Some(*estimate), *range, band.as_str()),
            Prediction::Referred(reason) => ("referred", reason.as_str(), None, None, ""),
            Prediction::Failed(reason) => ("valuation_failed", reason.as_str(), None, None, ""),
        };
        let [last_sale_indexed_gbp, local_price_per_sqm_gbp] = row.baselines;
        Line {
            sale_id: format!("{:016x}", row.id),
            date: row.day.to_string(),
            price_gbp: row.price,
            property_type: row.property_type,
            local_authority: &row.authority,
            postcode_area: &row.postcode_area,
            new_build: row.new_build,
            subtype: row.stated.subtype,
            title_tenure: row.stated.tenure,
            bedrooms: row.stated.bedrooms,
            floor_area_known: row.floor_area,
            outcome,
            reason,
            estimate_gbp: estimate,
            lower_gbp: range.map(|[lower, _]| lower),
            upper_gbp: range.map(|[_, upper]| upper),
            confidence_band: band,
            last_sale_indexed_gbp,
            local_price_per_sqm_gbp,
        }
    }
}

/// Writes the rows as CSV with a header, in their order. An id is the first eight bytes of the
/// SHA-256 of the register's transaction identifier (in capitals, without braces), in hexadecimal
/// digits.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(rows: &[Row], out: impl Write) -> csv::Result<()> {
    let mut file = csv::Writer::from_writer(out);
    for row in rows {
        file.serialize(Line::from(row))?;
    }
    file.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;

    #[test]
    fn a_line_holds_the_sale_the_answer_and_the_baselines() {
        let mut rows = vec![row(1_000.0, 900.0), row(2_000.0, 1.0)];
        rows[0].baselines = [Some(950.5), None];
        rows[1].answer = Prediction::Referred("unusual_size".to_owned());
        let mut out = Vec::new();
        write(&rows, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let fields: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let of = |line: usize, name: &str| {
            let at = fields[0].iter().position(|field| *field == name).unwrap();
            fields[line][at]
        };
        assert_eq!(fields.len(), 3);
        assert_eq!(
            (of(1, "price_gbp"), of(1, "estimate_gbp")),
            ("1000.0", "900.0")
        );
        assert_eq!((of(1, "outcome"), of(1, "reason")), ("valued", ""));
        assert_eq!(
            (of(1, "subtype"), of(1, "title_tenure"), of(1, "bedrooms")),
            ("house_mid_terrace", "freehold", "3")
        );
        assert_eq!(of(1, "last_sale_indexed_gbp"), "950.5");
        assert_eq!(of(1, "local_price_per_sqm_gbp"), "");
        assert_eq!(
            (of(2, "outcome"), of(2, "reason")),
            ("referred", "unusual_size")
        );
        assert_eq!((of(2, "estimate_gbp"), of(2, "confidence_band")), ("", ""));
    }
}
