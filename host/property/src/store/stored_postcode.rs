//! Locations of postcodes: 13 bytes a unit, ordered by unit.

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
pub(crate) fn encode(unit: u64, postcode: &StoredPostcode, out: &mut Vec<u8>) {
    put::<2>(out, unit);
    put::<3>(out, u64::from(postcode.easting.unsigned_abs()));
    put::<3>(out, u64::from(postcode.northing.unsigned_abs()));
    put::<4>(
        out,
        postcode
            .authority
            .map_or(NO_AUTHORITY, |code| u64::from(code.pack())),
    );
    put::<1>(out, Country::number(Some(postcode.country)));
}

/// Finds a unit in its row. Outer `None`: damaged.
pub(crate) fn find(bytes: &[u8], unit: u64) -> Option<Option<StoredPostcode>> {
    let (postcodes, rest) = bytes.as_chunks::<WIDTH>();
    if !rest.is_empty() {
        return None;
    }
    let Ok(at) = postcodes.binary_search_by_key(&unit, |postcode| get::<2>(postcode, 0)) else {
        return Some(None);
    };
    decode(&postcodes[at]).map(Some)
}

/// Returns all postcodes of a row. `None`: damaged.
pub(crate) fn all(bytes: &[u8]) -> Option<impl Iterator<Item = Option<StoredPostcode>>> {
    let (postcodes, rest) = bytes.as_chunks::<WIDTH>();
    rest.is_empty().then(|| postcodes.iter().map(decode))
}

fn decode(postcode: &[u8; WIDTH]) -> Option<StoredPostcode> {
    Some(StoredPostcode {
        easting: get::<3>(postcode, 2) as i32,
        northing: get::<3>(postcode, 5) as i32,
        authority: u32::try_from(get::<4>(postcode, 8))
            .ok()
            .and_then(GssCode::unpack),
        country: Country::value(get::<1>(postcode, 12))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_found_and_damage_is_noticed() {
        let postcode = StoredPostcode {
            easting: 699_999,
            northing: 1_299_999,
            authority: GssCode::parse("E07000900"),
            country: Country::England,
        };
        let scottish = StoredPostcode {
            authority: None,
            country: Country::Scotland,
            ..postcode
        };
        let mut bytes = Vec::new();
        encode(7, &postcode, &mut bytes);
        encode(337, &scottish, &mut bytes);
        assert_eq!(find(&bytes, 7), Some(Some(postcode)));
        assert_eq!(find(&bytes, 337), Some(Some(scottish)));
        assert_eq!(find(&bytes, 8), Some(None));
        assert_eq!(find(&bytes[1..], 7), None);
        let found: Option<Vec<StoredPostcode>> = all(&bytes).unwrap().collect();
        assert_eq!(found, Some(vec![postcode, scottish]));
        assert!(all(&bytes[1..]).is_none());
    }
}
