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

/// The content of one file.
#[derive(Debug)]
struct FileIndices {
    /// The latest month with an index.
    latest: Month,
    by_area: BTreeMap<String, BTreeMap<Month, f64>>,
}

/// Reads the index files, and leaves out areas whose index no authority may have. Where files
/// disagree the one whose latest month is later wins, and between equals the one with the greater
/// SHA-256.
///
/// A past code of an authority leads to the one in force, which an older file does not know.
pub(crate) fn read(sources: &mut Sources<'_>, grid: &Grid) -> Result<Indices, MarketsError> {
    let areas = grid.areas().iter();
    let wider: BTreeSet<&str> = areas
        .flat_map(|area| codes(area).into_iter().skip(1))
        .collect();
    let names = sources.names(Kind::PriceIndex);
    let mut files: Vec<FileIndices> = Vec::new();
    let mut contradiction = None;
    sources.read::<IndexFile>(Kind::PriceIndex, |file, row| {
        let month = Month(row.month);
        files.resize_with(files.len().max(file as usize + 1), || FileIndices {
            latest: Month(i32::MIN),
            by_area: BTreeMap::new(),
        });
        let Some(indices) = files.last_mut() else {
            return Verdict::LeftOut("no_index", ());
        };
        let code = match grid.of_whole(&row.area_code) {
            Some(area) => &grid.areas()[usize::from(area)].code,
            None if wider.contains(row.area_code.as_str()) => &row.area_code,
            None => return Verdict::LeftOut("outside_the_areas", ()),
        };
        let index = match exclusions::index(&row) {
            Ok(index) => index,
            Err(reason) => return Verdict::LeftOut(reason, ()),
        };
        indices.latest = month.max(indices.latest);
        let months = indices.by_area.entry(code.clone()).or_default();
        let other = *months.entry(month).or_insert(index);
        if other.to_bits() != index.to_bits() {
            contradiction.get_or_insert_with(|| MarketsError::IndexTwice {
                file: names.get(file as usize).cloned().unwrap_or_default(),
                area: row.area_code.clone(),
                month: month.to_string(),
                index,
                other,
            });
        }
        Verdict::Kept
    })?;
    if let Some(contradiction) = contradiction {
        return Err(contradiction);
    }
    // The sort is stable and files come in order of SHA-256.
    files.sort_by_key(|file| file.latest);
    let mut indices = Indices::default();
    for (code, months) in files.into_iter().flat_map(|file| file.by_area) {
        indices.0.entry(code).or_default().extend(months);
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
    use super::super::{Inputs, areas};
    use super::*;

    /// Barnsley and Sheffield, whose codes changed, and a district that two made.
    const CODES: &str = "\
LADCD,LADNM,LADCD_ACTIVE,LADNM_ACTIVE,RGNCD,RGNNM,CTRYCD,CTRYNM
E08000016,Barnsley,E08000038,Barnsley,E12000003,Yorkshire,E92000001,England
E08000019,Sheffield,E08000039,Sheffield,E12000003,Yorkshire,E92000001,England
E07990001,North Vale,E06990002,Vale,E12000003,Yorkshire,E92000001,England
E07990002,South Vale,E06990002,Vale,E12000003,Yorkshire,E92000001,England
";
    const AREAS: &str = "\
LAD23CD,LAD23NM,AREALHECT
E08000016,Barnsley,32900
E08000019,Sheffield,36800
E07990001,North Vale,100
E07990002,South Vale,50
";
    const COLUMNS: &str = "\
Date,RegionName,AreaCode,Index,DetachedIndex,SemiDetachedIndex,TerracedIndex,FlatIndex
";

    /// Reads the index from files with these rows: month, area and index.
    fn read_files(files: &[&[(&str, &str, &str)]]) -> Result<Indices, MarketsError> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let price_index = files.iter().enumerate().map(|(number, rows)| {
            let rows = rows
                .iter()
                .map(|(month, code, index)| format!("{month}-01,Name,{code},{index},,,,\n"));
            let text = COLUMNS.to_owned() + &rows.collect::<String>();
            write(&format!("index-{number}.csv"), &text)
        });
        let inputs = Inputs {
            areas: vec![write("areas.csv", AREAS)],
            code_map: write("codes.csv", CODES),
            price_index: price_index.collect(),
            ..Inputs::default()
        };
        let mut progress = |_: &str, _: u64, _: u64| ();
        let mut sources = Sources::list(&inputs, &mut progress)?;
        let grid = areas::read(&mut sources)?;
        read(&mut sources, &grid)
    }

    /// Returns months and index of an area.
    fn of(indices: &Indices, code: &str) -> Vec<(String, f64)> {
        let months = indices.0.get(code).into_iter().flatten();
        months
            .map(|(month, index)| (month.to_string(), *index))
            .collect()
    }

    #[test]
    fn a_past_code_leads_to_the_authority_in_force() {
        let indices = read_files(&[&[
            ("2024-12", "E08000016", "140.5"),
            ("2025-01", "E08000038", "141"),
            ("2024-12", "E08000019", "150"),
            ("2024-12", "E12000003", "130"),
            ("2024-12", "E92000001", "120"),
            // A part, whose index is not that of the whole.
            ("2024-12", "E07990001", "99"),
        ]])
        .unwrap();
        let codes: Vec<&str> = indices.0.keys().map(String::as_str).collect();
        assert_eq!(codes, ["E08000038", "E08000039", "E12000003", "E92000001"]);
        let expected = [("2024-12".to_owned(), 140.5), ("2025-01".to_owned(), 141.0)];
        assert_eq!(of(&indices, "E08000038"), expected);
    }

    #[test]
    fn two_codes_of_an_area_agree_within_a_file_and_the_later_file_wins() {
        let both = |second| {
            let rows = [
                ("2024-12", "E08000016", "140"),
                ("2024-12", "E08000038", second),
            ];
            read_files(&[&rows])
        };
        let agreed = [("2024-12".to_owned(), 140.0)];
        assert_eq!(of(&both("140.0").unwrap(), "E08000038"), agreed);
        insta::assert_snapshot!(
            both("141").unwrap_err(),
            @"index-0.csv: index 141 of E08000038 in 2024-12 contradicts 140, which the file states for the same area under this code or another. Download the file again, or leave it out"
        );
        let later: &[_] = &[
            ("2024-12", "E08000038", "142"),
            ("2025-01", "E08000038", "143"),
        ];
        let older: &[_] = &[
            ("2024-12", "E08000016", "140"),
            ("2024-11", "E08000016", "139"),
        ];
        for files in [[later, older], [older, later]] {
            let indices = read_files(&files).unwrap();
            let values: Vec<f64> = of(&indices, "E08000038").iter().map(|one| one.1).collect();
            assert_eq!(values, [139.0, 142.0, 143.0]);
        }
    }

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
