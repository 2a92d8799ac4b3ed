//! ONS Standard Area Measurements, and the register of local authority codes past and current.

use super::Sink;
use crate::SyntheticError;
use crate::geography::Authority;
use crate::manifest::Manifest;
use chrono::NaiveDate;
use csv::QuoteStyle;
use std::path::Path;

/// The day on which former authorities were succeeded.
pub(crate) const REORGANISED: NaiveDate = match NaiveDate::from_ymd_opt(2021, 4, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// Columns of the measurements; the publisher begins the file with a byte order mark.
const AREA_HEADER: [&str; 7] = [
    "\u{feff}LAD23CD",
    "LAD23NM",
    "LAD23NMW",
    "AREAEHECT",
    "AREACHECT",
    "AREAIHECT",
    "AREALHECT",
];

/// Columns of the code register.
const CODE_HEADER: [&str; 21] = [
    "LADCD",
    "LADNM",
    "LADCD_ACTIVE",
    "LADNM_ACTIVE",
    "UTLACD",
    "UTLANM",
    "CAUTHCD",
    "CAUTHNM",
    "RGNCD",
    "RGNNM",
    "CTRYCD",
    "CTRYNM",
    "EWCD",
    "EWNM",
    "GBCD",
    "GBNM",
    "UKCD",
    "UKNM",
    "Current",
    "LAD20CD",
    "LAD20NM",
];

/// Writes both files.
pub(crate) fn write(
    folder: &Path,
    authorities: &[Authority],
    manifest: &mut Manifest,
) -> Result<(), SyntheticError> {
    let mut areas = Sink::create(
        folder,
        "SAM_LAD_DEC_2023_UK.csv",
        QuoteStyle::Necessary,
        &AREA_HEADER,
    )?;
    for authority in authorities {
        let hectares = format!("{:.2}", authority.land_hectares);
        let extent = format!("{:.2}", authority.land_hectares * 1.04);
        let welsh_name = if authority.welsh {
            authority.name.as_str()
        } else {
            ""
        };
        areas.row([
            &authority.code,
            &authority.name,
            welsh_name,
            &extent,
            &hectares,
            "0",
            &hectares,
        ])?;
    }
    areas.finish(manifest)?;

    let name = "local-authority-codes-past-and-current.csv";
    let mut codes = Sink::create(folder, name, QuoteStyle::Necessary, &CODE_HEADER)?;
    for authority in authorities {
        let current = (&authority.code, &authority.name, "TRUE");
        let former = authority
            .former
            .iter()
            .map(|(code, name)| (code, name, "FALSE"));
        for (code, name, is_current) in std::iter::once(current).chain(former) {
            let (region_code, region) = &authority.region;
            let (country_code, country) = if authority.welsh {
                ("W92000004", "Wales")
            } else {
                ("E92000001", "England")
            };
            codes.row([
                code,
                name,
                &authority.code,
                &authority.name,
                &authority.code,
                &authority.name,
                "",
                "",
                region_code,
                region,
                country_code,
                country,
                "K04000001",
                "England and Wales",
                "K03000001",
                "Great Britain",
                "K02000001",
                "United Kingdom",
                is_current,
                code,
                name,
            ])?;
        }
    }
    codes.finish(manifest)
}
