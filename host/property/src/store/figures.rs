//! Twelve-month figures. A row is one area, type and calendar year, with a window of twelve bytes
//! for each of the months that it may end in.
//!
//! Years without any sale in a window have no row. Rows of a year stay small, so that they fill
//! their pages; a row for all years would spill over into further pages.

use super::bytes::{get, put};
use super::codes::FixedCodes;
use super::postcode::{self, UNITS_OF_SECTOR};
use crate::model::{AreaLevel, GssCode};
use domesday_registers::Postcode;
use domesday_registers::codes::PropertyType;

const WIDTH: usize = 12;

/// One window as packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) count: u32,
    /// Twice the median in pounds, so that the mean of two stays whole; 0 for suppressed.
    pub(crate) median_twice: u64,
    /// Pence; 0 for suppressed.
    pub(crate) pence_per_sqm: u32,
}

/// Largest price whose double five bytes hold, in pounds.
pub(crate) const MAX_PRICE: u64 = (1 << 39) - 1;

/// Returns the number of an area of a level; `None` where its code has not the level's form.
pub(crate) fn area(level: AreaLevel, code: &str) -> Option<u64> {
    let packed = |inward: &str| Postcode::parse(&format!("{code}{inward}"));
    Some(match level {
        AreaLevel::PostcodeDistrict => {
            let first = packed("0AA").filter(|postcode| postcode.district() == code)?;
            district_of(postcode::pack(&first))
        }
        AreaLevel::PostcodeSector => {
            let first = packed("AA").filter(|postcode| postcode.sector() == code)?;
            sector_of(postcode::pack(&first))
        }
        AreaLevel::LocalAuthority => u64::from(GssCode::parse(code)?.pack()),
    })
}

/// Returns the number of a packed postcode's district.
pub(crate) fn district_of(packed: u64) -> u64 {
    packed / UNITS_OF_SECTOR / 10
}

/// Returns the number of a packed postcode's sector.
pub(crate) fn sector_of(packed: u64) -> u64 {
    packed / UNITS_OF_SECTOR
}

/// Returns the key of an area's row for a type (`None`: all dwellings) and a year.
pub(crate) fn key(
    level: AreaLevel,
    area: u64,
    property_type: Option<PropertyType>,
    year: u64,
) -> u64 {
    let level = match level {
        AreaLevel::PostcodeDistrict => 0,
        AreaLevel::PostcodeSector => 1,
        AreaLevel::LocalAuthority => 2,
    };
    ((level << 32 | area) << 3 | PropertyType::number(property_type)) << 16 | year
}

/// Returns the area and the year of a key, the year counted from 1970; `None` where no key is so
/// made.
pub(crate) fn area_and_year(key: u64) -> Option<((AreaLevel, u64), i32)> {
    let level = match key >> 51 {
        0 => AreaLevel::PostcodeDistrict,
        1 => AreaLevel::PostcodeSector,
        2 => AreaLevel::LocalAuthority,
        _ => return None,
    };
    let year = (key & 0xFFFF) as i32 - 1970;
    Some(((level, key >> 19 & 0xFFFF_FFFF), year))
}

/// Returns the January of a row's year, in months since January 1970.
pub(crate) fn january(key: u64) -> i32 {
    ((key & 0xFFFF) as i32 - 1970) * 12
}

/// Packs the windows that end in January to December.
pub(crate) fn encode(windows: &[Window; 12]) -> Vec<u8> {
    let mut out = Vec::with_capacity(12 * WIDTH);
    for window in windows {
        put::<3>(&mut out, u64::from(window.count));
        put::<5>(&mut out, window.median_twice);
        put::<4>(&mut out, u64::from(window.pence_per_sqm));
    }
    out
}

/// Returns the window that ends in a month of the row's year, January being 0; `None` where the row
/// is damaged.
pub(crate) fn window(bytes: &[u8], month: usize) -> Option<Window> {
    let (windows, rest) = bytes.as_chunks::<WIDTH>();
    let window = windows.get(month).filter(|_| rest.is_empty())?;
    Some(Window {
        count: get::<3>(window, 0) as u32,
        median_twice: get::<5>(window, 3),
        pence_per_sqm: get::<4>(window, 8) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_its_area_and_year() {
        for level in [
            AreaLevel::PostcodeDistrict,
            AreaLevel::PostcodeSector,
            AreaLevel::LocalAuthority,
        ] {
            let key_of_area = key(level, 0xFFFF_FFFF, Some(PropertyType::Flat), 2026);
            assert_eq!(area_and_year(key_of_area), Some(((level, 0xFFFF_FFFF), 56)));
        }
        assert_eq!(area_and_year(u64::MAX), None);
    }

    #[test]
    fn codes_of_another_form_are_no_areas() {
        let packed = postcode::pack(&Postcode::parse("LE10 0ZZ").unwrap());
        assert_eq!(
            area(AreaLevel::PostcodeDistrict, "LE10"),
            Some(district_of(packed))
        );
        assert_eq!(
            area(AreaLevel::PostcodeSector, "LE10 0"),
            Some(sector_of(packed))
        );
        for (level, code) in [
            (AreaLevel::PostcodeDistrict, "LE1 0"),
            (AreaLevel::PostcodeDistrict, "le10"),
            (AreaLevel::PostcodeDistrict, ""),
            (AreaLevel::PostcodeSector, "LE100"),
            (AreaLevel::PostcodeSector, "LE10"),
            (AreaLevel::LocalAuthority, "LE10"),
        ] {
            assert_eq!(area(level, code), None, "{code}");
        }
    }
}
