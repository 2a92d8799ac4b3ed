//! The split of days into those to fit, to calibrate and to test on.

use super::{BuildError, BuildOptions};
use domesday_property::Snapshot;
use domesday_registers::Day;

/// Days between the last sale that is fitted and the latest of all, by default.
const AFTER_FIT_DAYS: i32 = 730;
/// Days of sales that neither the fit nor the calibration sees, by default.
const HOLDOUT_DAYS: i32 = 182;

/// The days that divide a snapshot's sales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainingDays {
    /// The last day whose sales are fitted.
    pub train_until: Day,
    /// The last day whose sales calibrate the ranges.
    pub calibrate_until: Day,
    /// The day of the snapshot's latest sale.
    pub latest: Day,
}

impl TrainingDays {
    /// Returns the first and the last day of the sales that neither the fit nor the calibration
    /// saw.
    pub fn holdout(&self) -> (Day, Day) {
        (Day(self.calibrate_until.0 + 1), self.latest)
    }

    /// Returns the first and the last day of the sales that calibrate.
    pub fn calibration(&self) -> (Day, Day) {
        (Day(self.train_until.0 + 1), self.calibrate_until)
    }
}

/// Chooses the days: those of the options, or defaults counted back from the latest sale.
///
/// # Errors
/// [`BuildError`] if the snapshot holds no sale, or the options leave none to calibrate on.
pub fn training_days(
    options: &BuildOptions,
    snapshot: &Snapshot,
) -> Result<TrainingDays, BuildError> {
    let latest = snapshot.identity().latest_sale.ok_or(BuildError::NoSale)?;
    let train_until = options
        .train_until
        .map_or(Day(latest.0 - AFTER_FIT_DAYS), Day::from);
    let stated = options.calibrate_until.map(Day::from);
    Ok(TrainingDays {
        train_until,
        calibrate_until: calibrate_until(stated, train_until, latest)?,
        latest,
    })
}

/// Returns the stated day, or half a year before the latest sale. Where the fit goes further than
/// that, the day is half way between the fit and the latest sale.
fn calibrate_until(stated: Option<Day>, train_until: Day, latest: Day) -> Result<Day, BuildError> {
    match stated {
        Some(day) if day <= train_until => Err(BuildError::NothingToCalibrate { train_until, day }),
        Some(day) => Ok(day),
        None => {
            let half_way = train_until.0 + (latest.0 - train_until.0) / 2;
            let holdout = latest.0 - HOLDOUT_DAYS;
            Ok(Day(holdout.max(half_way).max(train_until.0)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_year_is_held_out_unless_the_fit_reaches_into_it() {
        let of = |fit, latest| calibrate_until(None, Day(fit), Day(latest)).unwrap().0;
        assert_eq!(of(0, 1_000), 1_000 - HOLDOUT_DAYS);
        assert_eq!(of(900, 1_000), 950);
        assert_eq!(of(1_100, 1_000), 1_100);
    }

    #[test]
    fn a_calibration_that_ends_with_the_fit_is_refused() {
        for day in [99, 100] {
            let refused = calibrate_until(Some(Day(day)), Day(100), Day(1_000));
            assert!(refused.unwrap_err().to_string().contains("--train-until"));
        }
        assert_eq!(
            calibrate_until(Some(Day(101)), Day(100), Day(1_000)).unwrap(),
            Day(101)
        );
    }
}
