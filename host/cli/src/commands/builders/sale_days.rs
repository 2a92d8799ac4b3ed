//! The days of sales that a command takes by --from and --to.

use anyhow::bail;
use chrono::NaiveDate;

/// Refuses a first day that is after the last one, where the command line names both.
pub fn check_sale_days(from: Option<NaiveDate>, to: Option<NaiveDate>) -> anyhow::Result<()> {
    match from.zip(to) {
        Some((from, to)) if from > to => {
            bail!("--from {from} is after --to {to}; name a later --to")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_day_may_be_the_last_and_no_later() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 9, day);
        for (from, to) in [
            (day(1), day(2)),
            (day(2), day(2)),
            (None, day(1)),
            (day(2), None),
        ] {
            check_sale_days(from, to).unwrap();
        }
        let refused = check_sale_days(day(30), day(1)).unwrap_err().to_string();
        let expected = "--from 2026-09-30 is after --to 2026-09-01; name a later --to";
        assert_eq!(refused, expected);
    }
}
