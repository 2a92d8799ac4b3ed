//! The development request: a property that has a site, but no identity.

use std::ops::RangeInclusive;

use chrono::NaiveDate;

use super::building::{self, Energy};
use super::error::RequestError;
use super::lease::{self, Lease};
use super::occupancy::{self, Occupancy};
use super::property::{ADDRESS_PART_LONGEST, PropertyType, Subtype, Tenure, read_kind};
use super::size::{self, Size};
use super::{Kind, REFERENCE_LONGEST};
use crate::error::ValidationErrors;
use crate::json::values::{date, number, text, verbatim};
use crate::json::{self, Section, Shape, Value};
use crate::v3::identity::Postcode;
use crate::v3::input::Note;
use crate::v3::options::{self, Level, Options, Settings};

/// A request to value a proposed or unregistered property. It satisfies every rule that the
/// document alone can break. Whether the site lies in England or Wales is still to be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Development {
    /// The customer's own reference, to be echoed.
    pub request_reference: Option<String>,
    /// The options as they apply here; `use_stored_data` is always false.
    pub options: Options,
    /// Site and kind of the proposed property.
    pub property: Site,
    /// Future occupancy.
    pub occupancy: Occupancy,
    /// Size, without the members that do not apply to its type; the floor area is present.
    pub size: Size,
    /// Its lease; present exactly where the tenure is leasehold.
    pub lease: Option<Lease>,
    /// The figures of its energy assessment, never with an age band.
    pub energy: Energy,
    /// Fields that were valid but say nothing about this type of property.
    pub ignored_inputs: Vec<Note>,
}

/// Site and kind of a proposed property.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// The day of the valuation.
    pub valuation_date: NaiveDate,
    /// The postcode.
    pub postcode: Postcode,
    /// WGS84 latitude of the site, in degrees north.
    pub site_latitude: f64,
    /// WGS84 longitude of the site, in degrees east.
    pub site_longitude: f64,
    /// House or plot, where there is one yet.
    pub building_number_or_name: Option<String>,
    /// The street, where there is one yet.
    pub street: Option<String>,
    /// The type.
    pub property_type: PropertyType,
    /// The kind within the type.
    pub subtype: Subtype,
    /// Freehold or leasehold.
    pub title_tenure: Tenure,
}

pub(super) const SHAPE: Shape = Shape {
    pointer: "",
    fields: &[
        "request_reference",
        "options",
        "property",
        "occupancy",
        "size",
        "lease",
        "energy",
    ],
};

/// WGS84 degrees.
pub(super) const LATITUDE: RangeInclusive<f64> = -90.0..=90.0;
pub(super) const LONGITUDE: RangeInclusive<f64> = -180.0..=180.0;

pub(super) const SITE: Shape = Shape {
    pointer: "/property",
    fields: &[
        "valuation_date",
        "postcode",
        "site_latitude",
        "site_longitude",
        "building_number_or_name",
        "street",
        "type",
        "subtype",
        "title_tenure",
    ],
};

impl Development {
    /// Reads the body of the single route.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(body: &[u8]) -> Result<Self, RequestError> {
        walk(&json::read(body)?, Level::Shared, Settings::default())
    }

    /// Reads a batch's row, whose options the batch's `shared` ones stand behind.
    ///
    /// # Errors
    /// Everything that is wrong with it; pointers are relative to the row.
    pub fn read_row(row: &str, shared: Settings) -> Result<Self, RequestError> {
        walk(&json::read_text(row)?, Level::Row, shared)
    }
}

fn walk(value: &Value<'_>, level: Level, shared: Settings) -> Result<Development, RequestError> {
    let mut errors = ValidationErrors::default();
    let Some(mut document) = Section::document(value, SHAPE, &mut errors) else {
        return Err(RequestError::new(None, errors));
    };
    let request_reference = document.optional(
        &mut errors,
        "request_reference",
        verbatim(REFERENCE_LONGEST),
    );
    let options = options::read(&mut document, &mut errors, level, Kind::Development)
        .map(|settings| settings.within(shared));
    let site = read_site(&mut document, &mut errors);
    let occupancy = occupancy::read(&mut document, &mut errors);
    let size = size::read(&mut document, &mut errors, Some("This field is required."));
    let lease = lease::read(
        &mut document,
        &mut errors,
        site.title_tenure,
        site.valuation_date,
    );
    let energy = building::read_energy(&mut document, &mut errors, Kind::Development);
    document.finish(&mut errors);

    match (options, site.whole, occupancy, size) {
        (Some(options), Some(property), Some(occupancy), Some(size)) if errors.count() == 0 => {
            let (size, ignored_inputs) = size.applicable(property.property_type);
            Ok(Development {
                request_reference,
                options,
                property,
                occupancy,
                size,
                lease,
                energy,
                ignored_inputs,
            })
        }
        _ => Err(RequestError::new(request_reference, errors)),
    }
}

