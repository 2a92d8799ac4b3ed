//! The grid of local authorities, and how a sale finds its own.

use super::MarketsError;
use super::exclusions;
use super::sources::{Kind, Sources};
use domesday_registers::areas::{AreaFile, AuthorityCodeFile};
use domesday_registers::sources::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// Number of an authority in the grid, in order of code.
pub type AreaNumber = u16;

/// One local authority in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Nine-character code.
    pub code: String,
    /// Name.
    pub name: String,
    /// Land area, hectares.
    pub land_hectares: f64,
    /// Code of its region, or of Wales; empty where the code map has none.
    pub region: String,
}

/// Every authority of England and Wales, by code.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    areas: Vec<Area>,
    /// Codes past and current to the number of the authority in force.
    by_code: BTreeMap<String, AreaNumber>,
    /// Names past and current, normalised. A name that two authorities share is absent.
    by_name: BTreeMap<String, AreaNumber>,
    /// Numbers of the authorities that replaced more than one, and past codes of each.
    merged: BTreeSet<String>,
}

impl Grid {
    /// Returns the authorities in order of code.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Returns the authority in force for a code, past or current.
    pub fn of_code(&self, code: &str) -> Option<AreaNumber> {
        self.by_code.get(code).copied()
    }

    /// Returns the authority in force for a district as price paid data names it, past or current.
    pub fn of_district(&self, name: &str) -> Option<AreaNumber> {
        self.by_name.get(&plain(name)).copied()
    }

    /// Returns the authority whose whole territory a code means: its own code, or the one code that
    /// it replaced. A code of a part of the territory means no authority.
    pub fn of_whole(&self, code: &str) -> Option<AreaNumber> {
        (!self.merged.contains(code)).then(|| self.of_code(code))?
    }
}

