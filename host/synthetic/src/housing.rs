//! Builds the dwellings of a street's plan.

use crate::draw::Draw;
use crate::dwelling::{Address, Dwelling, Fabric, Form, Lease};
use crate::geography::{Authority, HALF_SIDE};
use crate::land::Point;
use crate::market::Kind;
use crate::postcodes::Sector;
use crate::street::{Plan, Plot};
use crate::world::{FIRST_DAY, World};
use chrono::{Datelike, NaiveDate, TimeDelta};

/// The location of a street and its name.
pub(crate) struct Site {
    pub(crate) street: String,
    pub(crate) locality: String,
    pub(crate) town: String,
    pub(crate) middle: Point,
}

/// One live postcode with the mean place of its addresses, to whole metres.
pub(crate) struct Unit {
    pub(crate) postcode: String,
    pub(crate) easting: i64,
    pub(crate) northing: i64,
}

/// Most addresses that share a postcode.
const PER_POSTCODE: usize = 15;

/// Builds the dwellings of a street. `uprn` gives each address its number.
pub(crate) fn settle(
    world: &World,
    authority: &Authority,
    site: &Site,
    plan: &Plan,
    sector: &mut Sector,
    draw: &mut Draw,
    mut uprn: impl FnMut() -> u64,
) -> (Vec<Dwelling>, Vec<Unit>) {
    let turn = draw.between(0.0, std::f64::consts::TAU);
    let (east, north) = (libm::cos(turn), libm::sin(turn));
    let length = 9.0 * plan.plots.len() as f64;
    let street_effect = draw.normal(0.0, 0.055);
    let size_effect = draw.normal(0.0, 0.10);
    let leasehold_houses = draw.chance(0.06);
    // Plots of one side first, so that a postcode is a stretch of one side.
    let mut plots: Vec<&Plot> = plan.plots.iter().collect();
    plots.sort_by_key(|plot| !plot.left);

    let mut dwellings = Vec::with_capacity(plots.len());
    let mut units: Vec<Unit> = Vec::new();
    let mut shared: (String, usize, f64, f64) = (String::new(), 0, 0.0, 0.0);
    for plot in plots {
        let same_building = dwellings
            .last()
            .is_some_and(|last: &Dwelling| last.address.paon == plot.paon);
        if shared.1 == 0 || (shared.1 >= PER_POSTCODE && !same_building) {
            units.extend(unit(&shared));
            shared = (sector.unit(), 0, 0.0, 0.0);
        }
        let side = if plot.left { 14.0 } else { -14.0 };
        let along = (plot.along - 0.5) * length;
        let at = site
            .middle
            .offset(east * along - north * side, north * along + east * side)
            .within(authority.centre, HALF_SIDE);
        let at = Point {
            easting: at.easting.round(),
            northing: at.northing.round(),
        };
        shared.1 += 1;
        shared.2 += at.easting;
        shared.3 += at.northing;
        let address = Address {
            saon: plot.saon.clone(),
            paon: plot.paon.clone(),
            street: if plan.nameless {
                String::new()
            } else {
                site.street.clone()
            },
            locality: site.locality.clone(),
            town: site.town.clone(),
            postcode: shared.0.clone(),
        };
        let location = authority.field.at(at) + street_effect;
        let mut dwelling = furnish(world, plot, plan, size_effect, leasehold_houses, draw);
        dwelling.uprn = uprn();
        dwelling.address = address;
        dwelling.at = at;
        dwelling.location = location;
        dwellings.push(dwelling);
    }
    units.extend(unit(&shared));
    (dwellings, units)
}

/// Returns the postcode of a stretch, once it has addresses.
fn unit((postcode, count, easting, northing): &(String, usize, f64, f64)) -> Option<Unit> {
    let mean = |sum: f64| (sum / *count as f64).round() as i64;
    (*count > 0).then(|| Unit {
        postcode: postcode.clone(),
        easting: mean(*easting),
        northing: mean(*northing),
    })
}

/// Draws the facts of a dwelling that do not depend on its location.
fn furnish(
    world: &World,
    plot: &Plot,
    plan: &Plan,
    size_effect: f64,
    leasehold_houses: bool,
    draw: &mut Draw,
) -> Dwelling {
    let last_year = world.through.year();
    let built = (plan.built + plot.younger + if plan.scheme { 0 } else { draw.whole(0, 4) })
        .min(last_year - 1);
    let finished = (built >= FIRST_DAY.year())
        .then(|| {
            let days = i64::from(draw.whole(0, if plan.scheme { 540 } else { 300 }));
            NaiveDate::from_ymd_opt(built, 1, 15).map(|day| day + TimeDelta::days(days))
        })
        .flatten()
        .filter(|day| *day <= world.through);
    let (median, spread) = match (plot.kind, plot.form) {
        (Kind::Commercial, _) => (70.0, 0.5),
        (Kind::Flat, Form::Converted) => (54.0, 0.22),
        (Kind::Flat, _) => (61.0, 0.2),
        (_, Form::Bungalow) => (80.0, 0.2),
        (Kind::Detached, _) => (128.0, 0.22),
        (Kind::SemiDetached, _) => (92.0, 0.17),
        (Kind::Terraced, _) => (84.0, 0.17),
    };
    let area_m2 = (median * libm::exp(size_effect + draw.normal(0.0, spread)))
        .clamp(24.0, 480.0)
        .round();
    let house = !matches!(plot.kind, Kind::Flat | Kind::Commercial);
    let extension = (house && draw.chance(0.06))
        .then(|| {
            let since = i64::from(draw.whole(0, 11_000));
            (
                FIRST_DAY + TimeDelta::days(since),
                (area_m2 * draw.between(0.1, 0.3)).round(),
            )
        })
        .filter(|(day, _)| {
            *day <= world.through && finished.is_none_or(|finished| *day > finished)
        });
    Dwelling {
        uprn: 0,
        address: Address::default(),
        at: Point {
            easting: 0.0,
            northing: 0.0,
        },
        kind: plot.kind,
        form: plot.form,
        built,
        finished,
        area_m2,
        extension,
        rooms: ((area_m2 / 19.0 + draw.normal(0.0, 0.5)).round() as i64).clamp(1, 14) as u32,
        storey: plot.storey,
        lease: lease(plot, built, leasehold_houses, draw),
        fabric: fabric(plot, built, area_m2, draw),
        location: 0.0,
        quality: draw.normal(0.0, 0.07),
    }
}

