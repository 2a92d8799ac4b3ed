//! UK House Price Index series.

use super::BuildError;
use super::sources::{Kind, Sources, Verdict};
use crate::model::GssCode;
use crate::store::index;
use domesday_registers::codes::PropertyType;
use domesday_registers::house_price_index::IndexFile;
use domesday_registers::records::IndexRow;
use std::collections::BTreeMap;

/// Series by key of table `price_index`, each month once, oldest first.
pub(crate) type Indices = BTreeMap<u64, Vec<(i16, f64)>>;

/// Returns a row's month, or the reason for which a build leaves the row out.
pub(crate) fn month(row: &IndexRow) -> Result<i16, &'static str> {
    i16::try_from(row.month).map_err(|_| "month_out_of_range")
}

/// Reads the index files. Where two have one month of one area, the file whose latest month
/// is later wins, and between equals the one with the greater SHA-256.
pub(crate) fn read(sources: &mut Sources<'_, '_>) -> Result<Indices, BuildError> {
    let mut latest: Vec<i16> = Vec::new();
    let mut points: Vec<(u64, i16, u32, f64)> = Vec::new();
    sources.read::<IndexFile>(Kind::PriceIndex, |file, row| {
        let Some(code) = GssCode::parse(&row.area_code) else {
            return Verdict::LeftOut("no_gss_code", row.area_code);
        };
        let month = match month(&row) {
            Ok(month) => month,
            Err(reason) => return Verdict::LeftOut(reason, row.area_code),
        };
        latest.resize(latest.len().max(file as usize + 1), i16::MIN);
        latest[file as usize] = latest[file as usize].max(month);
        let columns = [
            (None, row.all),
            (Some(PropertyType::Detached), row.detached),
            (Some(PropertyType::SemiDetached), row.semi_detached),
            (Some(PropertyType::Terraced), row.terraced),
            (Some(PropertyType::Flat), row.flat),
        ];
        for (property_type, value) in columns {
            if let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) {
                points.push((index::key(code, property_type), month, file, value));
            }
        }
        Verdict::Kept
    })?;
    // Later files come last and overwrite.
    points.sort_by_key(|&(key, month, file, _)| (key, month, latest[file as usize], file));
    let mut indices = Indices::new();
    for (key, month, _, value) in points {
        let series = indices.entry(key).or_default();
        match series.last_mut() {
            Some(last) if last.0 == month => last.1 = value,
            _ => series.push((month, value)),
        }
    }
    Ok(indices)
}
