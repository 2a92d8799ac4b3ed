//! The ends of every field that a release receives, within the values that the contract and the
//! registers allow.

use super::rows::state;
use domesday_engine::subject::{
    Attribute, BuildStatus, Energy, Fabric, GridPoint, Lease, Occupancy, Precision, Provenance,
    Size, Subject,
};
use domesday_registers::Day;
use domesday_registers::codes::{
    AgeBand, EnergyRating, FloorType, Glazing, PropertyType, RoofType, Tenure, WallType,
};

/// One end of one field.
pub struct Extreme {
    /// The field; two ends of one field are never set together.
    pub field: &'static str,
    /// The field and the value, such as `bedrooms 20`.
    pub name: String,
    set: Box<dyn Fn(&mut Subject) + Send + Sync>,
}

impl Extreme {
    fn new(
        field: &'static str,
        value: impl std::fmt::Display,
        set: impl Fn(&mut Subject) + Send + Sync + 'static,
    ) -> Extreme {
        Extreme {
            field,
            name: format!("{field} {value}"),
            set: Box::new(set),
        }
    }

    /// Sets it.
    pub fn apply(&self, subject: &mut Subject) {
        (self.set)(subject);
    }
}

/// Ends of a field that may be absent.
macro_rules! ends {
    ($field:literal, $attribute:ident, $section:ident . $part:ident, [$($value:expr),*]) => {
        vec![
            Extreme::new($field, "absent", |subject| {
                state(subject, Attribute::$attribute, false);
                subject.$section.$part = None;
            }),
            $(Extreme::new($field, format!("{:?}", $value), |subject| {
                state(subject, Attribute::$attribute, true);
                subject.$section.$part = Some($value);
            }),)*
        ]
    };
}

/// Returns the ends of all fields of a home of this type. `days` are the first and the last
/// valuation day.
pub fn extremes(kind: PropertyType, days: (Day, Day)) -> Vec<Extreme> {
    // First, so that a pair with it has one field alone.
    let mut list = vec![without_optional_fields()];
    list.extend(sizes(kind));
    list.extend(fabric());
    list.extend(energy());
    list.extend(tenures());
    list.extend(circumstances(days));
    list.extend(places());
    list
}

fn without_optional_fields() -> Extreme {
    Extreme::new("everything", "optional absent", |subject| {
        subject.size = Size::default();
        subject.fabric = Fabric::default();
        subject.energy = Energy::default();
        subject.provenance = Provenance {
            customer: subject
                .provenance
                .customer
                .iter()
                .copied()
                .filter(|attribute| REQUIRED.contains(attribute))
                .collect(),
            ..Provenance::default()
        };
    })
}

fn sizes(kind: PropertyType) -> Vec<Extreme> {
    let level = if kind == PropertyType::Flat {
        ends!("floor level", FloorLevel, size.floor_level, [-5, 100])
    } else {
        ends!("storeys", Storeys, size.storeys, [1, 6])
    };
    let sizes = [
        ends!("floor area", FloorArea, size.floor_area_m2, [10.0, 2_000.0]),
        ends!("bedrooms", Bedrooms, size.bedrooms, [0, 20]),
        ends!("living rooms", LivingRooms, size.living_rooms, [0, 10]),
        ends!(
            "habitable rooms",
            HabitableRooms,
            size.habitable_rooms,
            [1, 100]
        ),
        level,
    ];
    sizes.into_iter().flatten().collect()
}

fn fabric() -> Vec<Extreme> {
    let fabric = [
        ends!(
            "walls",
            WallType,
            fabric.wall_type,
            [WallType::Cob, WallType::Other]
        ),
        ends!(
            "roof",
            RoofType,
            fabric.roof_type,
            [RoofType::Thatched, RoofType::Other]
        ),
        ends!(
            "floor",
            FloorType,
            fabric.floor_type,
            [FloorType::PremisesBelow, FloorType::Other]
        ),
        ends!(
            "glazing",
            Glazing,
            fabric.glazing,
            [Glazing::Single, Glazing::Other]
        ),
    ];
    fabric.into_iter().flatten().collect()
}

fn energy() -> Vec<Extreme> {
    let energy = [
        ends!(
            "age band",
            AgeBand,
            energy.age_band,
            [AgeBand::A, AgeBand::L]
        ),
        ends!(
            "energy rating",
            EnergyRating,
            energy.rating,
            [EnergyRating::A, EnergyRating::G]
        ),
        ends!("efficiency score", EfficiencyScore, energy.score, [1, 100]),
    ];
    energy.into_iter().flatten().collect()
}

/// The attributes that a customer must state.
const REQUIRED: [Attribute; 6] = [
    Attribute::PropertyType,
    Attribute::PropertySubtype,
    Attribute::Tenure,
    Attribute::BuildStatus,
    Attribute::Occupancy,
    Attribute::LeaseYearsRemaining,
];

