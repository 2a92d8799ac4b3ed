//! The queries for kriging: more sales than the reference model's, and other house types.

use super::covariance::Home;
use domesday_hedonic::adjust::{age_effect, energy_effect, log_size};
use domesday_hedonic::parameters::{EvidenceParameters, HedonicParameters};
use domesday_hedonic::property_kind::PropertyKind;
use domesday_hedonic::robust_statistics;
use domesday_hedonic::time::earliest_sale_day;
use domesday_sdk::{
    AgeBand, BuildStatus, EnergyRating, Evidence, PackedSale, PropertyTypes, Refusal, Sale, Sales,
    SalesOrder, SalesQuery, Subject, Tenure,
};

/// Most sales of the subject's type, of other house types and of the home itself.
const SAME_TYPE: u32 = 40;
const OTHER_TYPES: u32 = 20;
const OWN: usize = 4;

/// A sale as an observation of the process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The home and the day.
    pub home: Home,
    /// Log price carried to the valuation day, less the level of its attributes.
    pub log_price: f64,
    /// Variance that an unknown size adds to its noise.
    pub unsure: f64,
}

/// The subject of an estimate and the search for its sales.
pub struct KrigingQuery<'a> {
    /// The home to be valued.
    pub subject: &'a Subject,
    /// Property type of the subject.
    pub kind: PropertyKind,
    /// The subject's own earlier standard sales, newest first.
    pub own: &'a [Sale],
    /// Values of a home's attributes.
    pub hedonic: &'a HedonicParameters,
    /// Radii and years of the search.
    pub reach: &'a EvidenceParameters,
}

/// Attributes with an effect on price.
#[derive(Clone, Copy)]
struct Attributes {
    kind: PropertyKind,
    size: Option<f64>,
    age_band: Option<AgeBand>,
    rating: Option<EnergyRating>,
}

/// Collects the observations for a subject. Returns the subject as a home, the level of its
/// attributes, and the observed sales.
///
/// `carried` returns the logarithm of a day's price, carried to the valuation day.
///
/// # Errors
/// [`Refusal`] if the evidence refuses a query.
pub fn observe(
    query: &KrigingQuery<'_>,
    evidence: &dyn Evidence,
    carried: impl Fn(f64, i32) -> Option<f64>,
) -> Result<(Home, f64, Vec<Observation>), Refusal> {
    let KrigingQuery {
        subject,
        kind,
        hedonic,
        ..
    } = *query;
    let home = Home {
        uprn: subject.uprn,
        place: subject.place,
        kind,
        leasehold: subject.tenure == Tenure::Leasehold,
        new_build: subject.build_status == BuildStatus::NewBuild,
        day: subject.valuation_day,
    };
    let mut found: Vec<(Home, f64, Attributes)> = Vec::new();
    for sales in ask(query, evidence)? {
        let sales = sales.iter().filter_map(|sale| {
            let read = of(query, sale)?;
            let log_price = carried(sale.price(), sale.day())?;
            Some((read.0, log_price, read.1))
        });
        found.extend(sales);
    }
    let sizes: Vec<f64> = found.iter().filter_map(|(_, _, a)| a.size).collect();
    let size = subject.size.floor_area.map(|area| log_size(hedonic, area));
    let middle = mean(&sizes);
    let usual = middle.or(size).unwrap_or(0.0);
    let squares: Vec<f64> = sizes.iter().map(|s| (s - usual) * (s - usual)).collect();
    let spread = mean(&squares).unwrap_or(0.0);
    let typical_of = |effect: &dyn Fn(&Attributes) -> Option<f64>| {
        let known: Vec<f64> = found.iter().filter_map(|(_, _, a)| effect(a)).collect();
        mean(&known).unwrap_or(0.0)
    };
    let age = typical_of(&|a| age_effect(hedonic, a.age_band));
    let rating = typical_of(&|a| energy_effect(hedonic, a.rating));
    let level = |a: &Attributes| {
        hedonic.area_elasticity.of(a.kind) * a.size.unwrap_or(usual)
            + age_effect(hedonic, a.age_band).unwrap_or(age)
            + energy_effect(hedonic, a.rating).unwrap_or(rating)
    };
    let of_subject = level(&Attributes {
        kind,
        size,
        age_band: subject.energy.age_band,
        rating: subject.energy.rating,
    });
    let mut sales: Vec<Observation> = found
        .iter()
        .map(|(home, log_price, attributes)| {
            let elasticity = hedonic.area_elasticity.of(attributes.kind);
            Observation {
                home: *home,
                log_price: log_price - level(attributes),
                unsure: match attributes.size {
                    Some(_) => 0.0,
                    None => elasticity * elasticity * spread,
                },
            }
        })
        .collect();
    // Own sales are of the same home, so the subject's level is subtracted.
    sales.extend(query.own.iter().take(OWN).filter_map(|sale| {
        Some(Observation {
            home: Home {
                leasehold: sale.tenure == Tenure::Leasehold,
                new_build: sale.new_build,
                day: sale.day,
                ..home
            },
            log_price: carried(sale.price, sale.day)? - of_subject,
            unsure: 0.0,
        })
    }));
    Ok((home, of_subject, sales))
}

