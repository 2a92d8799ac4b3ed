//! The true facts of one dwelling.

use crate::land::Point;
use crate::market::{self, HomeFeatures, Kind, Locale};
use chrono::NaiveDate;

/// An address in the gazetteer's own spelling, upper case; a part that is not there is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) saon: String,
    pub(crate) paon: String,
    pub(crate) street: String,
    pub(crate) locality: String,
    pub(crate) town: String,
    pub(crate) postcode: String,
}

/// Finer form of a dwelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    House,
    EndTerrace,
    Bungalow,
    PurposeBuilt,
    Converted,
    Maisonette,
    /// Not a dwelling: the classification code.
    Premises(&'static str),
}

/// A lease granted from the freehold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) start: NaiveDate,
    pub(crate) years: i32,
}

impl Lease {
    /// Returns the years left on a day.
    pub(crate) fn years_left(&self, day: NaiveDate) -> f64 {
        f64::from(self.years) - (day - self.start).num_days() as f64 / 365.25
    }
}

/// The fabric, as an assessor would describe it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fabric {
    pub(crate) walls: &'static str,
    pub(crate) roof: &'static str,
    pub(crate) floor: &'static str,
    pub(crate) windows: &'static str,
    pub(crate) glazed_type: &'static str,
    pub(crate) heating: &'static str,
    pub(crate) fuel: &'static str,
    pub(crate) gas: bool,
    /// Energy score, 1 to 100.
    pub(crate) score: u32,
}

/// Everything that is true of one dwelling, or of one shop.
#[derive(Clone, Debug)]
pub(crate) struct Dwelling {
    pub(crate) uprn: u64,
    pub(crate) address: Address,
    pub(crate) at: Point,
    pub(crate) kind: Kind,
    pub(crate) form: Form,
    pub(crate) built: i32,
    /// The day on which it was finished, where that is after 1995.
    pub(crate) finished: Option<NaiveDate>,
    pub(crate) area_m2: f64,
    /// The day of an extension and the square metres that it added.
    pub(crate) extension: Option<(NaiveDate, f64)>,
    pub(crate) rooms: u32,
    /// Flats: storey of the dwelling and storeys of the building.
    pub(crate) storey: Option<(i32, i32)>,
    pub(crate) lease: Option<Lease>,
    pub(crate) fabric: Fabric,
    /// ln effect of the field and the street.
    pub(crate) location: f64,
    /// ln effect of lasting quality that no register has.
    pub(crate) quality: f64,
}

impl Dwelling {
    /// Returns the floor area on a day, in square metres.
    pub(crate) fn area_on(&self, day: NaiveDate) -> f64 {
        match self.extension {
            Some((built, added)) if built <= day => self.area_m2 + added,
            _ => self.area_m2,
        }
    }

    /// Returns the true value on a day, in a condition (a ln effect).
    pub(crate) fn value(&self, locale: &Locale, day: NaiveDate, condition: f64) -> f64 {
        let seen = HomeFeatures {
            kind: self.kind,
            bungalow: self.form == Form::Bungalow,
            area_m2: self.area_on(day),
            built: self.built,
            lease_years: self.lease.map(|lease| lease.years_left(day)),
            score: self.fabric.score,
            effects: self.location + self.quality + condition,
        };
        market::value(locale, &seen, day)
    }

    /// Returns whether anybody lives here.
    pub(crate) fn residential(&self) -> bool {
        self.kind != Kind::Commercial
    }

    /// Returns the classification of AddressBase.
    pub(crate) fn classification(&self) -> &'static str {
        match (self.kind, self.form) {
            (_, Form::Premises(code)) => code,
            (Kind::Detached, _) => "RD02",
            (Kind::SemiDetached, _) => "RD03",
            (Kind::Terraced, _) => "RD04",
            _ => "RD06",
        }
    }

    /// Returns the subtype in this project's terms; empty for premises.
    pub(crate) fn subtype(&self) -> &'static str {
        match (self.kind, self.form) {
            (Kind::Commercial, _) | (_, Form::Premises(_)) => "",
            (Kind::Detached, Form::Bungalow) => "bungalow_detached",
            (Kind::SemiDetached, Form::Bungalow) => "bungalow_semi_detached",
            (Kind::Terraced, Form::Bungalow) => "bungalow_terraced",
            (Kind::Detached, _) => "house_detached",
            (Kind::SemiDetached, _) => "house_semi_detached",
            (Kind::Terraced, Form::EndTerrace) => "house_end_terrace",
            (Kind::Terraced, _) => "house_mid_terrace",
            (Kind::Flat, Form::Converted) => "flat_converted",
            (Kind::Flat, Form::Maisonette) => "maisonette",
            (Kind::Flat, _) => "flat_purpose_built",
        }
    }

    /// Returns the day from which it can be sold, and whether that falls within the register.
    pub(crate) fn saleable(&self) -> (NaiveDate, bool) {
        match self.finished {
            Some(day) => (day, true),
            None => (crate::world::FIRST_DAY, false),
        }
    }
}
