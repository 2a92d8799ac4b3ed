//! A sale, as the model looks at one.

use crate::kind::Kind;
use domesday_sdk::{
    AgeBand, Day, EnergyRating, Nearness, PackedSale, PropertySubtype, Subject, Tenure,
};

/// What of a sale bears on the estimate.
#[derive(Clone, Copy, Debug)]
pub struct Sold {
    /// Unique in the snapshot.
    pub id: u64,
    /// The home, where it is known.
    pub uprn: Option<u64>,
    /// Day of the sale.
    pub day: Day,
    /// Pounds, above 0.
    pub price: f64,
    /// Metres from the subject.
    pub distance: f64,
    /// How near in the hierarchy of postcodes.
    pub nearness: Nearness,
    /// Type.
    pub kind: Kind,
    /// Subtype, where known.
    pub subtype: Option<PropertySubtype>,
    /// Tenure.
    pub tenure: Tenure,
    /// Whether it was the first sale of a new home.
    pub new_build: bool,
    /// Square metres, where known and not senseless.
    pub floor_area: Option<f64>,
    /// Habitable rooms, where known.
    pub rooms: Option<u32>,
    /// Construction age band, where known.
    pub age_band: Option<AgeBand>,
    /// Energy rating, where known.
    pub rating: Option<EnergyRating>,
}

impl Sold {
    /// A sale that can be reckoned with: a standard sale of another comparable home, before the
    /// valuation day, at a price and distance that are numbers. A senseless floor area is dropped.
    pub fn comparable(subject: &Subject, kind: Kind, sale: PackedSale<'_>) -> Option<Sold> {
        let uprn = sale.uprn();
        let own = subject.uprn.is_some() && uprn == subject.uprn;
        let (price, distance) = (sale.price(), sale.distance());
        let numbers = price.is_finite() && price > 0.0 && distance >= 0.0 && distance.is_finite();
        let house = |k| k != Kind::Flat;
        let other = Kind::of(sale.property_type())?;
        if own
            || !sale.standard()
            || !numbers
            || sale.day() >= subject.valuation_day
            || house(other) != house(kind)
        {
            return None;
        }
        Some(Sold {
            id: sale.id(),
            uprn,
            day: sale.day(),
            price,
            distance,
            nearness: sale.nearness(),
            kind: other,
            subtype: sale.subtype(),
            tenure: sale.tenure(),
            new_build: sale.new_build(),
            floor_area: sale.floor_area().filter(|a| (8.0..=2_000.0).contains(a)),
            rooms: sale.habitable_rooms(),
            age_band: sale.age_band(),
            rating: sale.rating(),
        })
    }
}

/// A sale of a test, as the model looks at it.
#[cfg(test)]
pub(crate) fn sold(sale: &domesday_sdk::Sale) -> Sold {
    let subject = crate::testing::subject();
    let kind = Kind::of(sale.property_type).unwrap();
    let sales: domesday_sdk::Sales = [sale].into_iter().collect();
    Sold::comparable(&subject, kind, sales.iter().next().unwrap()).unwrap()
}
