//! The days and prices of a dwelling's sales.

use crate::draw::Draw;
use crate::dwelling::{Dwelling, Form};
use crate::market::{Kind, Locale};
use crate::world::{FIRST_DAY, World};
use chrono::{Datelike, Months, NaiveDate, TimeDelta};

/// The circumstances of one sale, which decide its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Circumstance {
    /// Full market value, with a buyer's luck.
    Ordinary,
    /// Sold by a lender or in haste, well under value.
    Forced,
    /// Within a family or a share only: a fraction of the value.
    Undervalue,
    /// Bought by a company, near the value.
    Corporate,
    /// A digit too many or too few in the register.
    Mistyped,
    /// Not a home.
    Premises,
}

impl Circumstance {
    /// Returns the name in truth-sales.csv.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Circumstance::Ordinary => "ordinary",
            Circumstance::Forced => "forced",
            Circumstance::Undervalue => "undervalue",
            Circumstance::Corporate => "corporate",
            Circumstance::Mistyped => "mistyped",
            Circumstance::Premises => "premises",
        }
    }
}

/// One sale with its true facts.
#[derive(Clone, Debug)]
pub(crate) struct Sale {
    pub(crate) day: NaiveDate,
    pub(crate) price: u64,
    /// True value that day, in that condition.
    pub(crate) worth: f64,
    pub(crate) circumstance: Circumstance,
    pub(crate) new_build: bool,
    /// Category A of the register.
    pub(crate) standard: bool,
}

