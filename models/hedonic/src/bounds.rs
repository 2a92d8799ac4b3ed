//! Bounds of every parameter: outside them the model's arithmetic fails or its results make no
//! sense.
//!
//! [`BOUNDS`] holds one row for each member of `parameters.json`. [`check`] compares every number
//! with its row, then checks the lists that must increase.

use crate::parameters::{
    FREEHOLD_FLAT, LEASEHOLD_HOUSE, Parameters, PerBuildPeriod, PerType, SegmentQuantile,
    WidthFactor,
};

/// The bounds of one member of `parameters.json`.
pub struct Bound {
    /// Path of the member in the file. `*` stands for each member of a list or of an object.
    pub name: &'static str,
    /// Unit of its numbers.
    pub unit: &'static str,
    /// Least number that is accepted.
    pub lower: f64,
    /// Greatest number that is accepted.
    pub upper: f64,
    /// The meaning of the numbers.
    pub what: &'static str,
    /// Reads the member's numbers.
    numbers: fn(&Parameters) -> Vec<f64>,
}

/// The reason why numbers cannot be parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BoundsError {
    /// A number is out of its bounds.
    #[error("{name} ({what}) is {value} {unit}; set it from {lower} to {upper}")]
    OutOfBounds {
        /// Path of the member in the file.
        name: &'static str,
        /// The meaning of the number.
        what: &'static str,
        /// The number found.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// Least number that is accepted.
        lower: f64,
        /// Greatest number that is accepted.
        upper: f64,
    },
    /// A list does not increase.
    #[error("{name} decreases or repeats a name; list its members in increasing order")]
    NotIncreasing {
        /// Path of the member in the file.
        name: &'static str,
    },
}

/// Writes the table: a row states name, unit, bounds, meaning and how its numbers are read.
macro_rules! bounds {
    ($($name:literal, $unit:literal, $lower:expr, $upper:expr, $what:literal:
        |$p:ident| $numbers:expr;)*) => {
        &[$(Bound {
            name: $name,
            unit: $unit,
            lower: $lower,
            upper: $upper,
            what: $what,
            numbers: |$p: &Parameters| $numbers.into_iter().collect(),
        },)*]
    };
}

