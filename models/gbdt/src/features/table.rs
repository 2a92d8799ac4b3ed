//! The list itself: name, where it is computed, what it is, and the cases of a categorical one. The build script
//! reads it too, so that a mapping file is checked before anything is compiled for the sandbox.

/// Hands the list to another macro.
macro_rules! table {
    ($with:ident) => { $with! {
        PropertyType "property_type" given::property_type, "Type of the home.",
            ["detached", "semi_detached", "terraced", "flat"];
        PropertySubtype "property_subtype" given::subtype, "Subtype of the home.",
            ["house_detached", "house_semi_detached", "house_mid_terrace", "house_end_terrace", "bungalow_detached",
             "bungalow_semi_detached", "bungalow_terraced", "flat_purpose_built", "flat_converted", "maisonette"];
        Tenure "tenure" given::tenure, "Tenure of the title.", ["freehold", "leasehold"];
        Country "country" given::country, "Country.", ["england", "wales"];
        Precision "precision" given::precision, "How exactly the place is known.", ["property", "postcode", "site"];
        Occupancy "occupancy" given::occupancy, "Who lives there.", ["owner_occupied", "tenanted", "vacant"];
        WallType "wall_type" given::wall, "Walls.",
            ["cavity", "solid_brick", "stone", "timber_frame", "system_built", "cob"];
        RoofType "roof_type" given::roof, "Roof.", ["pitched", "flat", "thatched", "room_in_roof", "premises_above"];
        FloorType "floor_type" given::floor, "Floor.", ["solid", "suspended", "premises_below"];
        Glazing "glazing" given::glazing, "Windows.", ["single", "double", "triple", "secondary"];
        Authority "authority" given::no_number, "Local authority; the mapping file lists the codes.", [];
        NewBuild "new_build" given::new_build, "1 where the home is new or not yet built, else 0.";
        FloorArea "floor_area_m2" given::floor_area, "Internal floor area, square metres.";
        Bedrooms "bedrooms" given::bedrooms, "Bedrooms.";
        LivingRooms "living_rooms" given::living_rooms, "Living rooms.";
        HabitableRooms "habitable_rooms" given::habitable_rooms, "Habitable rooms, or bedrooms and living rooms together.";
        Storeys "storeys" given::storeys, "Storeys of a house.";
        FloorLevel "floor_level" given::floor_level, "Storey of a flat, ground floor 0.";
        LeaseYears "lease_years" given::lease_years, "Years left on the lease; missing for freehold.";
        GroundRent "ground_rent_gbp" given::ground_rent, "Ground rent, pounds a year.";
        ServiceCharge "service_charge_gbp" given::service_charge, "Service charge, pounds a year.";
        AgeBand "age_band" given::age_band, "Construction age band: A (before 1900) is 0, L (2012 on) is 11.";
        EnergyRating "energy_rating" given::energy_rating, "Energy rating: A is 0, G is 6.";
        EnergyScore "energy_score" given::energy_score, "Energy score, 1 to 100.";
        Easting "easting_m" given::easting, "British National Grid, metres.";
        Northing "northing_m" given::northing, "British National Grid, metres.";
        ValuationYear "valuation_year" given::year, "The valuation day in years, with its fraction.";
        ValuationMonth "valuation_month" given::month, "Month of the valuation day, 1 to 12.";
        UnseenYears "unseen_years" given::unseen_years, "Years between the last known sale of the snapshot and the valuation day.";
        ReferenceLogValue "reference_log_value" reference::log_value, "Natural logarithm of the reference model's estimate.";
        ReferenceValue "reference_value" reference::value, "The reference model's estimate, pounds.";
        ReferenceDispersion "reference_dispersion" reference::dispersion, "Its own measure of its error in log price.";
        ReferenceOwnShare "reference_own_share" reference::own_share, "Share of it that rests on the home's own sales.";
        ReferenceSimilarity "reference_similarity" reference::similarity, "Mean similarity of the comparables that it names.";
        OwnSales "own_sales" history::count, "Earlier standard sales of the home itself.";
        OwnYears "own_years" history::years, "Years since its last one.";
        OwnLogPrice "own_log_price" history::log_price, "Log of its last price, carried to the valuation day by the index.";
        OwnToReference "own_to_reference" history::to_reference, "The same less `reference_log_value`.";
        OwnNewBuild "own_new_build" history::new_build, "1 where its last sale was its first as a new home, else 0.";
        OwnFormerToReference "own_former_to_reference" history::former, "The last sale but one, as `own_to_reference`.";
        NearSales "near_sales" near::count, "Comparable sales near by that the reference model was shown.";
        NearLogPrice "near_log_price" near::log_price, "Median log price of them, indexed, weighted by nearness and age.";
        NearToReference "near_to_reference" near::to_reference, "The same less `reference_log_value`.";
        NearLogPerSqm "near_log_price_per_m2" near::per_sqm, "Median log price a square metre of them, weighted alike.";
        NearPerSqmToReference "near_per_m2_to_reference" near::per_sqm_to_reference,
            "The same for the subject's own floor area, less `reference_log_value`.";
        NearSpread "near_spread" near::spread, "Median departure of their log prices from `near_log_price`.";
        NearDistance "near_distance_m" near::distance, "Their mean distance by weight, metres.";
        NearYears "near_years" near::years, "Their mean age by weight, years.";
        NearNewBuild "near_new_build" near::new_build, "Share of new homes among them, by weight.";
        NearLogArea "near_log_area" near::log_area, "Their mean log floor area by weight.";
        NearestDistance "nearest_distance_m" near::nearest_distance, "Distance of the nearest, metres.";
        NearestToReference "nearest_to_reference" near::nearest_to_reference,
            "Log price of the nearest, indexed, less `reference_log_value`.";
        PostcodeSales "postcode_sales" near::postcode_count, "How many of them are of the same postcode.";
        PostcodeToReference "postcode_to_reference" near::postcode_to_reference,
            "Median log price of those, indexed, less `reference_log_value`.";
        KrigedLogValue "kriged_log_value" kriged::log_value, "Natural logarithm of a second estimate, by kriging.";
        KrigedToReference "kriged_to_reference" kriged::to_reference, "The same less `reference_log_value`.";
        KrigedDeviation "kriged_deviation" kriged::deviation, "Standard deviation of it in log price, without the noise of a sale.";
        MiddleLogValue "middle_log_value" kriged::middle,
            "Half-way between `reference_log_value` and `kriged_log_value`; the former where the latter is missing.";
        SectorSales "sector_sales" figures::sector_sales, "Sales of the type in the postcode sector in twelve months.";
        SectorLogPrice "sector_log_price" figures::sector_price, "Log of their median price.";
        SectorLogPerSqm "sector_log_price_per_m2" figures::sector_per_sqm, "Log of their price a square metre.";
        DistrictSales "district_sales" figures::district_sales, "The same of the postcode district.";
        DistrictLogPrice "district_log_price" figures::district_price, "Log of their median price.";
        DistrictLogPerSqm "district_log_price_per_m2" figures::district_per_sqm, "Log of their price a square metre.";
        AuthoritySales "authority_sales" figures::authority_sales, "The same of the local authority.";
        AuthorityLogPrice "authority_log_price" figures::authority_price, "Log of their median price.";
        AuthorityChange "authority_price_change_pct" figures::authority_change, "Change of that median over twelve months, per cent.";
        IndexChange "index_change_1y" figures::index_change, "Log change of the house price index over the year before the valuation day.";
    } };
}
pub(crate) use table;

macro_rules! define {
    ($($feature:ident $name:literal $source:path, $about:literal $(, [$($case:literal),*])?;)*) => {
        /// A feature, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $(#[doc = $about] $feature,)*
        }

        /// All of them, in the order of their documentation.
        pub const FEATURES: &[Feature] = &[$(Feature::$feature),*];

        impl Feature {
            /// What a mapping file calls it.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$feature => $name,)* }
            }

            /// What it is, in one line.
            pub fn about(self) -> &'static str {
                match self { $(Feature::$feature => $about,)* }
            }

            /// The cases of a categorical one, each at the position that is its number.
            pub fn cases(self) -> &'static [&'static str] {
                match self { $(Feature::$feature => &[$($($case),*)?],)* }
            }
        }
    };
}
table!(define);

impl Feature {
    /// The feature that a mapping file calls so.
    pub fn named(name: &str) -> Option<Feature> {
        FEATURES
            .iter()
            .copied()
            .find(|feature| feature.name() == name)
    }

    /// Whether it is one of a set of cases rather than an amount.
    pub fn is_categorical(self) -> bool {
        self == Feature::Authority || !self.cases().is_empty()
    }
}
