//! What is asked for kriging: more sales than the reference model asks for, and other types of house besides.

use super::covariance::Home;
use domesday_hedonic::adjust::{age_effect, energy_effect, log_size};
use domesday_hedonic::kind::Kind;
use domesday_hedonic::parameters::{EvidenceParameters, HedonicParameters};
use domesday_hedonic::robust;
use domesday_hedonic::time::earliest;
use domesday_sdk::{
    AgeBand, BuildStatus, EnergyRating, Evidence, PackedSale, PropertyTypes, Refusal, Sale, Sales,
    SalesOrder, SalesQuery, Subject, Tenure,
};

/// Most sales of the subject's type, of other types of house, and of the home itself.
const SAME_TYPE: u32 = 40;
const OTHER_TYPES: u32 = 20;
const OWN: usize = 4;

/// A sale as an observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// The home and the day.
    pub home: Home,
    /// Natural logarithm of its price, carried to the valuation day, without what its attributes are worth.
    pub log_price: f64,
    /// Variance that its unknown size adds to its noise.
    pub unsure: f64,
}

/// What to look for, and for whom.
pub struct Question<'a> {
    /// The home to be valued.
    pub subject: &'a Subject,
    /// Its type.
    pub kind: Kind,
    /// Its own earlier standard sales, newest first.
    pub own: &'a [Sale],
    /// What attributes are worth.
    pub hedonic: &'a HedonicParameters,
    /// How far and how long ago to look.
    pub reach: &'a EvidenceParameters,
}

/// Attributes that are worth something by themselves.
#[derive(Clone, Copy)]
struct Attributes {
    kind: Kind,
    size: Option<f64>,
    age_band: Option<AgeBand>,
    rating: Option<EnergyRating>,
}

/// The subject as a home, the level of its attributes, and all sales that say something of it.
///
/// `carried` gives the logarithm of a price of a day, carried to the valuation day.
///
/// # Errors
/// Where the evidence refuses a question.
pub fn observed(
    question: &Question<'_>,
    evidence: &dyn Evidence,
    carried: impl Fn(f64, i32) -> Option<f64>,
) -> Result<(Home, f64, Vec<Observed>), Refusal> {
    let Question {
        subject,
        kind,
        hedonic,
        ..
    } = *question;
    let home = Home {
        uprn: subject.uprn,
        place: subject.place,
        kind,
        leasehold: subject.tenure == Tenure::Leasehold,
        new_build: subject.build_status == BuildStatus::NewBuild,
        day: subject.valuation_day,
    };
    let mut found: Vec<(Home, f64, Attributes)> = Vec::new();
    for sales in ask(question, evidence)? {
        let sales = sales.iter().filter_map(|sale| {
            let read = of(question, sale)?;
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
    let mut sales: Vec<Observed> = found
        .iter()
        .map(|(home, log_price, attributes)| {
            let elasticity = hedonic.area_elasticity.of(attributes.kind);
            Observed {
                home: *home,
                log_price: log_price - level(attributes),
                unsure: match attributes.size {
                    Some(_) => 0.0,
                    None => elasticity * elasticity * spread,
                },
            }
        })
        .collect();
    // Its own sales are of the same home, so that nothing of it is to be freed of.
    sales.extend(question.own.iter().take(OWN).filter_map(|sale| {
        Some(Observed {
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
    robust::mean(values.iter().map(|value| (*value, 1.0)))
}

/// The nearest of the subject's type, in wider circles while there are few, then other types of house.
fn ask(question: &Question<'_>, evidence: &dyn Evidence) -> Result<[Sales; 2], Refusal> {
    let reach = question.reach;
    let near = |radius, types: PropertyTypes, limit| {
        evidence.nearby_sales(SalesQuery {
            center: question.subject.place,
            radius,
            since: earliest(question.subject.valuation_day, reach),
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
        alike = near(radius, question.kind.alone(), SAME_TYPE)?;
        widest = radius;
        if alike.len() >= reach.enough as usize {
            break;
        }
    }
    let others = match other_houses(question.kind) {
        None => Sales::default(),
        Some(types) => near(widest, types, OTHER_TYPES)?,
    };
    Ok([alike, others])
}

/// A house's other types; a flat has none.
fn other_houses(kind: Kind) -> Option<PropertyTypes> {
    let all = [Kind::Detached, Kind::SemiDetached, Kind::Terraced];
    let others = all.into_iter().filter(|house| *house != kind);
    let none = PropertyTypes::empty();
    (kind != Kind::Flat).then(|| others.fold(none, |types, house| types | house.alone()))
}

/// A standard sale of another home before the valuation day, at a price that is a number.
fn of(question: &Question<'_>, sale: PackedSale<'_>) -> Option<(Home, Attributes)> {
    let subject = question.subject;
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
    let kind = Kind::of(sale.property_type())?;
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
        size: area.map(|area| log_size(question.hedonic, area)),
        age_band: sale.age_band(),
        rating: sale.rating(),
    };
    Some((home, attributes))
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
