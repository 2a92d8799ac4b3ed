//! Sales as packed numbers, nine each. `wit/packed/packed.wit` defines them.

use crate::{
    AgeBand, Day, EnergyRating, Fabric, FloorType, Glazing, Nearness, Place, PlacePrecision,
    PropertySubtype, PropertyType, RoofType, Sale, Tenure, WallType,
};

/// Numbers of a sale.
const WIDTH: usize = 9;
const NEW_BUILD: u8 = 1;
const STANDARD: u8 = 2;
/// Number of floor level 0.
const GROUND_FLOOR: i32 = 1 << 15;

/// The sales of an answer, in its order.
///
/// They stay packed and are read field by field: a model that reads six fields of a sale pays for
/// six.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sales {
    numbers: Vec<u64>,
}

impl Sales {
    /// Wraps the numbers of the host's answer.
    pub(crate) fn from_numbers(numbers: Vec<u64>) -> Sales {
        Sales { numbers }
    }

    /// Returns the number of sales.
    pub fn len(&self) -> usize {
        self.numbers.len() / WIDTH
    }

    /// Returns whether there are no sales.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Iterates over the sales in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PackedSale<'_>> {
        self.numbers.as_chunks::<WIDTH>().0.iter().map(PackedSale)
    }

    /// Converts all sales to records.
    pub fn to_vec(&self) -> Vec<Sale> {
        self.iter().map(PackedSale::sale).collect()
    }
}

/// Packs records, for the synthetic evidence of tests and benchmarks.
impl<'a> FromIterator<&'a Sale> for Sales {
    fn from_iter<I: IntoIterator<Item = &'a Sale>>(sales: I) -> Sales {
        Sales {
            numbers: sales.into_iter().flat_map(numbers).collect(),
        }
    }
}

/// A sale that is read in place. Its fields have the meaning of those of [`Sale`].
#[derive(Clone, Copy, Debug)]
pub struct PackedSale<'a>(&'a [u64; WIDTH]);

/// Declares the cases of each enum in the order of the interface.
macro_rules! cases {
    ($($name:ident: $of:ident { $($case:ident),* })*) => {$(
        #[inline]
        fn $name(number: u8) -> $of {
            const CASES: &[$of] = &[$($of::$case),*];
            // A greater number is a case of a later version.
            CASES.get(usize::from(number)).copied().unwrap_or($of::Other)
        }
    )*};
}
cases! {
    place_precision: PlacePrecision { Property, Postcode, Site, Other }
    near: Nearness {
        SameProperty, SameBuilding, SameStreet, SamePostcode, SameSector, SameDistrict, SameArea, Elsewhere, Other
    }
    kind: PropertyType { Detached, SemiDetached, Terraced, Flat, Other }
    property_subtype: PropertySubtype {
        HouseDetached, HouseSemiDetached, HouseMidTerrace, HouseEndTerrace, BungalowDetached, BungalowSemiDetached,
        BungalowTerraced, FlatPurposeBuilt, FlatConverted, Maisonette, Other
    }
    title: Tenure { Freehold, Leasehold, Other }
    band: AgeBand { A, B, C, D, E, F, G, H, I, J, K, L, Other }
    energy: EnergyRating { A, B, C, D, E, F, G, Other }
    wall: WallType { Cavity, SolidBrick, Stone, TimberFrame, SystemBuilt, Cob, Other }
    roof: RoofType { Pitched, Flat, Thatched, RoomInRoof, PremisesAbove, Other }
    floor: FloorType { Solid, Suspended, PremisesBelow, Other }
    glass: Glazing { Single, Double, Triple, Secondary, Other }
}

/// Converts an option: 0 is absent, and a case is one more than its position.
#[inline]
fn optional<T>(number: u8, case: fn(u8) -> T) -> Option<T> {
    number.checked_sub(1).map(case)
}

#[inline]
fn low(number: u64) -> i32 {
    (number as u32).cast_signed()
}

#[inline]
fn high(number: u64) -> i32 {
    ((number >> 32) as u32).cast_signed()
}

