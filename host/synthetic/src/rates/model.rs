//! The model of the invented rates.

use chrono::{Datelike, Days, NaiveDate};

use super::{FIRST_DAY, RatesWorld, is_working_day};
use crate::draw::{Draw, Purpose};

/// One working day.
#[derive(Clone, Debug)]
pub(super) struct Day {
    pub(super) date: NaiveDate,
    /// Bank Rate, per cent.
    pub(super) bank_rate: f64,
    /// SONIA, per cent.
    pub(super) sonia: f64,
    /// The SONIA compounded index, once it has begun.
    pub(super) index: Option<f64>,
    /// Curves of swaps and of nominal and index-linked gilts.
    pub(super) curves: [Curve; 3],
    /// True if curves are written for the day.
    pub(super) snapshot: bool,
    /// The first maturity of the nominal short end that is there, months.
    pub(super) nominal_from: u32,
    /// A missing maturity of the OIS curve, months, or 0.
    pub(super) ois_hole: u32,
}

/// A curve of Nelson and Siegel's form, per cent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    level: f64,
    slope: f64,
    hump: f64,
    years: f64,
}

impl Curve {
    /// Returns the spot rate.
    pub(super) fn spot(&self, months: u32) -> f64 {
        let x = f64::from(months) / 12.0 / self.years;
        let decay = -libm::expm1(-x) / x;
        self.level + self.slope * decay + self.hump * (decay - libm::exp(-x))
    }

    /// Returns the instantaneous forward rate.
    pub(super) fn forward(&self, months: u32) -> f64 {
        let x = f64::from(months) / 12.0 / self.years;
        self.level + (self.slope + self.hump * x) * libm::exp(-x)
    }
}

/// The day on which the compounded index stood at 100.
const INDEX_BEGAN: NaiveDate = match NaiveDate::from_ymd_opt(2018, 4, 23) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// The factors that move from day to day.
struct State {
    bank_rate: f64,
    /// The level that Bank Rate is drawn to.
    target: f64,
    level: f64,
    hump: f64,
    premium: f64,
    inflation: f64,
    index: f64,
}

/// Returns every working day from the first to the last.
pub(super) fn history(world: &RatesWorld) -> Vec<Day> {
    let mut draw = Draw::new(world.seed, Purpose::Rates, 0, 0);
    let mut state = State {
        bank_rate: 1.5,
        target: 2.5,
        level: 3.9,
        hump: -0.5,
        premium: 0.35,
        inflation: 3.1,
        index: 100.0,
    };
    let mut days: Vec<Day> = Vec::new();
    let mut date = FIRST_DAY;
    while date <= world.through {
        let next = date
            .checked_add_days(Days::new(1))
            .unwrap_or(NaiveDate::MAX);
        if is_working_day(date) {
            let day = step(&mut state, &mut draw, date, days.last());
            days.push(day);
        }
        date = next;
    }
    let count = days.len();
    for at in 0..count {
        let last_of_month = days
            .get(at + 1)
            .is_none_or(|next| next.date.month() != days[at].date.month());
        days[at].snapshot = days[at].date >= world.daily_from || last_of_month;
    }
    days
}

fn step(state: &mut State, draw: &mut Draw, date: NaiveDate, before: Option<&Day>) -> Day {
    // The committee meets about every six weeks, on a Thursday.
    if date.weekday() == chrono::Weekday::Thu && date.iso_week().week().is_multiple_of(6) {
        state.target = (state.target + draw.normal(0.0, 0.6)).clamp(0.3, 5.4);
        let gap = state.target - state.bank_rate;
        if gap.abs() > 0.3 {
            state.bank_rate = (state.bank_rate + 0.25 * gap.signum()).max(0.25);
        }
    }
    let drift = |value: f64, towards: f64, pull: f64| value + pull * (towards - value);
    state.level = drift(state.level, 4.2, 0.002) + draw.normal(0.0, 0.03);
    state.hump = drift(state.hump, -0.4, 0.01) + draw.normal(0.0, 0.05);
    state.premium = drift(state.premium, 0.4, 0.01) + draw.normal(0.0, 0.01);
    state.inflation = drift(state.inflation, 3.2, 0.01) + draw.normal(0.0, 0.02);
    if let Some(before) = before
        && date >= INDEX_BEGAN
    {
        let days = date.signed_duration_since(before.date).num_days() as f64;
        if before.index.is_some() {
            state.index *= 1.0 + before.sonia * days / 36_500.0;
        }
    }
    let sonia = state.bank_rate - 0.04 + draw.normal(0.0, 0.002);
    let curve = |level: f64, short: f64| Curve {
        level,
        slope: short - level,
        hump: state.hump,
        years: 2.5,
    };
    let short_real = sonia - state.inflation;
    Day {
        date,
        bank_rate: state.bank_rate,
        sonia,
        index: (date >= INDEX_BEGAN).then_some(state.index),
        curves: [
            curve(state.level, sonia),
            curve(state.level + state.premium, sonia + 0.05),
            curve(state.level + state.premium - state.inflation, short_real),
        ],
        snapshot: false,
        nominal_from: draw.whole(1, 7) as u32,
        ois_hole: if draw.chance(0.02) {
            draw.whole(1, 60) as u32
        } else {
            0
        },
    }
}