/// The bounds of all parameters.
pub const BOUNDS: &[Bound] = bounds! {
    // The host refuses a wider search (`wit/valuation.wit`).
    "evidence.radii_m", "m", 1.0, 2e4, "radius of each search":
        |p| p.evidence.radii_m.map(f64::from);
    "evidence.years", "years", 0.5, 30.0, "age of the oldest sale to search for":
        |p| [p.evidence.years];
    "evidence.limit", "sales", 1.0, 500.0, "most sales that one search returns":
        |p| [f64::from(p.evidence.limit)];
    "evidence.enough", "sales", 0.0, 500.0, "usable sales at which the search stops widening":
        |p| [f64::from(p.evidence.enough)];
    "evidence.few", "sales", 0.0, 500.0, "usable sales below which other house types are searched":
        |p| [f64::from(p.evidence.few)];

    "hedonic.reference_area_m2", "m²", 10.0, 1e3, "floor area at which the type effects hold":
        |p| [p.hedonic.reference_area_m2];
    "hedonic.area_elasticity", "% a %", 0.0, 2.0, "elasticity of price to floor area":
        |p| each(p.hedonic.area_elasticity);
    "hedonic.property_type", "log price", -2.0, 2.0, "effect of the property type":
        |p| each(p.hedonic.property_type);
    "hedonic.subtype", "log price", -1.0, 1.0, "effect of the subtype":
        |p| subtypes(p);
    "hedonic.leasehold_house", "log price", LEASEHOLD_HOUSE.0, LEASEHOLD_HOUSE.1,
        "effect of leasehold on a house":
        |p| [p.hedonic.leasehold_house];
    "hedonic.freehold_flat", "log price", FREEHOLD_FLAT.0, FREEHOLD_FLAT.1,
        "effect of freehold on a flat":
        |p| [p.hedonic.freehold_flat];
    "hedonic.age_band", "log price", -1.0, 1.0, "effect of the construction age band":
        |p| p.hedonic.age_band;
    "hedonic.rating", "log price", -1.0, 1.0, "effect of the energy rating":
        |p| p.hedonic.rating;
    "hedonic.new_build", "log price", -1.0, 1.0, "premium of a first sale":
        |p| [p.hedonic.new_build];
    "hedonic.lease_discount_rate", "a year", 1e-3, 0.5, "discount rate of the end of a lease":
        |p| [p.hedonic.lease_discount_rate];
    "hedonic.typical_lease_years", "years", 1.0, 1e3, "years left on a comparable's lease":
        |p| [p.hedonic.typical_lease_years];
    "hedonic.typical_area_m2", "m²", 10.0, 1e3, "typical floor area of a type":
        |p| each(p.hedonic.typical_area_m2);
    "hedonic.area_by_rooms_m2", "m²", 5.0, 2e3, "typical floor area by habitable rooms":
        |p| each(p.hedonic.area_by_rooms_m2).into_iter().flatten();

    "unknown_area.rooms_reliability", "share", 0.0, 1.0, "reliability of a size by rooms":
        |p| [p.unknown_area.rooms_reliability];
    "unknown_area.neighbour_correlation", "correlation", 0.0, 1.0,
        "likeness of neighbours' sizes":
        |p| [p.unknown_area.neighbour_correlation];

    "likeness.distance_m", "m", 1e-3, 1e5, "distance at which similarity halves":
        |p| [p.similarity.distance_m];
    "likeness.years", "years", 1e-3, 1e5, "age of a sale at which similarity halves":
        |p| [p.similarity.years];
    "likeness.log_area", "log area", 1e-3, 1e5, "difference in size at which similarity halves":
        |p| [p.similarity.log_area];
    "likeness.age_bands", "bands", 1e-3, 1e5, "difference in age at which similarity halves":
        |p| [p.similarity.age_bands];
    "likeness.same_postcode", "factor", 1e-6, 1.0, "similarity within a postcode":
        |p| [p.similarity.same_postcode];
    "likeness.same_sector", "factor", 1e-6, 1.0, "similarity within a postcode sector":
        |p| [p.similarity.same_sector];
    "likeness.same_district", "factor", 1e-6, 1.0, "similarity within a postcode district":
        |p| [p.similarity.same_district];
    "likeness.elsewhere", "factor", 1e-6, 1.0, "similarity beyond the postcode district":
        |p| [p.similarity.elsewhere];
    "likeness.other_type", "factor", 1e-6, 1.0, "similarity of another house type":
        |p| [p.similarity.other_type];
    "likeness.other_subtype", "factor", 1e-6, 1.0, "similarity of another subtype":
        |p| [p.similarity.other_subtype];
    "likeness.unknown_subtype", "factor", 1e-6, 1.0, "similarity where a subtype is unknown":
        |p| [p.similarity.unknown_subtype];
    "likeness.unknown_age", "factor", 1e-6, 1.0, "similarity where an age band is unknown":
        |p| [p.similarity.unknown_age];
    "likeness.other_tenure", "factor", 1e-6, 1.0, "similarity of the other tenure":
        |p| [p.similarity.other_tenure];
    "likeness.other_build_status", "factor", 1e-6, 1.0, "similarity of a new and an older home":
        |p| [p.similarity.other_build_status];
    "likeness.unknown_area", "factor", 1e-6, 1.0, "similarity where the floor area is unknown":
        |p| [p.similarity.unknown_area];
    "likeness.kernel_m", "m", 1.0, 1e5, "distance at which a sale's weight halves":
        |p| [p.similarity.kernel_m];
    "likeness.kernel_sales", "sales", 1.0, 100.0, "nearest sales that the kernel always reaches":
        |p| [f64::from(p.similarity.kernel_sales)];
    "likeness.kernel_sector", "factor", 1e-6, 1.0, "weight within a postcode sector":
        |p| [p.similarity.kernel_sector];
    "likeness.kernel_elsewhere", "factor", 1e-6, 1.0, "weight beyond the postcode sector":
        |p| [p.similarity.kernel_elsewhere];

    "estimate.tukey", "standard deviations", 2.0, 20.0, "cut-off of Tukey's biweight":
        |p| [p.estimate.tukey];
    "estimate.least_scale", "log price", 1e-3, 2.0, "least standard deviation of a sale":
        |p| [p.estimate.least_scale];
    "estimate.prior_scale", "log price", 1e-3, 2.0, "prior standard deviation of a sale":
        |p| [p.estimate.prior_scale];
    "estimate.prior_scale_weight", "sales", 1e-3, 1e4, "weight of the prior standard deviation":
        |p| [p.estimate.prior_scale_weight];
    "estimate.elasticity_weight", "log area²", 1e-3, 1e4, "ridge on the local elasticity":
        |p| [p.estimate.elasticity_weight];
    "estimate.least_elasticity", "% a %", 1e-3, 3.0, "least local elasticity":
        |p| [p.estimate.least_elasticity];
    "estimate.greatest_elasticity", "% a %", 1e-3, 3.0, "greatest local elasticity":
        |p| [p.estimate.greatest_elasticity];

    "own_history.years", "years", 0.0, 60.0, "age of the oldest own sale to use":
        |p| [p.own_history.years];
    "own_history.variance", "log price²", 1e-6, 4.0, "variance of an indexed own sale":
        |p| [p.own_history.variance];
    "own_history.variance_per_year", "log price²", 0.0, 1.0, "variance that each year adds":
        |p| [p.own_history.variance_per_year];
    "own_history.disagreement", "log price", 1e-3, 10.0, "departure at which trust halves":
        |p| [p.own_history.disagreement];
    "own_history.resale", "log price", -1.0, 1.0, "premium of a resale":
        |p| each(p.own_history.resale);
    "own_history.quick_resale", "log price", -1.0, 1.0, "premium of an immediate resale":
        |p| each(p.own_history.quick_resale);

    "drift.first_year", "as a year", 1970.0, 2100.0, "year of the first number of each list":
        |p| [p.drift.first_year];
    "drift.by_type", "log price", -3.0, 3.0, "drift of a type from the price index":
        |p| each(p.drift.by_type).into_iter().flat_map(|years| years.0.iter().copied());
    "drift.areas.*.by_type", "log price", -3.0, 3.0, "drift of a postcode area from the index":
        |p| p.drift.areas.0.iter().flat_map(|area| each(area.by_type))
            .flat_map(|years| years.0.iter().copied());

    "anchor.below_effective", "sales", 0.0, 1e3, "effective sales below which figures are used":
        |p| [p.local_level.below_effective];
    "anchor.sector_variance", "log price²", 1e-6, 4.0, "variance about a postcode sector":
        |p| [p.local_level.sector_variance];
    "anchor.district_variance", "log price²", 1e-6, 4.0, "variance about a postcode district":
        |p| [p.local_level.district_variance];
    "anchor.authority_variance", "log price²", 1e-6, 4.0, "variance about a local authority":
        |p| [p.local_level.authority_variance];

    "confidence.half_scale", "log price", 1e-3, 4.0, "standard deviation of confidence one half":
        |p| [p.confidence.half_scale];
    "confidence.variance_per_km", "log price²", 0.0, 4.0, "variance of a kilometre of distance":
        |p| [p.confidence.variance_per_km];
    "confidence.variance_per_year", "log price²", 0.0, 4.0, "variance of a year of sale age":
        |p| [p.confidence.variance_per_year];
    "confidence.area_variance_rooms_known", "log area²", 0.0, 4.0,
        "variance of a floor area derived from rooms":
        |p| [p.confidence.area_variance_rooms_known];
    "confidence.area_variance", "log area²", 0.0, 4.0,
        "variance of a floor area derived without rooms":
        |p| [p.confidence.area_variance];
    "confidence.elasticity_variance", "(% a %)²", 0.0, 4.0, "variance of the elasticity":
        |p| [p.confidence.elasticity_variance];
    "confidence.age_variance", "log price²", 0.0, 4.0, "variance of an unknown age band":
        |p| [p.confidence.age_variance];
    "confidence.no_index_variance", "log price²", 0.0, 4.0, "variance of a missing price index":
        |p| [p.confidence.no_index_variance];
    "confidence.place_variance", "log price²", 0.0, 4.0, "variance of an inexact place":
        |p| [p.confidence.place_variance];
    "confidence.unlike_variance", "log price²", 0.0, 4.0, "variance without any similar sale":
        |p| [p.confidence.unlike_variance];
    "confidence.half_alike", "sales", 1e-3, 500.0, "similar sales that halve that variance":
        |p| [p.confidence.half_alike];
    "confidence.variance_per_unlearnt_year", "log price²", 0.0, 4.0,
        "variance of a year since the drift was fitted":
        |p| [p.confidence.variance_per_unlearnt_year];
    "confidence.variance_per_stale_year", "log price²", 0.0, 4.0,
        "variance of a year since the last known sale":
        |p| [p.confidence.variance_per_stale_year];

    "refer.least_area_m2", "m²", 1.0, 1e3, "least floor area of a type":
        |p| each(p.referral.least_area_m2);
    "refer.greatest_area_m2", "m²", 10.0, 1e4, "greatest floor area of a type":
        |p| each(p.referral.greatest_area_m2);
    "refer.least_area_per_room_m2", "m²", 0.0, 100.0, "least floor area of a room":
        |p| [p.referral.least_area_per_room_m2];
    "refer.least_lease_years", "years", 0.0, 999.0, "least years left on a lease":
        |p| [p.referral.least_lease_years];
    // A valuation lists ten comparables at most.
    "refer.least_comparables", "sales", 1.0, 10.0, "least comparables of a valuation":
        |p| [f64::from(p.referral.least_comparables)];
    "refer.greatest_scale", "log price", 1e-2, 4.0, "greatest standard deviation of a valuation":
        |p| [p.referral.greatest_scale];
    "refer.greatest_area_spread", "log area", 1e-2, 4.0, "greatest spread of neighbours' sizes":
        |p| [p.referral.greatest_area_spread];
    "refer.least_value", "£", 1.0, 1e10, "least estimate":
        |p| [p.referral.least_value];
    "refer.greatest_value", "£", 1.0, 1e10, "greatest estimate":
        |p| [p.referral.greatest_value];
    "refer.greatest_departure", "log price", 0.1, 20.0, "departure from the local level":
        |p| [p.referral.greatest_departure];

    "conformal.coverage", "of all prices", 0.01, 0.999, "nominal coverage of the ranges":
        |p| p.conformal.map(|c| c.coverage);
    "conformal.tenths", "confidence", 0.0, 1.0, "confidence at which a tenth begins":
        |p| p.conformal.into_iter().flat_map(|c| c.tenths);
    "conformal.by_type_and_tenth.*.*.quantile", "standard deviations", 0.0, 100.0,
        "conformal quantile of a type and tenth":
        |p| p.conformal.into_iter().flat_map(|c| each(c.by_type_and_tenth)).flatten()
            .filter_map(quantile);
    "conformal.by_tenth.*.quantile", "standard deviations", 0.0, 100.0,
        "conformal quantile of a tenth":
        |p| p.conformal.into_iter().flat_map(|c| c.by_tenth).filter_map(quantile);
    "conformal.by_type.*.quantile", "standard deviations", 0.0, 100.0,
        "conformal quantile of a type":
        |p| p.conformal.into_iter().flat_map(|c| each(c.by_type)).filter_map(quantile);
    "conformal.all.quantile", "standard deviations", 0.0, 100.0,
        "conformal quantile of all sales":
        |p| p.conformal.and_then(|c| c.all.quantile);
    "conformal.by_built.*.factor", "factor", 0.1, 10.0, "range width of a build period":
        |p| p.conformal.into_iter().flat_map(|c| build_periods(c.by_build_period)).map(|f| f.factor);
    "conformal.by_authority.*.factor", "factor", 0.1, 10.0, "range width of a local authority":
        |p| p.conformal.into_iter().flat_map(|c| c.by_authority.0).map(|a| a.factor);
};

