//! Every number that the model uses, in the shape in which `parameters.json` states it.
//!
//! The build script reads this shape from the file and writes it out again as one constant, so
//! an instance in the sandbox has nothing to parse. It is numbers only: what they were fitted on
//! is told by [`Document`](crate::document::Document).
//!
//! Effects and scales are in natural logarithms of price unless a unit is given: an effect of
//! 0.10 is a price higher by a factor of exp(0.10).

use crate::baked::Baked;

/// The least and the greatest that [`HedonicParameters::leasehold_house`] may be: a lease is a part
/// of the freehold, so a house is worth no more for being held on one.
pub const LEASEHOLD_HOUSE: (f64, f64) = (-1.0, 0.0);

/// The least and the greatest that [`HedonicParameters::freehold_flat`] may be. Its sign is open: a
/// share of the freehold is worth a little more than a lease, a flat without a landlord is hard to
/// borrow on. What the register shows beyond a tenth is blocks sold as one.
pub const FREEHOLD_FLAT: (f64, f64) = (-0.1, 0.1);

/// Declares structs that are plain data, and that can be read and written outside the sandbox.
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
        /// What is asked of the evidence.
        pub evidence: EvidenceParameters,
        /// What a home's attributes are worth.
        pub hedonic: HedonicParameters,
        /// How alike two homes are.
        pub likeness: LikenessParameters,
        /// How adjusted prices become an estimate.
        pub estimate: EstimateParameters,
        /// What the property's own earlier sales are worth.
        pub own_history: OwnHistoryParameters,
        /// Where prices drifted from the published index.
        pub drift: DriftParameters,
        /// What area figures are worth where comparables are thin.
        pub anchor: AnchorParameters,
        /// How uncertainty becomes a score.
        pub confidence: ConfidenceParameters,
        /// When no automated value is offered.
        pub refer: ReferParameters,
        /// Calibrated ranges; absent until calibrated, and then no range is given.
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

    /// What is asked of the evidence.
    pub struct EvidenceParameters {
        /// Metres: the radius of the first search and of each wider one.
        pub radii_m: [u32; 3],
        /// Years back from the valuation day.
        pub years: f64,
        /// Sales asked for in one search.
        pub limit: u32,
        /// A search is widened while it has found fewer usable sales than this.
        pub enough: u32,
        /// Other types of house are brought in while there are fewer usable sales than this.
        pub few: u32,
    }

    /// What a home's attributes are worth.
    pub struct HedonicParameters {
        /// Square metres at which the type effects hold.
        pub reference_area_m2: f64,
        /// Per cent of price for a per cent of floor area.
        pub area_elasticity: PerType<f64>,
        /// Level of a type at the reference area, against semi-detached.
        pub property_type: PerType<f64>,
        /// Level of a subtype within its type.
        pub subtype: PerSubtype,
        /// A leasehold house against a freehold one; never above nought.
        pub leasehold_house: f64,
        /// A flat sold with its freehold, or a share registered as one, against a leasehold flat.
        pub freehold_flat: f64,
        /// Construction age bands A to L, against D.
        pub age_band: [f64; 12],
        /// Energy ratings A to G, against D.
        pub rating: [f64; 7],
        /// A first sale of a new home against a later one.
        pub new_build: f64,
        /// Yearly rate at which the end of a lease is discounted.
        pub lease_discount_rate: f64,
        /// Years left on the lease of a comparable, which the registers do not tell.
        pub typical_lease_years: f64,
        /// Square metres where nothing tells the floor area.
        pub typical_area_m2: PerType<f64>,
        /// Square metres by habitable rooms: 1, 2, … 7, and 8 or more.
        pub area_by_rooms_m2: PerType<[f64; 8]>,
    }

    /// How alike two homes are. Each scale is the difference at which a factor is one half; each
    /// factor is between 0 and 1.
    pub struct LikenessParameters {
        /// Metres.
        pub distance_m: f64,
        /// Years between the sale and the valuation day.
        pub years: f64,
        /// Natural logarithm of the ratio of floor areas. It bears on the similarity that is
        /// shown; it does not weigh the sale in the estimate.
        pub log_area: f64,
        /// Age bands apart.
        pub age_bands: f64,
        /// In the subject's own postcode.
        pub same_postcode: f64,
        /// In its postcode sector.
        pub same_sector: f64,
        /// In its postcode district.
        pub same_district: f64,
        /// Farther away.
        pub elsewhere: f64,
        /// Of another type of house.
        pub other_type: f64,
        /// Of another subtype.
        pub other_subtype: f64,
        /// Where one of the two subtypes is not known.
        pub unknown_subtype: f64,
        /// Where one of the two age bands is not known.
        pub unknown_age: f64,
        /// Of the other tenure. It bears on the similarity that is shown; it does not weigh the
        /// sale in the estimate.
        pub other_tenure: f64,
        /// One new, the other not.
        pub other_build_status: f64,
        /// Where the sale's floor area is not known.
        pub unknown_area: f64,
        /// Metres, of the kernel that weighs a sale in the estimate. It is narrower than
        /// `distance_m`, which the similarity that is shown goes by: a home two streets away is
        /// still like the subject, but the one next door says more of its price.
        pub kernel_m: f64,
        /// The kernel is never narrower than the distance of so many nearest sales.
        pub kernel_sales: u32,
        /// In the subject's postcode sector, in the kernel; in its own postcode it is 1.
        pub kernel_sector: f64,
        /// Farther away, in the kernel.
        pub kernel_elsewhere: f64,
    }

    /// How adjusted prices become an estimate.
    pub struct EstimateParameters {
        /// Tukey's biweight is zero beyond this many standard deviations.
        pub tukey: f64,
        /// Least standard deviation of a single sale about its local level.
        pub least_scale: f64,
        /// The standard deviation expected before any comparable is seen.
        pub prior_scale: f64,
        /// How many comparables the expected standard deviation counts for.
        pub prior_scale_weight: f64,
        /// How many comparables' worth of squared log area the fitted elasticity counts for.
        pub elasticity_weight: f64,
        /// The least elasticity that local sales can bring about.
        pub least_elasticity: f64,
        /// The greatest elasticity that local sales can bring about.
        pub greatest_elasticity: f64,
    }

    /// What the property's own earlier sales are worth.
    pub struct OwnHistoryParameters {
        /// Sales older than this are not used.
        pub years: f64,
        /// Variance of an indexed earlier price, at no distance in time.
        pub variance: f64,
        /// Variance that each year adds.
        pub variance_per_year: f64,
        /// Log difference from the comparables at which an own sale's weight is one half.
        pub disagreement: f64,
        /// What a home sold again fetches beyond its indexed price, however late.
        pub resale: PerType<f64>,
        /// What it fetches besides where it is sold again at once; it falls by e with every year.
        pub quick_resale: PerType<f64>,
    }

    /// Where prices drifted from the published index, learnt from homes sold more than once. Each
    /// list has the logarithm of the drift at the beginning of each year.
    pub struct DriftParameters {
        /// The year of the first number of every list.
        pub first_year: f64,
        /// Anywhere.
        pub by_type: PerType<Baked<f64>>,
        /// In the postcode areas with enough such homes, by rising name.
        pub areas: Baked<AreaDrift>,
    }

    /// What area figures are worth where comparables are thin.
    pub struct AnchorParameters {
        /// They are asked for below this effective number of comparables.
        pub below_effective: f64,
        /// Variance of a home's level about its postcode sector's.
        pub sector_variance: f64,
        /// Variance of a home's level about its postcode district's.
        pub district_variance: f64,
        /// Variance of a home's level about its local authority's.
        pub authority_variance: f64,
    }

    /// How uncertainty becomes a score.
    pub struct ConfidenceParameters {
        /// The standard deviation at which confidence is one half.
        pub half_scale: f64,
        /// Variance that a kilometre of mean distance adds.
        pub variance_per_km: f64,
        /// Variance that a year of mean age adds.
        pub variance_per_year: f64,
        /// Variance of the log floor area where it was derived with the rooms known.
        pub area_variance_rooms_known: f64,
        /// Variance of the log floor area where it was derived without them.
        pub area_variance: f64,
        /// Variance of the elasticity, for sizes away from the comparables' own.
        pub elasticity_variance: f64,
        /// Variance where the age band is not known.
        pub age_variance: f64,
        /// Variance where there is no price index.
        pub no_index_variance: f64,
        /// Variance where the subject is not placed by its own coordinates.
        pub place_variance: f64,
        /// Variance where no sale is like the subject at all.
        pub unlike_variance: f64,
        /// The sum of likenesses at which half of it is left.
        pub half_alike: f64,
        /// Variance that a year adds since the last that the drift from the index was learnt from.
        pub variance_per_unlearnt_year: f64,
        /// Variance that a year without any known sale before the valuation day adds: the index
        /// stands still in it.
        pub variance_per_stale_year: f64,
    }

    /// When no automated value is offered.
    pub struct ReferParameters {
        /// Square metres, least by type.
        pub least_area_m2: PerType<f64>,
        /// Square metres, greatest by type.
        pub greatest_area_m2: PerType<f64>,
        /// Square metres a room below which size and rooms contradict each other.
        pub least_area_per_room_m2: f64,
        /// Years left on a lease.
        pub least_lease_years: f64,
        /// Comparables.
        pub least_comparables: u32,
        /// Standard deviation.
        pub greatest_scale: f64,
        /// Log spread of neighbours' floor areas beyond which an unknown one cannot be guessed.
        pub greatest_area_spread: f64,
        /// Pounds.
        pub least_value: f64,
        /// Pounds.
        pub greatest_value: f64,
        /// Log ratio of the estimate to the local level.
        pub greatest_departure: f64,
    }

    /// Calibrated ranges. A score is the absolute log error over the standard deviation that the
    /// confidence stands for.
    pub struct ConformalParameters {
        /// Share of a portfolio's prices that should lie within their ranges.
        pub coverage: f64,
        /// Fewest comparables with which a range is given.
        pub least_comparables: u32,
        /// Confidence at which each tenth but the lowest begins.
        pub tenths: [f64; 9],
        /// By type and tenth of confidence, lowest first.
        pub by_type_and_tenth: PerType<[Cell; 10]>,
        /// By tenth of confidence, all types together.
        pub by_tenth: [Cell; 10],
        /// By type.
        pub by_type: PerType<Cell>,
        /// All together.
        pub all: Cell,
        /// By when a home was built: what the quantiles of the segments above are multiplied by.
        pub by_built: PerBuilt<Factor>,
        /// By local authority, in the order of their codes: against all of the above.
        pub by_authority: Baked<AuthorityRanges>,
    }

    /// How wide the ranges of some homes are against those of their segments.
    pub struct Factor {
        /// Sales that it was calibrated on.
        pub sales: u32,
        /// What the quantile is multiplied by; 1 where the sales were too few.
        pub factor: f64,
    }

    /// One value for each time of building that ranges tell apart.
    pub struct PerBuilt<T> {
        /// Sold new.
        pub new: T,
        /// Since 1996, and not sold new.
        pub modern: T,
        /// Before.
        pub older: T,
        /// Not known.
        pub unknown: T,
    }

    /// One segment of the calibration.
    pub struct Cell {
        /// Sales that it was calibrated on.
        pub sales: u32,
        /// The conformal quantile of the scores; absent where the sales were too few.
        pub quantile: Option<f64>,
        /// For information: the middle absolute error, as a share of the price.
        pub median_absolute_error: Option<f64>,
        /// For information: the share of values within 10 % of the price.
        pub within_10_percent: Option<f64>,
    }
}

/// How wide the ranges of one local authority are against those of its segments anywhere.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(target_arch = "wasm32"), derive(serde::Serialize))]
pub struct AuthorityRanges {
    /// Nine-character code.
    pub authority: &'static str,
    /// Sales that it was calibrated on.
    pub sales: u32,
    /// What the quantile is multiplied by.
    pub factor: f64,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de> serde::Deserialize<'de> for AuthorityRanges {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Read {
            authority: String,
            sales: u32,
            factor: f64,
        }
        let read = Read::deserialize(deserializer)?;
        Ok(AuthorityRanges {
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
    /// The letters that its postcodes begin with.
    pub area: &'static str,
    /// As in [`DriftParameters::by_type`].
    pub by_type: PerType<Baked<f64>>,
}

#[cfg(not(target_arch = "wasm32"))]
impl<'de> serde::Deserialize<'de> for AreaDrift {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Read {
            area: String,
            by_type: PerType<Baked<f64>>,
        }
        let Read { area, by_type } = Read::deserialize(deserializer)?;
        let area = area.leak();
        Ok(AreaDrift { area, by_type })
    }
}
