//! The private rental market statistics that ended in 2023: one sheet a group, one year a file.

use super::super::MarketsError;
use super::super::month::Month;
use super::table::{Figure, Table};
use super::{Rent, TableRents};
use domesday_registers::Day;

/// Titles above the headings of each group's sheet, in the order of [`super::GROUPS`]. Sheets of
/// rooms and studios have other titles.
const NAMES: [&str; 5] = [
    "all categories",
    "one bedroom",
    "two bedrooms",
    "three bedrooms",
    "four or more bedrooms",
];

/// Rows above the headings, at most.
const TITLE_ROWS: u32 = 15;

/// Reads a sheet, unless its headings are not those of the statistics.
pub(super) fn read(table: &Table) -> Result<Option<TableRents>, MarketsError> {
    let headings = (0..TITLE_ROWS.min(table.rows())).find_map(|row| {
        // The heading has the number of a footnote at its end.
        let code = (0..table.columns()).find(|column| {
            table
                .heading(row, *column)
                .trim_end_matches(char::is_numeric)
                == "area code"
        })?;
        Some((row, code, table.column(row, "mean")?))
    });
    let Some((headings, code, mean)) = headings else {
        return Ok(None);
    };
    let above =
        || (0..headings).flat_map(|row| (0..table.columns()).map(move |column| (row, column)));
    let Some((first, last)) = above().find_map(|(row, column)| year(table.text(row, column)))
    else {
        return Err(table.bad(
            headings,
            code,
            "no title above it that names the dates of the rents",
        ));
    };
    let group = above().find_map(|(row, column)| {
        let heading = table.heading(row, column);
        NAMES.iter().position(|name| *name == heading)
    });
    let mut read = TableRents {
        window: u32::try_from(last.0 - first.0 + 1).unwrap_or(0),
        ..TableRents::default()
    };
    let Some(group) = group else {
        return Ok(Some(read));
    };
    table.check_text(headings)?;
    for row in headings + 1..table.rows() {
        let area_code = table.text(row, code);
        let is_code = area_code.len() == 9 && area_code.bytes().skip(1).all(|b| b.is_ascii_digit());
        if !is_code {
            // Footnotes follow the table.
            continue;
        }
        match table.figure(row, mean)? {
            Figure::Is(gbp) => read.rents.push(Rent {
                area_code: area_code.to_owned(),
                group,
                month: last,
                gbp,
                at: (row, mean),
            }),
            Figure::Unavailable => read.unavailable += 1,
        }
    }
    Ok(Some(read))
}

/// Returns the first and last month of a title, if they are whole months. A title has "… recorded
/// between 1 October 2022 to 30 September 2023 by administrative area for England".
fn year(title: &str) -> Option<(Month, Month)> {
    let (_, dates) = title.split_once(" between ")?;
    let words: Vec<&str> = dates.split_whitespace().take(7).collect();
    let [
        first_day,
        first_month,
        first_year,
        "to" | "and",
        last_day,
        last_month,
        last_year,
    ] = words[..]
    else {
        return None;
    };
    let first = day(first_day, first_month, first_year)?;
    let last = day(last_day, last_month, last_year)?;
    let after = Day(last.0 + 1);
    let whole = |day: Day| Day::first_of_month(day.month()) == Some(day);
    (whole(first) && whole(after) && first < last)
        .then(|| (Month(first.month()), Month(last.month())))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn day(day: &str, month: &str, year: &str) -> Option<Day> {
    let month = MONTHS
        .iter()
        .position(|name| month.eq_ignore_ascii_case(name))?;
    Day::from_ymd(
        year.parse().ok()?,
        u32::try_from(month).ok()? + 1,
        day.parse().ok()?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_gives_the_months() {
        let title = "Table 2.1: Summary of 'Room' monthly rents recorded between 1 October 2022 to 30 September 2023 by region";
        let (first, last) = year(title).unwrap();
        assert_eq!(
            (first.to_string(), last.to_string()),
            ("2022-10".to_owned(), "2023-09".to_owned())
        );
        assert_eq!(
            year("recorded between 2 October 2022 to 30 September 2023 by"),
            None
        );
        assert_eq!(
            year("recorded between 1 October 2022 to 29 September 2023"),
            None
        );
    }
}