impl PackedSale<'_> {
    #[inline]
    fn byte(self, at: usize) -> u8 {
        (self.0[7] >> (8 * at)) as u8
    }

    /// Returns the id, unique in the snapshot.
    #[inline]
    pub fn id(self) -> u64 {
        self.0[0]
    }

    /// Returns the UPRN, if known.
    #[inline]
    pub fn uprn(self) -> Option<u64> {
        Some(self.0[1]).filter(|&uprn| uprn != 0)
    }

    /// Returns the price in pounds, above 0.
    #[inline]
    pub fn price(self) -> f64 {
        f64::from_bits(self.0[2])
    }

    /// Returns the day of the sale.
    #[inline]
    pub fn day(self) -> Day {
        low(self.0[3])
    }

    /// Returns the day on which the certificate of the attributes was lodged.
    #[inline]
    pub fn attributes_day(self) -> Option<Day> {
        Some(high(self.0[3])).filter(|&day| day != Day::MIN)
    }

    /// Returns the place of the home.
    #[inline]
    pub fn place(self) -> Place {
        Place {
            easting: low(self.0[4]),
            northing: high(self.0[4]),
        }
    }

    /// Returns the distance in metres from the place of the query.
    #[inline]
    pub fn distance(self) -> f64 {
        f64::from_bits(self.0[5])
    }

    /// Returns the floor area in square metres, if known.
    #[inline]
    pub fn floor_area(self) -> Option<f64> {
        Some(f64::from_bits(self.0[6])).filter(|&area| area != 0.0)
    }

    /// Returns the precision of the place.
    #[inline]
    pub fn precision(self) -> PlacePrecision {
        place_precision(self.byte(0))
    }

    /// Returns the nearness to the subject's postcode and UPRN.
    #[inline]
    pub fn nearness(self) -> Nearness {
        near(self.byte(1))
    }

    /// Returns the property type.
    #[inline]
    pub fn property_type(self) -> PropertyType {
        kind(self.byte(2))
    }

    /// Returns the subtype, if a certificate known by then states it.
    #[inline]
    pub fn subtype(self) -> Option<PropertySubtype> {
        optional(self.byte(3), property_subtype)
    }

    /// Returns the tenure.
    #[inline]
    pub fn tenure(self) -> Tenure {
        title(self.byte(4))
    }

    /// Returns whether it was the first sale of a new home.
    #[inline]
    pub fn new_build(self) -> bool {
        self.byte(5) & NEW_BUILD != 0
    }

    /// Returns whether it is a standard sale at market value (category A).
    #[inline]
    pub fn standard(self) -> bool {
        self.byte(5) & STANDARD != 0
    }

    /// Returns the construction age band, if known.
    #[inline]
    pub fn age_band(self) -> Option<AgeBand> {
        optional(self.byte(6), band)
    }

    /// Returns the energy rating, if known.
    #[inline]
    pub fn rating(self) -> Option<EnergyRating> {
        optional(self.byte(7), energy)
    }

    /// Returns the number of habitable rooms, if known.
    #[inline]
    pub fn habitable_rooms(self) -> Option<u32> {
        ((self.0[8] & 0xFFFF) as u32).checked_sub(1)
    }

    /// Returns the energy score, if known.
    #[inline]
    pub fn score(self) -> Option<u32> {
        u32::from((self.0[8] >> 16) as u8).checked_sub(1)
    }

    /// Returns the storey of a flat, if known.
    #[inline]
    pub fn floor_level(self) -> Option<i32> {
        Some(i32::from((self.0[8] >> 24) as u16))
            .filter(|&level| level != 0)
            .map(|level| level - GROUND_FLOOR)
    }

    /// Returns the fabric, as far as known.
    #[inline]
    pub fn fabric(self) -> Fabric {
        let four_bits = |at: u32| (self.0[8] >> at) as u8 & 0xF;
        Fabric {
            wall_type: optional(four_bits(40), wall),
            roof_type: optional(four_bits(44), roof),
            floor_type: optional(four_bits(48), floor),
            glazing: optional(four_bits(52), glass),
        }
    }

    /// Converts the sale to a record.
    pub fn sale(self) -> Sale {
        Sale {
            id: self.id(),
            uprn: self.uprn(),
            day: self.day(),
            price: self.price(),
            place: self.place(),
            precision: self.precision(),
            distance: self.distance(),
            nearness: self.nearness(),
            property_type: self.property_type(),
            subtype: self.subtype(),
            tenure: self.tenure(),
            new_build: self.new_build(),
            standard: self.standard(),
            floor_area: self.floor_area(),
            habitable_rooms: self.habitable_rooms(),
            age_band: self.age_band(),
            rating: self.rating(),
            score: self.score(),
            floor_level: self.floor_level(),
            fabric: self.fabric(),
            attributes_day: self.attributes_day(),
        }
    }
}

