//! The choices that the fields of a page of series make, and those that they lead to.

use crate::curve::curves_of;
use crate::fields::Fields;
use crate::series_form::{COMPARED, COMPARED_DAY};
use crate::series_table::{MergedSeries, series_of};
use domesday_registers::Day;
use serde_json::Value;

/// Returns the queries of the fields: theirs, and those of the area or the day that they are
/// compared with.
pub fn selections(fields: &Fields) -> Vec<Fields> {
    let mut own = fields.clone();
    own.remove(COMPARED);
    own.remove(COMPARED_DAY);
    let mut selections = vec![own.clone()];
    // An area beside itself would double each observation.
    let compared = fields.get(COMPARED);
    if let Some(area) = compared.filter(|area| fields.get("area") != Some(area)) {
        let mut other = own.clone();
        other.set("area", area);
        selections.push(other);
    }
    // A day of the choice itself would double its observations.
    let compared = fields.get(COMPARED_DAY);
    if let Some(day) = compared.filter(|day| !is_within(fields, day)) {
        set_days(&mut own, day, day);
        selections.push(own);
    }
    selections
}

/// Reports whether the dates of the fields hold a day. Without dates only the API knows the day
/// that is the latest.
fn is_within(fields: &Fields, day: &str) -> bool {
    let Some(day) = Day::parse_iso(day) else {
        return false;
    };
    let bound = |name: &str| fields.get(name).map(Day::parse_iso);
    match (bound("from"), bound("to")) {
        (None, None) => false,
        (from, to) => {
            from.is_none_or(|from| from.is_some_and(|from| from <= day))
                && to.is_none_or(|to| to.is_some_and(|to| day <= to))
        }
    }
}

/// Sets the first and the last day.
pub fn set_days(fields: &mut Fields, from: &str, to: &str) {
    fields.set("from", from);
    fields.set("to", to);
}

/// Returns the day of the curve that the fields choose: one day, or the latest where they name
/// none.
pub fn curve_day(fields: &Fields, pages: &[Value]) -> Option<Day> {
    curves_of(series_of(pages))?;
    let from = fields.get("from");
    if from != fields.get("to") {
        return None;
    }
    let latest = || series_of(pages).next()?["observations"][0]["period"].as_str();
    Day::parse_iso(from.or_else(latest)?)
}

/// Returns the fields of five years, where a choice without dates gave one observation a series.
pub fn fields_of_five_years(fields: &Fields, merged: &[MergedSeries<'_>]) -> Option<Fields> {
    let is_latest = fields.get("from").is_none() && fields.get("to").is_none();
    let is_short = merged.iter().all(|series| series.observations.len() < 2);
    let latest = merged.first()?.observations.first()?["period"].as_str();
    let (year, rest) = latest
        .filter(|_| is_latest && is_short)?
        .split_at_checked(4)?;
    let year: u32 = year.parse().ok()?;
    // A leap day has none five years before.
    let rest = if rest == "-02-29" { "-02-28" } else { rest };
    let mut longer = fields.clone();
    longer.set("from", &format!("{}{rest}", year.checked_sub(5)?));
    Some(longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compared_day_is_a_second_choice_unless_the_dates_hold_it() {
        let days = |query: &str| {
            let fields = Fields::parse(format!("dataset=ois_spot_curve&{query}").as_bytes());
            let selections = selections(&fields).into_iter();
            let days = selections.map(|chosen| chosen.get("from").map(str::to_owned));
            days.collect::<Vec<_>>()
        };
        let range = Some("2026-09-01".to_owned());
        for (compared, is_second) in [
            ("2026-08-31", true),
            ("2026-09-01", false),
            ("2026-09-15", false),
            ("2026-09-30", false),
            ("2026-10-01", true),
            ("2026-09-xx", true),
        ] {
            let found = days(&format!(
                "from=2026-09-01&to=2026-09-30&compared_day={compared}"
            ));
            let mut expected = vec![range.clone()];
            expected.extend(is_second.then(|| Some(compared.to_owned())));
            assert_eq!(found, expected);
        }
        // The range goes on to the latest day, or begins with the first.
        assert_eq!(days("from=2026-09-01&compared_day=2026-09-02"), [range]);
        assert_eq!(
            days("to=2026-09-30&compared_day=2026-09-02"),
            [None::<String>]
        );
        let latest = days("compared_day=2026-09-02");
        assert_eq!(latest, [None, Some("2026-09-02".to_owned())]);
    }
}
