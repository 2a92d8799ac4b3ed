//! Sterling rates of an invented history, written as the Bank of England's database writes its
//! series.
//!
//! Bank Rate moves in quarter points. Yield curves follow it in the form of Nelson and Siegel, so
//! that spot and forward rates agree exactly. Mortgage rates follow the curves. Each curve and side
//! is a file with one table, whose first cell names the curve. The publisher's own workbooks hold
//! the same figures in a heavier form. As in real files, weekends and the fixed bank holidays have
//! no rows, and some nodes and months are missing. The last month's mortgage rates are blank.

mod files;
mod model;

use std::path::Path;

use chrono::{Datelike, Months, NaiveDate, Weekday};

use crate::SyntheticError;

/// The parameters of the rates. They decide every byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatesWorld {
    /// The same seed and days give the same bytes on every machine.
    pub seed: u64,
    /// The last day.
    pub through: NaiveDate,
    /// The day from which curves are written for every working day; before it they are written for
    /// the last working day of each month.
    pub daily_from: NaiveDate,
}

/// The first day.
const FIRST_DAY: NaiveDate = match NaiveDate::from_ymd_opt(2009, 1, 2) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

impl RatesWorld {
    /// Returns a history to this day. It has curves on every working day since 2009, as really
    /// published, or at month ends and daily over the last three months.
    pub fn ending(seed: u64, through: NaiveDate, every_day: bool) -> RatesWorld {
        let three_months = through - Months::new(3);
        RatesWorld {
            seed,
            through,
            daily_from: if every_day { FIRST_DAY } else { three_months },
        }
    }

    /// Returns the small history of seed 1 to the end of September 2026.
    pub fn demo() -> RatesWorld {
        let through = NaiveDate::from_ymd_opt(2026, 9, 30).unwrap_or(FIRST_DAY);
        RatesWorld::ending(1, through, false)
    }
}

/// The written files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RatesManifest {
    /// Files for the reader of the database, by name.
    pub database: Vec<String>,
    /// Curve tables, by name.
    pub curves: Vec<String>,
    /// Days with curves.
    pub snapshots: u64,
}

/// Writes the files into a folder, which is made if it is not there.
///
/// # Errors
///
/// The file that could not be written.
pub fn generate_rates(world: &RatesWorld, out: &Path) -> Result<RatesManifest, SyntheticError> {
    std::fs::create_dir_all(out).map_err(|source| SyntheticError::Write {
        path: out.to_owned(),
        source,
    })?;
    let history = model::history(world);
    files::write(world, &history, out)
}

/// Returns whether rates are published for a day.
fn is_working_day(day: NaiveDate) -> bool {
    let weekend = matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    let holiday = matches!((day.month(), day.day()), (1, 1) | (12, 25) | (12, 26));
    !weekend && !holiday
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let folders = [0, 1].map(|_| tempfile::tempdir().unwrap());
        let world = RatesWorld {
            daily_from: NaiveDate::from_ymd_opt(2026, 9, 1).unwrap(),
            ..RatesWorld::demo()
        };
        let [one, two] = folders
            .each_ref()
            .map(|f| generate_rates(&world, f.path()).unwrap());
        assert_eq!(one, two);
        assert_eq!((one.database.len(), one.curves.len()), (3, 8));
        for name in one.database.iter().chain(&one.curves) {
            let [first, second] = folders
                .each_ref()
                .map(|f| std::fs::read(f.path().join(name)).unwrap());
            assert!(!first.is_empty() && first == second, "{name}");
        }
    }
}
