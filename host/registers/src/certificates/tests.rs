use super::*;
use crate::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, WallType,
};
use crate::rows::Rows;
use crate::{ReadError, RejectedRow};
use std::collections::BTreeMap;
use std::io::Cursor;

const COLUMNS: [(&str, &str); 24] = [
    ("LMK_KEY", "k1"),
    ("ADDRESS1", "Flat 3"),
    ("ADDRESS2", ""),
    ("ADDRESS3", "12 Mill Lane"),
    ("POSTTOWN", "LUDBURY"),
    ("POSTCODE", "zz99zz"),
    ("LOCAL_AUTHORITY", "E07000999"),
    ("LODGEMENT_DATE", "2021-08-27"),
    ("INSPECTION_DATE", "2021-08-18"),
    ("PROPERTY_TYPE", "Flat"),
    ("BUILT_FORM", "Semi-Detached"),
    ("TOTAL_FLOOR_AREA", "62.5"),
    ("NUMBER_HABITABLE_ROOMS", "3.0"),
    ("CONSTRUCTION_AGE_BAND", "England and Wales: 1967-1975"),
    ("CURRENT_ENERGY_RATING", "C"),
    ("CURRENT_ENERGY_EFFICIENCY", "71"),
    ("FLOOR_LEVEL", "01"),
    ("WALLS_DESCRIPTION", "Cavity wall, filled cavity"),
    ("ROOF_DESCRIPTION", "(another dwelling above)"),
    ("FLOOR_DESCRIPTION", "(other premises below)"),
    ("WINDOWS_DESCRIPTION", "Fully double glazed"),
    ("GLAZED_TYPE", ""),
    ("TRANSACTION_TYPE", "new dwelling"),
    ("UPRN", "100012345678"),
];

type ReadResult = (
    Vec<Result<Certificate, RejectedRow>>,
    BTreeMap<&'static str, u64>,
);

/// Returns one certificate with some cells replaced, under a header whose names `rename` changes.
fn read(changes: &[(&str, &str)], rename: fn(&str) -> String) -> ReadResult {
    let quote = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let header: Vec<_> = COLUMNS
        .iter()
        .map(|(name, _)| quote(&rename(name)))
        .collect();
    let cells: Vec<_> = COLUMNS
        .iter()
        .map(|(name, cell)| {
            quote(
                changes
                    .iter()
                    .find(|(changed, _)| changed == name)
                    .map_or(*cell, |(_, cell)| cell),
            )
        })
        .collect();
    let text = format!("{},SPARE\n{},x\n", header.join(","), cells.join(","));
    let mut rows =
        Rows::<CertificateFile>::from_reader("certificates.csv", Cursor::new(text)).unwrap();
    let read = rows.by_ref().map(Result::unwrap).collect();
    (read, rows.warnings().clone())
}

fn one(changes: &[(&str, &str)]) -> (Certificate, BTreeMap<&'static str, u64>) {
    let (mut rows, warnings) = read(changes, str::to_owned);
    (rows.remove(0).unwrap(), warnings)
}

#[test]
fn every_certificate_field_is_parsed() {
    let (certificate, warnings) = one(&[]);
    assert_eq!(certificate.uprn, Some(100_012_345_678));
    assert_eq!(certificate.lines, ["Flat 3", "12 Mill Lane"]);
    assert_eq!(
        (
            certificate.postcode.as_str(),
            certificate.lodged.to_string().as_str()
        ),
        ("ZZ9 9ZZ", "2021-08-27")
    );
    assert_eq!(certificate.property_type, Some(PropertyType::Flat));
    assert_eq!(certificate.subtype, Some(Subtype::FlatPurposeBuilt));
    assert_eq!(
        (certificate.floor_area_m2, certificate.habitable_rooms),
        (Some(62.5), Some(3))
    );
    assert_eq!(
        (certificate.age_band, certificate.rating),
        (Some(AgeBand::E), Some(EnergyRating::C))
    );
    assert_eq!(
        (certificate.efficiency_score, certificate.floor_level),
        (Some(71), Some(1))
    );
    assert_eq!(
        (certificate.wall_type, certificate.roof_type),
        (Some(WallType::Cavity), Some(RoofType::PremisesAbove))
    );
    assert_eq!(certificate.floor_type, Some(FloorType::PremisesBelow));
    assert_eq!(
        (certificate.glazing, certificate.new_dwelling),
        (Some(Glazing::Double), true)
    );
    assert!(warnings.is_empty());
}

