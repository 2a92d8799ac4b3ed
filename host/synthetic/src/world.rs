//! The parameters of a world: a seed, a size and its last day.

use crate::SyntheticError;
use chrono::NaiveDate;

/// Everything that decides the bytes written.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The same seed, size and last day give the same bytes on every machine.
    pub seed: u64,
    /// The size of the world.
    pub size: Size,
    /// The last day on which anything happens, at the earliest 2012-01-01.
    pub through: NaiveDate,
}

/// Numbers of things. Sales and certificates are drawn, so their numbers are exact within a few per
/// cent only.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Local authorities in all, 1 to 318.
    pub authorities: u32,
    /// Of these, how many lie in Wales.
    pub welsh_authorities: u32,
    /// Of the English ones, how many are tiny. They are a few islands and the middle of a city in
    /// turn, like the Isles of Scilly and the City of London.
    pub thin_authorities: u32,
    /// Homes, exactly. Shops and offices are extra, about one for 40 homes.
    pub properties: u32,
    /// Sales since 1995, shops' sales and duplicates not counted.
    pub sales: u32,
    /// Energy certificates since October 2008.
    pub certificates: u32,
    /// Streets in one postcode sector; small worlds want small sectors, to have several.
    pub streets_per_sector: u32,
    /// Share of all addresses in the address file, 0 to 1.
    pub address_share: f64,
}

impl Size {
    /// Returns a few megabytes: six authorities, one of them Welsh.
    pub fn demo() -> Size {
        Size {
            authorities: 6,
            welsh_authorities: 1,
            thin_authorities: 0,
            properties: 12_000,
            sales: 30_000,
            certificates: 11_000,
            streets_per_sector: 8,
            address_share: 0.95,
        }
    }

    /// Returns the size of England and Wales.
    pub fn national() -> Size {
        Size {
            authorities: 318,
            welsh_authorities: 22,
            thin_authorities: 2,
            properties: 27_000_000,
            sales: 30_000_000,
            certificates: 25_000_000,
            streets_per_sector: 90,
            address_share: 0.95,
        }
    }
}

/// The day on which the price paid register begins.
pub(crate) const FIRST_DAY: NaiveDate = day(1995, 1, 1);

/// The month in which certificates for sales began.
pub(crate) const FIRST_CERTIFICATE: NaiveDate = day(2008, 10, 1);

/// Returns a date known while compiling.
const fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    match NaiveDate::from_ymd_opt(year, month, day) {
        Some(date) => date,
        None => NaiveDate::MIN,
    }
}

impl World {
    /// Returns the default world: demo size, to the end of September 2026.
    pub fn demo() -> World {
        World {
            seed: 1086,
            size: Size::demo(),
            through: day(2026, 9, 30),
        }
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<(), SyntheticError> {
        let size = &self.size;
        let refuse = |parameter, given: String, allowed: String| {
            Err(SyntheticError::Parameter {
                parameter,
                given,
                allowed,
            })
        };
        if !(1..=318).contains(&size.authorities) {
            return refuse(
                "authorities",
                size.authorities.to_string(),
                "1 to 318".into(),
            );
        }
        if size.welsh_authorities > size.authorities {
            return refuse(
                "welsh_authorities",
                size.welsh_authorities.to_string(),
                format!("at most {}", size.authorities),
            );
        }
        let english = size.authorities - size.welsh_authorities;
        if size.thin_authorities > 0 && size.thin_authorities >= english {
            return refuse(
                "thin_authorities",
                size.thin_authorities.to_string(),
                format!("fewer than the {english} English ones"),
            );
        }
        let (least, most) = (size.authorities * 100, size.authorities * 500_000);
        if !(least..=most).contains(&size.properties) {
            return refuse(
                "properties",
                size.properties.to_string(),
                format!("{least} to {most}"),
            );
        }
        if u64::from(size.sales) > u64::from(size.properties) * 6 {
            return refuse(
                "sales",
                size.sales.to_string(),
                "at most six a property".into(),
            );
        }
        if u64::from(size.certificates) > u64::from(size.properties) * 2 {
            return refuse(
                "certificates",
                size.certificates.to_string(),
                "at most two a property".into(),
            );
        }
        if !(4..=120).contains(&size.streets_per_sector) {
            return refuse(
                "streets_per_sector",
                size.streets_per_sector.to_string(),
                "4 to 120".into(),
            );
        }
        if !(0.0..=1.0).contains(&size.address_share) {
            return refuse(
                "address_share",
                size.address_share.to_string(),
                "0 to 1".into(),
            );
        }
        if self.through < day(2012, 1, 1) || self.through > day(2060, 12, 31) {
            return refuse(
                "through",
                self.through.to_string(),
                "2012-01-01 to 2060-12-31".into(),
            );
        }
        Ok(())
    }
}
