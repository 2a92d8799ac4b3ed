//! The Bank's ways to write a day.

use chrono::NaiveDate;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Reads `01 Sep 2026`, `18-Dec-25`, `17/03/2021` or `2021-03-17`. A year of two digits from 69 on
/// is of the last century: the Bank's own lists begin in 1975.
pub(super) fn day(text: &str) -> Option<NaiveDate> {
    let parts: Vec<&str> = text.trim().split([' ', '-', '/']).collect();
    let [first, middle, last] = parts.as_slice() else {
        return None;
    };
    if first.len() == 4 {
        return NaiveDate::from_ymd_opt(number(first)?, number(middle)?, number(last)?);
    }
    let month = match number::<u32>(middle) {
        Some(month) => month,
        None => {
            let name = middle.to_lowercase();
            (1..).zip(MONTHS).find(|(_, known)| *known == name)?.0
        }
    };
    let year: i32 = number(last)?;
    let year = match last.len() {
        4 => year,
        2 if year >= 69 => year + 1900,
        2 => year + 2000,
        _ => return None,
    };
    NaiveDate::from_ymd_opt(year, month, number(first)?)
}

/// Returns the first cell that is another day where its month comes first. Returns `None` if one of
/// the cells is a day in the order of [`day`] alone.
pub(super) fn find_undecided<'c>(
    cells: impl Iterator<Item = &'c str>,
) -> Option<(&'c str, NaiveDate)> {
    let mut undecided = None;
    for cell in cells {
        let parts: Vec<&str> = cell.split(['-', '/']).collect();
        let [first, second, _] = parts.as_slice() else {
            continue;
        };
        let (Some(first), Some(second)) = (number::<u32>(first), number::<u32>(second)) else {
            continue;
        };
        // A year is first, or it is a day of the month that is no month.
        if first > 12 {
            return None;
        }
        if first != second {
            undecided = undecided.or_else(|| Some((cell, day(cell)?)));
        }
    }
    undecided
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_undecided_where_each_is_one_in_both_orders() {
        let undecided = |cells: &[&'static str]| {
            let found = find_undecided(cells.iter().copied());
            found.map(|(cell, day)| format!("{cell} {day}"))
        };
        let both = ["05/05/2026", "03/07/2026", "03/08/2026"];
        assert_eq!(undecided(&both).as_deref(), Some("03/07/2026 2026-07-03"));
        assert_eq!(undecided(&["3-7-26"]).as_deref(), Some("3-7-26 2026-07-03"));
        assert_eq!(undecided(&["03/07/2026", "13/07/2026"]), None);
        for decided in ["05/05/2026", "2026-07-03", "03 Jul 2026", "7-Aug-25", ""] {
            assert_eq!(undecided(&[decided]), None, "{decided}");
        }
    }

    #[test]
    fn every_style_of_the_bank_is_read() {
        let read = |text| day(text).map(|day| day.to_string());
        assert_eq!(read("01 Sep 2026").as_deref(), Some("2026-09-01"));
        assert_eq!(read("7-Aug-25").as_deref(), Some("2025-08-07"));
        assert_eq!(read("20-Jan-75").as_deref(), Some("1975-01-20"));
        assert_eq!(read("17/03/2021").as_deref(), Some("2021-03-17"));
        assert_eq!(read("2021-03-17").as_deref(), Some("2021-03-17"));
        for wrong in [
            "",
            "31 Feb 2026",
            "03/17/2021",
            "Sep 2026",
            "1 Sept 2026",
            "1-1-1-1",
            "01 Sep 026",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
