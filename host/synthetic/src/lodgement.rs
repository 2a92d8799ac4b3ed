//! The certificates of a dwelling: when they are lodged, and with which errors.

use crate::draw::Draw;
use crate::dwelling::Dwelling;
use crate::sales::Sale;
use crate::world::{FIRST_CERTIFICATE, World};
use chrono::{NaiveDate, TimeDelta};

/// The reason for a certificate, in the register's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    NewDwelling,
    MarketedSale,
    Rental,
    /// For a sale, yet lodged only after it.
    LateForSale,
}

impl Reason {
    /// Returns the register's words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Reason::NewDwelling => "new dwelling",
            Reason::MarketedSale | Reason::LateForSale => "marketed sale",
            Reason::Rental => "rental",
        }
    }
}

/// The error of the floor area in the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AreaFault {
    Sound,
    Tenfold,
    Missing,
}

impl AreaFault {
    /// Returns the name in truth.csv.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AreaFault::Sound => "sound",
            AreaFault::Tenfold => "area_tenfold",
            AreaFault::Missing => "area_missing",
        }
    }
}

/// One certificate to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lodgement {
    pub(crate) day: NaiveDate,
    pub(crate) reason: Reason,
    pub(crate) area: AreaFault,
    pub(crate) without_uprn: bool,
}

/// Returns the certificates of one home, in order of day.
pub(crate) fn lodgements(
    world: &World,
    dwelling: &Dwelling,
    sales: &[Sale],
    draw: &mut Draw,
) -> Vec<Lodgement> {
    let certificates_per_property =
        f64::from(world.size.certificates) / f64::from(world.size.properties);
    let certified = (certificates_per_property * 0.885).min(0.9);
    let new = dwelling.finished.filter(|day| *day >= FIRST_CERTIFICATE);
    // Every dwelling new since 2008 has one, so the older ones have a little fewer.
    if !draw.chance(if new.is_some() {
        0.97
    } else {
        certified * 0.99
    }) {
        return Vec::new();
    }
    let earliest = new.unwrap_or(FIRST_CERTIFICATE);
    let recent: Vec<&Sale> = sales
        .iter()
        .filter(|sale| sale.day > FIRST_CERTIFICATE)
        .collect();
    let u = draw.unit();
    let days = |draw: &mut Draw, low, high| TimeDelta::days(i64::from(draw.whole(low, high)));
    let (day, reason) = match new {
        Some(finished) => (finished, Reason::NewDwelling),
        None if !recent.is_empty() && u < 0.67 => {
            let sale = recent[draw.below(recent.len())];
            if u < 0.07 {
                (sale.day + days(draw, 5, 60), Reason::LateForSale)
            } else {
                (sale.day - days(draw, 20, 100), Reason::MarketedSale)
            }
        }
        None => {
            let span = (world.through - earliest).num_days() as i32;
            (earliest + days(draw, 0, span), Reason::Rental)
        }
    };
    let day = day.clamp(earliest, world.through);
    let mut all = vec![(day, reason)];
    if draw.chance(certificates_per_property / certified.max(0.01) - 1.0) {
        let span = (world.through - day).num_days() as i32;
        all.push((day + days(draw, 0, span), Reason::Rental));
    }
    all.into_iter()
        .map(|(day, reason)| Lodgement {
            day,
            reason,
            area: draw.choose_weighted(&[
                (0.995, AreaFault::Sound),
                (0.002, AreaFault::Tenfold),
                (0.003, AreaFault::Missing),
            ]),
            without_uprn: draw.chance(0.01),
        })
        .collect()
}
