//! Local authorities: past codes to those in force, regions, areas.

use super::BuildError;
use super::sources::{Kind, Sources, Verdict};
use crate::model::{Authority, GssCode};
use domesday_registers::areas::{AreaFile, AuthorityCodeFile};
use std::collections::{BTreeMap, BTreeSet};

/// The content of the code map and the areas file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Authorities {
    current: BTreeMap<GssCode, GssCode>,
    known: BTreeMap<GssCode, Authority>,
    areas: BTreeMap<GssCode, (String, f64)>,
}

/// The source of an authority's area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AreaFrom {
    OwnCode,
    OlderCode,
    Nowhere,
}

impl Authorities {
    /// Returns the code now in force, and whether the code map has it.
    pub(crate) fn in_force(&self, code: GssCode) -> (GssCode, bool) {
        self.current
            .get(&code)
            .map_or((code, false), |&current| (current, true))
    }

    /// Returns an authority in force. Its area is that under its own code, else the sum over the
    /// codes that it replaced.
    pub(crate) fn describe(&self, code: GssCode) -> (Authority, AreaFrom) {
        let own = self.areas.get(&code);
        let mut authority = self.known.get(&code).cloned().unwrap_or_else(|| Authority {
            code,
            name: own.map_or_else(|| code.to_string(), |(name, _)| name.clone()),
            region: None,
            region_name: String::new(),
            land_hectares: None,
        });
        let older: BTreeSet<GssCode> = self
            .current
            .iter()
            .filter(|&(past, current)| *current == code && *past != code)
            .map(|(past, _)| *past)
            .collect();
        let older: Vec<f64> = older
            .iter()
            .filter_map(|past| self.areas.get(past))
            .map(|(_, land)| *land)
            .collect();
        let from = match (own, older.is_empty()) {
            (Some((_, land)), _) => {
                authority.land_hectares = Some(*land);
                AreaFrom::OwnCode
            }
            (None, false) => {
                authority.land_hectares = Some(older.iter().sum());
                AreaFrom::OlderCode
            }
            (None, true) => AreaFrom::Nowhere,
        };
        (authority, from)
    }
}

/// Reads the code map and the areas files.
pub(crate) fn read(sources: &mut Sources<'_, '_>) -> Result<Authorities, BuildError> {
    let mut authorities = Authorities::default();
    sources.read::<AuthorityCodeFile>(Kind::CodeMap, |_, row| {
        let (Some(code), Some(current)) =
            (GssCode::parse(&row.code), GssCode::parse(&row.current_code))
        else {
            return Verdict::LeftOut("no_gss_code", row.code);
        };
        authorities.current.insert(code, current);
        let wales = current.letter() == 'W';
        let authority = Authority {
            code: current,
            name: row.current_name,
            region: if wales {
                Some(GssCode::WALES)
            } else {
                GssCode::parse(&row.region_code)
            },
            region_name: if wales {
                "Wales".to_owned()
            } else {
                row.region_name
            },
            land_hectares: None,
        };
        // The row of the current code takes precedence. A past code's row only fills gaps.
        if code == current {
            authorities.known.insert(current, authority);
        } else {
            authorities.known.entry(current).or_insert(authority);
        }
        Verdict::Kept
    })?;
    sources.read::<AreaFile>(Kind::Areas, |_, row| match GssCode::parse(&row.code) {
        Some(code) => {
            authorities
                .areas
                .insert(code, (row.name, row.land_hectares));
            Verdict::Kept
        }
        None => Verdict::LeftOut("no_gss_code", row.code),
    })?;
    Ok(authorities)
}