/// Draws the lease. Flats are leasehold mostly, houses where the street is.
fn lease(plot: &Plot, built: i32, leasehold_houses: bool, draw: &mut Draw) -> Option<Lease> {
    let leased = match plot.kind {
        Kind::Flat => draw.chance(0.96),
        Kind::Commercial => draw.chance(0.4),
        _ => leasehold_houses,
    };
    if !leased {
        return None;
    }
    let year = if plot.kind == Kind::Flat {
        built.max(draw.whole(1968, 1994))
    } else {
        built
    };
    let years = draw.choose_weighted(&[(5.0, 99), (5.0, 125), (2.0, 150), (4.0, 999)]);
    let years = if plot.kind == Kind::Flat { years } else { 999 };
    NaiveDate::from_ymd_opt(year, 3, 25).map(|start| Lease { start, years })
}

/// Draws the walls, roof, floor, windows and heating of their time.
fn fabric(plot: &Plot, built: i32, area_m2: f64, draw: &mut Draw) -> Fabric {
    let walls = match built {
        ..=1919 if draw.chance(0.25) => "Sandstone or limestone, as built, no insulation (assumed)",
        ..=1929 => "Solid brick, as built, no insulation (assumed)",
        1930..=1982 if draw.chance(0.55) => "Cavity wall, filled cavity",
        1930..=1975 => "Cavity wall, as built, no insulation (assumed)",
        1976..=1982 => "Cavity wall, as built, partial insulation (assumed)",
        _ if draw.chance(0.1) => "Timber frame, as built, insulated (assumed)",
        _ => "Cavity wall, as built, insulated (assumed)",
    };
    let (lowest, top) = plot
        .storey
        .map_or((true, true), |(storey, of)| (storey == 0, storey + 1 >= of));
    let roof = match (top, built) {
        (false, _) => "(another dwelling above)",
        (_, 2003..) => "Pitched, insulated (assumed)",
        _ => draw.pick(&[
            "Pitched, 100 mm loft insulation",
            "Pitched, 150 mm loft insulation",
            "Pitched, 200 mm loft insulation",
            "Pitched, 270 mm loft insulation",
            "Pitched, no insulation (assumed)",
            "Flat, insulated (assumed)",
        ]),
    };
    let floor = match (lowest, built) {
        (false, _) => "(another dwelling below)",
        (_, ..=1929) => "Suspended, no insulation (assumed)",
        (_, 1996..) => "Solid, insulated (assumed)",
        _ => "Solid, no insulation (assumed)",
    };
    let (windows, glazed_type) = match draw.below(20) {
        0 => ("Single glazed", "not defined"),
        1 => ("Fully triple glazed", "triple glazing"),
        2 => ("Mostly secondary glazing", "secondary glazing"),
        3..=9 => (
            "Fully double glazed",
            "double glazing installed during or after 2002",
        ),
        _ => (
            "Fully double glazed",
            "double glazing, unknown install date",
        ),
    };
    let gas = draw.chance(if plot.kind == Kind::Flat { 0.7 } else { 0.88 });
    let (heating, fuel) = if gas {
        (
            "Boiler and radiators, mains gas",
            "mains gas (not community)",
        )
    } else if plot.kind == Kind::Flat {
        ("Electric storage heaters", "electricity (not community)")
    } else {
        ("Boiler and radiators, oil", "oil (not community)")
    };
    let by_age = match built {
        ..=1929 => 58.0,
        1930..=1966 => 63.0,
        1967..=1995 => 68.0,
        1996..=2011 => 76.0,
        _ => 83.0,
    };
    let shelter = if plot.kind == Kind::Flat { 5.0 } else { 0.0 };
    let supply = if gas { 2.0 } else { -7.0 };
    let score = by_age + shelter + supply - 3.0 * libm::log(area_m2 / 80.0) + draw.normal(0.0, 6.0);
    Fabric {
        walls,
        roof,
        floor,
        windows,
        glazed_type,
        heating,
        fuel,
        gas,
        score: score.clamp(5.0, 98.0).round() as u32,
    }
}