#[test]
fn the_newer_download_says_the_same_in_lower_case() {
    let newer = |name: &str| {
        if name == "LMK_KEY" {
            "certificate_number".to_owned()
        } else {
            name.to_lowercase()
        }
    };
    let newer = read(&[("LODGEMENT_DATE", "2021-08-27 16:57:00")], newer)
        .0
        .remove(0)
        .unwrap();
    assert_eq!(newer, one(&[]).0);
}

#[test]
fn empty_cells_are_absent_without_a_warning() {
    let nothing = ["NO DATA!", "INVALID!", "N/A", "", "not recorded"];
    for (column, _) in &COLUMNS[8..] {
        for cell in nothing.iter().filter(|_| *column != "BUILT_FORM") {
            assert!(one(&[(column, cell)]).1.is_empty(), "{column} {cell}");
        }
    }
    let (certificate, _) = one(&[
        ("UPRN", ""),
        ("TOTAL_FLOOR_AREA", "NO DATA!"),
        ("PROPERTY_TYPE", ""),
    ]);
    assert_eq!(
        (
            certificate.uprn,
            certificate.floor_area_m2,
            certificate.property_type
        ),
        (None, None, None)
    );
}

#[test]
fn implausible_values_become_warnings() {
    for (column, cell, code) in [
        ("TOTAL_FLOOR_AREA", "0", "implausible_floor_area"),
        ("TOTAL_FLOOR_AREA", "10000.1", "implausible_floor_area"),
        ("TOTAL_FLOOR_AREA", "NaN", "implausible_floor_area"),
        ("TOTAL_FLOOR_AREA", "-3", "implausible_floor_area"),
        (
            "NUMBER_HABITABLE_ROOMS",
            "2.5",
            "implausible_habitable_rooms",
        ),
        ("CURRENT_ENERGY_RATING", "H", "unknown_rating"),
        ("NUMBER_HABITABLE_ROOMS", "0", "implausible_habitable_rooms"),
        ("FLOOR_LEVEL", "attic", "unknown_floor_level"),
        ("CURRENT_ENERGY_EFFICIENCY", "0", "implausible_efficiency"),
        ("UPRN", "1234567890123", "unreadable_uprn"),
        ("CONSTRUCTION_AGE_BAND", "0", "unknown_age_band"),
        ("CONSTRUCTION_AGE_BAND", "1967 to ?", "unknown_age_band"),
        ("PROPERTY_TYPE", "Castle", "unknown_property_type"),
        ("WALLS_DESCRIPTION", "Straw", "unknown_walls"),
        ("ROOF_DESCRIPTION", "SAP05:Roof", "unknown_roof"),
        ("FLOOR_DESCRIPTION", "Lava", "unknown_floor"),
        (
            "INSPECTION_DATE",
            "18/08/2021",
            "unreadable_inspection_date",
        ),
        ("UPRN", "0", "unreadable_uprn"),
    ] {
        assert_eq!(
            one(&[(column, cell)]).1,
            BTreeMap::from([(code, 1)]),
            "{column} {cell}"
        );
    }
}

#[test]
fn a_certificate_without_key_place_or_day_is_rejected() {
    use RejectReason::*;
    for (changes, reason) in [
        (&[("LMK_KEY", "")][..], MissingKey),
        (&[("POSTCODE", "")], MissingPostcode),
        (&[("POSTCODE", "LE1")], BadPostcode),
        (&[("LODGEMENT_DATE", "")], BadDate),
        (&[("ADDRESS1", ""), ("ADDRESS3", " ")], MissingAddress),
    ] {
        assert_eq!(
            read(changes, str::to_owned).0[0]
                .as_ref()
                .unwrap_err()
                .reason,
            reason
        );
    }
    let missing = Rows::<CertificateFile>::from_reader("f", Cursor::new("LMK_KEY,ADDRESS1\n"))
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(missing, ReadError::MissingColumn { columns, .. } if columns.len() == 22 && columns[0] == "address2")
    );
}

