//! Bounds of every parameter, outside which the model's arithmetic or its sense would fail.

use crate::document::DocumentError;
use crate::parameters::{Cell, FREEHOLD_FLAT, LEASEHOLD_HOUSE, Parameters, PerType};

/// A path, its numbers, the least and the greatest that each may be.
type Bound<'a> = (&'a str, &'a [f64], f64, f64);

/// Checks every number of the parameters.
///
/// # Errors
/// With the path of the first number that is out of its bounds, or of numbers that do not rise.
pub fn check(p: &Parameters) -> Result<(), DocumentError> {
    let (e, h, l, s) = (&p.evidence, &p.hedonic, &p.likeness, &p.estimate);
    let (o, a, c, r) = (&p.own_history, &p.anchor, &p.confidence, &p.refer);
    let b = &h.subtype;
    let by_rooms = each(h.area_by_rooms_m2);
    let bounds: &[Bound<'_>] = &[
        ("evidence.radii_m", &e.radii_m.map(f64::from), 1.0, 5e4),
        ("evidence.years", &[e.years], 0.5, 30.0),
        ("evidence.limit", &[f64::from(e.limit)], 1.0, 500.0),
        ("evidence.enough", &[f64::from(e.enough)], 0.0, 500.0),
        ("evidence.few", &[f64::from(e.few)], 0.0, 500.0),
        (
            "hedonic.reference_area_m2",
            &[h.reference_area_m2],
            10.0,
            1e3,
        ),
        (
            "hedonic.area_elasticity",
            &each(h.area_elasticity),
            0.0,
            2.0,
        ),
        ("hedonic.property_type", &each(h.property_type), -2.0, 2.0),
        (
            "hedonic.subtype",
            &[
                b.house_detached,
                b.house_semi_detached,
                b.house_mid_terrace,
                b.house_end_terrace,
                b.bungalow_detached,
                b.bungalow_semi_detached,
                b.bungalow_terraced,
                b.flat_purpose_built,
                b.flat_converted,
                b.maisonette,
            ],
            -1.0,
            1.0,
        ),
        (
            "hedonic.leasehold_house",
            &[h.leasehold_house],
            LEASEHOLD_HOUSE.0,
            LEASEHOLD_HOUSE.1,
        ),
        (
            "hedonic.freehold_flat",
            &[h.freehold_flat],
            FREEHOLD_FLAT.0,
            FREEHOLD_FLAT.1,
        ),
        ("hedonic.age_band", &h.age_band, -1.0, 1.0),
        ("hedonic.rating", &h.rating, -1.0, 1.0),
        ("hedonic.new_build", &[h.new_build], -1.0, 1.0),
        (
            "hedonic.lease_discount_rate",
            &[h.lease_discount_rate],
            1e-3,
            0.5,
        ),
        (
            "hedonic.typical_lease_years",
            &[h.typical_lease_years],
            1.0,
            1e3,
        ),
        (
            "hedonic.typical_area_m2",
            &each(h.typical_area_m2),
            10.0,
            1e3,
        ),
        (
            "hedonic.area_by_rooms_m2",
            by_rooms.as_flattened(),
            5.0,
            2e3,
        ),
        (
            "likeness scales",
            &[l.distance_m, l.years, l.log_area, l.age_bands],
            1e-3,
            1e5,
        ),
        (
            "likeness factors",
            &[
                l.same_postcode,
                l.same_sector,
                l.same_district,
                l.elsewhere,
                l.other_type,
                l.other_subtype,
                l.unknown_subtype,
                l.unknown_age,
                l.other_tenure,
                l.other_build_status,
                l.unknown_area,
            ],
            1e-6,
            1.0,
        ),
        ("estimate.tukey", &[s.tukey], 2.0, 20.0),
        (
            "estimate scales",
            &[s.least_scale, s.prior_scale],
            1e-3,
            2.0,
        ),
        (
            "estimate weights",
            &[s.prior_scale_weight, s.elasticity_weight],
            1e-3,
            1e4,
        ),
        (
            "estimate elasticities",
            &[s.least_elasticity, s.greatest_elasticity],
            1e-3,
            3.0,
        ),
        ("own_history.years", &[o.years], 0.0, 60.0),
        ("own_history.variance", &[o.variance], 1e-6, 4.0),
        (
            "own_history.variance_per_year",
            &[o.variance_per_year],
            0.0,
            1.0,
        ),
        ("own_history.disagreement", &[o.disagreement], 1e-3, 10.0),
        ("own_history.resale", &each(o.resale), -1.0, 1.0),
        ("own_history.quick_resale", &each(o.quick_resale), -1.0, 1.0),
        ("drift.first_year", &[p.drift.first_year], 1970.0, 2100.0),
        ("likeness.kernel_m", &[l.kernel_m], 1.0, 1e5),
        (
            "likeness.kernel_sales",
            &[f64::from(l.kernel_sales)],
            1.0,
            100.0,
        ),
        (
            "likeness kernel factors",
            &[l.kernel_sector, l.kernel_elsewhere],
            1e-6,
            1.0,
        ),
        ("anchor.below_effective", &[a.below_effective], 0.0, 1e3),
        (
            "anchor variances",
            &[a.sector_variance, a.district_variance, a.authority_variance],
            1e-6,
            4.0,
        ),
        ("confidence.half_scale", &[c.half_scale], 1e-3, 4.0),
        (
            "confidence variances",
            &[
                c.variance_per_km,
                c.variance_per_year,
                c.area_variance_rooms_known,
                c.area_variance,
                c.elasticity_variance,
                c.age_variance,
                c.no_index_variance,
                c.place_variance,
                c.unlike_variance,
                c.variance_per_stale_year,
                c.variance_per_unlearnt_year,
            ],
            0.0,
            4.0,
        ),
        ("confidence.half_alike", &[c.half_alike], 1e-3, 500.0),
        ("refer.least_area_m2", &each(r.least_area_m2), 1.0, 1e3),
        (
            "refer.greatest_area_m2",
            &each(r.greatest_area_m2),
            10.0,
            1e4,
        ),
        (
            "refer.least_area_per_room_m2",
            &[r.least_area_per_room_m2],
            0.0,
            100.0,
        ),
        (
            "refer.least_lease_years",
            &[r.least_lease_years],
            0.0,
            999.0,
        ),
        (
            "refer.least_comparables",
            &[f64::from(r.least_comparables)],
            1.0,
            100.0,
        ),
        ("refer.greatest_scale", &[r.greatest_scale], 1e-2, 4.0),
        (
            "refer.greatest_area_spread",
            &[r.greatest_area_spread],
            1e-2,
            4.0,
        ),
        (
            "refer values",
            &[r.least_value, r.greatest_value],
            1.0,
            1e10,
        ),
        (
            "refer.greatest_departure",
            &[r.greatest_departure],
            0.1,
            20.0,
        ),
    ];
    for (path, values, least, greatest) in bounds {
        within(path, values, *least, *greatest)?;
    }
    rising("evidence.radii_m", &e.radii_m.map(f64::from))?;
    rising(
        "estimate elasticities",
        &[s.least_elasticity, s.greatest_elasticity],
    )?;
    rising("refer values", &[r.least_value, r.greatest_value])?;
    let drifts = p.drift.areas.0.iter().map(|area| area.by_type);
    for knots in drifts.chain([p.drift.by_type]).flat_map(each) {
        within("drift", knots.0, -3.0, 3.0)?;
    }
    if !p.drift.areas.0.is_sorted_by(|a, b| a.area < b.area) {
        return Err(DocumentError::NotRising {
            path: "drift.areas",
        });
    }
    let Some(conformal) = &p.conformal else {
        return Ok(());
    };
    within("conformal.coverage", &[conformal.coverage], 0.01, 0.999)?;
    within("conformal.tenths", &conformal.tenths, 0.0, 1.0)?;
    rising("conformal.tenths", &conformal.tenths)?;
    let segments = each(conformal.by_type_and_tenth);
    let types = each(conformal.by_type);
    for cell in segments
        .iter()
        .flatten()
        .chain(&conformal.by_tenth)
        .chain(&types)
        .chain([&conformal.all])
    {
        let Cell { quantile, .. } = cell;
        within("conformal quantiles", quantile.as_slice(), 0.0, 100.0)?;
    }
    let built = &conformal.by_built;
    for factor in [&built.new, &built.modern, &built.older, &built.unknown] {
        within("conformal.by_built", &[factor.factor], 0.1, 10.0)?;
    }
    let authorities = conformal.by_authority.0;
    for ranges in authorities {
        within("conformal.by_authority", &[ranges.factor], 0.1, 10.0)?;
    }
    if !authorities.is_sorted_by(|a, b| a.authority < b.authority) {
        return Err(DocumentError::NotRising {
            path: "conformal.by_authority",
        });
    }
    Ok(())
}

fn each<T>(per: PerType<T>) -> [T; 4] {
    [per.detached, per.semi_detached, per.terraced, per.flat]
}

fn within(path: &str, values: &[f64], least: f64, greatest: f64) -> Result<(), DocumentError> {
    match values.iter().find(|v| !(least..=greatest).contains(*v)) {
        None => Ok(()),
        Some(&value) => Err(DocumentError::OutOfBounds {
            path: path.to_owned(),
            value,
            least,
            greatest,
        }),
    }
}

fn rising(path: &'static str, values: &[f64]) -> Result<(), DocumentError> {
    if values.is_sorted() {
        Ok(())
    } else {
        Err(DocumentError::NotRising { path })
    }
}
