//! UK House Price Index, full columns, derived from the hidden market with a little noise.

use super::Sink;
use crate::draw::{Draw, Purpose};
use crate::geography::Authority;
use crate::manifest::Manifest;
use crate::market::Kind;
use crate::world::FIRST_DAY;
use crate::{SyntheticError, World};
use chrono::{Datelike, Months, NaiveDate, TimeDelta};
use csv::QuoteStyle;
use std::collections::BTreeMap;
use std::path::Path;

/// Columns, in the publisher's order.
const HEADER: [&str; 54] = [
    "Date",
    "RegionName",
    "AreaCode",
    "AveragePrice",
    "Index",
    "IndexSA",
    "1m%Change",
    "12m%Change",
    "AveragePriceSA",
    "SalesVolume",
    "DetachedPrice",
    "DetachedIndex",
    "Detached1m%Change",
    "Detached12m%Change",
    "SemiDetachedPrice",
    "SemiDetachedIndex",
    "SemiDetached1m%Change",
    "SemiDetached12m%Change",
    "TerracedPrice",
    "TerracedIndex",
    "Terraced1m%Change",
    "Terraced12m%Change",
    "FlatPrice",
    "FlatIndex",
    "Flat1m%Change",
    "Flat12m%Change",
    "CashPrice",
    "CashIndex",
    "Cash1m%Change",
    "Cash12m%Change",
    "CashSalesVolume",
    "MortgagePrice",
    "MortgageIndex",
    "Mortgage1m%Change",
    "Mortgage12m%Change",
    "MortgageSalesVolume",
    "FTBPrice",
    "FTBIndex",
    "FTB1m%Change",
    "FTB12m%Change",
    "FOOPrice",
    "FOOIndex",
    "FOO1m%Change",
    "FOO12m%Change",
    "NewPrice",
    "NewIndex",
    "New1m%Change",
    "New12m%Change",
    "NewSalesVolume",
    "OldPrice",
    "OldIndex",
    "Old1m%Change",
    "Old12m%Change",
    "OldSalesVolume",
];

/// Types in the order of the columns, with their weight in the whole.
const KINDS: [(Kind, f64); 4] = [
    (Kind::Detached, 0.24),
    (Kind::SemiDetached, 0.28),
    (Kind::Terraced, 0.27),
    (Kind::Flat, 0.21),
];

/// Standard deviation of the noise in ln of a month's index.
const NOISE: f64 = 0.004;

/// The month in which every index is 100.
const BASE: NaiveDate = match NaiveDate::from_ymd_opt(2015, 1, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// One area whose prices are the mean of its authorities'.
pub(crate) struct Area<'a> {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) of: Vec<&'a Authority>,
}

/// Writes the index of every authority, region and country, to two months before the last day.
pub(crate) fn write(
    folder: &Path,
    world: &World,
    authorities: &[Authority],
    manifest: &mut Manifest,
) -> Result<(), SyntheticError> {
    let last = world.through.with_day(1).unwrap_or(world.through) - Months::new(2);
    let mut sink = Sink::create(
        folder,
        "UK-HPI-full-file.csv",
        QuoteStyle::Necessary,
        &HEADER,
    )?;
    for (number, area) in (0_u32..).zip(areas(authorities)) {
        let base = KINDS.map(|(kind, _)| typical(&area, kind, BASE));
        let mut draw = Draw::new(world.seed, Purpose::Index, number, 0);
        let mut past: Vec<[f64; 5]> = Vec::new();
        let mut month = FIRST_DAY;
        while month <= last {
            let logs = KINDS.map(|(kind, _)| typical(&area, kind, month) + draw.normal(0.0, NOISE));
            let indices = [0, 1, 2, 3].map(|k| 100.0 * libm::exp(logs[k] - base[k]));
            let prices = logs.map(libm::exp);
            let mean = |of: &[f64; 4]| {
                of.iter()
                    .zip(KINDS)
                    .map(|(value, (_, weight))| value * weight)
                    .sum::<f64>()
            };
            past.push([
                mean(&indices),
                indices[0],
                indices[1],
                indices[2],
                indices[3],
            ]);
            sink.row(cells(&area, month, &past, mean(&prices), &prices))?;
            month = month + Months::new(1);
        }
    }
    sink.finish(manifest)
}

/// Returns the cells of one row.
fn cells(
    area: &Area<'_>,
    month: NaiveDate,
    past: &[[f64; 5]],
    average: f64,
    prices: &[f64; 4],
) -> Vec<String> {
    let mut cells = vec![String::new(); HEADER.len()];
    cells[0] = format!("{:02}/{:02}/{}", month.day(), month.month(), month.year());
    cells[1].clone_from(&area.name);
    cells[2].clone_from(&area.code);
    let now = past.len() - 1;
    let change = |column: usize, months: usize| -> String {
        now.checked_sub(months)
            .map(|then| {
                format!(
                    "{:.1}",
                    100.0 * (past[now][column] / past[then][column] - 1.0)
                )
            })
            .unwrap_or_default()
    };
    cells[3] = format!("{average:.0}");
    cells[4] = format!("{:.2}", past[now][0]);
    cells[6] = change(0, 1);
    cells[7] = change(0, 12);
    for (k, price) in prices.iter().enumerate() {
        let first = 10 + 4 * k;
        cells[first] = format!("{price:.0}");
        cells[first + 1] = format!("{:.2}", past[now][k + 1]);
        cells[first + 2] = change(k + 1, 1);
        cells[first + 3] = change(k + 1, 12);
    }
    cells
}

/// Returns the authorities, then the regions, then the countries.
pub(crate) fn areas(authorities: &[Authority]) -> Vec<Area<'_>> {
    let mut all: Vec<Area<'_>> = authorities
        .iter()
        .map(|a| Area {
            code: a.code.clone(),
            name: a.name.clone(),
            of: vec![a],
        })
        .collect();
    let mut regions: BTreeMap<&(String, String), Vec<&Authority>> = BTreeMap::new();
    for authority in authorities {
        regions
            .entry(&authority.region)
            .or_default()
            .push(authority);
    }
    all.extend(regions.into_iter().map(|((code, name), of)| Area {
        code: code.clone(),
        name: name.clone(),
        of,
    }));
    let english = authorities.iter().filter(|a| !a.welsh).collect::<Vec<_>>();
    all.push(Area {
        code: "E92000001".into(),
        name: "England".into(),
        of: english,
    });
    all.push(Area {
        code: "K04000001".into(),
        name: "England and Wales".into(),
        of: authorities.iter().collect(),
    });
    all.retain(|area| !area.of.is_empty());
    all
}

/// Returns the mean ln price of a type in the middle of a month.
pub(crate) fn typical(area: &Area<'_>, kind: Kind, month: NaiveDate) -> f64 {
    let day = month + TimeDelta::days(14);
    area.of
        .iter()
        .map(|authority| authority.locale.typical(kind, day))
        .sum::<f64>()
        / area.of.len() as f64
}