#[test]
fn types_and_forms_make_subtypes() {
    for (kind, form, subtype) in [
        ("House", "Detached", Some(Subtype::HouseDetached)),
        (
            "House",
            "Enclosed Mid-Terrace",
            Some(Subtype::HouseMidTerrace),
        ),
        (
            "House",
            "Enclosed End-Terrace",
            Some(Subtype::HouseEndTerrace),
        ),
        ("House", "Not Recorded", None),
        (
            "Bungalow",
            "Semi-Detached",
            Some(Subtype::BungalowSemiDetached),
        ),
        ("Park home", "Detached", None),
        ("Bungalow", "Mid-Terrace", Some(Subtype::BungalowTerraced)),
        ("Maisonette", "", Some(Subtype::Maisonette)),
    ] {
        assert_eq!(
            one(&[("PROPERTY_TYPE", kind), ("BUILT_FORM", form)])
                .0
                .subtype,
            subtype,
            "{kind} {form}"
        );
    }
}

#[test]
fn bands_levels_and_descriptions_in_all_their_spellings() {
    use AgeBand::*;
    for (cell, band) in [
        ("England and Wales: before 1900", A),
        ("England and Wales: 1900-1929", B),
        ("England and Wales: 2012 onwards", L),
        ("England and Wales: 2012-2021", L),
        ("England and Wales: 2007 onwards", K),
        ("1950-1966", D),
        ("2017", L),
        ("1899", A),
    ] {
        assert_eq!(describe::age_band(cell), Some(band), "{cell}");
    }
    for (cell, level) in [
        ("Ground", Some(0)),
        ("00", Some(0)),
        ("-1", Some(-1)),
        ("Basement", Some(-1)),
        ("1st", Some(1)),
        ("20+", None),
        ("ground floor", Some(0)),
        ("mid floor", None),
        ("top floor", None),
        ("21st or above", None),
        ("3", Some(3)),
    ] {
        assert_eq!(describe::floor_level(cell).flatten(), level, "{cell}");
    }
    assert_eq!(
        describe::walls("Waliau ceudod, wedi'u llenwi"),
        Some(Some(WallType::Cavity))
    );
    assert_eq!(
        describe::walls("Average thermal transmittance 0.23 W/m-¦K"),
        Some(None)
    );
    assert_eq!(
        describe::roof("Roof room(s), insulated"),
        Some(Some(RoofType::RoomInRoof))
    );
    assert_eq!(
        describe::floor("To unheated space, insulated"),
        Some(Some(FloorType::Other))
    );
    for (windows, glazed, glazing) in [
        ("Partial double glazing", "", Some(Glazing::Single)),
        ("Mostly secondary glazing", "", Some(Glazing::Secondary)),
        (
            "High performance glazing",
            "triple glazing",
            Some(Glazing::Triple),
        ),
        ("", "not defined", None),
        ("High performance glazing", "", Some(Glazing::Other)),
        ("Multiple glazing throughout", "", Some(Glazing::Other)),
    ] {
        assert_eq!(
            describe::glazing(windows, glazed),
            glazing,
            "{windows} {glazed}"
        );
    }
}

#[test]
fn welsh_descriptions_of_windows_are_read_as_the_english_ones() {
    for (windows, glazed, glazing) in [
        (
            "Gwydrau dwbl rhannol",
            "double glazing, unknown install date",
            Some(Glazing::Single),
        ),
        (
            "Rhai gwydrau dwbl",
            "double glazing installed during or after 2002",
            Some(Glazing::Single),
        ),
        ("Rhai gwydrau lluosog", "", Some(Glazing::Single)),
        ("Gwydrau lluosog ym mhobman", "", Some(Glazing::Other)),
        ("Gwydrau sengl", "not defined", Some(Glazing::Single)),
        ("Gwydrau dwbl llawn", "", Some(Glazing::Double)),
        (
            "Gwydrau dwbl gan mwyaf",
            "not defined",
            Some(Glazing::Double),
        ),
        ("Gwydrau triphlyg llawn", "", Some(Glazing::Triple)),
        ("Gwydrau eilaidd llawn", "", Some(Glazing::Secondary)),
        ("Ffenestri perfformiad uchel", "", Some(Glazing::Other)),
        (
            "Ffenestri perfformiad uchel",
            "triple glazing",
            Some(Glazing::Triple),
        ),
        (
            "Single glazed|Gwydrau sengl",
            "not defined",
            Some(Glazing::Single),
        ),
        ("Trawsyriannedd thermol cyfartalog", "", None),
    ] {
        assert_eq!(
            describe::glazing(windows, glazed),
            glazing,
            "{windows} {glazed}"
        );
    }
}