/// The first day on which category B sales are registered.
const ADDITIONAL_SINCE: NaiveDate = match NaiveDate::from_ymd_opt(2013, 10, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// The activity of the market, cumulated over months, so that sales can be drawn in its time.
pub(crate) struct Activity {
    /// Activity from the first day to the beginning of each month, and to the end of the last.
    upto: Vec<f64>,
    /// Sales of one dwelling per unit of activity.
    rate: f64,
    through: NaiveDate,
}

impl Activity {
    /// Returns the activity of a world, at the rate of the requested number of sales.
    pub(crate) fn new(world: &World) -> Activity {
        const SEASONS: [f64; 12] = [
            0.78, 0.80, 1.02, 0.92, 0.98, 1.10, 1.12, 1.15, 1.02, 1.06, 1.05, 1.0,
        ];
        let mut upto = vec![0.0];
        let (mut sum, mut month) = (0.0, FIRST_DAY);
        while month <= world.through {
            let year = match month.year() {
                ..=1995 => 0.75,
                1996..=1999 => 1.0,
                2000..=2007 => 1.15,
                2008..=2009 => 0.55,
                2010..=2013 => 0.62,
                2014..=2019 => 0.85,
                2020 => 0.78,
                2021 => 1.15,
                2022 => 0.95,
                _ => 0.75,
            };
            sum += year * SEASONS[month.month0() as usize];
            upto.push(sum);
            month = month + Months::new(1);
        }
        let sales_per_property = f64::from(world.size.sales) / f64::from(world.size.properties);
        // One home in five is built within the register's years: sold new once, then present for
        // half of them. The gap after each sale takes a little more time away.
        let rate = (sales_per_property - 0.20).max(0.02) / (0.893 * sum);
        Activity {
            upto,
            rate,
            through: world.through,
        }
    }

    /// Returns the activity before a day.
    fn at(&self, day: NaiveDate) -> f64 {
        let month = (day.year() - FIRST_DAY.year()) * 12 + day.month0() as i32;
        let month = (month.max(0) as usize).min(self.upto.len() - 2);
        let part = f64::from(day.day0()) / 31.0;
        self.upto[month] * (1.0 - part) + self.upto[month + 1] * part
    }

    /// Returns the weekday after this much activity, or `None` after the last day.
    fn day(&self, activity: f64) -> Option<NaiveDate> {
        let month = self
            .upto
            .partition_point(|sum| *sum <= activity)
            .checked_sub(1)?;
        let (low, high) = (*self.upto.get(month)?, *self.upto.get(month + 1)?);
        let first = FIRST_DAY.checked_add_months(Months::new(month as u32))?;
        let day = first + TimeDelta::days((31.0 * (activity - low) / (high - low)) as i64);
        // Completions fall on weekdays, Fridays above all.
        let day = match day.weekday() {
            chrono::Weekday::Sat => day - TimeDelta::days(1),
            chrono::Weekday::Sun => day + TimeDelta::days(1),
            _ => day,
        };
        (day <= self.through && day >= FIRST_DAY).then_some(day)
    }
}

/// Days within which one dwelling is not sold twice.
const REST: TimeDelta = TimeDelta::days(120);

/// Returns all sales of one dwelling in order, and its condition at the end (a ln effect).
pub(crate) fn history(
    dwelling: &Dwelling,
    locale: &Locale,
    activity: &Activity,
    draw: &mut Draw,
) -> (Vec<Sale>, f64) {
    let mut sales = Vec::new();
    let mut condition = draw.normal(0.0, 0.04);
    let restless = match dwelling.kind {
        Kind::Flat => 1.25,
        Kind::Detached => 0.85,
        Kind::Commercial => 0.35,
        _ => 1.0,
    } * draw.between(0.5, 1.5);
    let (mut from, new) = dwelling.saleable();
    if new && dwelling.residential() {
        let day = from + TimeDelta::days(i64::from(draw.whole(0, 75)));
        if day <= activity.through {
            sales.push(price(dwelling, locale, day, 0.0, true, draw));
            from = day + REST;
        }
    }
    loop {
        let gap = draw.exponential() / (activity.rate * restless);
        let Some(day) = activity.day(activity.at(from) + gap) else {
            break;
        };
        condition = 0.5 * condition + draw.normal(0.0, 0.035);
        sales.push(price(dwelling, locale, day, condition, false, draw));
        from = day + REST;
        if from > activity.through {
            break;
        }
    }
    (sales, condition)
}

/// Draws the price of one sale.
fn price(
    dwelling: &Dwelling,
    locale: &Locale,
    day: NaiveDate,
    condition: f64,
    new_build: bool,
    draw: &mut Draw,
) -> Sale {
    use Circumstance::*;
    let worth = dwelling.value(locale, day, condition);
    let additional = day >= ADDITIONAL_SINCE;
    let hard_times = (2008..=2011).contains(&day.year());
    let circumstance = if matches!(dwelling.form, Form::Premises(_)) {
        Premises
    } else if new_build {
        Ordinary
    } else {
        let forced = if hard_times { 0.03 } else { 0.012 };
        let u = draw.unit();
        if u < forced {
            Forced
        } else if u < forced + 0.0006 {
            Mistyped
        } else if additional && u < forced + 0.009 {
            Undervalue
        } else if additional && u < forced + 0.034 {
            Corporate
        } else {
            Ordinary
        }
    };
    let luck = if draw.chance(0.92) {
        draw.normal(0.0, 0.072)
    } else {
        draw.normal(0.0, 0.17)
    };
    let luck = if new_build { luck * 0.4 } else { luck };
    let agreed_price = worth
        * libm::exp(luck)
        * match circumstance {
            Forced => draw.between(0.60, 0.88),
            Undervalue => draw.between(0.08, 0.7),
            Corporate => draw.between(0.82, 1.05),
            Premises => draw.between(0.4, 2.2),
            Ordinary | Mistyped => 1.0,
        };
    let mut price = round_price(agreed_price, new_build, draw);
    if circumstance == Mistyped {
        price = if draw.chance(0.5) {
            price * 10
        } else {
            (price / 10).max(1)
        };
    }
    let standard = match circumstance {
        Forced => !additional,
        Undervalue | Corporate | Premises => false,
        Ordinary | Mistyped => true,
    };
    Sale {
        day,
        price,
        worth,
        circumstance,
        new_build,
        standard,
    }
}

/// Rounds a price. New homes' prices often end in 995 or 950.
fn round_price(agreed_price: f64, new_build: bool, draw: &mut Draw) -> u64 {
    let step = match agreed_price {
        ..60_000.0 => draw.pick(&[250.0, 500.0, 50.0]),
        ..300_000.0 => draw.pick(&[500.0, 1_000.0, 2_500.0]),
        _ => draw.pick(&[1_000.0, 5_000.0, 2_500.0]),
    };
    let rounded = ((agreed_price / step).round() * step).max(1_000.0) as u64;
    match draw.below(20) {
        0..=7 if new_build => rounded.next_multiple_of(1_000) - 5,
        8..=10 if new_build => rounded.next_multiple_of(1_000) - 50,
        0 => rounded.next_multiple_of(1_000) - 50,
        _ => rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_tells_days_apart_and_ends() {
        let activity = Activity::new(&World::demo());
        let day: NaiveDate = "2007-06-13".parse().unwrap();
        let back = activity.day(activity.at(day)).unwrap();
        assert!((back - day).num_days().abs() <= 3, "{back}");
        assert!(activity.at("2009-06-01".parse().unwrap()) > activity.at(day));
        let last = *activity.upto.last().unwrap();
        assert_eq!(activity.day(last + 0.1), None);
        assert!(
            (0..400)
                .filter_map(|n| activity.day(f64::from(n) * last / 400.0))
                .all(|day| {
                    day >= FIRST_DAY
                        && day <= activity.through
                        && day.weekday().number_from_monday() <= 5
                })
        );
    }
}