/// Checks every number of the parameters.
///
/// # Errors
/// [`BoundsError::OutOfBounds`] for the first number outside its bounds, then
/// [`BoundsError::NotIncreasing`] for the first list that does not increase.
pub fn check(p: &Parameters) -> Result<(), BoundsError> {
    BOUNDS.iter().try_for_each(|bound| bound.check(p))?;
    for (name, increases) in increasing(p) {
        if !increases {
            return Err(BoundsError::NotIncreasing { name });
        }
    }
    Ok(())
}

impl Bound {
    /// Checks this member's numbers. A number that is not a number (NaN) is out of bounds.
    fn check(&self, p: &Parameters) -> Result<(), BoundsError> {
        let accepted = self.lower..=self.upper;
        match (self.numbers)(p)
            .into_iter()
            .find(|v| !accepted.contains(v))
        {
            None => Ok(()),
            Some(value) => Err(BoundsError::OutOfBounds {
                name: self.name,
                what: self.what,
                value,
                unit: self.unit,
                lower: self.lower,
                upper: self.upper,
            }),
        }
    }
}

/// Returns the lists that must increase, and whether each does. Numbers may repeat, names not.
fn increasing(p: &Parameters) -> [(&'static str, bool); 6] {
    let (estimate, refer) = (&p.estimate, &p.referral);
    let conformal = p.conformal.as_ref();
    [
        ("evidence.radii_m", p.evidence.radii_m.is_sorted()),
        (
            "estimate.least_elasticity, estimate.greatest_elasticity",
            estimate.least_elasticity <= estimate.greatest_elasticity,
        ),
        (
            "refer.least_value, refer.greatest_value",
            refer.least_value <= refer.greatest_value,
        ),
        (
            "drift.areas",
            p.drift.areas.0.is_sorted_by(|a, b| a.area < b.area),
        ),
        (
            "conformal.tenths",
            conformal.is_none_or(|c| c.tenths.is_sorted()),
        ),
        (
            "conformal.by_authority",
            conformal.is_none_or(|c| {
                let authorities = c.by_authority.0;
                authorities.is_sorted_by(|a, b| a.authority < b.authority)
            }),
        ),
    ]
}

fn each<T>(per: PerType<T>) -> [T; 4] {
    [per.detached, per.semi_detached, per.terraced, per.flat]
}

fn build_periods(per: PerBuildPeriod<WidthFactor>) -> [WidthFactor; 4] {
    [per.new, per.modern, per.older, per.unknown]
}

fn quantile(cell: SegmentQuantile) -> Option<f64> {
    cell.quantile
}

fn subtypes(p: &Parameters) -> [f64; 10] {
    let effects = &p.hedonic.subtype;
    [
        effects.house_detached,
        effects.house_semi_detached,
        effects.house_mid_terrace,
        effects.house_end_terrace,
        effects.bungalow_detached,
        effects.bungalow_semi_detached,
        effects.bungalow_terraced,
        effects.flat_purpose_built,
        effects.flat_converted,
        effects.maisonette,
    ]
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
