//! The data of one result: its UPRN, its use and every key that can find it.

use crate::Failure;
use crate::os_places::{Common, Dpa, Item, Lpi, Text};
use domesday_property::ListedProperty;
use domesday_registers::Postcode;
use domesday_registers::address::keys_of_parts;
use domesday_registers::records::Country;
use std::ops::RangeInclusive;

/// The extent of the National Grid, metres.
const EASTINGS: RangeInclusive<f64> = 1.0..=699_999.0;
const NORTHINGS: RangeInclusive<f64> = 1.0..=1_299_999.0;

/// An address that is in force in the requested postcode.
#[derive(Debug)]
pub(crate) struct ListedAddress {
    /// The UPRN, the use and the keys.
    pub(crate) listed: ListedProperty,
    /// The property's own point, National Grid metres. A postcode's point is left out.
    pub(crate) point: Option<(i32, i32)>,
    /// The country.
    pub(crate) country: Option<Country>,
}

/// Reads a result; `None` where it is of another postcode or its address is not in force.
pub(crate) fn parse_address(
    item: &Item,
    postcode: &Postcode,
) -> Result<Option<ListedAddress>, Failure> {
    match (&item.dpa, &item.lpi) {
        (Some(dpa), None) => delivery_point(dpa, postcode),
        (None, Some(lpi)) => land_identifier(lpi, postcode),
        _ => Err(Failure::Incomplete("a result is neither DPA nor LPI")),
    }
}

fn delivery_point(dpa: &Dpa, postcode: &Postcode) -> Result<Option<ListedAddress>, Failure> {
    if !exists_in_postcode(&dpa.common, &dpa.postcode, postcode) {
        return Ok(None);
    }
    let paon = match (dpa.building_name.get(), dpa.building_number.get()) {
        // A post office box or a firm without a building is known by its name alone.
        ("", "") if dpa.sub_building_name.get().is_empty() => {
            dpa.organisation_name.get().to_owned()
        }
        (name, "") => name.to_owned(),
        ("", number) => number.to_owned(),
        (name, number) => format!("{name}, {number}"),
    };
    // The number belongs to the dependent street, where there is one.
    let street = first_text(&[&dpa.dependent_thoroughfare_name, &dpa.thoroughfare_name]);
    let locality = first_text(&[
        &dpa.double_dependent_locality,
        &dpa.dependent_locality,
        &dpa.post_town,
    ]);
    listed_address(
        &dpa.common,
        dpa.sub_building_name.get(),
        &paon,
        street,
        locality,
    )
}

fn land_identifier(lpi: &Lpi, postcode: &Postcode) -> Result<Option<ListedAddress>, Failure> {
    // Approved, or an alternative that is in use beside it; not provisional, not historic.
    let in_force = matches!(lpi.lpi_logical_status_code.get(), "" | "1" | "3");
    if !in_force || !exists_in_postcode(&lpi.common, &lpi.postcode_locator, postcode) {
        return Ok(None);
    }
    let unit = numbers(
        [&lpi.sao_start_number, &lpi.sao_start_suffix],
        [&lpi.sao_end_number, &lpi.sao_end_suffix],
    );
    let saon = match (lpi.sao_text.get(), unit.as_str()) {
        (text, "") => text.to_owned(),
        ("", unit) => unit.to_owned(),
        (text, unit) => format!("{text} {unit}"),
    };
    let number = numbers(
        [&lpi.pao_start_number, &lpi.pao_start_suffix],
        [&lpi.pao_end_number, &lpi.pao_end_suffix],
    );
    let paon = match (lpi.pao_text.get(), number.as_str()) {
        ("", "") if saon.is_empty() => lpi.organisation.get().to_owned(),
        (name, "") => name.to_owned(),
        ("", number) => number.to_owned(),
        (name, number) => format!("{name}, {number}"),
    };
    let locality = first_text(&[&lpi.locality_name, &lpi.town_name]);
    listed_address(
        &lpi.common,
        &saon,
        &paon,
        lpi.street_description.get(),
        locality,
    )
}

/// Reports whether a result is of the requested postcode and its property exists.
///
/// It exists if it is approved (1) and neither gone (4) nor only permitted (6).
fn exists_in_postcode(common: &Common, found: &Text, postcode: &Postcode) -> bool {
    let approved = matches!(common.logical_status_code.get(), "" | "1");
    let exists = !matches!(common.blpu_state_code.get(), "4" | "6");
    approved && exists && Postcode::parse(found.get()).as_ref() == Some(postcode)
}

