//! The UK House Price Index, which brings prices of a window to its last month.

use super::MarketsError;
use super::areas::{Area, Grid};
use super::exclusions;
use super::month::{Month, Span};
use super::sources::{Kind, Sources};
use std::collections::{BTreeMap, BTreeSet};

use domesday_registers::house_price_index::IndexFile;
use domesday_registers::sources::Verdict;

/// The index over all types by area and month.
#[derive(Debug, Default)]
pub(crate) struct Indices(BTreeMap<String, BTreeMap<Month, f64>>);

/// One file's rows: area, month and index.
type FileRows = Vec<(String, Month, f64)>;

/// Reads the index files, and leaves out areas whose index no authority may have. Where files
/// disagree the one whose latest month is later wins, and between equals the one with the greater
/// SHA-256.
pub(crate) fn read(sources: &mut Sources<'_>, grid: &Grid) -> Result<Indices, MarketsError> {
    let known: BTreeSet<&str> = grid.areas().iter().flat_map(codes).collect();
    let mut files: Vec<(Month, FileRows)> = Vec::new();
    sources.read::<IndexFile>(Kind::PriceIndex, |file, row| {
        let month = Month(row.month);
        files.resize_with(files.len().max(file as usize + 1), || {
            (Month(i32::MIN), Vec::new())
        });
        let Some((latest, rows)) = files.last_mut() else {
            return Verdict::LeftOut("no_index", ());
        };
        if !known.contains(row.area_code.as_str()) {
            return Verdict::LeftOut("outside_the_areas", ());
        }
        let index = match exclusions::index(&row) {
            Ok(index) => index,
            Err(reason) => return Verdict::LeftOut(reason, ()),
        };
        *latest = month.max(*latest);
        rows.push((row.area_code, month, index));
        Verdict::Kept
    })?;
    // The sort is stable and files come in order of SHA-256.
    files.sort_by_key(|(latest, _)| *latest);
    let mut indices = Indices::default();
    for (code, month, index) in files.into_iter().flat_map(|(_, rows)| rows) {
        indices.0.entry(code).or_default().insert(month, index);
    }
    Ok(indices)
}

/// Codes of the countries, the last choice.
const ENGLAND: &str = "E92000001";
const WALES: &str = "W92000004";

/// Returns the areas whose index an authority may have, the first choice first.
fn codes(area: &Area) -> [&str; 3] {
    let country = match area.code.starts_with('W') {
        true => WALES,
        false => ENGLAND,
    };
    [&area.code, &area.region, country]
}

impl Indices {
    /// Returns the index for an authority: its own, its region's or its country's, the first that
    /// has any of the months.
    pub(crate) fn of(&self, area: &Area, within: Span) -> Option<(&str, &BTreeMap<Month, f64>)> {
        codes(area)
            .into_iter()
            .filter_map(|code| self.0.get_key_value(code))
            .find(|(_, months)| months.range(within.first..=within.last).next().is_some())
            .map(|(code, months)| (code.as_str(), months))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_index_with_a_month_of_the_coverage_is_taken() {
        let months = |from: i32, upto: i32| (from..=upto).map(|m| (Month(m), 100.0)).collect();
        let indices = Indices(BTreeMap::from([
            ("E06990001".to_owned(), months(5, 9)),
            ("E12990001".to_owned(), months(0, 9)),
            (ENGLAND.to_owned(), months(0, 12)),
        ]));
        let area = Area {
            code: "E06990001".to_owned(),
            name: String::new(),
            land_hectares: 1.0,
            region: "E12990001".to_owned(),
        };
        let taken = |first, last| {
            let within = Span {
                first: Month(first),
                last: Month(last),
            };
            indices.of(&area, within).map(|(code, _)| code.to_owned())
        };
        assert_eq!(taken(0, 5).as_deref(), Some("E06990001"));
        assert_eq!(taken(0, 4).as_deref(), Some("E12990001"));
        assert_eq!(taken(10, 12).as_deref(), Some(ENGLAND));
        assert_eq!(taken(13, 20), None);
    }
}
