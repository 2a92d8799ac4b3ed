//! Price Index of Private Rents: the publisher's workbook, derived from the hidden market.
//!
//! This module writes the workbook by hand, so that its bytes are the same everywhere. It is an
//! archive without compression, with text in the cells themselves and one style for dates.

use super::price_index::{Area, areas, typical};
use crate::draw::{Draw, Purpose};
use crate::geography::Authority;
use crate::manifest::Manifest;
use crate::market::Kind;
use crate::{SyntheticError, World};
use chrono::{Datelike, Months, NaiveDate};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Its name.
pub(crate) const NAME: &str = "price-index-of-private-rents.xlsx";

/// The first month of the index, which is also its base.
const FIRST: NaiveDate = match NaiveDate::from_ymd_opt(2015, 1, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// Each block of four columns: the end of its heading, the type whose prices it follows, and its
/// level against that type's.
const BLOCKS: [(&str, Option<Kind>, f64); 9] = [
    ("", None, 1.0),
    (" one bed", Some(Kind::Flat), 0.88),
    (" two bed", Some(Kind::Terraced), 0.92),
    (" three bed", Some(Kind::SemiDetached), 1.0),
    (" four or more bed", Some(Kind::Detached), 1.08),
    (" detached", Some(Kind::Detached), 1.0),
    (" semidetached", Some(Kind::SemiDetached), 1.0),
    (" terraced", Some(Kind::Terraced), 1.0),
    (" flat maisonette", Some(Kind::Flat), 1.0),
];

/// The publisher's mark for a figure that is not available.
const UNAVAILABLE: &str = "[x]";

/// Standard deviation of the noise in ln of a month's rent.
const NOISE: f64 = 0.002;

/// A home of this price is let at [`USUAL_YIELD`]; dearer homes yield less.
const USUAL_PRICE: f64 = 250_000.0;
const USUAL_YIELD: f64 = 0.056;
const YIELD_ELASTICITY: f64 = -0.3;

/// Writes the index of every authority, region and country, to the month of the last day: rents are
/// published sooner than sales are registered.
pub(crate) fn write(
    folder: &Path,
    world: &World,
    authorities: &[Authority],
    manifest: &mut Manifest,
) -> Result<(), SyntheticError> {
    let mut sheet = Sheet::default();
    sheet.row(["Price Index of Private Rents, Great Britain: monthly price statistics".into()]);
    sheet.row(["Every figure of this workbook is invented. [x]: not available.".into()]);
    sheet.row(headings().into_iter().map(Cell::from));
    let mut rows = 0;
    for (number, area) in (0_u32..).zip(areas(authorities)) {
        // A stream beside that of the price index.
        let mut draw = Draw::new(world.seed, Purpose::Index, number, 1);
        let mut past: Vec<[f64; 9]> = Vec::new();
        let mut month = FIRST;
        while month <= world.through {
            past.push(rents(&area, month, &mut draw));
            sheet.row(cells(&area, authorities, month, &past));
            rows += 1;
            month = month + Months::new(1);
        }
    }
    let path = folder.join(NAME);
    workbook(&path, &sheet.0)?;
    super::enter(manifest, &path, rows)
}

fn headings() -> Vec<String> {
    let first = [
        "Time period",
        "Area code",
        "Area name",
        "Region or country name",
    ];
    let blocks = BLOCKS.iter().flat_map(|(what, _, _)| {
        ["Index", "Monthly change", "Annual change", "Rental price"]
            .map(|name| format!("{name}{what}"))
    });
    first.into_iter().map(str::to_owned).chain(blocks).collect()
}

/// Returns the rents of one month, in the order of [`BLOCKS`].
fn rents(area: &Area<'_>, month: NaiveDate, draw: &mut Draw) -> [f64; 9] {
    let rent = |kind: Kind| {
        let price = libm::exp(typical(area, kind, month));
        let part = libm::pow(price / USUAL_PRICE, YIELD_ELASTICITY);
        price * USUAL_YIELD * part / 12.0
    };
    let every = [
        Kind::Detached,
        Kind::SemiDetached,
        Kind::Terraced,
        Kind::Flat,
    ];
    let all = every.into_iter().map(rent).sum::<f64>() / every.len() as f64;
    BLOCKS.map(|(_, kind, level)| {
        let noise = libm::exp(draw.normal(0.0, NOISE));
        kind.map_or(all, rent) * level * noise
    })
}

/// Returns whether the publisher has no figure. It lacks rents of large homes before 2018 in every
/// fifth authority, and of small ones in another. The smallest of many authorities have none at
/// all.
fn unavailable(area: &Area<'_>, authorities: &[Authority], month: NaiveDate, block: usize) -> bool {
    let Some(authority) = authorities
        .iter()
        .find(|authority| authority.code == area.code)
    else {
        return false;
    };
    let smallest = authorities.iter().min_by_key(|other| other.homes);
    let none = authorities.len() > 20 && smallest.is_some_and(|other| other.code == area.code);
    match authority.index % 5 {
        _ if none => true,
        2 => block == 4 && month.year() < 2018,
        4 => block == 1,
        _ => false,
    }
}

/// Returns the cells of one row.
fn cells(
    area: &Area<'_>,
    authorities: &[Authority],
    month: NaiveDate,
    past: &[[f64; 9]],
) -> Vec<Cell> {
    let region = area
        .of
        .first()
        .map_or("", |authority| authority.region.1.as_str());
    let mut cells = vec![
        Cell::Date(month),
        Cell::from(area.code.as_str()),
        Cell::from(area.name.as_str()),
        Cell::from(region),
    ];
    let now = past.len() - 1;
    for (block, _) in BLOCKS.iter().enumerate() {
        if unavailable(area, authorities, month, block) {
            cells.extend([UNAVAILABLE; 4].map(Cell::from));
            continue;
        }
        let rent = |at: usize| past[at][block];
        let change = |months: usize| match now.checked_sub(months) {
            Some(then) => Cell::Number(format!("{:.1}", 100.0 * (rent(now) / rent(then) - 1.0))),
            None => Cell::from(UNAVAILABLE),
        };
        cells.extend([
            Cell::Number(format!("{:.1}", 100.0 * rent(now) / rent(0))),
            change(1),
            change(12),
            Cell::Number(format!("{:.0}", rent(now))),
        ]);
    }
    cells
}

/// A cell of a sheet.
enum Cell {
    Text(String),
    Number(String),
    Date(NaiveDate),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

/// Rows of a sheet as XML.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.0.push_str("<row>");
        for cell in cells {
            // Writing to a string cannot fail. Names here hold no character that XML would have
            // escaped but these.
            let _ = match cell {
                Cell::Text(text) => {
                    let text = text.replace('&', "&amp;").replace('<', "&lt;");
                    write!(self.0, "<c t=\"inlineStr\"><is><t>{text}</t></is></c>")
                }
                Cell::Number(number) => write!(self.0, "<c><v>{number}</v></c>"),
                Cell::Date(day) => {
                    // Spreadsheets count days so that 1970-01-01 is 25,569.
                    let serial = (day - NaiveDate::default()).num_days() + 25_569;
                    write!(self.0, "<c s=\"1\"><v>{serial}</v></c>")
                }
            };
        }
        self.0.push_str("</row>\n");
    }
}

