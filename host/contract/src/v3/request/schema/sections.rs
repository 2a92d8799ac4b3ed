//! The sections of a request.

use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{Object, RefOr, Schema};

use super::super::building::{DEVELOPMENT_ENERGY, ENERGY, FABRIC, SCORE};
use super::super::development::{LATITUDE, LONGITUDE, SITE};
use super::super::lease::{CHARGE_MAX, DETAILED_FIELDS, SHAPE as LEASE, YEARS_MAX};
use super::super::occupancy::SHAPE as OCCUPANCY;
use super::super::property::{ADDRESS_PART_LONGEST, SHAPE as PROPERTY};
use super::super::size::{
    BEDROOMS, FLOOR_AREA_M2, FLOOR_LEVEL, LIVING_ROOMS, SHAPE as SIZE, STOREYS,
};
use super::super::{
    AgeBand, BuildStatus, FloorType, Glazing, OccupancyStatus, PropertyType, Rating, RoofType,
    Subtype, Tenure, WallType,
};
use crate::json::Shape;
use crate::schema::{
    SchemaExt, boolean, date, described_ref, integer, number, rule, rule_with, schema_ref, section,
    trimmed_text,
};
use crate::v3::options::{COMPARABLES, DEFAULTS, DEVELOPMENT_FIELDS, FIELDS};
use crate::v3::schema_parts::{postcode, uprn};
use crate::vocabulary::Vocabulary;

fn name<T: ToSchema>() -> String {
    T::name().into_owned()
}

pub(super) fn options() -> Object {
    let shape = Shape {
        pointer: "/options",
        fields: FIELDS,
    };
    section(shape, &[], [
        ("include_comparables", include_comparables().into()),
        ("comparables_limit", comparables_limit().into()),
        ("include_context_metrics", include_context_metrics().into()),
        ("use_stored_data", boolean().describe(
            "Lets stored values of this property fill what the request leaves blank; values that \
             the request gives always win. Needs the scope `avm:stored-data`. \
             False where no level sets it.",
        ).into()),
    ]).describe(
        "Sections to show and data to use. An option is never null: leave it out to inherit it, a \
         row's from the batch's, the batch's from the default. Simple routes show the core \
         response alone, whatever the options.",
    )
}

pub(super) fn development_options() -> Object {
    let shape = Shape {
        pointer: "/options",
        fields: DEVELOPMENT_FIELDS,
    };
    section(
        shape,
        &[],
        [
            ("include_comparables", include_comparables().into()),
            ("comparables_limit", comparables_limit().into()),
            ("include_context_metrics", include_context_metrics().into()),
        ],
    )
    .describe(
        "Sections to show. An option is never null: leave it out to inherit it. A proposed \
         property has no stored data, so `use_stored_data` is refused, whatever its value.",
    )
}

fn include_comparables() -> Object {
    boolean().describe("Lists the sales that speak for the estimate. False where no level sets it.")
}

fn comparables_limit() -> Object {
    integer(COMPARABLES).describe(&format!(
        "Most comparables to list; 0 gives an empty list. It does not change the valuation. {} \
         where no level sets it.",
        DEFAULTS.comparables_limit
    ))
}

fn include_context_metrics() -> Object {
    boolean().describe("Adds figures of the neighbourhood. False where no level sets it.")
}

pub(super) fn property() -> Object {
    section(
        PROPERTY,
        &[
            "valuation_date",
            "postcode",
            "building_number_or_name",
            "street",
            "type",
            "subtype",
            "title_tenure",
        ],
        [
            ("valuation_date", valuation_date()),
            (
                "uprn",
                uprn()
                    .describe(
                        "Unique Property Reference Number. Where given, it is verified against the \
                 address; where not, the address must be that of exactly one property.",
                    )
                    .into(),
            ),
            ("postcode", postcode().into()),
            (
                "building_number_or_name",
                address_part(
                    "House number or name, flat and building: what tells the property from its \
                 neighbours, such as `15` or `Flat 3, Fern Point, 60`.",
                )
                .into(),
            ),
            ("street", address_part("The street.").into()),
            ("type", schema_ref(&name::<PropertyType>())),
            ("subtype", subtype()),
            ("title_tenure", schema_ref(&name::<Tenure>())),
            (
                "build_status",
                described_ref(
                    &name::<BuildStatus>(),
                    "Whether the building stands; proposed buildings have the development routes.",
                ),
            ),
        ],
    )
    .describe("Location and kind of the property.")
    .with("allOf", kinds())
}

pub(super) fn site() -> Object {
    section(
        SITE,
        &["valuation_date", "postcode", "site_latitude", "site_longitude", "type", "subtype", "title_tenure"],
        [
            ("valuation_date", valuation_date()),
            ("postcode", postcode().into()),
            ("site_latitude", number(LATITUDE).describe("WGS84 latitude of the site, in degrees north; the site lies in England or Wales.").into()),
            ("site_longitude", number(LONGITUDE).describe("WGS84 longitude of the site, in degrees east (negative to the west).").into()),
            ("building_number_or_name", address_part("House or plot, where there is one yet. Nothing is looked up with it.").into()),
            ("street", address_part("The street, where there is one yet. Nothing is looked up with it.").into()),
            ("type", schema_ref(&name::<PropertyType>())),
            ("subtype", subtype()),
            ("title_tenure", schema_ref(&name::<Tenure>())),
        ],
    )
    .describe("Location and kind of the proposed property. It has no UPRN and no build status.")
    .with("allOf", kinds())
}

