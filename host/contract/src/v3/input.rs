//! The record of how a property's inputs were resolved.

use serde::Serialize;
use utoipa::ToSchema;

use crate::vocabulary::vocabulary;

vocabulary! {
    /// An input of a valuation, named by the JSON Pointer under which a request carries it.
    pub open enum Input {
        /// The UPRN.
        Uprn = "/property/uprn",
        /// Detached, semi-detached, terraced or flat.
        PropertyType = "/property/type",
        /// The kind of house or flat.
        Subtype = "/property/subtype",
        /// Freehold or leasehold.
        TitleTenure = "/property/title_tenure",
        /// State of the building: existing or proposed.
        BuildStatus = "/property/build_status",
        /// The occupancy of the property.
        Occupancy = "/occupancy/status",
        /// Floor area.
        FloorArea = "/size/floor_area_m2",
        /// Bedrooms.
        Bedrooms = "/size/bedrooms",
        /// Living rooms.
        LivingRooms = "/size/living_rooms",
        /// Storeys of a house.
        Storeys = "/size/storeys",
        /// Floor on which a flat lies.
        FloorLevel = "/size/floor_level",
        /// Bedrooms and living rooms together. Only stored data gives it: no request has the field.
        HabitableRooms = "/size/habitable_rooms",
        /// Years that the lease has left.
        LeaseYearsRemaining = "/lease/years_remaining",
        /// First day of the lease.
        LeaseStart = "/lease/start_date",
        /// Length of the lease.
        LeaseTerm = "/lease/term_years",
        /// Ground rent of the lease.
        LeaseGroundRent = "/lease/ground_rent_gbp_per_year",
        /// Service charge of the lease.
        LeaseServiceCharge = "/lease/service_charge_gbp_per_year",
        /// Construction of the walls.
        WallType = "/fabric/wall_type",
        /// The roof's form.
        RoofType = "/fabric/roof_type",
        /// The floor's construction.
        FloorType = "/fabric/floor_type",
        /// Windows.
        Glazing = "/fabric/glazing",
        /// Age band of construction.
        ConstructionAgeBand = "/energy/construction_age_band",
        /// Energy rating.
        EnergyRating = "/energy/rating",
        /// Energy efficiency score.
        EfficiencyScore = "/energy/efficiency_score",
    }
}

vocabulary! {
    /// The source of a value that the request did not give.
    pub open enum Source {
        /// The property's energy certificate.
        EnergyCertificate = "energy_certificate",
        /// The register of prices paid.
        SoldPrices = "sold_prices",
        /// The address file.
        AddressRegister = "address_register",
        /// The valuation release derived it.
        Release = "release",
        /// The route sets it for every property.
        Route = "route",
    }
}

vocabulary! {
    /// Reason for which an input was ignored or derived.
    pub open enum Reason {
        /// The field says nothing about a flat.
        InapplicableToFlats = "inapplicable_to_flats",
        /// The field says nothing about a house.
        AppliesToFlatsOnly = "applies_to_flats_only",
        /// Taken from homes near by.
        LocalTypical = "local_typical",
        /// Taken from homes of its type and age anywhere.
        TypeTypical = "type_typical",
        /// It follows from other inputs.
        FromOtherInputs = "from_other_inputs",
        /// It follows from the property's own earlier sales.
        FromOwnSales = "from_own_sales",
        /// The request left it blank, and stored data had no value or might not be used.
        Blank = "blank",
    }
}

/// One entry of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Note {
    /// The input.
    pub field: Input,
    /// The source of its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<Source>,
    /// Reason for the treatment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<Reason>,
}

/// Resolution of a property's inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct InputResolution {
    /// Blank inputs that stored values of this property filled.
    pub stored_data_used: Vec<Note>,
    /// Inputs of the request that were valid, and of no use.
    pub ignored_inputs: Vec<Note>,
    /// Blank inputs that the release or the route filled.
    pub derived_inputs: Vec<Note>,
    /// Inputs of the request that the property's stored record contradicts; left out where there is
    /// none. The request's own value was used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicting_inputs: Vec<Note>,
}
