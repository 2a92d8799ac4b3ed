//! The `property` section: the location and kind of the property.

use chrono::NaiveDate;

use crate::error::{Code, ValidationErrors};
use crate::json::values::{date, text, word};
use crate::json::{Section, Shape};
use crate::schema::ReportedWord;
use crate::v3::identity::{Postcode, Uprn};
use crate::vocabulary::vocabulary;

/// Longest building name or street, in characters.
pub(super) const ADDRESS_PART_LONGEST: usize = 200;

vocabulary! {
    /// The type of a property, by its single-letter code.
    pub enum PropertyType {
        /// Detached house or bungalow.
        Detached = "D",
        /// Semi-detached house or bungalow.
        SemiDetached = "S",
        /// Terraced house or bungalow.
        Terraced = "T",
        /// Flat or maisonette.
        Flat = "F",
    }
}

/// The type of a property in an answer.
pub type ReportedPropertyType = ReportedWord<PropertyType>;

vocabulary! {
    /// The kind of house or flat, within its type.
    pub enum Subtype {
        /// House on its own.
        HouseDetached = "house_detached",
        /// One of a pair of houses.
        HouseSemiDetached = "house_semi_detached",
        /// House between two others.
        HouseMidTerrace = "house_mid_terrace",
        /// House at the end of a terrace.
        HouseEndTerrace = "house_end_terrace",
        /// Bungalow on its own.
        BungalowDetached = "bungalow_detached",
        /// One of a pair of bungalows.
        BungalowSemiDetached = "bungalow_semi_detached",
        /// Bungalow in a terrace.
        BungalowTerraced = "bungalow_terraced",
        /// Flat in a building made for flats.
        FlatPurposeBuilt = "flat_purpose_built",
        /// Flat in a building made for something else.
        FlatConverted = "flat_converted",
        /// Flat over more than one floor, or with its own door.
        Maisonette = "maisonette",
    }
}

impl Subtype {
    /// Returns the one type that the subtype belongs to.
    #[must_use]
    pub const fn property_type(self) -> PropertyType {
        match self {
            Self::HouseDetached | Self::BungalowDetached => PropertyType::Detached,
            Self::HouseSemiDetached | Self::BungalowSemiDetached => PropertyType::SemiDetached,
            Self::HouseMidTerrace | Self::HouseEndTerrace | Self::BungalowTerraced => {
                PropertyType::Terraced
            }
            Self::FlatPurposeBuilt | Self::FlatConverted | Self::Maisonette => PropertyType::Flat,
        }
    }
}

vocabulary! {
    /// The title's tenure.
    pub enum Tenure {
        /// Freehold.
        Freehold = "freehold",
        /// Leasehold.
        Leasehold = "leasehold",
    }
}

/// A title's tenure in an answer.
pub type ReportedTenure = ReportedWord<Tenure>;

vocabulary! {
    /// State of the building. Proposed buildings have their own routes.
    pub enum BuildStatus {
        /// It stands.
        Existing = "existing",
    }
}

/// Location and kind of the property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// The day of the valuation.
    pub valuation_date: NaiveDate,
    /// The UPRN, to be verified against the address.
    pub uprn: Option<Uprn>,
    /// The postcode.
    pub postcode: Postcode,
    /// House number, flat and building: what tells the property from its neighbours.
    pub building_number_or_name: String,
    /// The street.
    pub street: String,
    /// The type.
    pub property_type: PropertyType,
    /// The kind within the type.
    pub subtype: Subtype,
    /// Freehold or leasehold.
    pub title_tenure: Tenure,
    /// State of the building, if the request gives it.
    pub build_status: Option<BuildStatus>,
}

/// The valid fields of the section, for the rules that other sections share with it.
#[derive(Debug, Default)]
pub(super) struct Partial {
    pub(super) valuation_date: Option<NaiveDate>,
    pub(super) title_tenure: Option<Tenure>,
    pub(super) whole: Option<Property>,
}

pub(super) const SHAPE: Shape = Shape {
    pointer: "/property",
    fields: &[
        "valuation_date",
        "uprn",
        "postcode",
        "building_number_or_name",
        "street",
        "type",
        "subtype",
        "title_tenure",
        "build_status",
    ],
};

pub(super) fn read(document: &mut Section<'_, '_>, errors: &mut ValidationErrors) -> Partial {
    let Some(mut section) = document.required_section(errors, "property", SHAPE) else {
        return Partial::default();
    };
    let valuation_date = section.require(errors, "valuation_date", date);
    let uprn = section.optional(errors, "uprn", Uprn::read);
    let postcode = section.require(errors, "postcode", Postcode::read);
    let building = section.require(
        errors,
        "building_number_or_name",
        text(ADDRESS_PART_LONGEST),
    );
    let street = section.require(errors, "street", text(ADDRESS_PART_LONGEST));
    let kind = read_kind(&mut section, errors);
    let build_status = section.optional(errors, "build_status", word::<BuildStatus>);
    section.finish(errors);
    let whole = match (
        (valuation_date, postcode, building, street),
        (kind.property_type, kind.subtype, kind.title_tenure),
    ) {
        (
            (Some(valuation_date), Some(postcode), Some(building_number_or_name), Some(street)),
            (Some(property_type), Some(subtype), Some(title_tenure)),
        ) => Some(Property {
            valuation_date,
            uprn,
            postcode,
            building_number_or_name,
            street,
            property_type,
            subtype,
            title_tenure,
            build_status,
        }),
        _ => None,
    };
    Partial {
        valuation_date,
        title_tenure: kind.title_tenure,
        whole,
    }
}

/// The three fields for the kind of a property. Both schemas have them.
pub(super) struct PropertyKind {
    pub(super) property_type: Option<PropertyType>,
    pub(super) subtype: Option<Subtype>,
    pub(super) title_tenure: Option<Tenure>,
}

pub(super) fn read_kind(
    section: &mut Section<'_, '_>,
    errors: &mut ValidationErrors,
) -> PropertyKind {
    let property_type = section.require(errors, "type", word::<PropertyType>);
    let subtype = section.require(errors, "subtype", word::<Subtype>);
    let title_tenure = section.require(errors, "title_tenure", word::<Tenure>);
    if let (Some(property_type), Some(subtype)) = (property_type, subtype)
        && subtype.property_type() != property_type
    {
        let message = format!(
            "The subtype {subtype} belongs to type {}, but the type given is {property_type}.",
            subtype.property_type()
        );
        section.report(errors, Code::InvalidValue, "subtype", message);
    }
    PropertyKind {
        property_type,
        subtype,
        title_tenure,
    }
}
