//! Closed vocabularies as small numbers; 0 always says "none".
//!
//! The order of each list is part of the file format: append, never reorder.

use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Subtype, Tenure, WallType,
};
use domesday_registers::records::Country;

/// A vocabulary with a fixed numbering.
pub(crate) trait FixedCodes: Copy + PartialEq + 'static {
    /// Every value. Its number is its position, counted from 1.
    const VALUES: &'static [Self];

    /// Returns the number of a value, or 0 for none.
    fn number(value: Option<Self>) -> u64 {
        value
            .and_then(|v| Self::VALUES.iter().position(|known| *known == v))
            .map_or(0, |place| place as u64 + 1)
    }

    /// Returns the value of a number. An unknown number is none.
    #[inline]
    fn value(number: u64) -> Option<Self> {
        Self::VALUES.get((number as usize).checked_sub(1)?).copied()
    }
}

macro_rules! coded {
    ($($kind:ident: $($value:ident)+;)+) => {$(
        impl FixedCodes for $kind {
            const VALUES: &'static [$kind] = &[$($kind::$value),+];
        }
    )+};
}
coded! {
    PropertyType: Detached SemiDetached Terraced Flat Other;
    Subtype: HouseDetached HouseSemiDetached HouseMidTerrace HouseEndTerrace BungalowDetached
        BungalowSemiDetached BungalowTerraced FlatPurposeBuilt FlatConverted Maisonette;
    Tenure: Freehold Leasehold;
    AgeBand: A B C D E F G H I J K L;
    EnergyRating: A B C D E F G;
    WallType: Cavity SolidBrick Stone TimberFrame SystemBuilt Cob Other;
    RoofType: Pitched Flat Thatched RoomInRoof PremisesAbove Other;
    FloorType: Solid Suspended PremisesBelow Other;
    Glazing: Single Double Triple Secondary Other;
    Country: England Wales Scotland Other;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_value_comes_back<C: FixedCodes + std::fmt::Debug>() {
        assert_eq!(C::number(None), 0);
        assert_eq!(C::value(0), None);
        assert!(C::VALUES.len() < 16, "a nibble holds it");
        for value in C::VALUES {
            assert_eq!(C::value(C::number(Some(*value))), Some(*value));
        }
    }

    #[test]
    fn all_vocabularies_come_back() {
        every_value_comes_back::<PropertyType>();
        every_value_comes_back::<Subtype>();
        every_value_comes_back::<Tenure>();
        every_value_comes_back::<AgeBand>();
        every_value_comes_back::<EnergyRating>();
        every_value_comes_back::<WallType>();
        every_value_comes_back::<RoofType>();
        every_value_comes_back::<FloorType>();
        every_value_comes_back::<Glazing>();
        every_value_comes_back::<Country>();
    }
}