fn valuation_date() -> RefOr<Schema> {
    date()
        .describe("Day of the valuation, within the window of the release metadata.")
        .into()
}

fn address_part(description: &str) -> Object {
    trimmed_text(ADDRESS_PART_LONGEST).describe(description)
}

fn subtype() -> RefOr<Schema> {
    let pairs: Vec<String> = PropertyType::ALL
        .iter()
        .map(|kind| format!("{kind}: {}", subtypes(*kind).join(", ")))
        .collect();
    let about = format!(
        "The kind within the type. It must belong to it. {}.",
        pairs.join("; ")
    );
    described_ref(&name::<Subtype>(), &about)
}

/// Returns the rule of each type: the subtypes that belong to it. It is a condition, which clients'
/// generators skip: a choice between objects would hide the fields from them.
fn kinds() -> Value {
    let kinds = PropertyType::ALL.iter().map(|kind| {
        json!({
            "if": rule_with(&json!({"type": {"const": kind.code()}})),
            "then": rule(&json!({"subtype": {"enum": subtypes(*kind)}})),
        })
    });
    kinds.collect()
}

fn subtypes(kind: PropertyType) -> Vec<&'static str> {
    let of_kind = Subtype::ALL
        .iter()
        .filter(|subtype| subtype.property_type() == kind);
    of_kind.map(|subtype| subtype.code()).collect()
}

pub(super) fn occupancy() -> Object {
    section(
        OCCUPANCY,
        &["status"],
        [("status", schema_ref(&name::<OccupancyStatus>()))],
    )
    .describe("The occupancy of the property.")
}

pub(super) fn size(required: &[&str]) -> Object {
    let mut schema = section(
        SIZE,
        required,
        [
            (
                "floor_area_m2",
                number(FLOOR_AREA_M2)
                    .describe("Floor area in square metres.")
                    .into(),
            ),
            ("bedrooms", integer(BEDROOMS).describe("Bedrooms.").into()),
            (
                "living_rooms",
                integer(LIVING_ROOMS).describe("Living rooms.").into(),
            ),
            (
                "storeys",
                integer(STOREYS)
                    .describe("Storeys of a house; ignored for flats.")
                    .into(),
            ),
            (
                "floor_level",
                integer(FLOOR_LEVEL)
                    .describe(
                        "Floor on which a flat lies: 0 is the ground floor; ignored for houses.",
                    )
                    .into(),
            ),
        ],
    );
    schema.min_properties = Some(1);
    schema
}

pub(super) fn fabric() -> Object {
    let mut schema = section(
        FABRIC,
        &[],
        [
            ("wall_type", schema_ref(&name::<WallType>())),
            ("roof_type", schema_ref(&name::<RoofType>())),
            ("floor_type", schema_ref(&name::<FloorType>())),
            ("glazing", schema_ref(&name::<Glazing>())),
        ],
    )
    .describe("The fabric of the building. At least one field.");
    schema.min_properties = Some(1);
    schema
}

pub(super) fn energy() -> Object {
    let mut schema = section(
        ENERGY,
        &[],
        [
            ("construction_age_band", schema_ref(&name::<AgeBand>())),
            ("rating", schema_ref(&name::<Rating>())),
            ("efficiency_score", efficiency_score().into()),
        ],
    )
    .describe("The energy certificate. At least one field.");
    schema.min_properties = Some(1);
    schema
}

pub(super) fn development_energy() -> Object {
    let mut schema = section(
        DEVELOPMENT_ENERGY,
        &[],
        [
            ("rating", schema_ref(&name::<Rating>())),
            ("efficiency_score", efficiency_score().into()),
        ],
    )
    .describe("The energy assessment. At least one field. The age band is always the newest.");
    schema.min_properties = Some(1);
    schema
}

fn efficiency_score() -> Object {
    integer(SCORE).describe("Energy efficiency score.")
}

pub(super) fn simple_lease() -> Object {
    let shape = Shape {
        fields: &["years_remaining"],
        ..LEASE
    };
    let mut years = number(0.0..=f64::from(YEARS_MAX))
        .describe("Years left on the valuation date, above 0; a fraction is fine.");
    years.exclusive_minimum = years.minimum.take();
    section(
        shape,
        &["years_remaining"],
        [("years_remaining", years.into())],
    )
    .describe("A lease by the years that it has left.")
}

pub(super) fn detailed_lease() -> Object {
    let shape = Shape {
        fields: &DETAILED_FIELDS,
        ..LEASE
    };
    let charge = |description: &str| number(0.0..=CHARGE_MAX).describe(description).into();
    section(
        shape,
        &["start_date", "term_years"],
        [
            (
                "start_date",
                date()
                    .describe("First day of the lease, on or before the valuation date.")
                    .into(),
            ),
            (
                "term_years",
                integer(1..=YEARS_MAX)
                    .describe(
                        "Length of the lease in years; it has not ended on the valuation date.",
                    )
                    .into(),
            ),
            (
                "ground_rent_gbp_per_year",
                charge("Ground rent in pounds a year."),
            ),
            (
                "service_charge_gbp_per_year",
                charge("Service charge in pounds a year."),
            ),
        ],
    )
    .describe("A lease by its terms.")
}