/// Returns a name in capital letters, without the words that registers omit or reorder ("Bristol,
/// City of", "CITY OF BRISTOL").
fn plain(name: &str) -> String {
    let upper = name.to_uppercase();
    let words = upper
        .split(|c: char| !c.is_ascii_uppercase())
        .filter(|word| !word.is_empty() && !LEFT_OUT.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Words that do not distinguish authorities.
const LEFT_OUT: [&str; 6] = ["AND", "CITY", "COUNTY", "OF", "THE", "UA"];

/// One row of the code map.
struct CodeMapRow {
    current: String,
    name: String,
    current_name: String,
    region: String,
}

/// Reads the code map and the areas files.
pub(crate) fn read(sources: &mut Sources<'_>) -> Result<Grid, MarketsError> {
    let mut map: BTreeMap<String, CodeMapRow> = BTreeMap::new();
    sources.read::<AuthorityCodeFile>(Kind::CodeMap, |_, row| {
        let region = if row.current_code.starts_with('W') {
            WALES.to_owned()
        } else {
            row.region_code
        };
        map.insert(
            row.code,
            CodeMapRow {
                current: row.current_code,
                name: row.name,
                current_name: row.current_name,
                region,
            },
        );
        Verdict::Kept
    })?;
    let mut measured: BTreeMap<String, (String, f64)> = BTreeMap::new();
    sources.read::<AreaFile>(Kind::Areas, |_, row| {
        if let Some(reason) = exclusions::area(&row) {
            return Verdict::LeftOut(reason, ());
        }
        measured.insert(row.code, (row.name, row.land_hectares));
        Verdict::Kept
    })?;
    if measured.is_empty() {
        return Err(MarketsError::NoAreas);
    }
    Ok(assemble(&map, &measured))
}

/// Code of Wales, used as a region.
const WALES: &str = "W92000004";

fn assemble(
    map: &BTreeMap<String, CodeMapRow>,
    measured: &BTreeMap<String, (String, f64)>,
) -> Grid {
    let in_force = |code: &str| {
        map.get(code)
            .map_or(code, |known| &known.current)
            .to_owned()
    };
    // Take an authority's own measurement, or else the sum of those that it replaced.
    let mut areas: BTreeMap<String, Area> = BTreeMap::new();
    for (code, (name, hectares)) in measured {
        let current = in_force(code);
        let own = measured.contains_key(&current);
        if own && *code != current {
            continue;
        }
        let known = map.get(&current).or_else(|| map.get(code));
        let area = areas.entry(current.clone()).or_insert_with(|| Area {
            name: known.map_or_else(|| name.clone(), |known| known.current_name.clone()),
            region: known.map_or_else(String::new, |known| known.region.clone()),
            code: current,
            land_hectares: 0.0,
        });
        area.land_hectares += hectares;
    }
    let areas: Vec<Area> = areas.into_values().collect();
    let mut grid = Grid::default();
    let number = |code: &str| {
        let at = areas.binary_search_by(|area| area.code.as_str().cmp(code));
        at.ok().and_then(|at| AreaNumber::try_from(at).ok())
    };
    let mut parts: BTreeMap<AreaNumber, Vec<&str>> = BTreeMap::new();
    let mut names: BTreeMap<String, BTreeSet<AreaNumber>> = BTreeMap::new();
    for (code, known) in map {
        let Some(area) = number(&known.current) else {
            continue;
        };
        grid.by_code.insert(code.clone(), area);
        if *code != known.current {
            parts.entry(area).or_default().push(code);
        }
        for name in [&known.name, &known.current_name] {
            names.entry(plain(name)).or_default().insert(area);
        }
    }
    for (at, area) in (0..).zip(&areas) {
        grid.by_code.insert(area.code.clone(), at);
        names.entry(plain(&area.name)).or_default().insert(at);
    }
    for past in parts.into_values().filter(|past| past.len() > 1) {
        grid.merged.extend(past.into_iter().map(str::to_owned));
    }
    grid.by_name = names
        .into_iter()
        .filter_map(|(name, of)| Some((name, *of.first().filter(|_| of.len() == 1)?)))
        .collect();
    grid.areas = areas;
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_map_row(current: &str, name: &str, current_name: &str) -> CodeMapRow {
        CodeMapRow {
            current: current.to_owned(),
            name: name.to_owned(),
            current_name: current_name.to_owned(),
            region: "E12999999".to_owned(),
        }
    }

    fn grid() -> Grid {
        let map = BTreeMap::from([
            (
                "E06990001".to_owned(),
                code_map_row("E06990001", "Quay, City of", "Quay, City of"),
            ),
            (
                "E07990001".to_owned(),
                code_map_row("E06990002", "North Vale", "Vale"),
            ),
            (
                "E07990002".to_owned(),
                code_map_row("E06990002", "South Vale", "Vale"),
            ),
            (
                "E06990002".to_owned(),
                code_map_row("E06990002", "Vale", "Vale"),
            ),
            (
                "E08990001".to_owned(),
                code_map_row("E08990009", "Orford", "Orford"),
            ),
            (
                "E08990009".to_owned(),
                code_map_row("E08990009", "Orford", "Orford"),
            ),
        ]);
        let measured = BTreeMap::from([
            ("E06990001".to_owned(), ("Quay, City of".to_owned(), 290.0)),
            ("E07990001".to_owned(), ("North Vale".to_owned(), 100.0)),
            ("E07990002".to_owned(), ("South Vale".to_owned(), 50.5)),
            ("E08990001".to_owned(), ("Orford".to_owned(), 30.0)),
        ]);
        assemble(&map, &measured)
    }

    #[test]
    fn past_codes_lead_to_the_authority_in_force() {
        let grid = grid();
        let codes: Vec<&str> = grid.areas().iter().map(|area| area.code.as_str()).collect();
        assert_eq!(codes, ["E06990001", "E06990002", "E08990009"]);
        assert_eq!(grid.areas()[1].land_hectares, 150.5);
        assert_eq!(grid.of_code("E07990002"), Some(1));
        assert_eq!(grid.of_code("E08990001"), Some(2));
        assert_eq!(grid.of_code("S12000033"), None);
    }

    #[test]
    fn a_part_of_an_authority_never_speaks_for_the_whole() {
        let grid = grid();
        assert_eq!(grid.of_whole("E07990001"), None);
        assert_eq!(grid.of_whole("E06990002"), Some(1));
        assert_eq!(grid.of_whole("E08990001"), Some(2), "renamed, not merged");
    }

    #[test]
    fn districts_are_found_however_they_are_written() {
        let grid = grid();
        for name in ["CITY OF QUAY", "Quay, City of", "QUAY", "The City of Quay"] {
            assert_eq!(grid.of_district(name), Some(0), "{name}");
        }
        assert_eq!(grid.of_district("SOUTH VALE"), Some(1));
        assert_eq!(grid.of_district("LANGBAURGH"), None);
    }
}
