//! The parameters of the model, in the shape of `parameters.json`.
//!
//! The build script reads the file and writes it out as one constant, so the sandbox has nothing to
//! parse. [`Document`](crate::document::Document) records what the numbers were fitted on.
//!
//! Effects and scales are natural logarithms of price unless a unit is given. An effect of 0.10
//! raises the price by a factor of exp(0.10).

use crate::embedded_parameters::StaticList;

/// Bounds of [`HedonicParameters::leasehold_house`]. A lease is a part of the freehold, so a
/// leasehold house is worth no more.
pub const LEASEHOLD_HOUSE: (f64, f64) = (-1.0, 0.0);

/// Bounds of [`HedonicParameters::freehold_flat`]. A share of the freehold is worth a little more
/// than a lease, but a flat without a landlord is hard to borrow on. Larger effects in the register
/// are blocks sold as one.
pub const FREEHOLD_FLAT: (f64, f64) = (-0.1, 0.1);

/// Declares plain structs that can be read and written outside the sandbox.
macro_rules! shapes {
    ($($(#[$note:meta])* pub struct $name:ident $(<$t:ident>)? {
        $($(#[$field_note:meta])* pub $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$note])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(
            not(target_arch = "wasm32"),
            derive(serde::Serialize, serde::Deserialize),
            serde(deny_unknown_fields)
        )]
        pub struct $name $(<$t>)? {
            $($(#[$field_note])* pub $field: $type,)*
        }
    )*};
}

shapes! {
    /// All parameters of the model.
    pub struct Parameters {
        /// Queries to the evidence.
        pub evidence: EvidenceParameters,
        /// Values of a home's attributes.
        pub hedonic: HedonicParameters,
        /// Reliability of a floor area that is not on record. A file of an earlier format has none.
        #[cfg_attr(not(target_arch = "wasm32"), serde(default))]
        pub unknown_area: UnknownAreaParameters,
        /// Similarity of two homes.
        #[cfg_attr(not(target_arch = "wasm32"), serde(rename = "likeness"))]
        pub similarity: SimilarityParameters,
        /// Fit of the local level.
        pub estimate: EstimateParameters,
        /// Use of the property's own earlier sales.
        pub own_history: OwnHistoryParameters,
        /// Drift of prices from the published index.
        pub drift: DriftParameters,
        /// Use of area figures where comparables are few.
        #[cfg_attr(not(target_arch = "wasm32"), serde(rename = "anchor"))]
        pub local_level: LocalLevelParameters,
        /// Score of the evidence.
        pub confidence: ConfidenceParameters,
        /// Reasons to refer a property.
        #[cfg_attr(not(target_arch = "wasm32"), serde(rename = "refer"))]
        pub referral: ReferralParameters,
        /// Calibrated ranges. Absent until calibrated, and then valuations have no range.
        pub conformal: Option<ConformalParameters>,
    }

    /// One value for each property type.
    pub struct PerType<T> {
        /// Detached houses.
        pub detached: T,
        /// Semi-detached houses.
        pub semi_detached: T,
        /// Terraced houses.
        pub terraced: T,
        /// Flats and maisonettes.
        pub flat: T,
    }

    /// One effect for each subtype, within its type.
    pub struct PerSubtype {
        /// Detached house.
        pub house_detached: f64,
        /// Semi-detached house.
        pub house_semi_detached: f64,
        /// Mid-terraced house.
        pub house_mid_terrace: f64,
        /// End-terraced house.
        pub house_end_terrace: f64,
        /// Detached bungalow.
        pub bungalow_detached: f64,
        /// Semi-detached bungalow.
        pub bungalow_semi_detached: f64,
        /// Terraced bungalow.
        pub bungalow_terraced: f64,
        /// Purpose-built flat.
        pub flat_purpose_built: f64,
        /// Flat in a converted house.
        pub flat_converted: f64,
        /// Maisonette.
        pub maisonette: f64,
    }

    /// Queries to the evidence.
    pub struct EvidenceParameters {
        /// Radius in metres of the first search and of each wider one.
        pub radii_m: [u32; 3],
        /// Age in years of the oldest sale to search for.
        pub years: f64,
        /// Most sales that one search returns.
        pub limit: u32,
        /// The search widens until it has found this many usable sales.
        pub enough: u32,
        /// The search includes other house types below this many usable sales.
        pub few: u32,
    }

    /// Values of a home's attributes.
    pub struct HedonicParameters {
        /// Floor area in square metres at which the type effects hold.
        pub reference_area_m2: f64,
        /// Elasticity of price to floor area.
        pub area_elasticity: PerType<f64>,
        /// Effect of a type at the reference area, relative to semi-detached.
        pub property_type: PerType<f64>,
        /// Effect of a subtype within its type.
        pub subtype: PerSubtype,
        /// Effect of leasehold on a house, relative to freehold. Never positive.
        pub leasehold_house: f64,
        /// Effect of freehold, or of a share of it, on a flat, relative to leasehold.
        pub freehold_flat: f64,
        /// Effects of construction age bands A to L, relative to D.
        pub age_band: [f64; 12],
        /// Effects of energy ratings A to G, relative to D.
        pub rating: [f64; 7],
        /// Premium of the first sale of a new home.
        pub new_build: f64,
        /// Yearly rate that discounts the end of a lease.
        pub lease_discount_rate: f64,
        /// Years left on a comparable's lease, which the registers do not state.
        pub typical_lease_years: f64,
        /// Floor area in square metres where nothing is known of it.
        pub typical_area_m2: PerType<f64>,
        /// Floor area in square metres by habitable rooms: 1 to 7, and 8 or more.
        pub area_by_rooms_m2: PerType<[f64; 8]>,
    }

    /// Reliability of a floor area that is not on record.
    pub struct UnknownAreaParameters {
        /// Share of the departure of the size by rooms from the size typical of the place that
        /// counts for the subject.
        pub rooms_reliability: f64,
        /// Correlation of the log sizes of neighbours of one type.
        pub neighbour_correlation: f64,
    }

    /// Similarity of two homes. A scale is the difference at which its factor is one half. A factor
    /// is between 0 and 1.
    pub struct SimilarityParameters {
        /// Scale of distance, in metres.
        pub distance_m: f64,
        /// Scale of the age of a sale, in years.
        pub years: f64,
        /// Scale of the log ratio of floor areas. It affects the displayed similarity and not the
        /// weight.
        pub log_area: f64,
        /// Scale of the difference in age bands.
        pub age_bands: f64,
        /// Factor within the subject's postcode.
        pub same_postcode: f64,
        /// Factor within its postcode sector.
        pub same_sector: f64,
        /// Factor within its postcode district.
        pub same_district: f64,
        /// Factor beyond its postcode district.
        pub elsewhere: f64,
        /// Factor of another house type.
        pub other_type: f64,
        /// Factor of another subtype.
        pub other_subtype: f64,
        /// Factor if one of the two subtypes is unknown.
        pub unknown_subtype: f64,
        /// Factor if one of the two age bands is unknown.
        pub unknown_age: f64,
        /// Factor of the other tenure. It affects the displayed similarity and not the weight.
        pub other_tenure: f64,
        /// Factor if one home is new and the other is not.
        pub other_build_status: f64,
        /// Factor if the sale's floor area is unknown.
        pub unknown_area: f64,
        /// Scale in metres of the kernel that weighs sales in the estimate. It is narrower than
        /// `distance_m`: a home two streets away is still similar, but the one next door tells more
        /// of the price.
        pub kernel_m: f64,
        /// The kernel reaches at least this many nearest sales.
        pub kernel_sales: u32,
        /// Kernel factor within the subject's postcode sector. Within its postcode it is 1.
        pub kernel_sector: f64,
        /// Kernel factor beyond the postcode sector.
        pub kernel_elsewhere: f64,
    }

    /// Fit of the local level.
    pub struct EstimateParameters {
        /// Cut-off of Tukey's biweight, in standard deviations.
        pub tukey: f64,
        /// Least standard deviation of a sale about the local level.
        pub least_scale: f64,
        /// Prior standard deviation of a sale.
        pub prior_scale: f64,
        /// Number of comparables that the prior standard deviation counts for.
        pub prior_scale_weight: f64,
        /// Ridge on the local slope: a sum of squared log areas of comparables.
        pub elasticity_weight: f64,
        /// Least local elasticity.
        pub least_elasticity: f64,
        /// Greatest local elasticity.
        pub greatest_elasticity: f64,
    }

    /// Use of the property's own earlier sales.
    pub struct OwnHistoryParameters {
        /// Age in years of the oldest sale to use.
        pub years: f64,
        /// Variance of an indexed earlier price at no distance in time.
        pub variance: f64,
        /// Variance that each year adds.
        pub variance_per_year: f64,
        /// Log departure from the comparables at which an own sale's weight halves.
        pub disagreement: f64,
        /// Log premium of a resale over the indexed price, however late.
        pub resale: PerType<f64>,
        /// Further premium of an immediate resale. It falls by a factor of e each year.
        pub quick_resale: PerType<f64>,
    }

    /// Drift of prices from the published index, fitted on homes sold more than once. Each list
    /// holds the log drift at the beginning of each year.
    pub struct DriftParameters {
        /// Year of the first number of every list.
        pub first_year: f64,
        /// Drift anywhere, by type.
        pub by_type: PerType<StaticList<f64>>,
        /// Drift of the postcode areas with enough repeat sales, by increasing name.
        pub areas: StaticList<AreaDrift>,
    }

    /// Use of area figures where comparables are few.
    pub struct LocalLevelParameters {
        /// The figures are used below this effective number of comparables.
        pub below_effective: f64,
        /// Variance of a home's level about that of its postcode sector.
        pub sector_variance: f64,
        /// Variance of a home's level about that of its postcode district.
        pub district_variance: f64,
        /// Variance of a home's level about that of its local authority.
        pub authority_variance: f64,
    }

    /// Score of the evidence.
    pub struct ConfidenceParameters {
        /// Standard deviation at which confidence is one half.
        pub half_scale: f64,
        /// Variance of a kilometre of mean distance.
        pub variance_per_km: f64,
        /// Variance of a year of mean sale age.
        pub variance_per_year: f64,
        /// Variance of a log floor area derived from known rooms.
        pub area_variance_rooms_known: f64,
        /// Variance of a log floor area derived without rooms.
        pub area_variance: f64,
        /// Variance of the elasticity, for sizes unlike the comparables'.
        pub elasticity_variance: f64,
        /// Variance if the age band is unknown.
        pub age_variance: f64,
        /// Variance if there is no price index.
        pub no_index_variance: f64,
        /// Variance if the subject's place is not its own coordinates.
        pub place_variance: f64,
        /// Variance if no sale is similar to the subject.
        pub unlike_variance: f64,
        /// Sum of similarities at which that variance halves.
        pub half_alike: f64,
        /// Variance of a year since the last fitted year of drift.
        pub variance_per_unlearnt_year: f64,
        /// Variance of a year without a known sale before the valuation day. The index is constant
        /// in it.
        pub variance_per_stale_year: f64,
    }

    /// Reasons to refer a property.
    pub struct ReferralParameters {
        /// Least floor area of each type, in square metres.
        pub least_area_m2: PerType<f64>,
        /// Greatest floor area of each type, in square metres.
        pub greatest_area_m2: PerType<f64>,
        /// Least floor area per room, in square metres. Less contradicts the number of rooms.
        pub least_area_per_room_m2: f64,
        /// Least years left on a lease.
        pub least_lease_years: f64,
        /// Least comparables of a valuation.
        pub least_comparables: u32,
        /// Greatest standard deviation of a valuation.
        pub greatest_scale: f64,
        /// Greatest log spread of neighbours' floor areas from which an unknown one is derived.
        pub greatest_area_spread: f64,
        /// Least estimate in pounds.
        pub least_value: f64,
        /// Greatest estimate in pounds.
        pub greatest_value: f64,
        /// Greatest log departure of the estimate from the local level.
        pub greatest_departure: f64,
    }

    /// Calibrated ranges. A score is the absolute log error over the standard deviation of the
    /// confidence.
    pub struct ConformalParameters {
        /// Nominal coverage: the share of prices within their ranges.
        pub coverage: f64,
        /// Least comparables of a valuation with a range.
        pub least_comparables: u32,
        /// Confidence at which each tenth begins, without the lowest.
        pub tenths: [f64; 9],
        /// Quantiles by type and tenth of confidence, lowest first.
        pub by_type_and_tenth: PerType<[SegmentQuantile; 10]>,
        /// Quantiles by tenth of confidence, over all types.
        pub by_tenth: [SegmentQuantile; 10],
        /// Quantiles by type.
        pub by_type: PerType<SegmentQuantile>,
        /// Quantile of all sales.
        pub all: SegmentQuantile,
        /// Width factors by build period.
        #[cfg_attr(not(target_arch = "wasm32"), serde(rename = "by_built"))]
        pub by_build_period: PerBuildPeriod<WidthFactor>,
        /// Width factors by local authority, in the order of their codes. They apply on top of the
        /// build period's.
        pub by_authority: StaticList<AuthorityFactor>,
    }

    /// The width of a group's ranges relative to those of its segments.
    pub struct WidthFactor {
        /// Sales of the calibration.
        pub sales: u32,
        /// Factor on the quantile, 1 if the sales were too few.
        pub factor: f64,
    }

    /// One value for each build period.
    pub struct PerBuildPeriod<T> {
        /// Sold new.
        pub new: T,
        /// From 1996, and not sold new.
        pub modern: T,
        /// Before 1996.
        pub older: T,
        /// Unknown.
        pub unknown: T,
    }

    /// The calibration of one segment.
    pub struct SegmentQuantile {
        /// Sales of the calibration.
        pub sales: u32,
        /// Conformal quantile of the scores. Absent if the sales were too few.
        pub quantile: Option<f64>,
        /// For information: median absolute error as a share of the price.
        pub median_absolute_error: Option<f64>,
        /// For information: share of estimates within 10 % of the price.
        pub within_10_percent: Option<f64>,
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Default for UnknownAreaParameters {
    fn default() -> Self {
        UnknownAreaParameters {
            rooms_reliability: 0.6,
            neighbour_correlation: 0.4,
        }
    }
}

/// The width of one local authority's ranges relative to those of its segments.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(target_arch = "wasm32"), derive(serde::Serialize))]
pub struct AuthorityFactor {
    /// Nine-character code.
    pub authority: &'static str,
    /// Sales of the calibration.
    pub sales: u32,
    /// Factor on the quantile.
    pub factor: f64,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de> serde::Deserialize<'de> for AuthorityFactor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            authority: String,
            sales: u32,
            factor: f64,
        }
        let read = Members::deserialize(deserializer)?;
        Ok(AuthorityFactor {
            authority: read.authority.leak(),
            sales: read.sales,
            factor: read.factor,
        })
    }
}

/// The drift of one postcode area.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(target_arch = "wasm32"), derive(serde::Serialize))]
pub struct AreaDrift {
    /// Letters that its postcodes begin with.
    pub area: &'static str,
    /// Log drift by type, as in [`DriftParameters::by_type`].
    pub by_type: PerType<StaticList<f64>>,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de> serde::Deserialize<'de> for AreaDrift {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            area: String,
            by_type: PerType<StaticList<f64>>,
        }
        let Members { area, by_type } = Members::deserialize(deserializer)?;
        let area = area.leak();
        Ok(AreaDrift { area, by_type })
    }
}