/// Longest lease that a customer may state, years, and its days.
const LONGEST_YEARS: u32 = 999;
const LONGEST_DAYS: i32 = 364_878;
/// Highest ground rent and service charge that a customer may state, pounds a year.
const HIGHEST_CHARGE_GBP: f64 = 100_000.0;

fn tenures() -> Vec<Extreme> {
    let lease = |subject: &mut Subject, years: f64, charge: Option<f64>| {
        let simple = charge.is_none();
        subject.tenure = Tenure::Leasehold;
        subject.lease = Some(Lease {
            years_remaining: years,
            start: (!simple).then(|| {
                // The time that has passed of the longest term, so that start and years agree.
                let gone = (f64::from(LONGEST_YEARS) - years) * 365.2425;
                Day(subject.valuation_day.0 - (gone as i32).min(LONGEST_DAYS))
            }),
            term_years: (!simple).then_some(LONGEST_YEARS),
            ground_rent_gbp: charge,
            service_charge_gbp: charge,
        });
        state(subject, Attribute::LeaseYearsRemaining, simple);
        for attribute in [
            Attribute::LeaseStart,
            Attribute::LeaseTerm,
            Attribute::LeaseGroundRent,
            Attribute::LeaseServiceCharge,
        ] {
            state(subject, attribute, !simple);
        }
    };
    let field = "tenure";
    vec![
        Extreme::new(field, "freehold", |subject| {
            subject.tenure = Tenure::Freehold;
            subject.lease = None;
            for attribute in [
                Attribute::LeaseYearsRemaining,
                Attribute::LeaseStart,
                Attribute::LeaseTerm,
                Attribute::LeaseGroundRent,
                Attribute::LeaseServiceCharge,
            ] {
                state(subject, attribute, false);
            }
        }),
        Extreme::new(field, "leasehold, a day left", move |subject| {
            lease(subject, 1.0 / 365.0, None);
        }),
        Extreme::new(field, "leasehold, 999 years left", move |subject| {
            lease(subject, f64::from(LONGEST_YEARS), None);
        }),
        Extreme::new(
            field,
            "leasehold, begun 900 years ago, no charges",
            move |subject| {
                lease(subject, 99.0, Some(0.0));
            },
        ),
        Extreme::new(
            field,
            "leasehold, begun today, highest charges",
            move |subject| {
                lease(subject, f64::from(LONGEST_YEARS), Some(HIGHEST_CHARGE_GBP));
            },
        ),
    ]
}

fn circumstances((first, last): (Day, Day)) -> Vec<Extreme> {
    let day = |day: Day| {
        Extreme::new("valuation day", day, move |subject: &mut Subject| {
            subject.valuation_day = day;
            let before = Day(day.0 - 1);
            subject.evidence_through = subject.evidence_through.map(|known| known.min(before));
        })
    };
    vec![
        day(first),
        day(last),
        Extreme::new("occupancy", "tenanted", |subject| {
            subject.occupancy = Occupancy::Tenanted;
        }),
        Extreme::new("occupancy", "vacant", |subject| {
            subject.occupancy = Occupancy::Vacant;
        }),
        Extreme::new("build status", "new", |subject| {
            subject.build_status = BuildStatus::NewBuild;
        }),
        Extreme::new("UPRN", "absent", |subject| subject.uprn = None),
        Extreme::new("UPRN", "unknown", |subject| {
            subject.uprn = Some(999_999_999_999);
        }),
        Extreme::new("stored data", "not to be used", |subject| {
            subject.stored_data = false;
            subject.size.habitable_rooms = None;
            let provenance = &mut subject.provenance;
            let stored = std::mem::take(&mut provenance.stored);
            provenance.customer.extend(stored);
            provenance.customer.sort_unstable();
            state(subject, Attribute::HabitableRooms, false);
        }),
        Extreme::new("authority", "unknown", |subject| subject.authority.clear()),
        Extreme::new("evidence", "none known", |subject| {
            subject.evidence_through = None;
        }),
    ]
}

fn places() -> Vec<Extreme> {
    // National Grid metres: the corner of the grid, Scilly, Lowestoft Ness, Berwick, and the grid's
    // far corner.
    let far = [
        ("at the grid's origin", 0, 0),
        ("in the far south-west", 83_000, 5_000),
        ("in the far east", 655_900, 293_700),
        ("in the far north", 398_000, 657_500),
        ("at the grid's far corner", 699_999, 1_299_999),
    ];
    let mut list: Vec<Extreme> = far
        .into_iter()
        .map(|(words, easting, northing)| {
            Extreme::new("place", words, move |subject: &mut Subject| {
                subject.place = GridPoint { easting, northing };
            })
        })
        .collect();
    list.push(Extreme::new("precision", "of the postcode", |subject| {
        subject.precision = Precision::Postcode;
    }));
    list.push(Extreme::new("precision", "of a site", |subject| {
        subject.precision = Precision::Site;
    }));
    list
}