/// Packs a record.
fn numbers(sale: &Sale) -> [u64; WIDTH] {
    let pair = |low: i32, high: i32| {
        u64::from(low.cast_unsigned()) | (u64::from(high.cast_unsigned()) << 32)
    };
    let optional = |case: Option<u8>| case.map_or(0, |case| u64::from(case) + 1);
    let one_more = |number: Option<u32>, widest: u32| {
        number.map_or(0, |number| u64::from(number.min(widest - 1)) + 1)
    };
    let flags = (u8::from(sale.new_build) * NEW_BUILD) | (u8::from(sale.standard) * STANDARD);
    let level = sale.floor_level.map_or(0, |level| {
        u64::from((level.clamp(1 - GROUND_FLOOR, GROUND_FLOOR - 1) + GROUND_FLOOR).cast_unsigned())
    });
    let fabric = &sale.fabric;
    [
        sale.id,
        sale.uprn.unwrap_or(0),
        sale.price.to_bits(),
        pair(sale.day, sale.attributes_day.unwrap_or(Day::MIN)),
        pair(sale.place.easting, sale.place.northing),
        sale.distance.to_bits(),
        sale.floor_area.unwrap_or(0.0).to_bits(),
        (sale.precision as u64)
            | ((sale.nearness as u64) << 8)
            | ((sale.property_type as u64) << 16)
            | (optional(sale.subtype.map(|s| s as u8)) << 24)
            | ((sale.tenure as u64) << 32)
            | (u64::from(flags) << 40)
            | (optional(sale.age_band.map(|band| band as u8)) << 48)
            | (optional(sale.rating.map(|rating| rating as u8)) << 56),
        one_more(sale.habitable_rooms, 0xFFFF)
            | (one_more(sale.score, 0xFF) << 16)
            | (level << 24)
            | (optional(fabric.wall_type.map(|wall| wall as u8)) << 40)
            | (optional(fabric.roof_type.map(|roof| roof as u8)) << 44)
            | (optional(fabric.floor_type.map(|floor| floor as u8)) << 48)
            | (optional(fabric.glazing.map(|glazing| glazing as u8)) << 52),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Sale {
        Sale {
            id: u64::MAX,
            uprn: Some(999_999_999_999),
            day: -3,
            price: 123_456.0,
            place: Place {
                easting: -5,
                northing: 1_300_000,
            },
            precision: PlacePrecision::Other,
            distance: 12.5,
            nearness: Nearness::Other,
            property_type: PropertyType::Other,
            subtype: Some(PropertySubtype::Other),
            tenure: Tenure::Other,
            new_build: true,
            standard: true,
            floor_area: Some(84.25),
            habitable_rooms: Some(40),
            age_band: Some(AgeBand::Other),
            rating: Some(EnergyRating::Other),
            score: Some(100),
            floor_level: Some(-2),
            fabric: Fabric {
                wall_type: Some(WallType::Other),
                roof_type: Some(RoofType::Other),
                floor_type: Some(FloorType::Other),
                glazing: Some(Glazing::Other),
            },
            attributes_day: Some(Day::MAX),
        }
    }

    fn bare() -> Sale {
        Sale {
            id: 0,
            uprn: None,
            day: 0,
            price: 1.0,
            place: Place {
                easting: 0,
                northing: 0,
            },
            precision: PlacePrecision::Property,
            distance: 0.0,
            nearness: Nearness::SameProperty,
            property_type: PropertyType::Detached,
            subtype: None,
            tenure: Tenure::Freehold,
            new_build: false,
            standard: false,
            floor_area: None,
            habitable_rooms: None,
            age_band: None,
            rating: None,
            score: None,
            floor_level: None,
            fabric: Fabric {
                wall_type: None,
                roof_type: None,
                floor_type: None,
                glazing: None,
            },
            attributes_day: None,
        }
    }

    #[test]
    fn sales_round_trip() {
        let least = Sale {
            habitable_rooms: Some(0),
            score: Some(0),
            floor_level: Some(0),
            subtype: Some(PropertySubtype::HouseDetached),
            age_band: Some(AgeBand::A),
            rating: Some(EnergyRating::A),
            fabric: Fabric {
                wall_type: Some(WallType::Cavity),
                ..bare().fabric
            },
            ..bare()
        };
        let sales = [full(), bare(), least];
        let packed: Sales = sales.iter().collect();
        assert_eq!((packed.len(), packed.is_empty()), (3, false));
        assert_eq!(packed.to_vec(), sales);
        assert!(Sales::default().is_empty());
    }

    #[test]
    fn wide_values_saturate() {
        let wide = Sale {
            habitable_rooms: Some(u32::MAX),
            score: Some(1_000),
            floor_level: Some(i32::MAX),
            ..full()
        };
        let shown = [wide].iter().collect::<Sales>().to_vec().remove(0);
        assert_eq!(
            (shown.habitable_rooms, shown.score, shown.floor_level),
            (Some(0xFFFE), Some(0xFE), Some(0x7FFF))
        );
        assert_eq!(
            Sale {
                habitable_rooms: Some(40),
                score: Some(100),
                floor_level: Some(-2),
                ..shown
            },
            full()
        );
    }
}
