//! A sale that can serve as a comparable.

use crate::property_kind::PropertyKind;
use domesday_sdk::{
    AgeBand, Day, EnergyRating, Nearness, PackedSale, PropertySubtype, Subject, Tenure,
};

/// The attributes of a comparable sale.
#[derive(Clone, Copy, Debug)]
pub struct ComparableSale {
    /// Id, unique in the snapshot.
    pub id: u64,
    /// UPRN of the home, if known.
    pub uprn: Option<u64>,
    /// Day of the sale.
    pub day: Day,
    /// Price in pounds, above 0.
    pub price: f64,
    /// Distance from the subject in metres.
    pub distance: f64,
    /// Closest shared level of the postcode hierarchy.
    pub nearness: Nearness,
    /// Property type.
    pub kind: PropertyKind,
    /// Subtype, if known.
    pub subtype: Option<PropertySubtype>,
    /// Tenure.
    pub tenure: Tenure,
    /// True if the home was sold new.
    pub new_build: bool,
    /// Floor area in square metres, if known and plausible.
    pub floor_area: Option<f64>,
    /// Habitable rooms, if known.
    pub rooms: Option<u32>,
    /// Construction age band, if known.
    pub age_band: Option<AgeBand>,
    /// Energy rating, if known.
    pub rating: Option<EnergyRating>,
}

impl ComparableSale {
    /// Reads a sale of the evidence. Returns `None` unless it is a standard sale of another
    /// comparable home before the valuation day, with a finite price and distance. Drops an
    /// implausible floor area.
    pub fn from_evidence(
        subject: &Subject,
        kind: PropertyKind,
        sale: PackedSale<'_>,
    ) -> Option<ComparableSale> {
        let uprn = sale.uprn();
        let own = subject.uprn.is_some() && uprn == subject.uprn;
        let (price, distance) = (sale.price(), sale.distance());
        let numbers = price.is_finite() && price > 0.0 && distance >= 0.0 && distance.is_finite();
        let house = |k| k != PropertyKind::Flat;
        let other = PropertyKind::from_type(sale.property_type())?;
        if own
            || !sale.standard()
            || !numbers
            || sale.day() >= subject.valuation_day
            || house(other) != house(kind)
        {
            return None;
        }
        Some(ComparableSale {
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

/// Converts a test's sale.
#[cfg(test)]
pub(crate) fn comparable_sale(sale: &domesday_sdk::Sale) -> ComparableSale {
    let subject = crate::testing::subject();
    let kind = PropertyKind::from_type(sale.property_type).unwrap();
    let sales: domesday_sdk::Sales = [sale].into_iter().collect();
    ComparableSale::from_evidence(&subject, kind, sales.iter().next().unwrap()).unwrap()
}