/// The members of the archive beside the sheet.
const PARTS: [(&str, &str); 5] = [
    (
        "[Content_Types].xml",
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"#,
    ),
    (
        "_rels/.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#,
    ),
    (
        "xl/workbook.xml",
        r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Table 1" sheetId="1" r:id="rId1"/></sheets></workbook>"#,
    ),
    (
        "xl/_rels/workbook.xml.rels",
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#,
    ),
    (
        "xl/styles.xml",
        r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="17" applyNumberFormat="1"/></cellXfs></styleSheet>"#,
    ),
];

/// The XML before and after the rows of the sheet.
const AROUND: [&str; 2] = [
    r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"#,
    "</sheetData></worksheet>",
];

fn workbook(path: &Path, rows: &str) -> Result<(), SyntheticError> {
    let failed = |source| SyntheticError::Write {
        path: path.to_owned(),
        source,
    };
    let archive = |source| SyntheticError::Archive {
        path: path.to_owned(),
        source,
    };
    let file = File::create(path).map_err(failed)?;
    let mut zip = zip::ZipWriter::new(BufWriter::new(file));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default());
    let sheet = [AROUND[0], rows, AROUND[1]];
    let parts = PARTS
        .iter()
        .map(|(name, content)| (*name, std::slice::from_ref(content)));
    for (name, content) in parts.chain([("xl/worksheets/sheet1.xml", sheet.as_slice())]) {
        zip.start_file(name, options).map_err(archive)?;
        zip.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n")
            .map_err(failed)?;
        for part in content {
            zip.write_all(part.as_bytes()).map_err(failed)?;
        }
    }
    zip.finish().map_err(archive)?.flush().map_err(failed)
}
