//! Places of postcodes: 13 bytes a unit, ordered by unit.

use super::bytes::{get, put};
use super::codes::FixedCodes;
use crate::model::GssCode;
use domesday_registers::records::Country;

const WIDTH: usize = 13;
const NO_AUTHORITY: u64 = 0xFFFF_FFFF;

/// The location of a postcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredPostcode {
    pub(crate) easting: i32,
    pub(crate) northing: i32,
    pub(crate) authority: Option<GssCode>,
    pub(crate) country: Country,
}

/// Appends one unit of a row.
pub(crate) fn encode(unit: u64, place: &StoredPostcode, out: &mut Vec<u8>) {
    put::<2>(out, unit);
    put::<3>(out, u64::from(place.easting.unsigned_abs()));
    put::<3>(out, u64::from(place.northing.unsigned_abs()));
    put::<4>(
        out,
        place
            .authority
            .map_or(NO_AUTHORITY, |code| u64::from(code.packed())),
    );
    put::<1>(out, Country::number(Some(place.country)));
}

/// Finds a unit in its row. Outer `None`: damaged.
pub(crate) fn find(bytes: &[u8], unit: u64) -> Option<Option<StoredPostcode>> {
    let (places, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() {
        return None;
    }
    let Ok(at) = places.binary_search_by_key(&unit, |place| get::<2>(place, 0)) else {
        return Some(None);
    };
    decode(&places[at]).map(Some)
}

/// Returns all places of a row. `None`: damaged.
pub(crate) fn all(bytes: &[u8]) -> Option<impl Iterator<Item = Option<StoredPostcode>>> {
    let (places, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| places.iter().map(decode))
}

fn decode(place: &[u8; WIDTH]) -> Option<StoredPostcode> {
    Some(StoredPostcode {
        easting: get::<3>(place, 2) as i32,
        northing: get::<3>(place, 5) as i32,
        authority: u32::try_from(get::<4>(place, 8))
            .ok()
            .and_then(GssCode::unpacked),
        country: Country::value(get::<1>(place, 12))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_and_damage_is_noticed() {
        let place = StoredPostcode {
            easting: 699_999,
            northing: 1_299_999,
            authority: GssCode::parse("E07000900"),
            country: Country::England,
        };
        let scottish = StoredPostcode {
            authority: None,
            country: Country::Scotland,
            ..place
        };
        let mut bytes = Vec::new();
        encode(7, &place, &mut bytes);
        encode(337, &scottish, &mut bytes);
        assert_eq!(find(&bytes, 7), Some(Some(place)));
        assert_eq!(find(&bytes, 337), Some(Some(scottish)));
        assert_eq!(find(&bytes, 8), Some(None));
        assert_eq!(find(&bytes[1..], 7), None);
        let found: Option<Vec<StoredPostcode>> = all(&bytes).unwrap().collect();
        assert_eq!(found, Some(vec![place, scottish]));
        assert!(all(&bytes[1..]).is_none());
    }
}
