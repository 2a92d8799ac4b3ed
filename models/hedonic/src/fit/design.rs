//! The design matrix of the regression.

use super::rows::{SaleRow, SubtypeName, TenureName};
use crate::adjust::log_size;
use crate::parameters::{self, HedonicParameters};
use crate::property_kind::PropertyKind;

/// Columns of elasticities, one for each type.
pub const ELASTICITIES: std::ops::Range<usize> = 0..4;
const ELASTICITY: usize = ELASTICITIES.start;
/// First column of types, in the order of [`PropertyKind`].
const TYPE: usize = 4;
/// First column of subtypes.
const SUBTYPE: usize = 8;
const LEASEHOLD_HOUSE: usize = 18;
const FREEHOLD_FLAT: usize = 19;
/// First column of age bands.
const AGE: usize = 20;
/// First column of ratings.
const RATING: usize = 32;
const NEW_BUILD: usize = 39;
const UNKNOWN_SUBTYPE: usize = 40;
const UNKNOWN_AGE: usize = 41;
const UNKNOWN_RATING: usize = 42;
/// Columns of effects. Monthly effects come after them.
pub const EFFECTS: usize = 43;

/// Reference columns, which keep their effects: semi-detached, the plain subtype of each type, age
/// band D and rating D.
const FIXED: [usize; 7] = [
    TYPE + 1,
    SUBTYPE,
    SUBTYPE + 1,
    SUBTYPE + 2,
    SUBTYPE + 7,
    AGE + 3,
    RATING + 3,
];

/// Effects with bounds, whatever the sales say. Where leasehold houses happen to be the better
/// ones, regression takes quality for tenure.
const BOUNDED: [(usize, (f64, f64)); 2] = [
    (LEASEHOLD_HOUSE, parameters::LEASEHOLD_HOUSE),
    (FREEHOLD_FLAT, parameters::FREEHOLD_FLAT),
];

/// Returns the first effect out of bounds: its column and the bound that it exceeds.
pub fn beyond(effects: &[f64]) -> Option<(usize, f64)> {
    BOUNDED.iter().find_map(|&(column, (least, greatest))| {
        let effect = *effects.get(column)?;
        let held = effect.clamp(least, greatest);
        (held != effect).then_some((column, held))
    })
}

/// Returns whether a column keeps its effect.
pub fn is_fixed(column: usize) -> bool {
    FIXED.contains(&column)
}

/// Returns the nonzero columns of a sale, with their values.
pub fn columns(hedonic: &HedonicParameters, row: &SaleRow, area: f64) -> Vec<(usize, f64)> {
    let kind = row.property_type.kind();
    let flat = kind == PropertyKind::Flat;
    let letter = |found: Option<char>, last: char, first: usize, unknown: usize| match found {
        Some(c) if ('A'..=last).contains(&c) => first + (c as usize - 'A' as usize),
        _ => unknown,
    };
    let mut columns = vec![
        (ELASTICITY + kind as usize, log_size(hedonic, area)),
        (TYPE + kind as usize, 1.0),
        (
            row.subtype
                .map_or(UNKNOWN_SUBTYPE, |s| SUBTYPE + subtype(s)),
            1.0,
        ),
        (letter(row.age_band, 'L', AGE, UNKNOWN_AGE), 1.0),
        (letter(row.rating, 'G', RATING, UNKNOWN_RATING), 1.0),
    ];
    match row.tenure {
        Some(TenureName::Leasehold) if !flat => columns.push((LEASEHOLD_HOUSE, 1.0)),
        Some(TenureName::Freehold) if flat => columns.push((FREEHOLD_FLAT, 1.0)),
        _ => (),
    }
    if row.new_build {
        columns.push((NEW_BUILD, 1.0));
    }
    columns.retain(|(column, _)| !is_fixed(*column));
    columns
}

fn subtype(name: SubtypeName) -> usize {
    name as usize
}

/// Returns the effects as a vector of columns. Effects of unknown attributes start at zero.
pub fn to_vector(h: &HedonicParameters) -> [f64; EFFECTS] {
    let mut vector = [0.0; EFFECTS];
    let mut h = *h;
    for (column, effect) in effects(&mut h) {
        vector[column] = *effect;
    }
    vector
}

/// Sets the effects from a vector of columns.
pub fn from_vector(vector: &[f64], h: &mut HedonicParameters) {
    for (column, effect) in effects(h) {
        if !is_fixed(column)
            && let Some(found) = vector.get(column)
        {
            *effect = *found;
        }
    }
}

/// Returns every effect with its column.
fn effects(h: &mut HedonicParameters) -> Vec<(usize, &mut f64)> {
    let (e, t, s) = (&mut h.area_elasticity, &mut h.property_type, &mut h.subtype);
    let groups: [(usize, Vec<&mut f64>); 6] = [
        (
            ELASTICITY,
            vec![
                &mut e.detached,
                &mut e.semi_detached,
                &mut e.terraced,
                &mut e.flat,
            ],
        ),
        (
            TYPE,
            vec![
                &mut t.detached,
                &mut t.semi_detached,
                &mut t.terraced,
                &mut t.flat,
            ],
        ),
        (
            SUBTYPE,
            vec![
                &mut s.house_detached,
                &mut s.house_semi_detached,
                &mut s.house_mid_terrace,
                &mut s.house_end_terrace,
                &mut s.bungalow_detached,
                &mut s.bungalow_semi_detached,
                &mut s.bungalow_terraced,
                &mut s.flat_purpose_built,
                &mut s.flat_converted,
                &mut s.maisonette,
            ],
        ),
        (
            LEASEHOLD_HOUSE,
            vec![&mut h.leasehold_house, &mut h.freehold_flat],
        ),
        (AGE, h.age_band.iter_mut().collect()),
        (
            RATING,
            h.rating.iter_mut().chain([&mut h.new_build]).collect(),
        ),
    ];
    groups
        .into_iter()
        .flat_map(|(first, group)| (first..).zip(group))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PARAMETERS;

    #[test]
    fn an_effect_out_of_bounds_is_found() {
        let mut effects = [0.0; EFFECTS];
        assert_eq!(beyond(&effects), None);
        effects[FREEHOLD_FLAT] = -0.3;
        assert_eq!(beyond(&effects), Some((FREEHOLD_FLAT, -0.1)));
        effects[LEASEHOLD_HOUSE] = 0.02;
        assert_eq!(beyond(&effects), Some((LEASEHOLD_HOUSE, 0.0)));
    }

    #[test]
    fn every_effect_has_its_own_column() {
        let h = PARAMETERS.hedonic;
        let mut columns: Vec<usize> = effects(&mut h.clone())
            .into_iter()
            .map(|(c, _)| c)
            .collect();
        columns.dedup();
        assert_eq!(columns, (0..UNKNOWN_SUBTYPE).collect::<Vec<_>>());
        let vector = to_vector(&h);
        assert_eq!(vector[NEW_BUILD], h.new_build);
        assert_eq!(vector[FREEHOLD_FLAT], h.freehold_flat);
        let mut changed = h;
        from_vector(&[0.5; EFFECTS], &mut changed);
        assert_eq!(changed.age_band[11], 0.5);
        assert_eq!(changed.age_band[3], h.age_band[3]);
        from_vector(&vector, &mut changed);
        assert_eq!(changed, h);
    }
}
