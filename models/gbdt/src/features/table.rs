//! The table of features: name, function, description and the cases of a categorical one. The build
//! script includes it, so that a mapping file is checked before the component is compiled.

/// Passes the table to another macro.
macro_rules! table {
    ($with:ident) => { $with! {
        PropertyType "property_type" subject::property_type, "Type of the home.",
            ["detached", "semi_detached", "terraced", "flat"];
        PropertySubtype "property_subtype" subject::subtype, "Subtype of the home.",
            ["house_detached", "house_semi_detached", "house_mid_terrace", "house_end_terrace", "bungalow_detached",
             "bungalow_semi_detached", "bungalow_terraced", "flat_purpose_built", "flat_converted", "maisonette"];
        Tenure "tenure" subject::tenure, "Tenure of the title.", ["freehold", "leasehold"];
        Country "country" subject::country, "Country.", ["england", "wales"];
        Precision "precision" subject::precision, "Precision of the place.", ["property", "postcode", "site"];
        Occupancy "occupancy" subject::occupancy, "Occupancy of the home.", ["owner_occupied", "tenanted", "vacant"];
        WallType "wall_type" subject::wall, "Walls.",
            ["cavity", "solid_brick", "stone", "timber_frame", "system_built", "cob"];
        RoofType "roof_type" subject::roof, "Roof.", ["pitched", "flat", "thatched", "room_in_roof", "premises_above"];
        FloorType "floor_type" subject::floor, "Floor.", ["solid", "suspended", "premises_below"];
        Glazing "glazing" subject::glazing, "Windows.", ["single", "double", "triple", "secondary"];
        Authority "authority" subject::no_number, "Local authority; the mapping file lists the codes.", [];
        NewBuild "new_build" subject::new_build, "1 where the home is new or not yet built, else 0.";
        FloorArea "floor_area_m2" subject::floor_area, "Internal floor area, square metres.";
        Bedrooms "bedrooms" subject::bedrooms, "Bedrooms.";
        LivingRooms "living_rooms" subject::living_rooms, "Living rooms.";
        HabitableRooms "habitable_rooms" subject::habitable_rooms, "Habitable rooms, or bedrooms and living rooms together.";
        Storeys "storeys" subject::storeys, "Storeys of a house.";
        FloorLevel "floor_level" subject::floor_level, "Storey of a flat, ground floor 0.";
        LeaseYears "lease_years" subject::lease_years, "Years left on the lease; missing for freehold.";
        GroundRent "ground_rent_gbp" subject::ground_rent, "Ground rent, pounds a year.";
        ServiceCharge "service_charge_gbp" subject::service_charge, "Service charge, pounds a year.";
        AgeBand "age_band" subject::age_band, "Construction age band: A (before 1900) is 0, L (2012 on) is 11.";
        EnergyRating "energy_rating" subject::energy_rating, "Energy rating: A is 0, G is 6.";
        EnergyScore "energy_score" subject::energy_score, "Energy score, 1 to 100.";
        Easting "easting_m" subject::easting, "British National Grid, metres.";
        Northing "northing_m" subject::northing, "British National Grid, metres.";
        ValuationYear "valuation_year" subject::year, "The valuation day in years, with its fraction.";
        ValuationMonth "valuation_month" subject::month, "Month of the valuation day, 1 to 12.";
        UnseenYears "unseen_years" subject::unseen_years, "Years between the last known sale of the snapshot and the valuation day.";
        ReferenceLogValue "reference_log_value" reference::log_value, "Natural logarithm of the reference model's estimate.";
        ReferenceValue "reference_value" reference::value, "The reference model's estimate, pounds.";
        ReferenceDispersion "reference_dispersion" reference::dispersion, "Standard deviation of its error in log price.";
        ReferenceOwnShare "reference_own_share" reference::own_share, "Share of it from the home's own sales.";
        ReferenceSimilarity "reference_similarity" reference::similarity, "Mean similarity of the comparables that it lists.";
        OwnSales "own_sales" history::count, "Earlier standard sales of the home itself.";
        OwnYears "own_years" history::years, "Years since its last one.";
        OwnLogPrice "own_log_price" history::log_price, "Log of its last price, carried to the valuation day by the index.";
        OwnToReference "own_to_reference" history::to_reference, "The same less `reference_log_value`.";
        OwnNewBuild "own_new_build" history::new_build, "1 where its last sale was its first as a new home, else 0.";
        OwnFormerToReference "own_former_to_reference" history::former, "The second last sale, as `own_to_reference`.";
        NearSales "near_sales" nearby::count, "Comparable sales nearby in the reference model's queries.";
        NearLogPrice "near_log_price" nearby::log_price, "Median log price of them, indexed, weighted by nearness and age.";
        NearToReference "near_to_reference" nearby::to_reference, "The same less `reference_log_value`.";
        NearLogPerSqm "near_log_price_per_m2" nearby::per_sqm, "Median log price per square metre of them, weighted alike.";
        NearPerSqmToReference "near_per_m2_to_reference" nearby::per_sqm_to_reference,
            "The same for the subject's own floor area, less `reference_log_value`.";
        NearSpread "near_spread" nearby::spread, "Median departure of their log prices from `near_log_price`.";
        NearDistance "near_distance_m" nearby::distance, "Their mean distance by weight, metres.";
        NearYears "near_years" nearby::years, "Their mean age by weight, years.";
        NearNewBuild "near_new_build" nearby::new_build, "Share of new homes among them, by weight.";
        NearLogArea "near_log_area" nearby::log_area, "Their mean log floor area by weight.";
        NearestDistance "nearest_distance_m" nearby::nearest_distance, "Distance of the nearest sale, metres.";
        NearestToReference "nearest_to_reference" nearby::nearest_to_reference,
            "Log price of the nearest sale, indexed, less `reference_log_value`.";
        PostcodeSales "postcode_sales" nearby::postcode_count, "Number of them in the same postcode.";
        PostcodeToReference "postcode_to_reference" nearby::postcode_to_reference,
            "Median log price of those, indexed, less `reference_log_value`.";
        KrigedLogValue "kriged_log_value" kriging::log_value, "Natural logarithm of a second estimate, by kriging.";
        KrigedToReference "kriged_to_reference" kriging::to_reference, "The same less `reference_log_value`.";
        KrigedDeviation "kriged_deviation" kriging::deviation, "Standard deviation of that estimate in log price, without the noise of a sale.";
        MiddleLogValue "middle_log_value" kriging::middle,
            "Mean of `reference_log_value` and `kriged_log_value`; the former if the latter is missing.";
        SectorSales "sector_sales" figures::sector_sales, "Sales of the type in the postcode sector in twelve months.";
        SectorLogPrice "sector_log_price" figures::sector_price, "Log of their median price.";
        SectorLogPerSqm "sector_log_price_per_m2" figures::sector_per_sqm, "Log of their price per square metre.";
        DistrictSales "district_sales" figures::district_sales, "The same of the postcode district.";
        DistrictLogPrice "district_log_price" figures::district_price, "Log of their median price.";
        DistrictLogPerSqm "district_log_price_per_m2" figures::district_per_sqm, "Log of their price per square metre.";
        AuthoritySales "authority_sales" figures::authority_sales, "The same of the local authority.";
        AuthorityLogPrice "authority_log_price" figures::authority_price, "Log of their median price.";
        AuthorityChange "authority_price_change_pct" figures::authority_change, "Change of that median over twelve months, per cent.";
        IndexChange "index_change_1y" figures::index_change, "Log change of the house price index over the year before the valuation day.";
    } };
}
pub(crate) use table;

macro_rules! define {
    ($($feature:ident $name:literal $source:path, $about:literal $(, [$($case:literal),*])?;)*) => {
        /// A feature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $(#[doc = $about] $feature,)*
        }

        /// All features, in the order of their documentation.
        pub const FEATURES: &[Feature] = &[$(Feature::$feature),*];

        impl Feature {
            /// Returns its name in a mapping file.
            pub fn name(self) -> &'static str {
                match self { $(Feature::$feature => $name,)* }
            }

            /// Returns its description in one line.
            pub fn about(self) -> &'static str {
                match self { $(Feature::$feature => $about,)* }
            }

            /// Returns the cases of a categorical feature. A case's position is its number.
            pub fn cases(self) -> &'static [&'static str] {
                match self { $(Feature::$feature => &[$($($case),*)?],)* }
            }
        }
    };
}
table!(define);

impl Feature {
    /// Finds the feature of a name in a mapping file.
    pub fn from_name(name: &str) -> Option<Feature> {
        FEATURES
            .iter()
            .copied()
            .find(|feature| feature.name() == name)
    }

    /// Returns whether the feature is categorical.
    pub fn is_categorical(self) -> bool {
        self == Feature::Authority || !self.cases().is_empty()
    }
}