fn mean(values: &[f64]) -> Option<f64> {
    robust_statistics::mean(values.iter().map(|value| (*value, 1.0)))
}

/// Queries the nearest sales of the subject's type in widening circles, then other house types.
fn ask(query: &KrigingQuery<'_>, evidence: &dyn Evidence) -> Result<[Sales; 2], Refusal> {
    let reach = query.reach;
    let near = |radius, types: PropertyTypes, limit| {
        evidence.nearby_sales(SalesQuery {
            center: query.subject.place,
            radius,
            since: earliest_sale_day(query.subject.valuation_day, reach),
            types,
            standard_only: true,
            floor_area_only: false,
            order: SalesOrder::Nearest,
            limit,
        })
    };
    let mut alike = Sales::default();
    let mut widest = reach.radii_m[0];
    for radius in reach.radii_m {
        alike = near(radius, query.kind.filter(), SAME_TYPE)?;
        widest = radius;
        if alike.len() >= reach.enough as usize {
            break;
        }
    }
    let others = match other_houses(query.kind) {
        None => Sales::default(),
        Some(types) => near(widest, types, OTHER_TYPES)?,
    };
    Ok([alike, others])
}

/// Returns the other house types of a house, and `None` for a flat.
fn other_houses(kind: PropertyKind) -> Option<PropertyTypes> {
    let all = [
        PropertyKind::Detached,
        PropertyKind::SemiDetached,
        PropertyKind::Terraced,
    ];
    let others = all.into_iter().filter(|house| *house != kind);
    let none = PropertyTypes::empty();
    (kind != PropertyKind::Flat).then(|| others.fold(none, |types, house| types | house.filter()))
}

/// Reads a sale. Returns `None` unless it is a standard sale of another home before the valuation
/// day at a finite price.
fn of(query: &KrigingQuery<'_>, sale: PackedSale<'_>) -> Option<(Home, Attributes)> {
    let subject = query.subject;
    let uprn = sale.uprn();
    let own = subject.uprn.is_some() && uprn == subject.uprn;
    let price = sale.price();
    if own
        || !sale.standard()
        || !(price.is_finite() && price > 0.0)
        || sale.day() >= subject.valuation_day
    {
        return None;
    }
    let kind = PropertyKind::from_type(sale.property_type())?;
    let home = Home {
        uprn,
        place: sale.place(),
        kind,
        leasehold: sale.tenure() == Tenure::Leasehold,
        new_build: sale.new_build(),
        day: sale.day(),
    };
    let area = sale.floor_area().filter(|a| (8.0..=2_000.0).contains(a));
    let attributes = Attributes {
        kind,
        size: area.map(|area| log_size(query.hedonic, area)),
        age_band: sale.age_band(),
        rating: sale.rating(),
    };
    Some((home, attributes))
}

#[cfg(test)]
mod tests;