fn listed_address(
    common: &Common,
    saon: &str,
    paon: &str,
    street: &str,
    locality: &str,
) -> Result<Option<ListedAddress>, Failure> {
    let uprn = common.uprn.get();
    let digits = (1..=12).contains(&uprn.len()) && uprn.bytes().all(|b| b.is_ascii_digit());
    let number: Option<u64> = digits.then(|| uprn.parse().ok()).flatten();
    let country = match common.country_code.get() {
        "E" => Some(Country::England),
        "W" => Some(Country::Wales),
        "S" => Some(Country::Scotland),
        "" => None,
        _ => Some(Country::Other),
    };
    let Some(uprn) = number.filter(|number| *number > 0) else {
        // Northern Ireland's addresses have no number here, and none of them is ours.
        return match country {
            Some(Country::Other) => Ok(None),
            _ => Err(Failure::Incomplete("a result has no UPRN")),
        };
    };
    let class = common.classification_code.get();
    if class.is_empty() {
        return Err(Failure::Incomplete("a result has no classification"));
    }
    Ok(Some(ListedAddress {
        listed: ListedProperty {
            uprn,
            residential: class.starts_with(['R', 'r']),
            keys: keys_of_parts(saon, paon, street, locality),
        },
        point: point(common),
        country,
    }))
}

/// Returns the property's own point, to the metre.
///
/// Points of postcodes (5) and of low accuracy (9) are no better than the snapshot's.
fn point(common: &Common) -> Option<(i32, i32)> {
    if matches!(common.rpc.get(), "5" | "9") {
        return None;
    }
    let (east, north) = (common.x_coordinate?, common.y_coordinate?);
    // Within the grid, so that a rounded metre fits.
    (EASTINGS.contains(&east) && NORTHINGS.contains(&north))
        .then(|| (east.round() as i32, north.round() as i32))
}

fn first_text<'a>(texts: &[&'a Text]) -> &'a str {
    let mut texts = texts.iter().map(|text| text.get());
    texts.find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns a number with its suffix, or a range: `12A`, `12-14`.