/// The valid fields of the section, for the rules that the lease shares with it.
#[derive(Debug, Default)]
struct Partial {
    valuation_date: Option<NaiveDate>,
    title_tenure: Option<Tenure>,
    whole: Option<Site>,
}

fn read_site(document: &mut Section<'_, '_>, errors: &mut ValidationErrors) -> Partial {
    let Some(mut section) = document.required_section(errors, "property", SITE) else {
        return Partial::default();
    };
    let valuation_date = section.require(errors, "valuation_date", date);
    let postcode = section.require(errors, "postcode", Postcode::read);
    let latitude = section.require(errors, "site_latitude", number(LATITUDE));
    let longitude = section.require(errors, "site_longitude", number(LONGITUDE));
    let building_number_or_name = section.optional(
        errors,
        "building_number_or_name",
        text(ADDRESS_PART_LONGEST),
    );
    let street = section.optional(errors, "street", text(ADDRESS_PART_LONGEST));
    let kind = read_kind(&mut section, errors);
    section.finish(errors);
    let whole = match (
        (valuation_date, postcode, latitude, longitude),
        (kind.property_type, kind.subtype, kind.title_tenure),
    ) {
        (
            (Some(valuation_date), Some(postcode), Some(site_latitude), Some(site_longitude)),
            (Some(property_type), Some(subtype), Some(title_tenure)),
        ) => Some(Site {
            valuation_date,
            postcode,
            site_latitude,
            site_longitude,
            building_number_or_name,
            street,
            property_type,
            subtype,
            title_tenure,
        }),
        _ => None,
    };
    Partial {
        valuation_date,
        title_tenure: kind.title_tenure,
        whole,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::error::Code;

    fn house() -> Json {
        json!({
            "property": {
                "valuation_date": "2026-03-31",
                "postcode": "ZZ1 1AA",
                "site_latitude": 51.45,
                "site_longitude": -1.02,
                "type": "D",
                "subtype": "house_detached",
                "title_tenure": "freehold"
            },
            "occupancy": {"status": "vacant"},
            "size": {"floor_area_m2": 110, "bedrooms": 4}
        })
    }

    fn errors(document: &Json) -> Vec<(Code, String)> {
        Development::read(document.to_string().as_bytes())
            .unwrap_err()
            .errors
            .into_iter()
            .map(|error| (error.code, error.field.unwrap().into_owned()))
            .collect()
    }

    #[test]
    fn a_site_is_read() {
        let read = Development::read(house().to_string().as_bytes()).unwrap();
        assert_eq!(read.property.site_longitude, -1.02);
        assert_eq!(read.property.street, None);
        assert!(!read.options.use_stored_data);
    }

    #[test]
    fn a_coordinate_of_minus_zero_is_zero() {
        let text = house().to_string().replace("-1.02", "-0");
        let read = Development::read(text.as_bytes()).unwrap();
        assert!(read.property.site_longitude.is_sign_positive());
    }

    #[test]
    fn fields_a_development_cannot_have_are_refused_with_any_value() {
        for (section, name) in [
            ("property", "uprn"),
            ("property", "build_status"),
            ("energy", "construction_age_band"),
            ("options", "use_stored_data"),
        ] {
            for value in [json!(null), json!(false), json!("L")] {
                let mut document = house();
                document[section][name] = value;
                let expected = (Code::UnknownField, format!("/{section}/{name}"));
                assert_eq!(errors(&document), [expected]);
            }
        }
        let mut document = house();
        document["fabric"] = json!({});
        assert_eq!(
            errors(&document),
            [(Code::UnknownField, "/fabric".to_owned())]
        );
    }

    #[test]
    fn a_development_needs_its_site_and_its_area() {
        for (section, name) in [
            ("property", "postcode"),
            ("property", "site_latitude"),
            ("property", "site_longitude"),
            ("size", "floor_area_m2"),
        ] {
            let mut document = house();
            document[section].as_object_mut().unwrap().remove(name);
            let expected = (Code::MissingField, format!("/{section}/{name}"));
            assert_eq!(errors(&document), [expected]);
        }
    }
}