fn numbers(start: [&Text; 2], end: [&Text; 2]) -> String {
    let [start, end] = [start, end].map(|[number, suffix]| {
        let (number, suffix) = (number.get(), suffix.get());
        format!("{number}{suffix}")
    });
    match end.is_empty() {
        true => start,
        false => format!("{start}-{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_property::{AddressList, Resolution};

    fn asked_postcode() -> Postcode {
        Postcode::parse("ZZ9 9ZZ").unwrap()
    }

    fn read(result: &str) -> Result<Option<ListedAddress>, Failure> {
        parse_address(&serde_json::from_str(result).unwrap(), &asked_postcode())
    }

    fn dpa(fields: &str) -> ListedAddress {
        let common = r#""UPRN":"990000000001","CLASSIFICATION_CODE":"RD06","COUNTRY_CODE":"E","LOGICAL_STATUS_CODE":"1","POSTCODE":"ZZ9 9ZZ","POST_TOWN":"LUDBURY""#;
        read(&format!("{{\"DPA\":{{{common},{fields}}}}}"))
            .unwrap()
            .unwrap()
    }

    fn lpi(fields: &str) -> ListedAddress {
        let common = r#""UPRN":"990000000001","CLASSIFICATION_CODE":"RD06","COUNTRY_CODE":"E","LOGICAL_STATUS_CODE":"1","POSTCODE_LOCATOR":"ZZ9 9ZZ","TOWN_NAME":"LUDBURY","LPI_LOGICAL_STATUS_CODE":"1""#;
        read(&format!("{{\"LPI\":{{{common},{fields}}}}}"))
            .unwrap()
            .unwrap()
    }

    #[track_caller]
    fn is(address: &ListedAddress, building: &str, street: &str) {
        let book = AddressList::new([&address.listed]);
        let found = book.resolve(building, street);
        assert_eq!(found, Resolution::Exact(990_000_000_001), "{address:?}");
    }

    #[test]
    fn a_flat_is_found_as_people_write_it_whichever_list_it_is_of() {
        let street = r#""THOROUGHFARE_NAME":"MILL LANE""#;
        let of_mail = dpa(&format!(
            r#""SUB_BUILDING_NAME":"FLAT 3","BUILDING_NAME":"KINGS COURT","BUILDING_NUMBER":"12",{street}"#
        ));
        let street = r#""STREET_DESCRIPTION":"MILL LANE""#;
        let of_council = lpi(&format!(
            r#""SAO_TEXT":"FLAT 3","PAO_TEXT":"KINGS COURT","PAO_START_NUMBER":12,{street}"#
        ));
        let numbered = lpi(&format!(
            r#""SAO_START_NUMBER":"3","PAO_TEXT":"KINGS COURT","PAO_START_NUMBER":"12",{street}"#
        ));
        for address in [of_mail, of_council, numbered] {
            is(&address, "Flat 3, Kings Court, 12", "Mill Lane");
            is(&address, "Flat 3, 12", "Mill Ln");
            is(&address, "12 flat 3", "mill lane");
            is(&address, "3", "Kings Court");
            let book = AddressList::new([&address.listed]);
            let whole = book.resolve("12", "Mill Lane");
            let unit = Resolution::Ambiguous {
                candidates: 1,
                needs_unit: true,
            };
            assert_eq!(whole, unit);
        }
    }

    #[test]
    fn suffixes_ranges_names_and_places_without_streets() {
        let suffix =
            r#""PAO_START_NUMBER":"12","PAO_START_SUFFIX":"A","STREET_DESCRIPTION":"MILL LANE""#;
        is(&lpi(suffix), "12a", "Mill Lane");
        let range =
            r#""PAO_START_NUMBER":"14","PAO_END_NUMBER":"16","STREET_DESCRIPTION":"MILL LANE""#;
        is(&lpi(range), "14-16", "Mill Lane");
        let named = r#""BUILDING_NAME":"ROSE COTTAGE","DEPENDENT_LOCALITY":"NETHER LUDBURY""#;
        is(&dpa(named), "Rose Cottage", "Nether Ludbury");
        let dependent = r#""BUILDING_NUMBER":"3","DEPENDENT_THOROUGHFARE_NAME":"CAPSTAN MEWS","THOROUGHFARE_NAME":"HIGH STREET""#;
        is(&dpa(dependent), "3", "Capstan Mews");
        let book = AddressList::new([&dpa(dependent).listed]);
        assert_eq!(book.resolve("3", "High Street"), Resolution::NotFound);
    }

    #[test]
    fn addresses_elsewhere_or_not_in_force_are_skipped() {
        for fields in [
            r#""POSTCODE":"ZZ9 9ZX""#,
            r#""POSTCODE":"""#,
            r#""POSTCODE":"ZZ9 9ZZ","LOGICAL_STATUS_CODE":"8""#,
            r#""POSTCODE":"ZZ9 9ZZ","LOGICAL_STATUS_CODE":6"#,
            r#""POSTCODE":"ZZ9 9ZZ","BLPU_STATE_CODE":"4""#,
            r#""POSTCODE":"ZZ9 9ZZ","UPRN":"","COUNTRY_CODE":"N""#,
        ] {
            let result = format!(r#"{{"DPA":{{"BUILDING_NUMBER":"1",{fields}}}}}"#);
            assert!(read(&result).unwrap().is_none(), "{fields}");
        }
        let historic = r#"{"LPI":{"POSTCODE_LOCATOR":"ZZ9 9ZZ","LPI_LOGICAL_STATUS_CODE":"8"}}"#;
        assert!(read(historic).unwrap().is_none());
    }

    #[test]
    fn an_incomplete_result_rejects_the_whole_page() {
        for result in [
            "{}",
            r#"{"DPA":{"POSTCODE":"ZZ9 9ZZ","CLASSIFICATION_CODE":"RD"}}"#,
            r#"{"DPA":{"POSTCODE":"ZZ9 9ZZ","UPRN":"0","CLASSIFICATION_CODE":"RD"}}"#,
            r#"{"DPA":{"POSTCODE":"ZZ9 9ZZ","UPRN":"1234567890123","CLASSIFICATION_CODE":"RD"}}"#,
            r#"{"DPA":{"POSTCODE":"ZZ9 9ZZ","UPRN":"12"}}"#,
        ] {
            assert!(read(result).is_err(), "{result}");
        }
    }

    #[test]
    fn a_point_is_the_propertys_own_or_none() {
        let at = |fields: &str| dpa(fields).point;
        let point = r#""X_COORDINATE":459318.4,"Y_COORDINATE":304175.6"#;
        assert_eq!(at(point), Some((459_318, 304_176)));
        assert_eq!(
            at(&format!(r#"{point},"RPC":"2""#)),
            Some((459_318, 304_176))
        );
        for none in [
            r#""RPC":"5","X_COORDINATE":459318.4,"Y_COORDINATE":304175.6"#,
            r#""X_COORDINATE":459318.4"#,
            r#""X_COORDINATE":-1.9,"Y_COORDINATE":52.1"#,
            r#""X_COORDINATE":1e300,"Y_COORDINATE":304175.6"#,
        ] {
            assert_eq!(at(none), None, "{none}");
        }
    }
}
